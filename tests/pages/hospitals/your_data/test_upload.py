"""The table and its dictionary on the screen: refused in one sentence, and nothing typed is lost."""

import pytest

from dppca_core import tables
from dppca_core.tables import Column, Schema, dictionary_lines
from dppca_core.tables.dictionary_lines import DictionaryLine
from pages.hospitals.your_data import dictionary, upload_panel, upload_text
from pages.hospitals.your_data.planned_table import PlannedTable
from pages.shared.background import memory
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    OTHER_TABLE,
    TablePage,
    csv,
    patients,
    prepared,
)

BAD = b'"![x](y)",age\na,1\nb,2,3\n'


def test_a_bad_table_loses_nothing():
    page = prepared()
    page.type_line(high=99.0)
    typed, ready = dict(page.state.lines), [box.value for box in page.app.success]
    assert typed["age"].high == 99.0
    assert ready == ["**Ready:** 120 patients in one place, 3 measurements."]
    page.upload(BAD)
    assert "cells as the names" in page.errors and "\n" not in page.errors
    assert page.errors.endswith(upload_text.FORMER_STAYS)
    assert page.state.lines == typed and [box.value for box in page.app.success] == ready
    page.upload(OTHER_TABLE, "next.csv")
    assert not page.errors and page.state.lines == typed
    assert page.state.chosen == ("age", "weight", "pulse")


def test_a_table_without_room_is_refused_before_it_is_read(monkeypatch):
    page = prepared()
    kept = page.state.raw
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    monkeypatch.setattr(tables, "read", None)
    page.upload(OTHER_TABLE, "large.csv")
    assert "the server has 0 MB left for tables: try again once other visitors have finished" in page.errors
    assert page.errors.endswith(upload_text.FORMER_STAYS) and page.state.raw is kept
    assert "Up to 200 MB, unpacked." in page.captions
    assert "forgotten when you say so, or 2 minutes after the page is closed" in page.captions


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (DictionaryLine("number", 0.0, None), "'age' needs its lowest and its highest value"),
        (DictionaryLine("number", 0.0, 120.0, "", "many"), "what is filled into 'age' must be a number"),
        (DictionaryLine("category", None, None, "a, b, a"), "must differ from each other"),
    ],
)
def test_what_cannot_be_typed_is_refused(line, error):
    with pytest.raises(ValueError, match=error):
        dictionary_lines.to_column("age", line)


def test_what_cannot_be_typed_is_one_sentence():
    page = prepared()
    page.type_line(low=130.0)
    assert "Low of 'age' must be below its high" in page.errors and "\n" not in page.errors


def test_nothing_is_filled_in_from_the_rows():
    page = TablePage()
    page.upload()
    page.answer()
    page.app.multiselect[0].set_value(["age", "sex"])
    page.run()
    lines = page.state.lines
    assert lines["age"] == DictionaryLine() and lines["sex"] == DictionaryLine("category")
    assert dictionary.proposed_line("weight_kg", "number") == DictionaryLine(unit="kg")
    assert dictionary.proposed_line("Geschlecht", "number") == DictionaryLine("category")
    assert upload_text.incomplete(["age", "sex"]) in page.notices


def test_what_is_no_dictionary_is_refused():
    page = TablePage()
    page.upload()
    page.answer()
    page.open_dictionary(b"[1]")
    assert "must be JSON" in page.errors and not page.state.chosen
    page.app.multiselect[0].set_value(["age"])
    page.run()
    assert "must be JSON" in page.errors  # as long as the file stands there
    page.open_dictionary()
    assert "must be JSON" not in page.errors and page.state.chosen == DICTIONARY.features


def test_a_column_called_none_names_the_hospitals():
    frame = patients().rename(columns={"clinic": "none"})
    page = prepared(csv(frame))
    box = next(box for box in page.app.selectbox if box.label.startswith("Column that names the hospital"))
    box.set_value(len(box.options) - 1)
    page.run()
    assert page.state.hospital_column == frame.columns[-1] == "none"
    page.app.multiselect[0].set_value(["age", "weight"])
    page.run()
    assert page.state.hospital_column == "none"


