"""Tables to install or download: an absent one says what to run, a present one works as the bundled ones."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from dppca_core import datasets
from dppca_core.experiments import Axis, Recipe, sweep, variant

DIGITS, SIDE = np.arange(5000) // 500, 28


def images() -> np.ndarray:
    """5,000 images, sorted by digit, each with its number in its pixels."""
    return np.random.default_rng(0).integers(0, 256, (5000, SIDE**2)).astype(float)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for cached in (datasets.ROWS, datasets.COHORTS):
        cached.clear()
    yield monkeypatch
    for cached in (datasets.ROWS, datasets.COHORTS):
        cached.clear()


@pytest.fixture
def installed(fresh: pytest.MonkeyPatch) -> None:
    fresh.setitem(sys.modules, datasets._MNIST_MODULE, SimpleNamespace(mnist_data=lambda: (images(), DIGITS)))


@pytest.fixture
def absent(fresh: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    def refuse(**asked: object) -> None:
        assert asked["download_if_missing"] is False
        raise OSError("Data not found")

    fresh.setitem(sys.modules, datasets._MNIST_MODULE, None)
    fresh.setattr("sklearn.datasets.fetch_covtype", refuse)
    return fresh


def recipe(population: str, **fields: object) -> Recipe:
    return Recipe(population, (variant("pca"),), (Axis("epsilon", (1.0,)),), k=2, **fields)


def test_menus_stay_as_they_are():
    assert list(datasets.TABLES) == ["breast_cancer", "digits"]
    assert list(datasets.OPTIONAL) == ["mnist", "mnist_14", "covertype"]


@pytest.mark.parametrize(
    ("name", "n", "d"), [("mnist", 5000, 784), ("mnist_14", 5000, 196), ("covertype", 581_012, 54)]
)
def test_what_is_public_is_known_of_an_absent_table(name, n, d):
    table = datasets.table(name)
    assert (table.n, table.d) == (n, d)
    assert len(set(table.features)) == d
    assert min(table.scale) > 0
    assert all((table.title, table.source, table.licence, table.provenance))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mnist", r"mnist is not installed, .*: run pip install -r requirements-papers.txt$"),
        ("mnist_14", r"mnist is not installed, .*: run pip install -r requirements-papers.txt$"),
        ("covertype", r"covertype is not in .*: run python -c .*fetch_covtype.* where"),
    ],
)
@pytest.mark.usefixtures("absent")
def test_an_absent_table_says_what_to_run(name, says):
    for call in (datasets.rows, datasets.require, recipe):
        with pytest.raises(ValueError, match=says):
            call(name)


@pytest.mark.usefixtures("installed")
def test_images_are_standardised_and_pooled():
    """Pixel by pixel, by the published mean; 14 x 14 is the mean of each block of four."""
    whole = datasets.rows("mnist").reshape(-1, SIDE, SIDE)
    np.testing.assert_allclose(whole.reshape(5000, -1), images() / 255 - 0.1307, atol=1e-12)
    blocks = datasets.rows("mnist_14").reshape(-1, 14, 14)
    by_hand = (whole[:, 6, 8] + whole[:, 6, 9] + whole[:, 7, 8] + whole[:, 7, 9]) / 4
    np.testing.assert_allclose(blocks[:, 3, 4], by_hand, atol=1e-12)
    assert datasets.table("mnist_14").features[3 * 14 + 4] == "block_3_4"


@pytest.mark.usefixtures("installed")
def test_a_sample_of_a_sorted_table_is_of_all_its_parts(monkeypatch):
    """1,500 of images sorted by digit: every digit, 150 of each up to 5 standard deviations."""
    marked = np.zeros((5000, SIDE**2))
    marked[np.arange(5000), DIGITS] = 255.0
    module = SimpleNamespace(mnist_data=lambda: (marked, DIGITS))
    monkeypatch.setitem(sys.modules, datasets._MNIST_MODULE, module)
    taken = datasets.cohort("mnist", (1500,), seed=0, scaling="unit").pooled.dense()
    rows = marked / 255 - 0.1307
    length = np.linalg.norm(rows[0])
    # E x_j^2 of unit rows: a share p_j of images has its mark at j.
    shares = (np.diag(taken)[:10] * length**2 - 0.1307**2) / (0.8693**2 - 0.1307**2)
    np.testing.assert_allclose(1500 * shares, 150, atol=5 * np.sqrt(150))


@pytest.mark.usefixtures("installed")
def test_a_recipe_runs_on_an_optional_table():
    table = sweep(recipe("mnist_14", n=300, repeats=1))
    assert (table["failed"] == "").all()
    assert 0 < table["sin_theta"][0] < np.sqrt(2)
