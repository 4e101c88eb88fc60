"""Kinds of files that people bring: read with their right values, or asked about. The cases are invented."""

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_core import tables
from dppca_core.tables import Column, QuestionError, Schema, cells, limits
from tests.workbooks import ods, xlsb, xlsx

CASES = Path(__file__).parents[2] / "cases"
PLAIN = "age,hb,platelets\n50,14.5,174\n82,11.9,179\n32,14.4,273\n"
NUMBERS = {"age": [50, 82, 32], "hb": [14.5, 11.9, 14.4], "platelets": [174, 179, 273]}


def numbers(raw: tables.Raw) -> dict[str, list[float]]:
    return {name: cells.numbers(raw.table[name], raw.marks).values.tolist() for name in raw.columns}


def answered(data: bytes, *answers: str) -> tables.Raw:
    """Return the table, with these answers to the questions that it raises, in turn."""
    given: dict[str, str] = {}
    for answer in answers:
        with pytest.raises(QuestionError) as asked:
            tables.read(data, "t", given)
        assert answer in asked.value.options
        given[asked.value.key] = answer
    return tables.read(data, "t", given)


def case(name: str) -> bytes:
    return (CASES / f"{name}.csv").read_bytes()


def by_hand(name: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(case(name).decode("utf-8-sig").splitlines(), delimiter=separator))


def test_german_thousands_are_asked_about():
    raw = tables.read(case("german_thousands_mixed"), "t")
    schema = Schema((Column("age", "number", 0, 120), Column("ferritin", "number", 0, 5000)))
    with pytest.raises(ValueError, match=r"'ferritin' .* a mark of thousands or of decimals: say which"):
        tables.encode(schema, raw.table, raw.marks)
    read_as = cells.numbers(raw.table["ferritin"], cells.Marks(",", "."))
    rows = by_hand("german_thousands_mixed", ";")[1:]
    assert read_as.values.tolist() == [float(row[2].replace(".", "")) for row in rows]
    assert numbers(raw)["hb"] == [float(row[1].replace(",", ".")) for row in rows]


def test_blank_lines_are_no_patients():
    raw = tables.read(case("blank_lines_at_end"), "t")
    assert (raw.n, raw.blank.sum(), raw.blank[:200].sum()) == (200, 2000, 0)


def test_a_word_below_detection_is_a_word():
    raw = tables.read(case("below_detection"), "t")
    read_as = cells.numbers(raw.table["crp"], raw.marks)
    rows = by_hand("below_detection")[1:]
    assert raw.kinds["crp"] == "number" and read_as.unread.tolist() == [row[2][0] in "<>" for row in rows]


def test_quoted_decimal_commas_of_a_comma_file_read_by_their_marks():
    raw = tables.read(case("comma_decimal_quoted"), "t")
    points, commas = (cells.numbers(raw.table[name], marks) for name, marks in (
        ("height_dot", raw.marks), ("height_comma", cells.Marks(",")),
    ))  # fmt: skip
    assert points.values.tolist() == commas.values.tolist() and not points.unread.any()
    assert cells.numbers(raw.table["height_comma"], raw.marks).unread.all()


def test_the_minus_of_typesetting_is_minus():
    raw = tables.read(case("unicode_minus"), "t")
    rows = by_hand("unicode_minus")[1:]
    assert numbers(raw)["base_excess"] == [float(row[2].replace("\u2212", "-")) for row in rows]
    assert min(numbers(raw)["base_excess"]) < 0


def test_repeating_instruments_are_one_row_each():
    raw = tables.read(case("redcap_repeating"), "t")
    assert raw.n == 120 and numbers(raw)["record_id"] == [i for i in range(1, 41) for _ in range(3)]


def test_excel_s_separator_line_is_skipped():
    raw = tables.read(case("excel_sep_line"), "t")
    assert raw.columns == ("age", "hb", "platelets") and raw.n == 40
    assert numbers(raw)["hb"][:2] == [14.5, 11.9]


@pytest.mark.parametrize("answer", ["leave out", "keep"])
def test_a_line_of_units_is_asked_about(answer):
    raw = answered(case("units_line"), answer)
    assert raw.n == (40 if answer == "leave out" else 41)
    assert (cells.numbers(raw.table["hb"], raw.marks).unread.sum() == 0) == (answer == "leave out")


def test_r_s_shorter_header_has_no_name_for_row_numbers():
    raw = tables.read(case("r_rownames_shorter_header"), "t")
    assert raw.unnamed == (1,) and raw.columns == ("age", "hb", "platelets") and raw.n == 40
    assert numbers(raw)["platelets"][:3] == [174, 179, 273]


