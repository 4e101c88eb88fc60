"""Data quality on the owner's screen: counted once, mapped by hand, undone, and in nothing that is public."""

import json

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.tables import Column, Schema, dictionary_lines, quality
from dppca_core.tables.dictionary_lines import DictionaryLine
from pages.hospitals.your_data import dictionary, owner_only_document, quality_panel
from tests import hostile
from tests.pages.hospitals.your_data.table_page import CANARY, TablePage, csv, patients, prepared
from tests.pages.hospitals.your_data.test_several_tables import HospitalsPage

SCHEMA = Schema(
    (
        Column("age", "number", 0, 120),
        Column("weight", "number", 30, 200, fill=80.0),
        Column("sex", "category", categories=("female", "male"), fill=""),
    )
)
MESSY = {"<5": "missing", "999": "missing", "m": "male", "Female": "female", CANARY: "leave"}


def messy():
    """Return patients of whom every other cell of sex is "m", and some cells of weight are no number."""
    frame = patients().astype({"weight": object})
    frame.loc[3:5, "weight"], frame.loc[10:13, "weight"] = "<5", 999
    frame["sex"] = ["m", "Female "] * (len(frame) // 2)
    frame.loc[7, "sex"] = CANARY
    return frame


def words(page):
    return page.app.data_editor[1].value


def counted_on(page):
    return next(box.value for box in page.app.dataframe if "not read" in box.value).set_index("column")


def take(page, **taken):
    frame = words(page)
    edits = {i: {"take as": taken[cell]} for i, cell in enumerate(frame["cell"]) if cell in taken}
    page.app.session_state[page.app.data_editor[1].key] = {
        "edited_rows": edits,
        "added_rows": [],
        "deleted_rows": [],
    }
    page.run()
    page.press("Map these words")


def test_a_refused_table_is_mapped_on_the_spot_and_released_without_its_words(folder, capfd, caplog):
    caplog.set_level("DEBUG")
    page = prepared(csv(messy()), SCHEMA)
    assert "holds no number in row 4 and 2 more" in page.errors and "<5" not in page.errors
    assert owner_only_document.NOT_PRIVATE in page.markdown
    counts = counted_on(page)
    assert counts.loc["weight"].tolist() == ["", "3 (2.5 %)", "4 (3.3 %)"]
    assert counts.loc["sex"].tolist() == ["", "", "120 (100 %)"]
    assert dict(zip(words(page)["cell"], words(page)["take as"], strict=True)) == MESSY
    take(page, **{CANARY: "missing"})
    assert not page.errors and page.state.ready.owner.missing == (0, 7, 1)
    lines = page.state.lines
    assert (lines["weight"].codes, lines["weight"].synonyms) == ("999; <5", "")
    assert (lines["sex"].codes, lines["sex"].synonyms) == (CANARY, "m = male; Female = female")
    page.press("Set this limit")
    page.release()
    document = json.dumps(page.state.releases[0].result.document)
    disk = "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())
    logs = "".join(capfd.readouterr()) + caplog.text
    for public in (document, disk, logs, json.dumps(page.link), str(page.state.releases[0].what.request)):
        assert CANARY not in public and "missing codes" not in public and "synonyms" not in public
    assert json.loads(document)["public"]["dictionary"] == json.loads(SCHEMA.to_json())
    forgotten = {name: line.without_words for name, line in lines.items()}
    page.press("Undo the last mapping")
    assert page.state.lines["sex"].synonyms == "" and "holds no number in row 4" in page.errors
    take(page)
    page.press("Forget it")
    assert page.state.lines == forgotten and not page.state.quality and not page.state.editor_lines


def test_words_are_suggested_before_the_dictionary_is_complete():
    page = TablePage()
    page.upload(csv(messy()))
    page.answer()
    page.app.multiselect[0].set_value(["age", "weight"])
    page.run()
    assert list(words(page)["cell"]) == ["999", "<5"]
    take(page)
    assert page.state.lines["weight"] == DictionaryLine(codes="999", synonyms="<5 = 2.5")
    assert len(page.app.data_editor) == 1 and page.has_button("Undo the last mapping")


def test_a_word_becomes_a_category_of_its_own_column_only():
    page = prepared(csv(messy()), SCHEMA)
    take(page, **{"<5": "male"})
    assert "'male' is no category of 'weight'" in page.errors and page.state.lines["weight"].codes == ""


def test_cells_are_counted_once_for_each_line(monkeypatch):
    counted, check = [], quality_panel.check_column
    monkeypatch.setattr(
        quality_panel,
        "check_column",
        lambda *given, **more: counted.append(given[1]) or check(*given, **more),
    )
    page = prepared(csv(messy()), SCHEMA)
    assert len(counted) == 3
    page.type_line(high=99.0)
    assert len(counted) == 4 and counted[-1].high == 99
    page.upload(csv(patients()), "next.csv")
    page.answer()
    assert len(counted) == 7


@pytest.mark.parametrize("files", [False, True], ids=["a column", "a file each"])
def test_a_hospital_that_writes_a_column_in_another_unit_is_asked_about(files):
    """Names stay literal. Where all hospitals are outside, the dictionary is wrong and nothing is asked."""
    north, south = patients().assign(clinic="north"), patients(seed=1).assign(clinic="_south_")
    north.loc[0, "weight"], south["weight"] = 1, south["weight"] * 2.2 + 150  # pounds, of heavy patients
    north["pulse"], south["pulse"] = north["pulse"] + 1000, south["pulse"] + 1000
    page = HospitalsPage()
    page.upload(csv(north if files else pd.concat([north, south])))
    page.answer()
    page.open_dictionary()
    assert "by hospital" not in "".join(counted_on(page).columns) and "another unit" not in page.warnings
    if files:
        page.add(csv(south))
        page.answer()
    else:
        page.choose_hospitals()
    first, second = ("Hospital 1", "Hospital 2") if files else ("north", "_south_")
    asked = "Nearly all of {}'s weight is outside the range: another unit?"
    assert asked.format("Hospital 2" if files else "\\_south\\_") in page.warnings
    assert page.warnings.count("another unit?") == 1
    by_hospital = counted_on(page)["outside, by hospital"]
    assert by_hospital["weight"] == f"{second}: 120 of 120, {first}: 1 of 120"
    assert set(by_hospital["pulse"].split(", ")) == {f"{name}: 120 of 120" for name in (first, second)}


def test_a_formula_among_cells_is_not_offered():
    frame = patients()
    frame.loc[:4, "sex"], frame.loc[5:9, "sex"] = '=HYPERLINK("x")', "-"
    page = prepared(csv(frame), SCHEMA)
    assert "-" in list(words(page)["cell"]) and not words(page)["cell"].str.contains("HYPERLINK").any()


def check_hostile_words(case):
    """Map every word that is offered: nothing breaks, and the encoding counts what the panel counts."""
    rng = np.random.default_rng(case)
    cells = [hostile.utf8(hostile.word(rng))[:300] for _ in range(12)] + ["m", "9", "<5"]
    known = [hostile.utf8(hostile.word(rng))[:50] for _ in range(3)]
    line = DictionaryLine("category", categories=dictionary_lines.join_words(known), missing="none")
    line = line if case % 2 else DictionaryLine("number", 0.0, 10.0, missing="5")
    raw = tables.from_frame(pd.DataFrame({"c": cells, "d": 1.0}), "t")
    if hostile.answered(dictionary_lines.to_column, "c", line) is None:
        return
    offered = quality.check_column(raw.table["c"], dictionary.expected(line)).suggestions
    options = ["", *dictionary.expected(line).categories]
    words = [each.word for each in offered if quality_panel._can_be_mapped(("c", each))]
    mapped = dictionary.add_words(line, {word: options[rng.integers(len(options))] for word in words})
    checked = quality.check_column(raw.table["c"], dictionary.expected(mapped))
    assert not {each.word for each in checked.suggestions} & set(words)
    schema = Schema((dictionary_lines.to_column("c", mapped), Column("d", "number", 0, 2)))
    encoded = hostile.answered(tables.encode, schema, raw.table)
    assert (encoded is None) == bool(checked.unread)
    if encoded is not None:
        owner = encoded.owner
        assert (owner.missing[0], owner.outside[0]) == (checked.missing, checked.outside)
    assert Schema.from_json(schema.to_json()) == schema


def test_hostile_words_are_mapped():
    hostile.each(hostile.cases(150, 0.1), check_hostile_words)
