"""A column names the patients: their rows count as one, n is theirs, and the guarantee too."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dppca_core.accounting import closed_form
from dppca_core.numerics import moments
from dppca_core.release import registry_record
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import dictionary, upload_text
from tests.pages.hospitals.your_data.table_page import DICTIONARY, TablePage, csv, patients

CASES = Path(__file__).parents[3] / "cases"
VISITS = 4
COLUMN = "record number"


def visits():
    frame = patients().assign(**{COLUMN: [f"R-{i:04d}" for i in range(120)]})
    again = np.repeat(np.arange(120), np.arange(120) % VISITS + 1)
    return frame.iloc[again].reset_index(drop=True)


def page_of(frame, column=COLUMN, dictionary=DICTIONARY, **link):
    page = TablePage(**link)
    page.upload(csv(frame))
    page.answer_rows("named")
    name_patients(page, column)
    page.open_dictionary(dictionary)
    return page


def name_patients(page, column):
    choice = next(box for box in page.app.selectbox if box.label == "Column that names the patient")
    choice.set_value(choice.options.index(column))
    page.run()


def test_n_price_and_guarantee_are_of_patients(built):
    page = page_of(visits(), **{"own.eps": "0.5"})
    assert page.state.ready.n == 120 and "120 patients" in page.everything
    page.press("Set this limit")
    page.release()
    result = page.state.releases[0].result
    document = json.dumps(result.document)
    assert "any one patient's rows, however many" in result.document["guarantee"]
    assert result.document["epsilon for a patient"] == 0.5
    assert closed_form.epsilon_of(result.payment.events, 1e-6) <= 0.5
    assert COLUMN not in document and "R-0001" not in document
    assert dict(built().frame().settings)["Rows of one patient"] == "averaged"
    assert COLUMN not in built().html() and COLUMN not in session_text(page)


def session_text(page):
    return page.payer.export()


def test_at_most_so_many_rows_of_a_patient_count(built, makes):
    """The first of the table; n, price and guarantee are the patients', and the report says the number."""
    page = page_of(visits(), **{"own.eps": "0.5"})
    how = next(box for box in page.app.radio if box.label == "Rows of one patient")
    how.set_value(how.options[1])
    page.run()
    page.kept.set_value(2)
    page.run()
    (part,) = page.state.ready.parts
    shown = np.minimum(np.arange(120) % VISITS + 1, 2)
    assert part.n == 120 and len(part.rows) == shown.sum()
    assert np.square(part.weights).sum() == pytest.approx(shown.sum() / 2)
    assert np.square(part.of_mean).sum() == pytest.approx(120)
    mask, frame = page.state.ready.held.kept, visits()
    assert (frame[mask].groupby(COLUMN).size() == shown).all()
    assert (frame[mask].index == frame.groupby(COLUMN, sort=False).head(2).index).all()
    page.press("Set this limit")
    page.release()
    document = page.state.releases[0].result.document
    assert document["public"]["rows kept of a patient"] == 2 and document["unit"] == "patient"
    assert document["epsilon for a patient"] == 0.5
    assert dict(built().frame().settings)["Rows of one patient"] == "the first 2, each counting 1/2"


def test_instruments_that_repeat_are_merged(built, makes):
    """Each row of the file lacks what the other rows have: averaged, nobody is left."""
    visit = patients().assign(**{COLUMN: range(120)})
    frame = pd.concat([visit[["age", COLUMN]], visit.drop(columns="age"), visit[["pulse", COLUMN]] + [5, 0]])
    bare = Schema(tuple(column.changed(fill=None) for column in DICTIONARY.columns))
    page = page_of(frame, dictionary=bare, **{"own.eps": "0.5"})
    assert "Fewer than two patients are left" in page.errors and "merged" in page.errors
    how = next(box for box in page.app.radio if box.label == "Rows of one patient")
    how.set_value(how.options[2])
    page.run()
    table = page.state.ready
    assert not page.errors and (table.n, table.usable, table.counting) == (120, 120, "merged")
    assert "own cells that are there" in page.captions and "120 patients were merged" in page.everything
    encoded = (frame.groupby(COLUMN)[["age", "weight", "pulse"]].mean() - [60, 115, 125]) / [60, 85, 95]
    np.testing.assert_allclose(table.held.rows, moments.clip_rows(encoded.to_numpy(), table.schema.bound))
    page.press("Set this limit")
    page.release()
    document = page.state.releases[0].result.document
    assert document["public"]["rows of a patient"] == "merged" and document["unit"] == "patient"
    assert document["epsilon for a patient"] == 0.5
    assert "all rows of a patient are merged" in " ".join(registry_record.to_yaml(document).split())
    assert dict(built().frame().settings)["Rows of one patient"] == "merged"


def test_a_column_names_no_patients_where_each_has_one_row():
    """Other answers are kept, but no answer that is out of sight counts."""
    page = page_of(visits())
    page.answer()
    assert page.state.ready.n == 300 and not page.state.ready.averaged
    page.answer_rows("named")
    assert page.state.ready.n == 120 and page.state.patient_column == COLUMN


