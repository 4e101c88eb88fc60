"""Reading a table: what comes out of a good one, and one sentence without a cell for each bad one."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import tables
from dppca_core.tables import cells, export, limits
from dppca_core.tables.read import ENCODINGS, WESTERN, QuestionError

CANARY, NUMBER = "Xcanary7", "8675309.25"
GOOD = b"age,sex,weight\n63,F,70.5\n41,M,\n55,F,81\n"


def parquet(table: pa.Table, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def values(raw: tables.Raw) -> dict:
    """Return each column's cells, as numbers where all can be read as one, and None where missing."""
    result = {}
    for name in raw.columns:
        column = raw.table[name]
        read = cells.numbers(column, raw.marks)
        texts = cells.texts(column.combine_chunks()) if read.unread.any() else None
        words = read.values.tolist() if texts is None else texts.to_pylist()
        result[name] = [None if gone else word for word, gone in zip(words, read.missing, strict=True)]
    return result


EXPECTED = {"age": [63.0, 41.0, 55.0], "sex": ["F", "M", "F"], "weight": [70.5, None, 81.0]}


FORMS = {
    "csv": GOOD,
    "crlf": GOOD.replace(b"\n", b"\r\n"),
    "tsv": GOOD.replace(b",", b"\t"),
    "decimal commas": GOOD.replace(b",", b";").replace(b".", b","),
    "bars": GOOD.replace(b",", b"|"),
    "mark": GOOD.decode().encode("utf-8-sig"),
    "utf-16": GOOD.decode().encode("utf-16"),
    "quoted": GOOD.replace(b"F", b'" F "').replace(b"age", b'"age"'),
    "NA": GOOD.replace(b"41,M,", b"41,M,NA"),
    "inf": GOOD.replace(b"41,M,", b"41,M,-inf"),
    "blank lines": GOOD.replace(b"63", b"6.3e1") + b"\n\n",
    "parquet": parquet(pa.table(EXPECTED)),
    "categories": parquet(
        pa.Table.from_pandas(pd.DataFrame(EXPECTED).astype({"age": "int16", "sex": "category"}))
    ),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_one_table_in_many_forms(data):
    raw = tables.read(data, "ours")
    assert values(raw) == EXPECTED
    assert raw.kinds == {"age": "number", "sex": "text", "weight": "number"}
    assert raw.key == tables.read(GOOD, "other").key


def test_letters_come_as_they_are_or_not_at_all():
    data = "name,x\nMüller,1\nÅse,2\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert values(tables.read(data.encode(encoding), "t"))["name"] == ["Müller", "Åse"]
    raw = tables.read(data.encode("latin-1"), "t")
    assert values(raw)["name"] == ["Müller", "Åse"] and raw.guessed
    assert raw.notes == ("The text was read as Windows-1252.",)
    for encoding in ENCODINGS:
        raw = tables.read(data.encode(encoding, "replace"), "t", {"encoding": encoding})
        assert values(raw)["name"][0] == "Müller" and encoding.title() in raw.notes[0] and not raw.guessed


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("Größe Ärztin 5\xa0µg 37°C m² 20–30 € „gut“ Œdème l’âge sœur année 10³", None),
        ("niño útero coração føde Ångström", None),
        ("męska mały kobieta żona", "windows-1250"),
        ("žena muž příjem", "windows-1250"),
        ("männlich", "mac-roman"),
        ("Groß", "mac-roman"),
        ("Ärzte", "mac-roman"),
        ("femme âgée", "mac-roman"),
        ("año", "mac-roman"),
        ("männlich é", "utf-8"),
    ],
)
def test_an_alphabet_is_asked_for_only_where_windows_1252_would_put_signs_for_letters(words, encoding):
    lines = [f"{word};{i}" for i, word in enumerate(words.split(" "))]
    data = "\n".join(["wort;x", *lines, "a;1", "b;2", ""]).encode(encoding or "windows-1252")
    if encoding is None:
        assert values(tables.read(data, "t"))["wort"][: len(lines)] == words.split(" ")
        return
    with pytest.raises(QuestionError, match=r"not in UTF-8 \(line \d+\)") as asked:
        tables.read(data + b"\xe4;3\n" * (encoding == "utf-8"), "t")
    assert asked.value.key == "encoding" and set(asked.value.options) == set(ENCODINGS)


