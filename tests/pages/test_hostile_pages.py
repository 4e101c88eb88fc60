"""Test links, widgets and files made to break a page. Case i is always the same; `make fuzz` takes 2,000."""

import json
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core.tables import Schema, dictionary_lines, safe_cell
from dppca_core.tables.encode import prepare
from pages.hospitals.providers.model import hospitals
from pages.hospitals.who_sees_what import model
from pages.hospitals.your_data import dictionary, file_reading
from pages.shared import text
from pages.shared.settings import catalogue, to_experiment
from pages.shared.settings import hospitals as to_hospitals
from pages.shared.settings.catalogue import CHOICES, OF_PARAMETER
from pages.shared.settings.setting import printable
from tests import hostile
from tests.core.federated.test_record import ran
from tests.pages.visited import PAGES, Visit, allowed, link

READ = st.sampled_from(hostile.WORDS) | st.text() | st.floats().map(str)


@given(st.dictionaries(st.sampled_from([*OF_PARAMETER, "unknown", ""]), READ, max_size=10))
def test_any_link_is_read_soon_and_reaches_the_core_in_range(params):
    began = time.process_time()
    opened, sentences = catalogue.open_link(params)
    assert time.process_time() - began < 1
    assert all(allowed(choice, opened[key]) for key, choice in CHOICES.items())
    assert all(type(opened[key]) is type(choice.default) or choice.words for key, choice in CHOICES.items())
    experiment, epsilon = to_experiment.from_settings(opened)
    experiment.budget(epsilon)
    assert catalogue.to_link(opened).keys() <= OF_PARAMETER.keys() | {"v"}
    for sentence in sentences:
        assert len(sentence) < 300 and sentence.isprintable() and not set(sentence) & set("<>[]`$\\|~{}"), (
            sentence
        )
        assert "www." not in sentence and "://" not in sentence


# Settings of one kind read a link's text by the same code, whatever they are called.
KINDS = {
    (type(choice).__name__, type(choice.default).__name__): name for name, choice in OF_PARAMETER.items()
}


@pytest.mark.parametrize("name", KINDS.values(), ids=["-".join(kind) for kind in KINDS])
def test_every_kind_of_setting_takes_every_word_on_the_list(name):
    for word in hostile.WORDS:
        opened, sentences = catalogue.open_link({name: word})
        choice = OF_PARAMETER[name]
        assert allowed(choice, opened[choice.key]) and len(sentences) <= 3, word


@pytest.mark.parametrize("word", hostile.LONG, ids=range(len(hostile.LONG)))
def test_every_parameter_may_be_a_megabyte_at_once(word):
    began = time.process_time()
    opened, _ = catalogue.open_link(dict.fromkeys(OF_PARAMETER, word))
    assert time.process_time() - began < 1
    assert all(allowed(choice, opened[key]) for key, choice in CHOICES.items())


CELLS = READ | st.floats() | st.none() | st.integers() | st.booleans()
LINES_TYPED = st.lists(st.dictionaries(st.sampled_from([*hospitals.HospitalLine._fields, "x"]), CELLS))


@given(LINES_TYPED)
def test_hospitals_that_somebody_types_are_hospitals_or_left_out(added):
    settings = catalogue.defaults()
    edits = {"added_rows": added, "edited_rows": {str(i): line for i, line in enumerate(added[:2])}}
    typed = hospitals.read(hospitals.edited(hospitals.lines(settings), edits), settings)
    assert all(allowed(CHOICES[key], value) for key, value in typed.settings.items())
    assert all(name == printable(name) for name in typed.names)
    to_hospitals.joining(settings | typed.settings)


TYPED = READ.filter(lambda word: word.isprintable() or word.isascii())  # a browser sends no lone surrogates
LINES = st.builds(
    dictionary_lines.DictionaryLine,
    st.sampled_from(dictionary_lines.KINDS),
    *(st.none() | st.floats(allow_nan=False, allow_infinity=False),) * 2,
    *(TYPED | st.lists(TYPED, max_size=5).map("; ".join),) * 2,
)


NAMES = TYPED.filter(str.isprintable)  # a table with any other name is refused


