"""A dictionary: opening and saving change nothing, and other programs' files are read."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_core import tables
from dppca_core.tables import Column, Schema, dictionary_lines
from dppca_core.tables.dictionary import GROUPS
from dppca_core.tables.dictionary_lines import DictionaryLine

# Words of letters that lines, templates and spreadsheets read in their own way.
WORDS = st.one_of(
    st.sampled_from(
        ["none", "NONE", "none of them", "a, b", "a; b", '"a"', "'a", "=1+1", "-5", "<0.5", "−1"]
    ),
    st.text("abAn1<é;,\"'=& .-+@", min_size=1, max_size=8).map(str.strip).filter(bool),
)
NUMBERS = st.one_of(st.integers(-(10**6), 10**6).map(float), st.floats(-1e9, 1e9), st.just(0.1 + 0.2))


@st.composite
def columns(draw, name):
    """Return a column of either kind, each of whose fields may be stated or not; None where words clash."""
    decimal = draw(st.sampled_from([None, ".", ","]))
    stated = {
        "missing_codes": tuple(draw(st.lists(WORDS, max_size=2))),
        "other_names": tuple(draw(st.lists(WORDS, max_size=2))),
        "unit": draw(st.sampled_from(["", "mg/l", "=1+1", "10^9/l"])),
        "decimal": decimal,
        "group": draw(st.sampled_from(GROUPS)) if decimal else "",
    }
    if draw(st.booleans()):
        low, high = sorted(draw(st.tuples(NUMBERS, NUMBERS)))
        within = st.one_of(st.none(), st.sampled_from([low, high]), st.floats(low, high))
        meant = st.floats(low, high)
        stated |= {"kind": "number", "low": low, "high": high}
    else:
        words = tuple(draw(st.lists(WORDS, min_size=1, max_size=4)))
        within, meant = st.sampled_from([None, *words]), st.sampled_from(words)
        stated |= {"kind": "category", "categories": words}
    stated["synonyms"] = tuple(draw(st.lists(st.tuples(WORDS, meant), max_size=2)))
    stated |= {"fill": draw(within), "usual": draw(within)}
    if stated["kind"] == "category" and draw(st.booleans()):
        stated["fill"] = ""
    try:
        return Column(name=name, **stated)
    except ValueError:
        return None


@given(columns("age"), columns("=1+1"), st.one_of(st.none(), st.floats(1e-300, 1.0)))
@settings(max_examples=120)
def test_opening_and_saving_change_nothing(first, second, bound):
    """As JSON, as lines, and as the template; twice, and to the byte."""
    plain = (Column("c", "number", 0, 1), Column("e", "number", -1, 1))
    schema = Schema((*filter(None, (first, second)), *plain), bound)
    again = Schema.from_json(schema.to_json())
    assert again.published and schema.published  # what is cached takes no part in a comparison
    assert again == schema and again.to_json() == schema.to_json() and hash(again) == hash(schema)
    assert again != schema.changed(bound=schema.bound / 2)
    lines = {column.name: dictionary_lines.line_from_column(column) for column in schema.columns}
    assert Schema(tuple(map(dictionary_lines.to_column, lines, lines.values())), schema.bound) == schema
    assert (
        dictionary_lines.lines_from_csv(dictionary_lines.write_template(lines).encode("utf-8-sig")) == lines
    )


def test_its_json_is_a_table_schema():
    crp = Column("crp", "number", 0, 400, fill=3.0, synonyms=(("<0.5", 0.25),), decimal=",", group=".")
    sex = Column(
        "sex", "category", categories=("f", "m"), fill="", missing_codes=("9",), other_names=("Sex",)
    )
    assert json.loads(Schema((crp, sex), bound=1.5).to_json()) == {
        "fields": [
            {
                "name": "crp",
                "type": "number",
                "constraints": {"minimum": 0, "maximum": 400},
                "decimalChar": ",",
                "groupChar": ".",
                "fill": 3,
                "synonyms": {"<0.5": 0.25},
            },
            {
                "name": "sex",
                "type": "string",
                "categories": ["f", "m"],
                "missingValues": ["9"],
                "fill": "",
                "otherNames": ["Sex"],
            },
        ],
        "bound": 1.5,
    }


def test_a_table_schema_of_another_program_is_read():
    schema = Schema.from_json(
        json.dumps(
            {
                "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
                "fields": [
                    {
                        "name": "age",
                        "type": "integer",
                        "constraints": {"minimum": 0, "maximum": 120, "required": True},
                    },
                    {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}, "title": "Sex"},
                    {
                        "name": "grade",
                        "type": "integer",
                        "categories": [{"value": 1, "label": "low"}, {"value": 2}],
                    },
                ],
                "missingValues": ["", "NA", "-99"],
                "primaryKey": ["age"],
            }
        )
    )
    assert schema.columns == (
        Column("age", "number", 0, 120, missing_codes=("NA", "-99")),
        Column("sex", "category", categories=("f", "m"), missing_codes=("NA", "-99")),
        Column("grade", "category", categories=("1", "2"), missing_codes=("NA", "-99")),
    )


@pytest.mark.parametrize("constraint", [{}, {"minimum": 0}])
def test_a_number_without_a_range_is_refused(constraint):
    fields = [{"name": "age", "type": "number", "constraints": constraint}]
    with pytest.raises(ValueError, match=r"^Column 'age' of the dictionary lacks its maximum"):
        Schema.from_json(json.dumps({"fields": fields}))


def test_what_is_published_has_no_words_and_keeps_marks_and_unit():
    stated = {"missing_codes": ("x",), "synonyms": (("<1", 0.5),), "other_names": ("b",)}
    crp = Column("crp", "number", 0, 9, decimal=",", unit="mg/l", **stated)
    (published, _) = Schema((crp, Column("c", "number", 0, 1))).published.columns
    assert published == Column("crp", "number", 0, 9, decimal=",", unit="mg/l")


def test_a_unit_changes_no_encoded_cell():
    columns = Column("a", "number", 0, 9), Column("b", "number", 0, 1)
    units = Schema(tuple(column.changed(unit="mg/l") for column in columns))
    table = tables.read(b"a,b\n1,0\n2,1\n", "t").table
    assert (tables.encode(units, table).rows == tables.encode(Schema(columns), table).rows).all()
    with pytest.raises(ValueError, match="unit of 'a' must be at most"):
        columns[0].changed(unit="a\nb")


REDCAP = Path(__file__).parents[2] / "cases" / "redcap_dictionary.csv"


def test_a_redcap_dictionary_is_read_as_it_is():
    lines = dictionary_lines.lines_from_csv(REDCAP.read_bytes())
    assert lines == {
        "age": DictionaryLine("number", 0.0, 120.0),
        "sex": DictionaryLine("category", categories="male; female", synonyms="1 = male; 2 = female"),
        "smoker": DictionaryLine("category", categories="1", synonyms="Yes = 1"),
        "comorbid___1": DictionaryLine("category", categories="1", synonyms="Checked = 1"),
        "comorbid___2": DictionaryLine("category", categories="1", synonyms="Checked = 1"),
        "bp_sys": DictionaryLine("number", 60.0, 260.0, unit="mmHg"),
        "weight": DictionaryLine("number", 30.0, 250.5, marks="1234,5", unit="kg"),
        "bmi": DictionaryLine("number"),
        "pain": DictionaryLine("number", 0.0, 100.0),
    }
    assert [name for name, line in lines.items() if line.incomplete] == ["bmi"]
    schema = Schema(
        tuple(dictionary_lines.to_column(name, line) for name, line in lines.items() if not line.incomplete)
    )
    assert schema.d == 9
    assert dictionary_lines.record_field(REDCAP.read_bytes()) == "record_id"


def test_a_first_field_with_a_range_names_no_record():
    lines = REDCAP.read_text().splitlines(keepends=True)
    cut = "".join([lines[0], *lines[3:]]).encode()
    assert dictionary_lines.record_field(cut) == "" and "age" in dictionary_lines.lines_from_csv(cut)


def test_a_template_that_a_spreadsheet_filled_in_is_read():
    text = (
        "\ufeffname;kind;lowest;highest;categories;if missing;usual;missing codes;other words;"
        "numbers as;other names\r\n"
        "crp;number;0;400,5;;3;;n.d.;<0.5 = 0.25;1.234,5;CRP\r\n"
        "sex;category;;;f, m;none;;9;w = f;;Geschlecht\r\n;;;;;;;;;;\r\n"
    )
    lines = dictionary_lines.lines_from_csv(text.encode())
    crp, sex = (dictionary_lines.to_column(name, line) for name, line in lines.items())
    assert crp == Column(
        "crp", "number", 0, 400.5, fill=3.0, missing_codes=("n.d.",), synonyms=(("<0.5", 0.25),),
        decimal=",", group=".", other_names=("CRP",),
    )  # fmt: skip
    assert sex == Column(
        "sex", "category", categories=("f", "m"), fill="", missing_codes=("9",), synonyms=(("w", "f"),),
        other_names=("Geschlecht",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must be a CSV with the columns 'name' and 'kind'"),
        ("a,b\n1,2\n", "or REDCap's data dictionary"),
        ("name,kind\nage,date\n", "kind of 'age' must be 'number' or 'category'"),
        ("name,kind,lowest\nage,number,1.000,5\n", "lowest value of 'age' must be a number"),
        ("name,kind,lowest\nage,number,many\n", "lowest value of 'age' must be a number"),
        ("name,kind\nage,number\nage,number\n", "Two lines .* same name"),
    ],
)
def test_another_file_is_refused_in_one_sentence(text, says):
    if "1.000,5" in text:
        text = text.replace("1.000,5", '"1.000,5"')
    with pytest.raises(ValueError, match=says) as no:
        dictionary_lines.lines_from_csv(text.encode())
    assert "\n" not in str(no.value)