def test_no_patients_letters_change_how_those_of_others_are_read():
    """A neighbour's letters may raise a question, and never another alphabet without one."""
    ours = "sex;x\nmännlich;1\nweiblich;2\n".encode(WESTERN)
    asked = 0
    for other in ("mał", "muž", "mèn"):
        for encoding in ENCODINGS:
            data = ours + f"{other};3\n".encode(encoding, "replace")
            try:
                assert values(tables.read(data, "t"))["sex"][0] == "männlich"
            except QuestionError:
                asked += 1
    assert 0 < asked < 9


def test_dates_constants_and_row_numbers_are_told():
    raw = tables.read(b",visit,born,same\n0,2020-01-31,3.5.1961,1\n1,2021-12-01,12.11.1950,1\n", "t")
    assert raw.kinds == {"visit": "date", "born": "date", "same": "number"}
    assert raw.constant == ("same",)
    assert raw.unnamed == (1,)


def test_a_table_prints_without_its_cells():
    raw = tables.read(f"a,b\n{CANARY},1\nx,2\n".encode(), "t")
    encoded = tables.encode(
        tables.Schema(
            (tables.Column("a", "category", categories=("x",)), tables.Column("b", "number", 0, 9))
        ),
        raw.table,
    )
    assert CANARY not in f"{raw!r} {raw} {encoded!r} {encoded.owner!r}"


def row(*cells: object) -> bytes:
    return ",".join(map(str, cells)).encode() + b"\n"


