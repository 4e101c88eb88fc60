"""Which column is suggested for which name: by the names alone, and none where they only look alike."""

import pytest

from dppca_core.tables.name_matching import suggest


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
