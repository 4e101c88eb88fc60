"""Which column is suggested for which name: by the names alone, and none where they only look alike."""

import pytest

from dppca_core.tables.name_matching import bracket_unit, patient_column, plain_unit, suggest, unit


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("age", "AGE (years)"),
        ("age", "Age_yrs"),
        ("ageAtVisit", "age at visit"),
        ("Größe", "GROSSE [cm]"),
        ("HbA1c", "hba1c_%"),
        ("glucose (mg/dl)", "Glucose_mg_dL"),
        ("age (yrs)", "age_years"),
        ("systolic blood pressure", "blood_pressure_systolic"),
        ("haemoglobin", "Hemoglobin"),
    ],
)
def test_the_same_in_other_letters_is_suggested(name, column):
    assert suggest([name], ["patient", column, "visit"]) == {name: column}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("age", "alter"),
        ("age", "age at death"),
        ("age (months)", "age (years)"),
        ("weight", "height"),
        ("hypertension", "hypotension"),
        ("treated", "untreated"),
        ("pressure (systolic)", "pressure (diastolic)"),
        ("biomarker_101", "biomarker_102"),
        ("visit 1", "visit1.2"),
        ("?", "!"),
    ],
)
def test_what_only_looks_alike_is_not(name, column):
    assert suggest([name], [column]) == {}


def test_each_column_is_suggested_once_and_the_best_first():
    names = ["age (years)", "age", "Age", "sex"]
    assert suggest(names, ["AGE", "age_yrs", "Age", "gender"]) == {
        "Age": "Age",
        "age (years)": "age_yrs",
        "age": "AGE",
    }


def test_twenty_thousand_names_are_matched():
    names = [f"gene_{i}" for i in range(20_000)]
    assert len(suggest(names, [name.upper() for name in reversed(names)])) == len(names)


def test_names_that_the_dictionary_states_come_first():
    """Before a name that is more alike; in the order stated, and no column twice."""
    stated = {"age": ("Alter", "Age at visit"), "hb": ("Alter", "Haemoglobin"), "sex": ("nowhere",)}
    columns = ["AGE", "Haemoglobin", "Alter", "Sex"]
    expected = {"age": "Alter", "hb": "Haemoglobin", "sex": "Sex"}
    assert suggest(["age", "hb", "sex"], columns, stated) == expected
    assert suggest(["age"], ["age", "Alter"], stated) == {"age": "age"}


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("weight_kg", "kg"),
        ("CRP [mg/l]", "mg/l"),
        ("Hb (g/dL)", "g/dl"),
        ("hb_g_dl", "g/dl"),
        ("age_years", "years"),
        ("age (yrs)", "years"),
        ("age_yr", "years"),
        ("bp_mmhg", "mmHg"),
        ("bpMmHg", "mmHg"),
        ("platelets (10⁹/L)", "10^9/l"),
        ("dose (μg)", "µg"),
        ("HbA1c_%", "%"),
        ("bmi [kg/m2]", "kg/m²"),
        ("weight", ""),
        ("age", ""),
        ("kg", ""),
        ("group_m", ""),
        ("temp_min", ""),
        ("weight_kg_1", ""),
        ("drug(s)", ""),
    ],
)
def test_a_name_states_a_unit_of_a_closed_list(name, states):
    assert unit(name) == states


def test_a_text_is_a_unit_only_as_a_whole():
    assert [plain_unit(text) for text in ("mg/dL", "(kg)", " mmHg ", "in kg", "kg or lb", "")] == [
        "mg/dL",
        "kg",
        "mmHg",
        *[""] * 3,
    ]
    assert bracket_unit("Weight (dry) (kg)") == "kg" and bracket_unit("Sex (m)<b>") == "m"


@pytest.mark.parametrize(
    ("names", "record", "expected"),
    [
        (["age", "record_id", "id"], "", "record_id"),
        (["age", "id", "Patientennummer"], "", "Patientennummer"),
        (["Patient ID", "visit"], "", "Patient ID"),
        (["age", "code", "id"], "code", "code"),
        (["age", "visit_id", "valid"], "code", None),
    ],
)
def test_who_the_patient_is_follows_from_names(names, record, expected):
    assert patient_column(names, record) == expected