SECRET = row(CANARY, NUMBER, 3)
HEAD = b"a,b,c\n"
LATIN = pa.array([f"{CANARY}\xfc".encode("latin-1")] * 2).view(pa.string())
NESTED = pa.table({"a": [1.0, 2.0], "b": [[CANARY], [CANARY]]})
BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "header only": (HEAD, "no rows"),
    "header only, not ended": (HEAD.strip(), "no rows"),
    "name that turns the line": ("a\u202e,b,c\n".encode() + SECRET * 2, "column 1 .* cannot be printed"),
    "one row": (HEAD + SECRET, "one row"),
    "one column": (f"a\n{CANARY}\n{NUMBER}\n".encode(), "one named column"),
    "short row": (HEAD + SECRET + row(CANARY, 2) + SECRET, r"Row 3 .* \(2, not 3\)"),
    "long row": (HEAD + SECRET + row(CANARY, 2, 3, NUMBER), r"Row 3 .* \(4, not 3\)"),
    "open quote": (HEAD + row(f'"{CANARY}', 2, 3) + SECRET * 3, "quotation mark"),
    "open quotes": (HEAD + row(1, 2, f'"{CANARY}') + row(f'{NUMBER}"', 2, 3) + SECRET, "quotation mark"),
    "a patient in quotes": (HEAD + row(1, f'"{CANARY}', 2) + row(1, f'{NUMBER}"', 2) + SECRET, "separators"),
    "open quote in the names": (b'a,"b,c\n' + SECRET * 3, "quotation mark"),
    "too many columns": (row(*(f"c{i}" for i in range(50_000))) + SECRET, "50,000 columns"),
    "endless line": (CANARY.encode() * 140_000 + b"," + SECRET, "first line"),
    "another alphabet": (HEAD + b"ma\xb3y,1,2\n" + SECRET, "not in UTF-8"),
    "zero bytes": (HEAD + SECRET + b"\0\0,1,2\n", "zero bytes"),
    "utf-16 without mark": ((HEAD + SECRET).decode().encode("utf-16-le"), "zero bytes"),
    "cut utf-16": (GOOD.decode().encode("utf-16")[:-1], "not in UTF-16"),
    "zip": (b"PK\x03\x04" + SECRET, "workbook cannot be read"),
    "gzip": (b"\x1f\x8b" + SECRET, "compressed"),
    "old Excel": (b"\xd0\xcf\x11\xe0" + SECRET, "workbook cannot be read"),
    "web page": (b"\n<HTML><table><tr><td>" + SECRET, "web page, whatever its name says: open it"),
    "old XML": (b"<?xml version='1.0'?><Workbook>" + SECRET, "XML: open it"),
    "JSON": (b'[{"a": "' + SECRET, "JSON: save it as CSV"),
    "duplicate names": (b"a,b,a\n" + SECRET * 2, "Columns 1 and 3 have the same name"),
    "no names": (SECRET * 3, r"numbers \(column 2, 3\).* which line"),
    "nested": (parquet(NESTED), "'b' holds lists or records"),
    "bytes": (parquet(pa.table({"a": [1.0, 2.0], "b": [b"x", CANARY.encode()]})), "'b' holds bytes"),
    "latin-1 in Parquet": (parquet(pa.table({"a": [1.0, 2.0], "b": LATIN})), "'b' holds text .* UTF-8"),
    "latin-1 in Parquet's names": (
        parquet(pa.table({"a": [1.0, 2.0], "bbbb": [3, 4]})).replace(b"bbbb", b"M\xfcll"),
        "complete, and its names in UTF-8",
    ),
    "cut Parquet": (parquet(pa.table({"a": [CANARY] * 9, "b": [1] * 9}))[:-30], "complete"),
    "broken Parquet": (
        (whole := parquet(pa.table({"a": [CANARY] * 999, "b": range(999)}), compression="none"))[:4]
        + b"\xff" * 300 + whole[304:],
        "complete",
    ),
    "one row in Parquet": (parquet(pa.table({"a": [CANARY], "b": [1]})), "one row"),
    "no rows in Parquet": (parquet(pa.table({"a": [1.0], "b": [1]}).slice(1)), "no rows"),
}  # fmt: skip


def refusal(call) -> ValueError:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # each caller looks at the words
        call()
    return caught.value


def is_one_quiet_sentence(error: ValueError) -> None:
    assert type(error) in (ValueError, QuestionError)  # Arrow's own quote cells, and are ValueErrors too
    assert error.__cause__ is None
    assert error.__context__ is None
    assert CANARY not in str(error)
    assert NUMBER not in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 250
    assert str(error).count(". ") == 0


@pytest.mark.parametrize(("data", "words"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_gets_one_sentence_without_a_cell(data, words):
    error = refusal(lambda: tables.read(data, "t.csv"))
    is_one_quiet_sentence(error)
    assert re.search(words, str(error))


@pytest.mark.parametrize("data", [GOOD, parquet(pa.table(EXPECTED))], ids=["csv", "parquet"])
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MOST_BYTES", 10, "MB"),
        ("MOST_ROWS", 2, "more than 2 rows"),
        ("MOST_CELLS", 8, "more than 8 cells"),
        ("MOST_COLUMNS", 2, "3 columns, and at most 2"),
    ],
)
def test_limits(monkeypatch, data, name, value, words):
    monkeypatch.setattr(limits, name, value)
    with pytest.raises(ValueError, match=words):
        tables.read(data, "t")


@pytest.mark.parametrize("data", [GOOD, parquet(pa.table(EXPECTED))], ids=["csv", "parquet"])
def test_a_file_and_a_path_read_like_bytes_and_stay_as_they_are(tmp_path, data):
    path = tmp_path / "t"
    path.write_bytes(data)
    file = io.BytesIO(data)
    for source in (path, file, file):  # a page reads what was uploaded once more at each run
        assert values(tables.read(source, "t")) == EXPECTED
    assert not file.closed
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == data


