"""A file in pieces gives what it gives whole; and rows are dealt to hospitals without losing one."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dppca_core import Cohort, tables
from dppca_core.tables import Column, Schema, encoding, pieces

N = 3_000
SCHEMA = Schema(
    (
        *(Column(f"c{i}", "number", -2, 2, fill=0.0 if i else None) for i in range(6)),
        Column("kind", "category", categories=("a", "b", "3"), fill=""),
    ),
    bound=1.5,
)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = np.where(rng.random((N, 6)) < 0.05, np.nan, rng.standard_normal((N, 6)))
    frame = pd.DataFrame(values, columns=[f"c{i}" for i in range(6)])
    frame["kind"] = rng.choice(["a", "b", "3", "other"], N)
    frame["hospital"] = rng.choice(["North", "South", "7"], N, p=[0.6, 0.3, 0.1])
    return frame.assign(unused="x")


@pytest.fixture(scope="module", params=["one.parquet", "many.parquet", "table.csv"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / request.param
    if path.suffix == ".csv":
        table().to_csv(path, index=False, sep=";", decimal=",")
    else:
        size = N if path.stem == "one" else 700
        pq.write_table(pa.Table.from_pandas(table()), path, row_group_size=size)
    return path


def whole(by: str | None) -> tuple[dict[str, np.ndarray], encoding.Encoded]:
    raw = tables.from_frame(table(), "t")
    encoded = tables.encode(SCHEMA, raw.table)
    if by is None:
        return {"": encoded.rows}, encoded
    groups = tables.by_column(raw.table[by], by, encoded.kept)
    return {hospital: encoded.rows[places] for hospital, places in groups.items()}, encoded


@pytest.mark.parametrize("by", [None, "hospital"])
def test_pieces_add_up_to_the_whole(path, by, monkeypatch):
    monkeypatch.setattr(pieces, "_BATCH_CELLS", 9 * 256)
    rows, encoded = whole(by)
    cohort = Cohort.from_rows(list(rows.values()), SCHEMA.bound)
    reports = []
    reduced = tables.reduce_file(
        path, SCHEMA, by=by, progress=lambda done, total: reports.append((done, total))
    )
    assert reduced.hospitals == tuple(rows)
    assert reduced.owner == encoded.owner
    assert [provider.n for provider in reduced.cohort] == [provider.n for provider in cohort]
    for ours, theirs in zip(reduced.cohort, cohort, strict=True):
        np.testing.assert_allclose(ours.moment.dense(), theirs.moment.dense(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(reduced.cohort.pooled.dense(), cohort.pooled.dense(), rtol=0, atol=1e-10)
    assert reduced.cohort.bound == SCHEMA.bound
    assert len(reports) > 5
    assert reports[-1] == (N, None if path.suffix == ".csv" else N)
    assert list(path.parent.iterdir()) == [path]


class StoppedError(Exception):
    pass


def test_progress_can_stop_it(path):
    def stop(done, total):
        raise StoppedError

    with pytest.raises(StoppedError):
        tables.reduce_file(path, SCHEMA, progress=stop)


def test_refusals(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "_BATCH_CELLS", 2 * 256)
    schema = Schema((Column("x", "number", 0, 1), Column("y", "number", 0, 1)))
    good = pd.DataFrame({"x": np.zeros(1000), "y": 1.0, "who": np.arange(1000)})

    def reduce(frame, by=None):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        return tables.reduce_file(path, schema, by=by)

    late = good.astype({"x": object})
    late.loc[900, "x"] = "Xcanary7"
    for call, words in (
        (lambda: reduce(late), "holds no number in row 901, but text"),
        (lambda: reduce(good.assign(x=np.nan)), "No row is left"),
        (lambda: reduce(good[:0]), "has names but no rows"),
        (lambda: reduce(good, "who"), "more than 200 values"),
        (lambda: reduce(good, "where"), "no column 'where'"),
        (lambda: reduce(good.drop(columns="y")), "no column 'y'"),
        (lambda: reduce(good.assign(who=np.nan), "who"), "names no hospital"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    monkeypatch.setattr(pieces, "MOST_MATRIX_BYTES", 60)
    with pytest.raises(ValueError, match="a matrix each"):
        reduce(good.assign(who=good["who"] % 2), "who")


def test_dealing_at_random_loses_and_doubles_no_row():
    groups = tables.at_random(1003, 5, seed=3)
    assert sorted(len(group) for group in groups) == [200, 200, 201, 201, 201]
    assert sorted(np.concatenate(groups)) == list(range(1003))
    assert all((a == b).all() for a, b in zip(groups, tables.at_random(1003, 5, seed=3), strict=True))
    assert any(
        (a[:200] != b[:200]).any() for a, b in zip(groups, tables.at_random(1003, 5, seed=4), strict=True)
    )
    with pytest.raises(ValueError, match="hospitals must be between 1 and 3"):
        tables.at_random(3, 4, seed=0)


def test_dealing_by_a_column():
    column = pa.chunked_array([["B", " A", None], ["B", "A "]])
    kept = np.array([True, True, False, True, True])
    groups = tables.by_column(column, "h", kept)
    assert {name: list(group) for name, group in groups.items()} == {"A": [1, 3], "B": [0, 2]}
    with pytest.raises(ValueError, match="no hospital in 1 rows"):
        tables.by_column(column, "h")
    numbered = tables.by_column(pa.array([2.0, 10.0, 2.0]), "h")
    assert {name: list(group) for name, group in numbered.items()} == {"10": [1], "2": [0, 2]}


def arrow_peak(path) -> int:
    """Return the bytes that Arrow holds at most at the end of each batch while a file is reduced."""
    schema = Schema(tuple(Column(f"c{i}", "number", -4, 4) for i in range(10)))
    held = [before := pa.total_allocated_bytes()]
    tables.reduce_file(path, schema, progress=lambda done, total: held.append(pa.total_allocated_bytes()))
    return max(held) - before


def test_memory_is_bounded_whatever_the_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "_BATCH_CELLS", 2**16)
    path, rng = tmp_path / "t.parquet", np.random.default_rng(0)
    whole = pa.table({f"c{i}": rng.standard_normal(200_000) for i in range(10)})
    pq.write_table(whole, path, row_group_size=200_000, data_page_size=2**15, use_dictionary=False)
    assert arrow_peak(path) < whole.nbytes / 2
    plain = pq.ParquetFile
    monkeypatch.setattr(pq, "ParquetFile", lambda file, **options: plain(file))  # a planted bug: all at once
    assert arrow_peak(path) > whole.nbytes / 2