def test_columns_that_the_table_or_the_dictionary_lacks_are_left_out_and_named():
    """And the bound with them: it was of all columns."""
    page = prepared(dictionary=Schema(DICTIONARY.columns, bound=2.0))
    assert page.state.bound == 2.0 and page.state.folded
    more = Schema((*DICTIONARY.columns, Column("height", "number", 100, 220)), bound=2.0)
    page.open_dictionary(more, "more.json")
    assert page.state.chosen == ("age", "weight", "pulse") and page.state.bound is None
    assert "Not in this table: height." in [fold.label for fold in page.app.expander]
    page.open_dictionary(b"name,kind,lowest,highest\nage,number,0,120\nweight,number\npulse,number,30,220\n")
    assert page.state.chosen == ("age", "pulse") and page.state.ready is not None and page.state.folded
    assert "Left out, as no range is stated: weight." in page.captions
    page.app.multiselect[0].set_value(["age", "pulse", "weight"])
    page.run()
    assert "Left out" not in page.captions and not page.state.folded
    assert upload_text.left_out(["a", "b", "c", "d"]).endswith(": a, b, c and 1 more.")


def test_a_dictionary_may_come_before_the_table():
    page = TablePage()
    page.open_dictionary()
    page.upload()
    page.answer()
    assert page.state.chosen == DICTIONARY.features and page.state.ready.n == 120
    page.type_line(high=99.0)
    page.upload(OTHER_TABLE, "next.csv")  # what was typed since is not undone by the file that stands there
    assert page.state.lines["age"].high == 99.0


def test_a_dictionary_that_came_before_an_unfit_table_is_refused_for_that_table():
    page = TablePage()
    page.open_dictionary()
    page.upload(b"a,b\n1,2\n3,4\n", "short.csv")
    assert page.state.names_asked is not None and not page.state.chosen
    page.upload()
    page.answer()
    assert page.state.chosen == DICTIONARY.features and not page.errors


def test_a_plan_is_public_numbers_alone(monkeypatch):
    """A dictionary and a number of patients, before any table is there."""
    shown, show = [], upload_panel.show
    monkeypatch.setattr(upload_panel, "show", lambda layout: shown.append(show(layout)) or shown[-1])
    page = TablePage(**{"own.N": "4"})
    page.open_dictionary()
    assert shown[-1] is None and page.rows_question.value is None
    page.answer_rows("named")
    assert not [box for box in page.app.selectbox if box.label.startswith("Column that names")]
    page.app.number_input(key="own planned").set_value(1002)
    page.run()
    assert shown[-1] == PlannedTable(DICTIONARY, (251, 251, 250, 250), averaged=True)
    assert upload_text.planned(shown[-1], 1) in page.everything and not page.has_button("Release")
    page.app.number_input(key="own planned").set_value(3)
    page.run()
    assert shown[-1] is None and "4 hospitals need at least one patient each" in page.errors
    page.upload()
    assert page.rows_question.value is None  # it was said of a plan
    page.answer()
    assert page.state.ready.n == 120
    page.press("Forget it")
    assert shown[-1] is None and page.state.dictionary is None


def test_a_name_that_is_a_formula_is_none_in_what_a_list_downloads():
    formula, harmless = '=HYPERLINK("x")', '\'=HYPERLINK("x")'
    renamed = Schema((Column(formula, "number", 0, 120, fill=60.0), *DICTIONARY.columns[1:]))
    page = prepared(csv(patients().rename(columns={"age": formula})), renamed)
    assert page.state.chosen[0] == formula and page.state.lines[formula].high == 120
    page.press("Set this limit")
    page.release()
    shown = [frame.value for frame in (*page.app.dataframe, *page.app.get("arrow_data_frame"))]
    cells = [str(cell) for frame in shown for cell in frame.to_numpy().ravel()]
    assert harmless in cells and formula not in cells
    assert page.app.data_editor[0].value["column"][0] == harmless


def test_a_point_that_may_mark_thousands_is_refused_where_its_column_is_chosen():
    """As a German laboratory writes it, beside decimal commas: it was read as 1.012, silently."""
    rows = "".join(f"{40 + i};1{i},5;{933 + i if i % 2 else f'1.{i:03d}'}\n" for i in range(10))
    columns = (Column("age", "number", 0, 120), Column("hb", "number", 0, 30))
    page = prepared(f"age;hb;ferritin\n{rows}".encode(), Schema(columns))
    assert not page.errors and page.state.ready.n == 10
    page.open_dictionary(Schema((*columns, Column("ferritin", "number", 0, 5000))), "more.json")
    assert page.errors == (
        "Column 'ferritin' holds no number in row 1 and 4 more, but a mark of thousands or of "
        "decimals: say which under 'numbers as' in the dictionary."
    )
