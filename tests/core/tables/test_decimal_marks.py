"""Which mark is the decimal one follows from the file; a point that may mark thousands is never guessed."""

import pytest

from dppca_core import tables
from dppca_core.tables import Column, Schema, limits

SCHEMA = Schema((Column("x", "number", 0, 5000), Column("y", "number", -9, 99)))
UNCLEAR = "'x' holds no number in row {}, but a point that may mark thousands or decimals: write thousands"


def values(text: str, schema: Schema = SCHEMA) -> list[list[float]]:
    """Return both columns' numbers, the same from memory and from pieces."""
    raw = tables.read(text.encode(), "t")
    encoded = tables.encode(schema, raw.table, raw.decimal_comma)
    moment = tables.reduce_file(text.encode(), schema).cohort.pooled.dense()
    assert abs(moment[0, 0]) <= 1 and len(encoded.rows) == raw.n
    origins, halves = zip(*((column.origin, column.half) for column in schema.columns), strict=True)
    return (encoded.rows * halves + origins).round(9).tolist()


@pytest.mark.parametrize("separator", ";\t|")
@pytest.mark.parametrize(
    ("cells", "place"),
    [
        (("933;3,4", "1.012;3,5"), "2"),  # decimal commas elsewhere
        (("1.012;3,4", "2.050;7", "8;1"), "1 and 1 more"),
        (("933;3", "1.012;4"), "2"),  # nothing says which mark is the decimal one
        (("0.933;3,4", "1.012;3,5"), "2"),  # both are
        (("933;3", " -1.012 ;4"), "2"),
    ],
)
def test_a_point_that_may_mark_thousands_is_refused_with_what_to_do(separator, cells, place):
    text = "\n".join(("x;y", *cells, "")).replace(";", separator)
    raw = tables.read(text.encode(), "t")
    assert raw.decimal_comma and raw.kinds == {"x": "number", "y": "number"}
    for read in (
        lambda: tables.encode(SCHEMA, raw.table, raw.decimal_comma),
        lambda: tables.reduce_file(text.encode(), SCHEMA),
    ):
        with pytest.raises(ValueError, match=UNCLEAR.format(place)) as no:
            read()
        assert "012" not in str(no.value)
    only_y = Schema((Column("y", "number", -9, 99), Column("x", "category", categories=("a",), fill="")))
    assert len(tables.encode(only_y, raw.table, raw.decimal_comma).rows) == raw.n  # it is not read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x;y\n1,012;3,4\n2,5;1\n", [[1.012, 3.4], [2.5, 1]]),
        ("x;y\n1,012;3\n2;1\n", [[1.012, 3], [2, 1]]),  # as before, where nothing says otherwise
        ("x\ty\n1.012\t3.4\n2.5\t1\n", [[1.012, 3.4], [2.5, 1]]),  # a file of decimal points
        ('x;y\n1.012;"3.4"\r\n2.500;1\r\n', [[1.012, 3.4], [2.5, 1]]),
        ("x|y\n1.001|0.998\n0.5|1\n", [[1.001, 0.998], [0.5, 1]]),
        ("x;y\n1.012;1.5e1\n2;1\n", [[1.012, 15], [2, 1]]),
        # Three digits that can mark no thousands, in a file of decimal commas.
        ("x;y\n0.012;3,4\n1012.345;.125\n1.0125;1.5\n", [[0.012, 3.4], [1012.345, 0.125], [1.0125, 1.5]]),
        ("x,y\n1.012,3\n2,1\n", [[1.012, 3], [2, 1]]),
    ],
)
def test_a_clear_mark_is_read(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize("text", ['x,y\n"1,012",3.4\n2,1\n', "x\ty\n1,012\t3.4\n2\t1\n"])
def test_a_comma_among_decimal_points_is_no_number(text):
    with pytest.raises(ValueError, match="'x' holds no number in row 1, but text, or commas in a number"):
        values(text)


def test_a_cell_that_the_first_bytes_cut_short_tells_nothing(monkeypatch):
    text = "x;y\n" + "933;3\n" * 9 + "1.012;4\n" * 40
    assert tables.read(text.encode(), "t").decimal_comma
    for size in range(text.index("1.012") + 3, text.index("1.012") + 7):  # within "1.012", as in "1.01"
        monkeypatch.setattr(limits, "HEADER_BYTES", size)
        assert tables.read(text.encode(), "t").decimal_comma


def test_a_word_of_the_dictionary_is_compared_as_before():
    """A missing code that is such a number marks the cell, and categories are words."""
    text = "x;y;level\n933;3,4;1.012\n1.012;3,5;2\n"
    coded = Schema(
        (
            Column("x", "number", 0, 5000, missing_codes=("1.012",)),
            Column("level", "category", categories=("1.012", "2")),
        )
    )
    raw = tables.read(text.encode(), "t")
    encoded = tables.encode(coded, raw.table, raw.decimal_comma)
    assert encoded.kept.tolist() == [True, False] and encoded.rows[0, 1:].tolist() == [0.5, -0.5]


def test_the_key_of_a_table_does_not_depend_on_what_is_refused():
    unclear = tables.read(b"x;y\n933;3,4\n1.012;3,5\n", "t")
    assert unclear.key == tables.read(b"x,y\n933,3.4\n1.012,3.5\n", "t").key


def test_tables_of_several_hospitals_are_not_joined_over_it():
    """In the joined table, which has points, it would read as a decimal point."""
    german = tables.read(b"x;y\n933;3,4\n1.012;3,5\n", "t")
    british = tables.read(b"x,y\n933.5,3.4\n700,3.5\n", "t")
    same = {"x": "x", "y": "y"}
    with pytest.raises(ValueError, match="south's column 'x' has a point that may mark thousands") as no:
        tables.join([german, british], [same] * 2, ["south", "north"])
    assert "012" not in str(no.value)
    joined = tables.join([german, german], [same] * 2, ["south", "north"])
    with pytest.raises(ValueError, match=UNCLEAR.format("2 and 1 more")):
        tables.encode(SCHEMA, joined.table, joined.decimal_comma)
