"""Several hospitals, a table each: columns of other names are mapped by hand, and then all is one table."""

import gc
import json
import weakref

import numpy as np
import pytest

from dppca_core import tables
from dppca_core.tables import Schema
from dppca_core.tables.patients import A_TABLE_EACH
from pages.hospitals.your_data import several_text
from pages.hospitals.your_data.column_mapping import NOT_MEASURED
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    OTHER_TABLE,
    TABLE,
    TablePage,
    csv,
    patients,
)

NAMES = {"age": "AGE (years)", "weight": "Gewicht", "pulse": "Pulse_bpm", "sex": "geschlecht"}
SECOND = patients(seed=1, n=50).rename(columns=NAMES).assign(ward=1.0)


class HospitalsPage(TablePage):
    """The page, and what a person does there with another hospital's table."""

    def add(self, data, name="theirs.csv"):
        box = next(box for box in self.app.file_uploader if box.key.startswith("own another"))
        box.set_value((name, data, "text/csv"))
        self.run()

    def map(self, *answers):
        """Answer for the names of the mapping, by their place."""
        key = next(box.key for box in self.app.data_editor if "mapping" in box.key or "names" in box.key)
        edited = {row: {"column": answer} for row, answer in answers}
        self.app.session_state[key] = {"edited_rows": edited, "added_rows": [], "deleted_rows": []}
        self.run()

    @property
    def mapping(self):
        return self.state.hospitals.others[-1].mapping


def page_of(second=None, cls=HospitalsPage, **link):
    page = cls(**link)
    page.upload()
    page.answer()
    page.open_dictionary()
    page.add(csv(SECOND) if second is None else second)
    return page


def joined_by_hand():
    back = SECOND.rename(columns={new: old for old, new in NAMES.items()})[list(patients().columns)]
    raws = tables.read(TABLE, "a"), tables.read(csv(back), "b")
    same = {name: name for name in raws[0].columns}
    return tables.join(raws, (same, same), ("Hospital 1", "Hospital 2"))


def test_two_tables_with_other_names_are_released_as_two_hospitals(built):
    page = page_of(**{"own.eps": "1"})
    assert page.mapping.names == tuple(NAMES)  # and not the clinic, which has the same name
    assert page.mapping.answers == {"age": "AGE (years)", "pulse": "Pulse_bpm"}
    assert several_text.unanswered("Hospital 2", ["weight", "sex"]) in page.notices
    assert not page.has_button("Release") and page.state.ready is not None
    page.map((1, "Gewicht"))
    assert page.app.button(key="own mapping 1 1 confirm").disabled
    page.press("The rest was")
    assert page.mapping.answers["sex"] is None
    page.map((3, "geschlecht"))
    assert several_text.unconfirmed("Hospital 2") in page.notices
    page.press("Confirm")
    assert page.rows_question.value is None and not page.has_button("Release")  # a patient may be in both
    page.answer()
    assert not page.errors and page.state.ready.sizes == (120, 50)
    assert page.state.raw.key == joined_by_hand().key and page.state.chosen == ("age", "weight", "pulse")
    page.press("Set this limit")
    page.release()
    document = page.state.releases[0].result.document
    assert document["hospitals"] == [120, 50] and document["public"]["dealt"] == A_TABLE_EACH
    assert "any other of the same hospital" in document["guarantee"]
    assert "How many patients each hospital has is public." in document["guarantee"]
    assert "Gewicht" not in json.dumps(document) + built().html()
    assert "do not exist" not in str(built().frame())


def test_other_names_of_the_dictionary_are_suggested_for_another_hospital():
    stated = {"age": "Alter", "weight": "Gewicht", "pulse": "HF"}
    units = {"age": "years", "weight": "kg"}
    changes = {name: {"other_names": (other,), "unit": units.get(name, "")} for name, other in stated.items()}
    named = Schema(tuple(each.changed(**changes[each.name]) for each in DICTIONARY.columns))
    page = HospitalsPage()
    page.upload()
    page.answer()
    page.open_dictionary(named)
    page.add(csv(patients(seed=1).rename(columns=stated)))
    assert page.mapping.answers == stated
    editor = next(box for box in page.app.data_editor if "mapping" in box.key)
    assert editor.value["name"].tolist() == ["age (years)", "weight (kg)", "pulse"]
    page.press("Confirm")
    assert "Alter is age (years), Gewicht is weight (kg), HF is pulse. 0 columns" in page.captions
    page.answer()
    assert not page.errors and page.state.ready.sizes == (120, 120)


