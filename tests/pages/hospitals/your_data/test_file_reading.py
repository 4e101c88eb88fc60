"""What only a person can tell of a file is asked once, on the page and for each hospital's table."""

from pathlib import Path

import pytest

from dppca_core.tables import Column, Schema, dictionary_lines
from tests.pages.hospitals.your_data.table_page import DICTIONARY, TablePage, csv, patients, prepared

CASES = Path(__file__).parents[3] / "cases"


def answer(page, option):
    box = next(box for box in page.app.radio if box.label == "Your answer")
    box.set_value(option)
    page.run()


@pytest.mark.parametrize(("option", "rows"), [("leave out", 40), ("keep", 41)])
def test_a_line_of_units_is_asked_about_and_answered(option, rows):
    page = TablePage()
    page.upload((CASES / "units_line.csv").read_bytes(), "units.csv")
    assert "is it a line of units" in page.warnings and page.state.raw is None
    answer(page, option)
    assert page.state.raw.n == rows and not page.state.questions and not page.errors
    assert ("line of units below the names is left out" in page.markdown) == (option == "leave out")


def test_letters_are_asked_about_and_the_former_table_stays():
    page = prepared()
    former = page.state.raw
    page.upload(csv(patients(seed=3).replace({"north": "Nörd"})).decode().encode("cp1252"), "latin.csv")
    assert "in which alphabet" in page.warnings and page.state.raw is former
    answer(page, "windows-1252")
    assert "Nörd" in page.state.raw.table["clinic"].to_pylist()


def test_a_question_goes_with_its_file():
    page = TablePage()
    page.upload((CASES / "units_line.csv").read_bytes(), "units.csv")
    page.upload(csv(patients()), "ours.csv")
    assert page.state.raw.n == 120 and not [box for box in page.app.radio if box.label == "Your answer"]


def test_a_word_below_detection_is_mapped_to_the_number_that_is_suggested():
    page = TablePage()
    page.upload((CASES / "below_detection.csv").read_bytes(), "crp.csv")
    page.answer()
    ends = {"age": (0, 120), "hb": (3, 25), "crp": (0, 400)}
    lines = {
        name: dictionary_lines.DictionaryLine("number", *map(float, pair)) for name, pair in ends.items()
    }
    page.open_dictionary(dictionary_lines.write_template(lines).encode(), "template.csv")
    assert "'crp' holds no number in row 1" in page.errors
    page.press("Map these words")
    assert page.state.lines["crp"].synonyms == "<0.5 = 0.25; >200 = 200" and page.state.ready.n == 40
    assert page.state.ready.owner.dropped == 0


def test_a_dictionary_of_other_names_is_taken_without_a_question():
    named = Schema((*DICTIONARY.columns[1:], Column("Alter", "number", 0, 120, other_names=("age", "AGE"))))
    page = TablePage()
    page.upload()
    page.answer()
    page.open_dictionary(named)
    assert page.state.opened is None and page.state.chosen == ("weight", "pulse", "Alter")
    assert page.state.ready.schema.columns == named.columns and "Alter" in page.state.raw.columns
