"""Many simulated runs at once are the runs of the method itself, one by one."""

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel
from dppca_core.experiments.explorer.many_runs import dps_pca_runs, messages, runs
from dppca_core.records import RELEASED
from tests.core.methods.test_contract import BUDGET, small_cohort


@pytest.mark.parametrize("options", [{}, {"s_hat": 5}, {"s_hat": 5, "burn_in": 0}], ids=str)
def test_many_runs_at_once_are_those_one_by_one(options):
    """Budgets in order, every iterate to 1e-12; more than fit in a product, and a single run."""
    cohort = small_cohort()
    for epsilons in (np.geomspace(0.5, 40.0, 150), (1.0,)):
        budgets = [Budget(float(epsilon), 1e-5) for epsilon in epsilons]
        estimates = dps_pca_runs(cohort, k=2, budgets=budgets, rng=np.random.default_rng(7), **options)
        for budget, together in zip(budgets, estimates, strict=True):
            rng = np.random.default_rng(7)
            alone = METHODS["dps_pca"].fit(cohort, k=2, budget=budget, rng=rng, **options)
            np.testing.assert_allclose(together.iterates, alone.iterates, atol=1e-12)
            np.testing.assert_allclose(together.basis, alone.basis, atol=1e-12)
            assert (together.noise_std, together.spent) == (alone.noise_std, alone.spent)
            assert (together.bytes_sent, together.notes) == (alone.bytes_sent, alone.notes)


def drawn(d: int, n: int) -> Cohort:
    """Return simulated patients of three hospitals; beyond 2,000 and 10 d fewer rows stand in for all."""
    return SpikedModel(d=d, k=2, s=4).draw(n, 3, np.random.default_rng(1))


@pytest.mark.parametrize("cohort", [drawn(12, 1500), drawn(12, 5000)], ids=["exact", "stand-ins"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((f"two_stage{suffix}", {"s_hat": 6}) for suffix in ("", "_sealed", "_own_noise")),
        ("two_stage_sealed", {"s_hat": RELEASED}),  # whose rounds are more at a larger epsilon
        ("stacked_rounds_own_noise", {}),
        ("sealed_sparse", {"s_hat": 6}),
        ("analyze_gauss", {}),
    ],
    ids=str,
)
def test_runs_of_any_method_at_once_are_its_own_fit(name, options, cohort):
    budgets = [Budget(epsilon, 1e-5) for epsilon in (0.3, 2.0, 40.0)]
    seeds = (7, 7, 8)  # the first two begin alike
    rngs = [np.random.default_rng(seed) for seed in seeds]
    estimates = runs(METHODS[name], cohort, k=2, budgets=budgets, rngs=rngs, **options)
    for budget, seed, together in zip(budgets, seeds, estimates, strict=True):
        alone = METHODS[name].fit(cohort, k=2, budget=budget, rng=np.random.default_rng(seed), **options)
        for basis, expected in zip(together.iterates, alone.iterates, strict=True):
            np.testing.assert_allclose(basis, expected, atol=1e-10)
        np.testing.assert_allclose(together.basis, alone.basis, atol=1e-10)
        assert (together.noise_std, together.spent) == (alone.noise_std, alone.spent)
        assert together.bytes_sent == alone.bytes_sent


def test_many_runs_are_refused_like_a_single_run():
    given = {"k": 2, "budgets": [BUDGET], "rng": np.random.default_rng(0)}
    for wrong, says in (({"budgets": []}, "budgets"), ({"rng": 0}, "rng"), ({"k": 9}, "k")):
        with pytest.raises(ValueError, match=says):
            dps_pca_runs(small_cohort(), **(given | wrong))


@pytest.mark.parametrize("count", [1, 3])
def test_several_messages_are_what_each_would_be(count):
    """Their products taken as one: to rounding those of one block at a time."""
    rng = np.random.default_rng(0)
    moment = small_cohort().pooled
    blocks, noises = rng.standard_normal((2, count, moment.features, 2))
    alone = [moment.apply(block) + noise for block, noise in zip(blocks, noises, strict=True)]
    np.testing.assert_allclose(messages(moment, blocks, list(noises)), alone, rtol=1e-12)