def test_a_data_frame_is_a_table():
    frame = pd.DataFrame({"age": [63, 41, 55], "sex": ["F", "M", "F"], "weight": [70.5, np.nan, 81.0]})
    assert values(tables.from_frame(frame, "t")) == EXPECTED
    mixed = pd.DataFrame({"a": [1, CANARY], "b": [2.0, np.inf]})
    assert values(tables.from_frame(mixed, "t")) == {"a": ["1", CANARY], "b": [2.0, None]}
    is_one_quiet_sentence(
        refusal(lambda: tables.from_frame(pd.DataFrame({"a": [[CANARY]] * 2, "b": 1}), "t"))
    )
    halves = pd.DataFrame({"a": [f"{CANARY}\ud800"] * 2, "b": 1}, dtype=object)
    is_one_quiet_sentence(half := refusal(lambda: tables.from_frame(halves, "t")))
    assert "'a' holds text that is not in UTF-8" in str(half)


def test_exports_hold_no_formula():
    frame = pd.DataFrame({"=name": ['=HYPERLINK("x")', " +1", "@a", "\tb", "plain"], "x": [-1.5, 2, 3, 4, 5]})
    back = pd.read_csv(io.StringIO(tables.safe_csv(frame)))
    assert list(back) == ["'=name", "x"]
    assert list(back["'=name"]) == ['\'=HYPERLINK("x")', "' +1", "'@a", "'\tb", "plain"]
    assert list(back["x"]) == list(frame["x"])


@pytest.mark.parametrize("delimiter", ",;\t|")
def test_exports_hold_no_formula_for_any_reader(delimiter):
    """A spreadsheet of German settings splits at semicolons, in the middle of what is quoted for commas."""
    names = ["a;=1+1", "b\t=1", 'c;"=1', "d; +1", "e|@x", "f\n=1", "g"]
    frame = pd.DataFrame([["x;=2+2", 'y";-2', "z\r\n=2", 1.5, "t\t=1;＝2", -2, True]], columns=names)
    written = tables.safe_csv(frame)
    cells = [
        cell for row in csv.reader(io.StringIO(written, newline=""), delimiter=delimiter) for cell in row
    ]
    assert not [cell for cell in cells if cell.strip(' "')[:1] in (*"=+@-＝", "") and cell not in ("-2", "")]
    if delimiter == ",":
        assert cells[0] == "a;'=1+1" and cells[7:] == [
            *("x;'=2+2", "y\";'-2", "z\r\n'=2", "1.5", "t\t'=1;'＝2", "-2", "True")
        ]


def test_a_cell_of_a_list_is_safe_however_it_is_cut():
    """The list's own download quotes nothing."""
    assert [tables.safe_cell(cell) for cell in ("a;=1+1", "=1|@2", 'a;"-1', "a b", 1.5)] == [
        *("a;'=1+1", "'=1|'@2", "a;\"'-1", "a b", 1.5)
    ]


def test_exports_quote_texts_and_no_numbers():
    frame = pd.DataFrame({"name": ["plain", None], "x": [1.5, np.nan], "count": [2, 3]})
    assert tables.safe_csv(frame) == '"name","x","count"\n"plain",1.5,2\n"","",3\n'


@pytest.mark.parametrize(
    ("before", "start"),
    [
        *(("", start) for start in "=+-@＝﹢"),
        *((before, "=") for before in (" ", "\u00a0", "\ufeff", "\u200b", "\x0b", "\t", "\r")),
        ("\u202e \u3000", "＝"),
    ],
)
def test_a_formula_behind_blanks_is_no_formula(before, start):
    cell = f"{before}{start}1+1"
    assert export.neutral(cell) == "'" + cell
    assert export.neutral(f"\u00a0a{start}1") == f"\u00a0a{start}1"


