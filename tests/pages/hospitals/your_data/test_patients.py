"""A column names the patients: their rows are averaged, n is theirs, and the guarantee too."""

import json

import numpy as np
import pytest

from dppca_core.accounting import closed_form
from tests.pages.hospitals.your_data.table_page import DICTIONARY, TablePage, csv, patients

VISITS = 4
COLUMN = "record number"


def visits():
    """Return 120 patients with one to four visits."""
    frame = patients().assign(**{COLUMN: [f"R-{i:04d}" for i in range(120)]})
    again = np.repeat(np.arange(120), np.arange(120) % VISITS + 1)
    return frame.iloc[again].reset_index(drop=True)


def page_of(frame, column=COLUMN, **link):
    page = TablePage(**link)
    page.upload(csv(frame))
    box = page.app.radio[0]
    box.set_value(box.options[1])
    page.run()
    choice = next(box for box in page.app.selectbox if box.label == "Column that names the patient")
    choice.set_value(choice.options.index(column))
    page.run()
    page.open_dictionary(DICTIONARY)
    return page


def test_n_price_and_guarantee_are_of_patients(built):
    page = page_of(visits(), **{"own.eps": "0.5"})
    assert page.state.ready.n == 120 and "120 patients" in page.everything
    page.press("Set this limit")
    page.release()
    result = page.state.releases[0].result
    document = json.dumps(result.document)
    assert "any one patient's rows, however many" in result.document["guarantee"]
    assert result.document["epsilon for a patient"] == 0.5
    assert closed_form.epsilon_of(result.entry.events, 1e-6) <= 0.5
    assert COLUMN not in document and "R-0001" not in document
    report = built()
    assert dict(report.settings)["Rows of one patient"] == "averaged"
    assert COLUMN not in json.dumps(report) and COLUMN not in session_text(page)


def session_text(page):
    ledger = next(iter(page.state.ledgers.values()))
    return ledger.export()


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
