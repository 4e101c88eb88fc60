"""Files made to break us, for every reader of the core: a value or one sentence, soon, and in little room.

Longer with `make fuzz`.
"""

import csv
import io
import json
import time
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

from dppca_core import Cohort, Release, tables
from dppca_core.accounts.account import Limit, to_text
from dppca_core.accounts.book import Book
from dppca_core.experiments.sweeps import recipe_file
from dppca_core.experiments.sweeps.store import Store
from dppca_core.federated import record
from dppca_core.tables import Schema, safe_csv
from tests import hostile
from tests.core.accounts.paying import TABLE
from tests.core.experiments.test_recipe import RECIPE
from tests.core.federated.test_record import ran

SECONDS = 5.0  # of processor time, so that a busy machine fails nothing


def soon(read, *given):
    """Return the answer, or None where it is refused in one sentence, and check that neither takes long."""
    began = time.process_time()
    answer = hostile.answered(read, *given)
    assert time.process_time() - began < SECONDS
    return answer


def released(name: str, data: bytes) -> None:
    """Do all that a page does with a table before a release."""
    raw = tables.read(data, name)
    assert (len(raw.kinds), len(raw.key)) == (len(raw.columns), 64)
    assert raw.n >= 2 and set(raw.constant) <= set(raw.columns)
    schema = hostile.dictionary()
    if {column.name for column in schema.columns} <= set(raw.columns):
        encoded = tables.encode(schema, raw.table, raw.marks)
        assert np.isfinite(encoded.rows).all() and np.abs(encoded.rows).max(initial=0) <= 1
        if len(encoded.rows):
            Cohort.from_rows([encoded.rows], schema.bound)


def test_any_table_is_read_or_refused_in_one_sentence():
    def check_case(case):
        soon(released, *hostile.table_file(np.random.default_rng([case, 1])))

    hostile.each(hostile.cases(60, 0.3), check_case)


PAYER = Book().payer(TABLE)
PAYER.set_limit(Limit(2.0, 1e-6))
for std in (9.0, 12.0):
    PAYER.pay("Analyze Gauss", [Release(std)], {"k": 2, "about": {"d": 3}})
LINES = {"account": PAYER.export().splitlines(), "record": ran(iterations=2)[1]}


def taken_in(text: str) -> None:
    """Import an account as a visitor does; count it, export it, and import it again.

    Its digests are made again where they can be, so that what the lines say is read.
    """
    with suppress(AttributeError, TypeError, ValueError, RecursionError):
        lines = [json.loads(line) for line in text.splitlines()]
        text = to_text({name: line[name] for name in line if name != "digest"} for line in lines)
    payer = Book().payer(TABLE)
    account = payer.merge(text, same_patients=True)
    assert account.limit is None or account.spent().epsilon >= 0
    assert payer.merge(payer.export()) == account


READERS = {
    "account": taken_in,
    "record": record.read,
    "dictionary": Schema.from_json,
    "recipe": lambda text: recipe_file.from_dict(json.loads(text)),
}


@pytest.mark.parametrize("kind", ["account", "record"])
def test_any_lines_are_read_or_refused_in_one_sentence(kind):
    def check_case(case):
        rng = np.random.default_rng([case, 2])
        lines = [
            hostile.json_file(rng, json.loads(line)) if rng.random() < 0.4 else line.encode()
            for line in LINES[kind]
        ]
        soon(READERS[kind], b"\n".join(lines).decode("utf-8", "replace"))

    hostile.each(hostile.cases(25, 0.05), check_case)


@pytest.mark.parametrize("kind", ["dictionary", "recipe"])
def test_any_json_is_read_or_refused_in_one_sentence(kind, tmp_path):
    good = json.loads(hostile.dictionary().to_json()) if kind == "dictionary" else recipe_file.to_dict(RECIPE)

    def check_case(case):
        given = hostile.json_file(np.random.default_rng([case, 3]), good)
        if kind == "dictionary":
            soon(Schema.from_json, given)
            return
        path = tmp_path / "recipe.json"
        path.write_bytes(given)
        soon(recipe_file.read, path)

    hostile.each(hostile.cases(80, 0.05), check_case)


def test_any_results_are_read_or_refused_and_kept(tmp_path):
    path = tmp_path / "results.csv"
    Store(path, RECIPE).read()
    row = "pca,pca,0.1,4,0,0.5,0.9,0,128,0.01,,,11112222\n"
    good = path.read_bytes() + row.encode() * 3

    def check_case(case):
        rng = np.random.default_rng([case, 4])
        words = [hostile.word(rng) if rng.random() < 0.1 else word for word in good.decode().split(",")]
        given = hostile.spoilt(rng, ",".join(words).encode("utf-8", "replace"))
        path.write_bytes(given)
        if soon(Store(path, RECIPE).read) is None:
            assert path.read_bytes() == given

    hostile.each(hostile.cases(60, 0.03), check_case)


@pytest.fixture
def pool():
    """Count Arrow's memory from here on."""
    counted, usual = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(counted)
    yield counted
    pa.set_memory_pool(usual)


@pytest.mark.parametrize("letters", [10**4, 10**6])
def test_a_small_parquet_does_not_become_a_large_table(pool, letters):
    data = hostile.bomb(letters, 10**6)
    assert len(data) < 2**20
    before = pool.max_memory()
    with pytest.raises(ValueError, match="Column 'note' holds more text than can be opened here"):
        tables.read(data, "bomb.parquet")
    assert pool.max_memory() - before < 2**27


def test_exported_cells_are_no_formula_whatever_they_hold():
    def check_case(case):
        rng = np.random.default_rng([case, 5])
        words = [hostile.utf8(hostile.word(rng)) for _ in range(8)]
        frame = hostile.frame(rng, 8).assign(note=words).rename(columns={"age": words[0]})
        for delimiter in ",;\t|":
            for row in csv.reader(io.StringIO(safe_csv(frame), newline=""), delimiter=delimiter):
                assert not any(cell.strip(' "\t\n').startswith(("=", "+", "@")) for cell in row)

    hostile.each(hostile.cases(30, 0.02), check_case)


PLANTED = {
    "a codec's words": lambda: b"\xff".decode(),
    "a parser's words": lambda: json.loads("{"),
    "NumPy's words": lambda: np.zeros(2) + np.zeros(3),
    "another error": lambda: [][0],
}


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_fault_is_caught_and_told_by_its_case(fault):
    def check_case(case):
        if case == 2:
            hostile.answered(fault)

    with pytest.raises(AssertionError, match="1 of 4 cases failed\ncase 2: "):
        hostile.each(range(4), check_case)
