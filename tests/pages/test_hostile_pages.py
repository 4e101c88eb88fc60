"""Links, widgets and files made to break a page. Case i is always the same; `make fuzz` takes 2,000."""

import json
import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dppca_core.tables import Raw, Schema, safe_cell
from pages.hospitals.providers import controls, runs
from pages.hospitals.your_data import dictionary, prepared_table, text, upload_panel
from pages.shared.settings import catalogue, to_experiment
from pages.shared.settings.catalogue import CHOICES, OF_PARAMETER
from tests import hostile
from tests.core.federated.test_record import ran
from tests.pages.visited import PAGES, Visit, allowed, link

READ = st.sampled_from(hostile.WORDS) | st.text() | st.floats().map(str)


@given(st.dictionaries(st.sampled_from([*OF_PARAMETER, "unknown", ""]), READ, max_size=10))
@settings(max_examples=300)
def test_any_link_is_read_soon_and_reaches_the_core_in_range(params):
    began = time.process_time()
    opened, said = catalogue.open_link(params)
    assert time.process_time() - began < 1
    assert all(allowed(choice, opened[key]) for key, choice in CHOICES.items())
    assert all(type(opened[key]) is type(choice.default) or choice.words for key, choice in CHOICES.items())
    experiment, epsilon = to_experiment.of(opened)
    experiment.budget(epsilon)
    assert catalogue.to_link(opened).keys() <= OF_PARAMETER.keys()
    for one in said:
        assert len(one) < 300 and one.isprintable() and not set(one) & set("<>[]`$\\|~{}"), one
        assert "www." not in one and "://" not in one


@pytest.mark.parametrize("word", hostile.WORDS, ids=range(len(hostile.WORDS)))
def test_every_parameter_takes_every_word_on_the_list(word):
    for name, choice in OF_PARAMETER.items():
        opened, said = catalogue.open_link({name: word})
        assert allowed(choice, opened[choice.key]) and len(said) <= 3


@pytest.mark.parametrize("word", hostile.LONG, ids=range(len(hostile.LONG)))
def test_every_parameter_may_be_a_megabyte_at_once(word):
    began = time.process_time()
    opened, _ = catalogue.open_link(dict.fromkeys(OF_PARAMETER, word))
    assert time.process_time() - began < 1
    assert all(allowed(choice, opened[key]) for key, choice in CHOICES.items())


@given(
    st.dictionaries(
        st.sampled_from(["edited_rows", "added_rows", "deleted_rows"]),
        st.just([])
        | st.lists(st.fixed_dictionaries({"patients": READ | st.floats() | st.none() | st.integers()})),
    )
)
@settings(max_examples=100)
def test_sizes_that_somebody_types_are_sizes_or_left_out(changes):
    changes = {name: value for name, value in changes.items() if name == "added_rows"}
    assert allowed(CHOICES["join.sizes"], controls.edited((400, 300), changes))


TYPED = READ.filter(lambda word: word.isprintable() or word.isascii())  # a browser sends no half characters
LINES = st.builds(
    dictionary.DictionaryLine,
    st.sampled_from(dictionary.KINDS),
    *(st.none() | st.floats(allow_nan=False, allow_infinity=False),) * 2,
    *(TYPED | st.lists(TYPED, max_size=5).map("; ".join),) * 2,
)


NAMES = TYPED.filter(str.isprintable)  # a table with any other name is refused


@given(st.dictionaries(NAMES, LINES, max_size=4), st.none() | st.floats())
@settings(max_examples=200)
def test_whatever_is_typed_becomes_a_dictionary_or_a_sentence(lines, bound):
    shown = dictionary.to_frame(lines)
    assert list(shown["column"]) == [safe_cell(name) for name in lines]
    typed = dictionary.lines_from_frame(shown, lines)  # which keeps the names as they are
    assert typed == lines
    schema = hostile.answered(dictionary.to_schema, typed, bound)
    if schema is not None:
        assert Schema.from_json(schema.to_json()) == schema


def test_any_link_opens_any_page(waiting):
    def one(case):
        rng = np.random.default_rng([case, 11])
        Visit(PAGES[case % len(PAGES)], link(rng))

    hostile.each(hostile.cases(4, 0.25), one)


def test_any_widgets_may_be_moved_on_any_page(waiting):
    def one(case):
        rng = np.random.default_rng([case, 12])
        page = PAGES[(3 * case) % len(PAGES)]
        visit = Visit(page, link(rng) if rng.random() < 0.5 else {"repeats": "1"})
        for _ in range(4):
            visit.poke(rng)

    hostile.each(hostile.cases(1, 0.1), one)


RECORD = [json.loads(line) for line in ran(iterations=2)[1]]


def test_any_file_may_be_brought(waiting):
    """A table, then a dictionary, a limit and a ledger; nothing that it holds is run, or breaks the page."""

    def one(case):
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

    hostile.each(hostile.cases(2, 0.1), one)


def bring_file(visit, key, name, data):
    began = time.process_time()
    visit.page.app.file_uploader(key=key).set_value((name, data, "text/csv"))
    visit.page.run()
    visit.check(began)


def prepared(name, data):
    raw = upload_panel._read(data, name, "utf-8")
    if isinstance(raw, Raw):
        lines = {column: dictionary.blank_line(kind) for column, kind in list(raw.kinds.items())[:4]}
        assert len(dictionary.to_frame(lines)) == len(lines) and dictionary.missing_entries(lines)
        prepared_table.prepare(raw, hostile.dictionary(), None, 3)


def test_any_table_is_prepared_or_refused():
    """What the page does with a file, without the page."""

    def one(case):
        name, data = hostile.table_file(np.random.default_rng([case, 14]))
        hostile.answered(prepared, name, data)

    hostile.each(hostile.cases(15, 0.05), one)


def test_any_record_is_shown_or_refused():
    def one(case):
        rng = np.random.default_rng([case, 15])
        some = [rng.random() < 0.3 for _ in RECORD]
        lines = [
            hostile.json_file(rng, line) if changed else json.dumps(line).encode()
            for line, changed in zip(RECORD, some, strict=True)
        ]
        hostile.answered(runs.read, b"\n".join(lines))

    hostile.each(hostile.cases(60, 0.05), one)


@pytest.mark.parametrize("name", ["http://a.example/b", "HTTPS://a.example", "www.a.example", "a@b.example"])
def test_a_name_is_no_address_wherever_it_stands(name):
    """Markdown finds addresses behind escapes as well: a joiner that nobody sees parts them."""
    said = text.literal(f"({name})")
    assert said.replace("\u2060", "").replace("\\", "") == f"({name})"
    assert not re.search(r"://|www\.|\w@", said, re.IGNORECASE)
