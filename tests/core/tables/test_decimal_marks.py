"""A number is read where it has one reading only; a mark that may be of thousands is never guessed."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import tables
from dppca_core.tables import Column, Schema, cells
from dppca_core.tables.cells import EITHER, POINT, Marks

SCHEMA = Schema((Column("x", "number", 0, 5000), Column("y", "number", -9, 99)))
UNCLEAR = "'x' holds no number in row {}, but a mark of thousands or of decimals: say which"


def values(text: str, schema: Schema = SCHEMA) -> list[list[float]]:
    raw = tables.read(text.encode(), "t")
    encoded = tables.encode(schema, raw.table, raw.marks)
    origins, halves = zip(*((column.origin, column.half) for column in schema.columns), strict=True)
    return (encoded.rows * halves + origins).round(9).tolist()


def number(word: str, marks: Marks | None) -> float | None:
    read = cells.numbers(pa.array([word]), marks)
    return None if read.unread[0] else float(read.values[0])


@pytest.mark.parametrize(
    ("word", "clear", "point", "comma", "either"),
    [
        ("17", 17, 17, 17, 17),
        ("14,5", 14.5, None, 14.5, 14.5),
        ("14.5", 14.5, 14.5, None, 14.5),
        ("1.012", None, 1.012, 1012, 1.012),
        ("1,012", None, None, 1.012, 1.012),
        ("0.012", 0.012, 0.012, None, 0.012),
        ("1012.345", 1012.345, 1012.345, None, 1012.345),
        ("1.012,5", 1012.5, None, 1012.5, None),
        ("1,012.5", 1012.5, None, None, None),
        ("1.012.345", 1012345, None, 1012345, None),
        ("1.012e0", 1.012, 1.012, 1.012, 1.012),
        ("\u22123", -3, -3, -3, -3),
        ("\u22121,5", -1.5, None, -1.5, -1.5),
        ("1,00,000", None, None, None, None),
        ("12 345", None, None, None, None),
    ],
)
def test_a_word_has_one_reading_or_none(word, clear, point, comma, either):
    given = (None, POINT, Marks(",", "."), EITHER)
    assert [number(word, marks) for marks in given] == [clear, point, comma, either]


@pytest.mark.parametrize(("mark", "others"), [(" ", "\u00a0\u2009\u202f"), ("'", "\u2019")])
def test_a_mark_of_thousands_has_several_spellings(mark, others):
    for each in (mark, *others):
        assert number(f"-12{each}345.5", Marks(".", mark)) == -12345.5
        assert number(f"12{each}34", Marks(".", mark)) is None


@given(
    value=st.decimals(-(10**9), 10**9, places=3),
    marks=st.sampled_from([Marks(",", "."), Marks(".", ","), Marks(",", " "), Marks(".", "'"), POINT]),
)
def test_a_number_reads_by_its_marks_and_by_no_others(value, marks):
    written = f"{value:,}".replace(",", "g").replace(".", marks.decimal).replace("g", marks.group)
    assert number(written, marks) == float(value)
    clear = number(written, None)
    if marks.group != " " and marks.group != "'":
        assert clear in (None, float(value))


@given(
    words=st.lists(st.text("0123.,eE+-x \u2212_", max_size=6) | st.floats().map(repr), min_size=1, max_size=3)
)
def test_a_column_of_plain_numbers_reads_as_each_cell_alone(words):
    """Arrow reads it at once; a word among them has each cell read by itself."""
    among = cells.numbers(pa.array(["word", *words, "word"]))
    alone = cells.numbers(pa.array(words))
    for part, whole in zip(alone, among, strict=True):
        np.testing.assert_array_equal(part, whole[1:-1])


@pytest.mark.parametrize("separator", ";\t|")
@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (("933;3,4", "1.012;3,5"), "2"),  # decimal commas elsewhere
        (("1.012;3,4", "2.050;7", "8;1"), "1 and 1 more"),
        (("933;3", "1,012;4"), "2"),
        (("0.933;3,4", "1.012;3,5"), "2"),
        (("933;3", " -1.012 ;4"), "2"),
    ],
)
def test_a_mark_that_is_not_clear_is_asked_for(separator, lines, place):
    text = "\n".join(("x;y", *lines, "")).replace(";", separator)
    raw = tables.read(text.encode(), "t")
    assert raw.kinds == {"x": "number", "y": "number"}
    with pytest.raises(ValueError, match=UNCLEAR.format(place)) as no:
        tables.encode(SCHEMA, raw.table, raw.marks)
    assert "012" not in str(no.value)
    only_y = Schema((Column("y", "number", -9, 99), Column("x", "category", categories=("a",), fill="")))
    assert len(tables.encode(only_y, raw.table, raw.marks).rows) == raw.n  # it is not read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x;y\n1012,5;3,4\n2,5;1\n", [[1012.5, 3.4], [2.5, 1]]),
        ("x\ty\n1.5\t3.4\n2.5\t1\n", [[1.5, 3.4], [2.5, 1]]),
        ("x;y\n0.012;3,4\n1012.345;.125\n1.0125;1.5\n", [[0.012, 3.4], [1012.345, 0.125], [1.0125, 1.5]]),
        ("x,y\n1.012,3\n2,1\n", [[1.012, 3], [2, 1]]),  # a comma between cells leaves the point
    ],
)
def test_a_clear_mark_is_read(text, expected):
    assert values(text) == expected


def test_another_patient_s_cell_changes_no_reading():
    """Whatever the last row holds, each other row reads alike."""
    for separator in ",;\t":
        rows = []
        for last in ("1", "1,5", "1.5", "word", "1.012,5"):
            lines = ["x;y", "14.5;1", "0.25;2", "7;3", f'"{last}";4']
            raw = tables.read("\n".join(lines).replace(";", separator).encode(), "t")
            rows.append(cells.numbers(raw.table["x"], raw.marks).values[:3])
        np.testing.assert_array_equal(rows, [[14.5, 0.25, 7]] * 5)


def test_a_word_of_the_dictionary_is_compared_by_itself():
    """A missing code that is such a number marks the cell, and categories are words."""
    text = "x;y;level\n933;3,4;1.012\n1.012;3,5;2\n"
    coded = Schema(
        (
            Column("x", "number", 0, 5000, missing_codes=("1.012",)),
            Column("level", "category", categories=("1.012", "2")),
        )
    )
    raw = tables.read(text.encode(), "t")
    encoded = tables.encode(coded, raw.table, raw.marks)
    assert encoded.kept.tolist() == [True, False] and encoded.rows[0, 1:].tolist() == [0.5, -0.5]


def test_the_key_of_a_table_does_not_depend_on_what_is_refused():
    unclear = tables.read(b"x;y\n933;3,4\n1.012;3,5\n", "t")
    assert unclear.key == tables.read(b"x,y\n933,3.4\n1.012,3.5\n", "t").key


def test_tables_of_several_hospitals_are_not_joined_over_it():
    """In the joined table, which has points, it would read as a decimal point."""
    german = tables.read(b"x;y\n933;3,4\n1.012;3,5\n", "t")
    british = tables.read(b"x,y\n933.5,3.4\n700,3.5\n", "t")
    same = {"x": "x", "y": "y"}
    with pytest.raises(ValueError, match="south's column 'x' has a mark of thousands or of decimals") as no:
        tables.join([german, british], [same] * 2, ["south", "north"])
    assert "012" not in str(no.value)
    joined = tables.join([german, german], [same] * 2, ["south", "north"])
    with pytest.raises(ValueError, match=UNCLEAR.format("2 and 1 more")):
        tables.encode(SCHEMA, joined.table, joined.marks)