def test_a_table_comes_and_goes_and_the_first_is_as_before():
    page = page_of(OTHER_TABLE)  # its names are the same: nothing is asked
    page.answer()
    assert page.state.ready.sizes == (120, 120)
    first, joined = page.state.hospitals.first, page.state.raw
    page.app.text_input(key="own hospital 1 1").set_value("A hospital of another name")
    page.run()
    assert page.state.raw.key != joined.key
    page.app.text_input(key="own hospital 1 1").set_value("Hospital 1")
    page.run()
    assert "Two hospitals have the same name" in page.errors and page.state.ready is not None
    page.press("Take it out")
    assert page.state.raw is first and page.state.ready.sizes == (120,) and not page.errors


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (TABLE, "This is the table of Hospital 1 again"),
        (b"a,b\n1,2\n1,2,3\n", "cells as the names"),
        (b"", "empty"),
    ],
)
def test_what_cannot_be_added_is_one_sentence_and_loses_nothing(data, error):
    page = page_of(data)
    assert error in page.errors and "\n" not in page.errors
    assert page.state.ready.sizes == (120,) and not page.state.hospitals.others


def test_a_patient_of_two_hospitals_counts_once_in_the_first_by_name():
    page = HospitalsPage()
    page.upload(csv(patients().assign(record=np.arange(120))))
    page.answer_rows("named")
    box = next(box for box in page.app.selectbox if box.label == "Column that names the patient")
    assert "hospital" not in box.options
    box.set_value(box.options.index("record"))
    page.run()
    page.open_dictionary()
    page.add(csv(patients(seed=1, n=50).assign(record=np.arange(100, 150))))
    assert page.state.ready.sizes == (120, 30) and page.state.patient_column == "record"


def test_a_dictionary_of_other_names_renames_the_columns_of_all_tables():
    page = HospitalsPage()
    page.upload(csv(SECOND), "ours.csv")
    page.answer()
    page.add(csv(patients(seed=2, n=60).assign(ward=2.0)))
    page.press("The rest was")
    page.map(*((list(NAMES.values()).index(NAMES[name]), name) for name in ("weight", "sex")))
    page.press("Confirm")
    page.answer()
    assert page.state.raw.n == 110 and not page.state.chosen
    key = page.state.raw.key
    page.open_dictionary()
    assert several_text.MAP_DICTIONARY in page.captions and not page.errors
    page.open_dictionary(b"[1]")  # its refusal is not hidden by the question about the one before
    assert "must be JSON" in page.errors and page.state.names_asked is None
    page.open_dictionary()
    assert page.state.names_asked.answers == {"age": "AGE (years)", "pulse": "Pulse_bpm"}
    page.map((1, "Gewicht"))
    page.press("Take these columns")
    assert page.state.chosen == ("age", "weight", "pulse") and page.state.bound == DICTIONARY.bound
    assert page.state.ready.sizes == (50, 60) and page.state.raw.key == key
    assert [column.name for column in page.state.ready.schema.columns] == ["age", "weight", "pulse"]
    assert page.state.names_asked is None


HOSTILE = (
    "=cmd|' /C calc'!A0",
    "<img src=x onerror=alert(1)>",
    "x" * 99,
    "[a](http://b.c) $x$ :red[y]",
    NOT_MEASURED,
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_hospitals_and_columns_stay_names(name, built):
    page = page_of(csv(SECOND.rename(columns={"AGE (years)": name})))
    shown = page.mapping.to_frame({}).to_numpy().ravel().tolist() + list(page.mapping.of_label)
    assert not [cell for cell in shown if str(cell).startswith("=")]
    label = next(label for label, column in page.mapping.of_label.items() if column == name)
    page.app.text_input(key="own hospital 1 1").set_value(name)
    page.map((0, label), (1, "Gewicht"), (3, "geschlecht"))
    headings = json.loads(page.app.data_editor[0].proto.columns)  # which its download has too
    assert headings["column"]["label"] == tables.safe_cell(name)
    page.press("Confirm")
    page.answer()
    assert not page.errors and page.state.ready.sizes in {(120, 50), (50, 120)}
    page.press("Set this limit")
    page.release()
    document = json.dumps(page.state.releases[0].result.document)
    exported = page.payer.export()
    assert name not in document + exported + built().html()
    assert "<img" not in page.markdown.replace("\\<img", "")


def test_no_hospitals_rows_outlive_the_table():
    page = page_of()
    page.press("The rest was")
    page.press("Confirm")
    hospitals = page.state.hospitals
    held = [weakref.ref(raw) for raw in (page.state.raw, hospitals.first, hospitals.others[0].raw)]
    del hospitals
    page.press("Forget it")
    page.run()
    gc.collect()
    assert [item() is None for item in held] == [True] * 3
