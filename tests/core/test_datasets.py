"""Test the bundled tables: their public constants, and the assignment of rows to hospitals."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from dppca_core import datasets
from dppca_core.arrays import Array

DATA = Path(datasets.__file__).parents[1] / "data"
RAW = {"breast_cancer": load_breast_cancer, "digits": load_digits}
EVERY = pytest.mark.parametrize("name", list(datasets.TABLES))


def stored(name: str) -> dict:
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def standardised(name: str, raw: Array) -> Array:
    columns = stored(name)["features"]
    centre, scale = (np.array([column[key] for column in columns]) for key in ("centre", "scale"))
    return (raw - centre) / scale


@pytest.mark.parametrize(("name", "n", "d"), [("breast_cancer", 569, 30), ("digits", 1797, 64)])
def test_sizes(name, n, d):
    table = datasets.TABLES[name]
    assert (table.n, table.d) == (n, d)
    assert datasets.rows(name).shape == (n, d)


@EVERY
def test_constants_are_those_of_the_file(name):
    table, file = datasets.TABLES[name], stored(name)
    assert list(table.centre) == [column["centre"] for column in file["features"]]
    assert list(table.scale) == [column["scale"] for column in file["features"]]
    assert list(table.features) == [column["name"] for column in file["features"]]
    assert table.bound == file["bound"]
    assert min(table.scale) > 0
    assert all((table.title, table.source, table.licence, table.provenance))


@EVERY
def test_rows_are_standardised_by_them(name):
    expected = standardised(name, RAW[name](return_X_y=True)[0])
    np.testing.assert_allclose(datasets.rows(name), expected, rtol=1e-13)


@pytest.fixture
def fresh_rows():
    cached = (datasets.ROWS, datasets.COHORTS)
    for cache in cached:
        cache.clear()
    yield
    for cache in cached:
        cache.clear()


@EVERY
@pytest.mark.usefixtures("fresh_rows")
def test_constants_do_not_come_from_the_rows(name, monkeypatch):
    """Centre, scale and bound stay those of the file when another table stands behind the loader."""
    other = RAW[name](return_X_y=True)[0] * 3.0 + 7.0
    monkeypatch.setattr(datasets, "_loaded", lambda loader: (other, None))
    before = datasets.TABLES[name]
    np.testing.assert_allclose(datasets.rows(name), standardised(name, other), rtol=1e-13)
    assert datasets._table(name) == before
    assert datasets.cohort(name, (before.n,), seed=0).bound == stored(name)["bound"]


@EVERY
def test_clipped_share_counts_long_rows(name):
    norms = np.linalg.norm(datasets.rows(name), axis=1)
    long = int((norms > stored(name)["bound"]).sum())
    assert datasets.clipped_share(name) == pytest.approx(long / len(norms), rel=1e-12)


@EVERY
def test_the_pooled_moment_does_not_depend_on_the_dealing(name):
    """Every row is assigned once, whatever the seed and the sizes."""
    n = datasets.TABLES[name].n
    whole = datasets.cohort(name, (n,), seed=0).pooled.dense()
    for sizes, seed in (((n - 10, 10), 1), ((100, 200, n - 300), 2)):
        cohort = datasets.cohort(name, sizes, seed)
        assert tuple(provider.n for provider in cohort) == sizes
        np.testing.assert_allclose(cohort.pooled.dense(), whole, atol=1e-12)


def test_the_seed_deals_the_rows():
    deals = [datasets.cohort("breast_cancer", (300, 269), seed)[0].moment.dense() for seed in (1, 1, 2)]
    np.testing.assert_array_equal(deals[0], deals[1])
    assert not np.array_equal(deals[0], deals[2])


def test_the_shared_rows_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        datasets.rows("digits")[0, 0] = 1.0


@pytest.mark.parametrize("sizes", [(570,), (300, 270), (), (-1, 570)], ids=str)
def test_sizes_beyond_the_tables_rows_are_refused(sizes):
    """Sizes add up to n at most, and none is negative."""
    with pytest.raises(ValueError, match=r"sizes|n must be at least 1"):
        datasets.cohort("breast_cancer", sizes, seed=0)


@pytest.mark.parametrize(
    "call", [datasets.rows, datasets.clipped_share, lambda name: datasets.cohort(name, (1,), 0)]
)
def test_an_unknown_table_is_refused_by_name(call):
    with pytest.raises(ValueError, match=r"name must be one of breast_cancer, .*digits.*, got 'iris'"):
        call("iris")
