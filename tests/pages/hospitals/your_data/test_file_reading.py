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


def test_letters_that_make_no_sense_are_asked_about_and_the_former_table_stays():
    page = prepared()
    former = page.state.raw
    page.upload(csv(patients(seed=3).replace({"north": "Nörd"})).decode().encode("mac-roman"), "mac.csv")
    assert "in which alphabet" in page.warnings and page.state.raw is former
    answer(page, "mac-roman")
    assert "Nörd" in page.state.raw.table["clinic"].to_pylist()


def test_a_german_export_needs_no_answer_and_its_alphabet_can_be_changed():
    """With semicolons, decimal commas and umlauts in Windows-1252, in names too, as its dictionary."""
    rows = "".join(f"{40 + i};1{i % 7},5;{'männlich' if i % 2 else 'weiblich'}\r\n" for i in range(30))
    page = TablePage()
    page.upload(f"Alter;Größe;Geschlecht\r\n{rows}".encode("cp1252"), "export.csv")
    assert "The text was read as Windows-1252." in page.markdown and not page.warnings
    page.answer()
    lines = "Alter;number;0;120;\r\nGröße;number;0;30,5;\r\nGeschlecht;category;;;männlich, weiblich\r\n"
    page.open_dictionary(f"name;kind;lowest;highest;categories\r\n{lines}".encode("cp1252"), "d.csv")
    assert not page.errors and page.state.ready.n == 30 and page.state.ready.owner.outside == (0, 0, 0)
    box = next(box for box in page.app.radio if box.label == "Letters are of")
    box.set_value("windows-1250")
    page.run()
    assert "The text was read as Windows-1250." in page.markdown
    assert page.state.raw.columns == ("Alter", "Größe", "Geschlecht")  # the same letters in both
    page.press("Forget it")
    assert not page.state.guessed


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
    assert page.state.names_asked is None and page.state.chosen == ("weight", "pulse", "Alter")
    assert page.state.ready.schema.columns == named.columns and "Alter" in page.state.raw.columns