def test_a_cell_is_named_and_not_quoted():
    raw = tables.read(case("text_in_one_cell"), "t")
    words = np.flatnonzero(cells.numbers(raw.table["id_note"], raw.marks).unread)
    schema = Schema(tuple(Column(name, "number", 0, 999) for name in raw.columns))
    with pytest.raises(ValueError, match=f"'id_note' holds no number in row {words[0] + 1}, ") as no:
        tables.encode(schema, raw.table, raw.marks)
    assert raw.table["id_note"][int(words[0])].as_py() not in str(no.value)


@settings(max_examples=60)
@given(
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    stated=st.booleans(),
    titles=st.integers(0, 2),
    units=st.booleans(),
    totals=st.booleans(),
    blanks=st.integers(0, 3),
    trailing=st.booleans(),
    quoted=st.booleans(),
)
def test_a_table_is_one_table_whatever_stands_around_it(
    separator, end, encoding, stated, titles, units, totals, blanks, trailing, quoted
):
    lines = [line.split(",") for line in PLAIN.splitlines()]
    lines[1:1] = [["years", "g/dL", "10^9/L"]] * units
    lines += [["", "", ""]] * blanks + [["Total", "", "626"]] * totals
    if quoted:
        lines = [[f'"{cell}"' for cell in line] for line in lines]
    if trailing:
        lines = [[*line, ""] for line in lines]
    text = [f"sep={separator}"] * stated + ["Ward 3: export of May"] * titles
    text += [separator.join(line) for line in lines]
    data = (end.join(text) + end).encode(encoding)
    raw = answered(data, *["leave out"] * (units + totals))
    assert numbers(raw) == NUMBERS
    assert raw.blank.sum() == blanks and len(raw.notes) == (titles > 0) + units + totals


def test_a_title_that_is_cut_by_a_separator_is_asked_about():
    data = ("Ward 3, export of May\n\n" + PLAIN).encode()
    assert numbers(answered(data, "3")) == NUMBERS
    assert answered(("a, b, c, d, e\n" + PLAIN).encode(), "2").notes == (
        "1 line above the names is left out.",
    )


def test_columns_that_blanks_separate():
    data = b" age   hb platelets\n  50 14.5       174\n   82 11.9  179\n 32  14.4 273\n"
    assert numbers(tables.read(data, "t.dat")) == NUMBERS


def test_rows_with_one_more_separator_than_the_names():
    data = PLAIN.replace("\n", ",\n").replace("platelets,", "platelets").encode()
    raw = tables.read(data, "t")
    assert numbers(raw) == NUMBERS and raw.unnamed == (4,)


def test_a_file_without_names_can_be_read():
    data = PLAIN.split("\n", 1)[1].encode()
    raw = answered(data, "none")
    assert list(numbers(raw).values()) == list(NUMBERS.values())
    assert raw.columns == ("column 1", "column 2", "column 3")
    with pytest.raises(QuestionError, match=r"numbers \(column 1, 2, 3\)") as asked:
        tables.read(data, "t")
    assert not any(cell in str((asked.value, asked.value.options)) for cell in ("14.5", "174"))


def test_names_that_are_years_can_be_confirmed():
    raw = answered(b"id,2019,2020\na,1,2\nb,3,4\n", "1")
    assert raw.columns == ("id", "2019", "2020") and raw.n == 2


def test_notes_below_the_patients_can_be_kept_as_patients():
    data = (PLAIN + "Source: ward 3,,\n").encode()
    assert answered(data, "keep").n == 4
    assert answered(data, "leave out").n == 3


def test_line_breaks_in_a_cell_that_nobody_uses_are_read():
    data = b'age,note,hb\n50,"came by foot\nand left",14\n82,,11\n'
    raw = tables.read(data, "t")
    assert raw.n == 2 and numbers(raw)["hb"] == [14, 11]
    assert raw.notes == ("Column 2 has line breaks within 1 of its cells.",)
    spread = b'age,note,hb\n50,"pain, mild,\nfever",14\n82,,11\n'
    assert answered(spread, "keep").n == 2


def test_a_file_that_is_too_large_says_what_to_do(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 2**20)
    rows = [["a", "b"], *([i, i] for i in range(60_000))]
    packed = io.BytesIO()
    zeros = pa.table({"a": np.arange(2**17) * 1.0, "b": np.zeros(2**17)})
    pa.parquet.write_table(zeros, packed, compression="zstd", use_dictionary=False)
    for data in (b"a,b\n" + b"1,2\n" * 2**18, xlsx({"S": rows}), packed.getvalue()):
        with pytest.raises(ValueError, match=r"MB unpacked, .* save only the columns that you need"):
            tables.read(data, "t")


def test_what_a_frame_was_saved_as_does_not_matter():
    frame = pd.DataFrame(NUMBERS)
    rows = [list(frame), *frame.to_numpy().tolist()]
    for data in (
        frame.to_csv(index=False).encode(),
        xlsx({"Data": rows}),
        xlsb(rows),
        ods({"Data": rows}),
        frame.to_csv(index=False, sep="\t").encode(),
    ):
        assert tables.read(data, "t").key == tables.from_frame(frame, "t").key