def test_a_hospital_has_the_patients_who_came_to_it_first():
    frame = visits()
    page = page_of(frame)
    page.choose_hospitals()
    first = frame.drop_duplicates(COLUMN)["clinic"].value_counts().sort_index()
    assert page.state.ready.sizes == tuple(first) and sum(page.state.ready.sizes) == 120
    for part in page.state.ready.parts:
        assert np.square(part.weights).sum() == pytest.approx(part.n)


@pytest.mark.parametrize(
    ("column", "says"), [("holes", "names no patient in some rows"), ("age", "cannot count as a measurement")]
)
def test_what_names_no_patients_is_one_sentence(column, says):
    frame = visits()
    frame["holes"] = frame[COLUMN].where(np.arange(len(frame)) != 7)
    page = page_of(frame, column)
    assert says in page.errors + page.warnings + page.notices and "\n" not in page.errors
    assert not page.has_button("Release")


def test_releases_that_counted_rows_are_not_counted_as_patients():
    """On one account: the total is right for a row, and says that it is not for a patient."""
    page = page_of(visits(), **{"own.eps": "0.3"})
    page.press("Set this limit")
    page.release()
    assert "counted rows and not patients" not in page.markdown
    session_payments(page)  # which the account of this table reads as its own
    page.answer_rows("unnamed")
    page.most_rows.set_value(VISITS)
    page.run()
    page.release()
    page.answer_rows("named")
    assert [payment.averaged for payment in session_payments(page)] == [True, False]
    assert "Some of these releases counted rows and not patients" in page.markdown


def test_a_paid_spectrum_of_patients_leaves_the_account_readable():
    """It is of 120 patients, on the account of a table with 300 rows."""
    frame = visits().assign(height=170.0 + np.arange(300) % 30)
    wide = Schema((*DICTIONARY.columns, Column("height", "number", 100, 220)))
    page = page_of(frame, dictionary=wide, **{"own.slice": "0.5", "own.k": "1"})
    page.press("Set this limit")
    page.release("Pay for the spectrum")
    assert not page.errors and session_payments(page)[0].averaged


def session_payments(page):
    return page.payments


def saved(offered):
    return [data for build in offered if isinstance(data := build(), str) and '"fields"' in data]


@pytest.mark.parametrize("counting", ["averaged", "merged", 3])
def test_a_saved_dictionary_answers_who_the_patient_is(offered, counting):
    """In its own file, which its owner keeps; no schema has it, nor anything that a release publishes."""
    page = page_of(visits())
    how = next(box for box in page.app.radio if box.label == "Rows of one patient")
    how.set_value(upload_text.AT_MOST if counting == 3 else counting)
    page.run()
    if counting == 3:
        page.kept.set_value(3)
        page.run()
    file = saved(offered)[-1]
    assert json.loads(file)["patients"] == {"column": COLUMN, "rows": counting}
    schema = Schema.from_json(file)
    assert schema == DICTIONARY and COLUMN not in schema.to_json() + schema.published.to_json()
    assert COLUMN not in json.dumps(page.state.ready.public)
    again = TablePage()
    again.open_dictionary(file.encode())
    again.upload(csv(visits()))
    assert again.state.ready.counting == counting and again.state.ready.n == 120
    assert upload_text.patients_stated(COLUMN) in again.captions


def test_what_a_saved_dictionary_says_of_patients_is_only_of_a_table_with_that_column(offered):
    file = dictionary.write(DICTIONARY, "elsewhere", "merged")
    page = TablePage()
    page.upload()
    page.open_dictionary(file.encode())
    assert page.rows_question.value is None and page.state.chosen == DICTIONARY.features
    page.answer()
    assert "patients" not in json.loads(saved(offered)[-1])  # one row each is asked of each table
    for bad in (
        {"column": "a"},
        {"column": 1, "rows": 2},
        {"column": "a", "rows": 0},
        "a",
        {"rows": "merged"},
    ):
        with pytest.raises(ValueError, match=r'^"patients" of the dictionary needs a "column"'):
            dictionary.read(json.dumps(json.loads(file) | {"patients": bad}).encode())


def test_one_press_suffices_where_names_suggest_the_patient():
    """REDCap's first field before any other name; its repeating instruments are merged."""
    page = TablePage()
    page.upload((CASES / "redcap_repeating.csv").read_bytes(), "export.csv")
    page.answer_rows("named")
    assert page.state.patients == ("record_id", "merged") and page.app.multiselect
    page.upload(csv(patients().assign(number=range(120), id=range(120))))
    assert page.rows_question.value is None
    page.answer_rows("named")
    assert page.state.patients == ("id", "averaged")
    page.upload(csv(patients()))
    page.answer_rows("named")
    assert upload_text.NO_PATIENT_COLUMN in page.notices and not page.app.multiselect
    heads = "Variable / Field Name,Field Type,Text Validation Type OR Show Slider Number\n"
    page.upload(csv(patients().assign(number=range(120), id=range(120))), "again.csv")
    page.open_dictionary(f"{heads}number,text,\nage,text,number\n".encode(), "redcap.csv")
    page.answer_rows("named")
    assert page.state.patients == ("number", "averaged")