@given(st.dictionaries(NAMES, LINES, max_size=4), st.none() | st.floats())
def test_whatever_is_typed_becomes_a_dictionary_or_a_sentence(lines, bound):
    shown = dictionary.to_frame(lines)
    assert list(shown["column"]) == [safe_cell(name) for name in lines]
    typed = dictionary.lines_from_frame(shown, lines)  # which keeps the names as they are
    assert typed == lines
    schema = hostile.answered(dictionary.to_schema, typed, bound)
    if schema is not None:
        assert Schema.from_json(schema.to_json()) == schema


def test_any_link_opens_any_page(waiting):
    def visit(case):
        rng = np.random.default_rng([case, 11])
        Visit(PAGES[case % len(PAGES)], link(rng))

    hostile.each(hostile.cases(4, 0.25), visit)


def test_any_widgets_may_be_moved_on_any_page(waiting):
    def visit(case):
        rng = np.random.default_rng([case, 12])
        page = PAGES[(3 * case) % len(PAGES)]
        visit = Visit(page, link(rng) if rng.random() < 0.5 else {"repeats": "1"})
        for _ in range(4):
            visit.poke(rng)

    hostile.each(hostile.cases(1, 0.1), visit)


RECORD = [json.loads(line) for line in ran(iterations=2)[1]]


def test_any_file_may_be_brought(waiting):
    """A table, then a dictionary, a limit and an account: nothing in them is run or breaks the page."""

    def bring(case):
        rng = np.random.default_rng([case, 13])
        visit = Visit("hospitals/your_data/page.py", {"own.shown": "true"})
        name, data = hostile.table_file(rng)
        name = hostile.utf8(name).replace("\0", "")  # Streamlit itself refuses a name that no system can have
        bring_file(visit, "own file", name, data)
        schema = json.loads(hostile.dictionary().to_json())
        given = hostile.json_file(rng, schema) if rng.random() < 0.5 else json.dumps(schema).encode()
        if visit.page.app.session_state["own table"].raw is not None:
            rows = visit.page.app.radio[0]
            rows.set_value(rows.options[0])
            visit.page.run()
            bring_file(visit, "own dictionary", "dictionary.json", given)
        for _ in range(2):
            visit.poke(rng)

    hostile.each(hostile.cases(2, 0.1), bring)


def bring_file(visit, key, name, data):
    began = time.process_time()
    uploader = next(box for box in visit.page.app.file_uploader if box.key.startswith(key))
    uploader.set_value((name, data, "text/csv"))
    visit.page.run()
    visit.check(began)


def prepared(name, data):
    raw = file_reading.read(data, name, {})
    lines = {column: dictionary.proposed_line(column, kind) for column, kind in list(raw.kinds.items())[:4]}
    assert len(dictionary.to_frame(lines)) == len(lines)
    assert any(line.incomplete for line in lines.values())
    prepare(raw, hostile.dictionary(), None, 3)


def test_any_table_is_prepared_or_refused():

    def prepare_case(case):
        name, data = hostile.table_file(np.random.default_rng([case, 14]))
        hostile.answered(prepared, name, data)

    hostile.each(hostile.cases(15, 0.05), prepare_case)


def test_any_record_is_shown_or_refused():
    def show(case):
        rng = np.random.default_rng([case, 15])
        some = [rng.random() < 0.3 for _ in RECORD]
        lines = [
            hostile.json_file(rng, line) if changed else json.dumps(line).encode()
            for line, changed in zip(RECORD, some, strict=True)
        ]
        hostile.answered(model.read, b"\n".join(lines))

    hostile.each(hostile.cases(60, 0.05), show)


@pytest.mark.parametrize("name", ["http://a.example/b", "HTTPS://a.example", "www.a.example", "a@b.example"])
def test_a_name_is_no_address_wherever_it_stands(name):
    """Markdown finds addresses behind escapes as well: an invisible joiner parts them."""
    literal = text.literal(f"({name})")
    assert literal.replace("\u2060", "").replace("\\", "") == f"({name})"
    assert not re.search(r"://|www\.|\w@", literal, re.IGNORECASE)
