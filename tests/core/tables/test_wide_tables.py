"""Tables of 20,000 columns: read, recognised, encoded and released, with no matrix of their square."""

import io
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dppca_core import tables
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.privacy import Budget
from dppca_core.release import discrete_gaussian, private_release
from dppca_core.release.request import Request
from dppca_core.tables import Column, Schema
from tests.core.accounts.paying import TABLE

WIDE = 20_000
SCHEMA = Schema(tuple(Column(f"g{i}", "number", -4.0, 4.0, fill=0.0, usual=0.0) for i in range(WIDE)))


def directions():
    """Return two orthonormal directions on 80 columns each, (d, 2)."""
    basis = np.zeros((WIDE, 2))
    basis[:80, 0] = basis[80:160, 1] = 1 / np.sqrt(80)
    return basis


def patients(n):
    """Return rows along two directions, with a little of everything else, (n, d)."""
    rng = np.random.default_rng(5)
    return (9 * rng.standard_normal((n, 2)) @ directions().T + rng.uniform(-0.1, 0.1, (n, WIDE))).round(2)


def csv(rows):
    names = SCHEMA.features[: rows.shape[1]]
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows.tolist())]).encode()


def test_the_widest_table_is_read():
    raw = tables.read(csv(patients(2)), "t")
    assert raw.n == 2 and tuple(raw.table.column_names) == SCHEMA.features


def test_a_wide_table_is_one_table_in_every_form():
    """Read from text it has the cells and the key of the Parquet file, and encodes to x/4.

    Columns are taken one by one, so a tenth of them shows it.
    """
    rows = patients(3)[:, : WIDE // 10]
    schema = Schema(SCHEMA.columns[: WIDE // 10])
    raw = tables.read(csv(rows), "t")
    file = io.BytesIO()
    pq.write_table(pa.table(list(rows.T), names=list(schema.features)), file)
    assert raw.n == 3 and raw.key == tables.read(file.getvalue(), "t").key
    np.testing.assert_allclose(tables.encode(schema, raw.table).rows, np.clip(rows, -4, 4) / 4)


@pytest.mark.parametrize(("method", "s_hat"), [("stacked_rounds", None), ("two_stage", 170)])
def test_a_wide_release_is_near_the_truth_and_takes_no_square(monkeypatch, method, s_hat):
    """Rounds are exact here, without their noise; a d x d matrix would take 3.2 GB."""
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda whole, std, *_: np.array(whole, dtype=float))
    rows = np.clip(patients(60), -4, 4) / 4 / SCHEMA.longest
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(1e4, 1e-5))
    request = Request(method, WIDE, 2, Budget(5e3, 1e-6), s_hat=s_hat)
    tracemalloc.start()
    released = private_release.make(request, [rows], payer, features=SCHEMA.features, public={})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.linalg.norm(directions().T @ released.basis) ** 2 > 1.9  # of 2
    assert peak < 10 * rows.nbytes
