"""Test that a data dictionary states the same after it was opened in the editor and saved again."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_core.tables import Column, Schema, dictionary_lines
from dppca_core.tables.dictionary_lines import DictionaryLine
from pages.hospitals.your_data import dictionary
from tests.pages.hospitals.your_data.table_page import DICTIONARY, limited

# Words of letters that the editor reads in its own way, and those that it marks a filling with.
WORDS = st.one_of(
    st.sampled_from(["none", "None", "NONE", "none of them", "none of them of them", "a, b", "a; b", '"a"']),
    st.text("abAn1<é;,\"'=& .-", min_size=1, max_size=8).map(str.strip).filter(bool),
)
NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e9, 1e9), st.just(0.1 + 0.2))


NAMES = (
    "age",
    "=1+1",
    "@sum",
    "a,b",
    '"q"',
    "crp mg/l",
    "été",
    "-1",
)  # also those that a sheet would compute


def made(**fields):
    """Return a column with these fields; None where there is none."""
    try:
        return Column(**fields)
    except ValueError:
        return None


@st.composite
def columns(draw, name):
    """Return a column of either kind, with each field stated or not; None where words clash."""
    unit = draw(st.sampled_from(["", "kg", "10^9/l", "=1+1"]))
    codes = tuple(draw(st.lists(WORDS, max_size=2)))
    if draw(st.booleans()):
        low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        within = st.one_of(st.none(), st.sampled_from([low, high]), st.floats(low, high))
        fill, usual = draw(within), draw(within)
        fields = {"low": low, "high": high, "fill": fill, "usual": usual, "unit": unit}
        return made(name=name, kind="number", missing_codes=codes, **fields)
    words = tuple(draw(st.lists(WORDS, min_size=1, max_size=4)))
    fill = draw(st.sampled_from([None, "", *words]))
    usual = draw(st.sampled_from([None, *words]))
    synonyms = tuple(draw(st.lists(st.tuples(WORDS, st.sampled_from(words)), max_size=2)))
    fields = {"fill": fill, "usual": usual, "missing_codes": codes, "synonyms": synonyms}
    return made(name=name, kind="category", categories=words, **fields)


def opened(schema):
    """Return what the page makes of a dictionary's file once it stood in the editor and was not touched."""
    names = [column.name for column in schema.columns]
    file = dictionary.read(schema.to_json().encode())
    lines = dictionary.lines_from_frame(dictionary.to_frame(file.lines), names)
    return dictionary.to_schema(lines, file.bound_of_complete)


@given(st.tuples(*map(columns, NAMES)), st.one_of(st.none(), st.floats(1e-300, 1.0)))
@settings(max_examples=80)
def test_a_dictionary_survives_opening_and_saving(drawn, bound):
    """Every field of both kinds, also words that hold the editor's own separators and marks."""
    schema = Schema((*filter(None, drawn), Column("c", "number", 0, 1)), bound)
    again = opened(schema)
    assert again == schema
    assert json.loads(again.to_json()) == json.loads(schema.to_json())
    assert Schema.from_json(again.to_json()) == schema


def test_columns_of_another_programs_schema_may_lack_their_values():
    """Such as dates, texts and numbers without a range; they are read as lines that lack them."""
    plain = json.loads(DICTIONARY.to_json())
    bare = [
        {"name": "seen", "type": "date"},
        {"name": "crp_mg_l", "type": "number", "constraints": {"minimum": 0}},
        {"name": "note", "type": "string"},
    ]
    file = dictionary.read(json.dumps(plain | {"fields": [*bare, *plain["fields"]]}).encode())
    assert list(file.complete) == ["age", "weight", "pulse"] and file.bound_of_complete is None
    assert file.lines["crp_mg_l"] == DictionaryLine(unit="mg/l")
    assert file.lines["seen"] == file.lines["note"] == DictionaryLine("category")
    with pytest.raises(ValueError, match='needs a "name" and a "type"'):
        dictionary.read(json.dumps(plain | {"fields": [{"name": "a"}]}).encode())


@pytest.mark.parametrize(
    ("words", "typed", "fill"),
    [
        (("some", "severe"), "none", ""),
        (("none", "some", "severe"), "none", "none"),
        (("None", "some"), "None", "None"),
        (("none", "some", "severe"), "none of them", ""),
        (("none", "none of them"), "none of them of them", ""),
    ],
)
def test_a_filling_of_none_is_no_category_of_that_name(words, typed, fill):
    """It changed into the category "none" when it was opened, and reached a published release."""
    column = Column("pain", "category", categories=words, fill=fill)
    line = DictionaryLine("category", categories="; ".join(words), missing=typed)
    assert dictionary_lines.to_column("pain", line) == column
    assert dictionary_lines.line_from_column(column).missing == typed


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("a, b", ("a", "b")),
        ("a, b; c", ("a, b", "c")),
        ("a, b;", ("a, b",)),
        ('"a; b"; c', ("a; b", "c")),
        ('"a ""b"""; 5" or more;  ; "c', ('a "b"', '5" or more', '"c')),
        (" ;, ", (",",)),
        ("", ()),
    ],
)
def test_words_are_split_as_they_are_typed(typed, words):
    assert dictionary_lines.split_words(typed) == words
    assert dictionary_lines.split_words(dictionary_lines.join_words(words)) == words


def test_the_page_saves_the_dictionary_that_it_opened_and_releases_it(offered):
    sex = Column("sex", "category", categories=("f", "m", "none", "a; b"), fill="", usual="m")
    columns = (*DICTIONARY.columns, sex, Column("clinic", "category", categories=("north",), fill=""))
    schema = Schema(columns, bound=0.1 + 0.2)
    page = limited(dictionary=schema)
    saved = [data for build in offered if isinstance(data := build(), str) and '"fields"' in data]
    assert page.state.ready.schema == schema and Schema.from_json(saved[-1]) == schema
    page.release()
    published = page.state.releases[0].result.document["public"]["dictionary"]
    assert published == json.loads(schema.to_json())
