"""Test the references of private methods: fair ones, and one that is told the true features."""

import numpy as np
import pytest

from dppca_core import METHODS, Budget, SpikedModel
from dppca_core.experiments.sweeps.recipe import Axis, Recipe, variant
from dppca_core.experiments.sweeps.sweep import sweep
from tests.core.experiments.test_explorer import EXPERIMENT, TABLE

MODEL = SpikedModel(d=60, k=2, s=5, seed=2)


def recipe(*methods, **changes) -> Recipe:
    fixed = {"population": MODEL, "swept": (Axis("epsilon", (1.0,)),), "n": 3000, "s_hat": 25, "repeats": 4}
    return Recipe(methods=methods, **(fixed | changes))


def test_shrinking_and_knowing_the_rows_each_err_less():
    """Medians of four draws at n = 3000: keeping 25 rows where 5 matter, shrinking them, knowing them."""
    names = ("sparse_pca", "sparse_pca_shrunk", "oracle_pca")
    table = sweep(recipe(*map(variant, names)))
    errors = table.groupby("method")["sin_theta"].median()
    assert errors["oracle_pca"] < errors["sparse_pca_shrunk"] < errors["sparse_pca"]


def test_an_experiment_tells_the_oracle_the_rows_of_a_population_alone():
    rows = np.flatnonzero(EXPERIMENT.population.basis.any(axis=1))
    assert EXPERIMENT.options("oracle_pca") == {"support": tuple(rows)}
    assert "support" not in EXPERIMENT.options("sparse_pca")
    assert TABLE.options("oracle_pca") == {}


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ((3,), "number of rows of support must be between 2 and 60"),
        ((3, 60), "last row of support must be"),
        ((-1, 3), "first row of support must be"),
    ],
)
def test_rows_that_cannot_be_are_refused(support, message):
    cohort = MODEL.draw(100, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        METHODS["oracle_pca"].fit(
            cohort, k=2, budget=Budget(1.0, 1e-5), rng=np.random.default_rng(0), support=support
        )


def test_a_variant_may_scale_its_rows():
    """Length 1 hides its noise better than the public bound does; another word is refused by name."""
    methods = (
        variant("analyze_gauss_sparse", "inside"),
        variant("analyze_gauss_sparse", "unit", scaling="unit"),
    )
    errors = sweep(recipe(*methods, n=20_000, repeats=8)).groupby("label")["sin_theta"].median()
    assert errors["unit"] < 0.9 * errors["inside"]
    with pytest.raises(ValueError, match="scaling of pca must be one of inside, unit, got 'long'"):
        variant("pca", scaling="long")