CELLS = st.one_of(
    st.floats().map(repr),
    st.integers().map(str),
    st.sampled_from(["", "NA", "true", "1,5", "2020-01-01", "=1", '"', "é"]),
    st.text(max_size=6),
)
SCHEMA = tables.Schema(
    (
        tables.Column("a", "number", -2.0, 3.0, fill=0.5),
        tables.Column("b", "number", 0.0, 1e300),
        tables.Column("c", "category", categories=("x", "1", "=1"), fill=""),
    )
)


FIGURES = st.one_of(
    st.floats().map(repr), st.integers().map(str), st.sampled_from(["", " na ", "true", ".5"])
)
WORDS = st.text("x1=. é-", max_size=3)


@given(
    rows=st.lists(st.tuples(FIGURES, FIGURES, WORDS), min_size=2, max_size=5)
    | st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    quoted=st.booleans(),
    cut=st.integers(0, 3),
)
def test_any_text_is_a_table_or_a_sentence(rows, delimiter, encoding, quoted, cut):
    rows = [("a", "b", "c"), *rows]
    if quoted:
        rows = [['"' + cell.replace('"', '""') + '"' for cell in line] for line in rows]
    text = "\n".join(delimiter.join(line) for line in rows)
    data = text.encode(encoding, errors="replace" if encoding == "latin-1" else "surrogatepass")
    encodes_or_refuses(data[: len(data) - cut])


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_a_sentence(data):
    encodes_or_refuses(data)
    encodes_or_refuses(b"a,b,c\n" + data)


NUMBERS = st.lists(st.floats() | st.none(), min_size=4, max_size=4)


@given(
    a=NUMBERS,
    b=NUMBERS,
    c=st.lists(st.none() | CELLS | st.binary(max_size=3), min_size=4, max_size=4),
    few=st.integers(1, 4),
)
def test_any_parquet_is_a_table_or_a_sentence(a, b, c, few):
    texts = pa.array(c, pa.binary()).view(pa.string())  # Arrow checks no bytes here
    table = pa.table({"a": pa.array(a, pa.float64()), "b": pa.array(b, pa.float32()), "c": texts})
    encodes_or_refuses(parquet(table.slice(0, few)))


def encodes_or_refuses(data: bytes) -> None:
    error = None
    try:
        raw = tables.read(data, "t")
        rows = tables.encode(SCHEMA, raw.table, raw.marks).rows
    except ValueError as reason:
        error = reason
    if error is not None:
        is_one_quiet_sentence(error)
        return
    assert rows.shape[1] == SCHEMA.d
    assert np.isfinite(rows).all()
    assert (np.abs(rows) <= 1).all()


KEY = "78d658902ff15d80ea9857d7d61151d2f71d583b9c0991f28efe818415908973"


@pytest.mark.parametrize("portion", [1, 40, 2**24])
def test_a_column_reads_alike_in_portions_of_any_size(monkeypatch, portion):
    monkeypatch.setattr(cells, "_PORTION", portion)
    noted = [f" {i % 7} " if i % 3 else "NA" for i in range(50)]
    words = [*noted[:40], "é\u00a0", *noted[41:]]  # a number up to the fortieth row
    born = [None if i % 5 else "2020-01-31" for i in range(50)]
    frame = pd.DataFrame({"number": noted, "word": words, "born": born, "ward": "x"})
    for data in (frame.to_csv(index=False).encode(), parquet(pa.Table.from_pandas(frame), row_group_size=7)):
        raw = tables.read(data, "t")
        assert raw.kinds == {"number": "number", "word": "number", "born": "date", "ward": "text"}
        assert values(raw)["number"] == [float(i % 7) if i % 3 else None for i in range(50)]
        assert values(raw)["word"][36:41] == [None, "2", "3", None, "é"]
        assert raw.key == KEY
    schema = tables.Schema(
        (
            tables.Column("word", "category", categories=("é", "1", "2"), fill=""),
            tables.Column("number", "number", 0, 6, fill=0),
        )
    )
    encoded = tables.encode(schema, raw.table).rows
    assert encoded.shape == (50, 4) and np.flatnonzero(encoded[:, 0] > 0).tolist() == [40]
