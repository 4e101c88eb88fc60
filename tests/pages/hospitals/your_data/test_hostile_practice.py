"""Test tables, words, names and files made to break what a hospital does in practice.

Case i is always the same; `make fuzz` takes 2,000.
"""

import json
import logging
from contextlib import suppress

import numpy as np
import pytest

from dppca_core import tables
from dppca_core.accounts.book import Book
from dppca_core.release import bundle
from dppca_core.tables import Column, quality
from dppca_core.tables.name_matching import suggest
from pages.hospitals.your_data import file_reading
from tests import hostile
from tests.core.accounts.paying import HALF, payer
from tests.core.release.test_bundle import released
from tests.pages.hospitals.your_data.table_page import CANARY, DICTIONARY, PAGE, csv, marked, patients
from tests.pages.hospitals.your_data.test_isolation import marks
from tests.pages.test_hostile_pages import bring_file
from tests.pages.visited import Visit


def some(rng, words):
    """Return one of the words, or one that was made to break something."""
    return words[int(rng.integers(len(words)))] if len(words) and rng.random() < 0.7 else hostile.word(rng)


def raw_table(rng):
    """Return a table that was read from a hostile file; None where it was refused, or something is asked."""
    name, data = hostile.table_file(rng)
    return hostile.answered(file_reading.read, data, name, {})


def test_any_words_are_counted_mapped_and_not_published():
    def count(case):
        rng = np.random.default_rng([case, 21])
        raw = raw_table(rng)
        for name in () if raw is None else raw.columns[:3]:
            kind = ("number", "category")[int(rng.integers(2))]
            cells = tables.cells.as_numbers_or_text(raw.table[name], name)
            words = quality.check_column(cells, quality.Expected(kind)).suggestions
            known = [suggestion.word for suggestion in words]
            more = {"categories": ("f", "m")} if kind == "category" else {"low": 0.0, "high": 100.0}
            column = hostile.answered(
                Column,
                "measured",
                kind,
                missing_codes=tuple(some(rng, known) for _ in range(2)),
                synonyms=((some(rng, known), "m"),) if kind == "category" else (),
                **more,
            )
            if column is None:
                continue
            schema = tables.Schema((column, Column("other", "number", 0, 1)))
            assert tables.Schema.from_json(schema.to_json()) == schema
            (published, _) = schema.published.columns
            assert not published.missing_codes and not published.synonyms
            asked = quality.Expected(kind, column.low, column.high, *_words(column))
            counts = quality.check_column(cells, asked)
            assert counts.missing + counts.unread + counts.outside <= counts.cells

    hostile.each(hostile.cases(20, 0.3), count)


def _words(column):
    return column.categories, column.missing_codes, column.synonyms


def test_any_tables_are_joined_or_refused():
    def join(case):
        rng = np.random.default_rng([case, 22])
        raws = [raw for raw in (raw_table(rng), raw_table(rng)) if raw is not None]
        if len(raws) < 2:
            return
        first, second = raws
        names = first.columns[:5]
        same = {name: name for name in names}
        mapping = {
            name: some(rng, [suggest(names, second.columns).get(name), *second.columns]) for name in names
        }
        joined = hostile.answered(
            tables.join, raws, [same, mapping], [hostile.utf8(hostile.word(rng)) for _ in raws]
        )
        assert joined is None or (joined.n == first.n + second.n and len(joined.key) == 64)

    hostile.each(hostile.cases(10, 0.2), join)


def test_no_code_or_damaged_book_opens_an_account_or_a_release(tmp_path):
    path = tmp_path / "book"
    book = Book(path)
    paying = payer(path=path, owner="ann")
    drawn = paying.drawn(paying.pay("a release", HALF, asked={}).id)
    drawn.finish({"kept": CANARY})
    paying.invite()
    whole, account = path.read_bytes(), paying.balance()

    def open_book(case):
        rng = np.random.default_rng([case, 23])
        path.write_bytes(whole)
        hostile.answered(book.join, hostile.word(rng), "ben")
        assert book.accounts("ben") == [] and book.finished("ben") == []
        spoilt = bytearray(whole)
        for place in rng.integers(len(whole), size=3):
            spoilt[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(spoilt))
        # What is read of it is what was written, or it is refused.
        with suppress(ValueError, OSError):
            assert paying.balance() == account

    hostile.each(hostile.cases(30, 0.1), open_book)


def test_any_recipe_is_read_or_refused():
    document = released(n=60)[0].document

    def read(case):
        rng = np.random.default_rng([case, 24])
        try:
            plain = json.loads(hostile.json_file(rng, document))
        except (ValueError, RecursionError):
            return
        hostile.answered(bundle.recipe, plain)

    hostile.each(hostile.cases(20, 0.2), read)


@pytest.fixture
def watched_files(folder):
    """Return a function that reads all that lies with the accounts."""
    return lambda: b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.timeout(3000)  # of all cases under `make fuzz`
def test_nothing_is_lost_and_no_cell_leaves_the_page(waiting, watched_files, caplog):
    """Whatever is pressed: what was typed stays, and no cell is in a log, a link or a file."""

    def practise(case):
        rng = np.random.default_rng([case, 25])
        caplog.clear()
        visit = Visit(PAGE, {"own.shown": "true"})
        bring_file(visit, "own file", "ours.csv", csv(marked(40)))
        rows = visit.page.app.radio[0]
        rows.set_value(rows.options[0])
        visit.page.run()
        bring_file(visit, "own dictionary", "dictionary.json", DICTIONARY.to_json().encode())
        if rng.random() < 0.5:
            odd = hostile.utf8(hostile.word(rng))
            theirs = patients(seed=case, n=30).rename(columns={"age": "Age (years)", "clinic": odd})
            bring_file(visit, "own another", "theirs.csv", csv(theirs))
        state = visit.page.app.session_state["own table"]
        for _ in range(4):
            typed, releases = dict(state.lines), len(state.confirmed)
            visit.poke(rng)
            assert set(state.lines) >= set(typed) and len(state.confirmed) >= releases
            assert not marks(json.dumps(visit.page.link).encode()) and not marks(watched_files())
            assert not marks(caplog.text.encode())

    with caplog.at_level(logging.DEBUG):
        hostile.each(hostile.cases(1, 0.2), practise)
