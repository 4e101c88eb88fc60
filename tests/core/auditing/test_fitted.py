"""Audit the steps of a fitted bound, and each bug that it could have, planted and refuted.

Each bound is above the truth with probability ALPHA at most.
"""

import numpy as np
import pytest

from dppca_core import Budget
from dppca_core.accounting import gaussian
from dppca_core.auditing import lower_bound
from dppca_core.auditing.cases import Case, fitted, planted
from dppca_core.mechanisms.paid_lengths import STEPS, FittedBound
from dppca_core.privacy import Neighbours
from tests.core.laws import ALPHA, HalfTheNoise
from tests.core.mechanisms.test_paid_lengths import vars_of

DRAWS, FEW = 2000, 200
# Claims of squares and tails are small: half the noise needs more draws, and a step without charge fewer.
HALVED = {"squares": DRAWS, "mean": 1000, "tails": DRAWS, "moment": 1000}
UNCHARGED = {"squares": 400, "mean": 1000, "tails": 400, "moment": DRAWS}
MANY = 400  # patients in the table whose bound is read
EACH = pytest.mark.parametrize("step", STEPS)
NEIGHBOURS = pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])


def budget(neighbours: Neighbours = "replace-one") -> Budget:
    return Budget(8.0, 0.01, neighbours)


def shown(case: Case, draws: int = DRAWS, rng: np.random.Generator | None = None) -> float:
    return lower_bound.audit(
        case.mechanism,
        case.pair,
        delta=case.delta,
        draws=draws,
        rng=np.random.default_rng(0) if rng is None else rng,
        bound=lower_bound.gaussian_tradeoff,
        alpha=ALPHA,
    ).epsilon


@NEIGHBOURS
@EACH
def test_a_step_keeps_its_promise_at_a_pair_that_attains_it(step, neighbours):
    """Without noise the logarithm of the ratio is mu^2/2 for one cohort, and -mu^2/2 for the other."""
    case = fitted.steps(fitted.rule_of(budget(neighbours)))[step]
    first, second = planted.readings(case)
    assert (first, second) == pytest.approx((case.mu**2 / 2, -(case.mu**2) / 2), rel=1e-9)
    assert shown(case, HALVED[step] if neighbours == "replace-one" else 2 * FEW) <= case.epsilon


@EACH
def test_half_the_noise_is_refuted(step):
    case = fitted.steps(fitted.rule_of(budget()))[step]
    assert shown(case, HALVED[step], HalfTheNoise(np.random.PCG64(1))) > case.epsilon


def test_a_whole_run_keeps_its_promise():
    case = fitted.whole_run(fitted.rule_of(budget()))
    assert case.epsilon == pytest.approx(8.0, rel=1e-9)
    assert 1.0 < shown(case, FEW) <= case.epsilon


# --- planted bugs ---------------------------------------------------------------------------------------


class Looking(FittedBound):
    """Remember the rows of the last sum, for bugs that look at them."""

    def noisy_sum(self, step, rows, released, rng, **options):
        object.__setattr__(self, "seen", rows)
        return super().noisy_sum(step, rows, released, rng, **options)


class TrueLengths(Looking):
    """Take the bound from the lengths of the rows themselves."""

    def bound(self, tails, frame):
        return super().bound(self.tails(self.seen, frame).mean(axis=0), frame)


class TrueSquares(Looking):
    """Take the bound of the mean from the rows themselves."""

    def mean_bound(self, squares):
        return super().mean_bound(self.squares(self.seen).mean(axis=0))


class Unpaid(FittedBound):
    """Release tails without noise, as they only choose a bound."""

    def noisy_sum(self, step, rows, released, rng, **options):
        part = {"part": 0.0} if step == "tails" else {}
        return super().noisy_sum(step, rows, released, rng, **(options | part))


class Uncharged(FittedBound):
    """Draw the noise of each step as if the whole budget were for it."""

    def sum_std(self, step, bound=0.0):
        return self.sensitivity(step, bound) * gaussian.noise_multiplier(self.budget)


def bugged(kind: type[FittedBound], at: Budget, n: int = 2) -> FittedBound:
    return kind(**vars_of(fitted.rule_of(at, n)))


@NEIGHBOURS
def test_tails_that_are_not_paid_for_are_refuted(neighbours):
    case = fitted.steps(bugged(Unpaid, budget(neighbours)))["tails"]
    assert shown(case, 2 * FEW) > 5 * case.epsilon


@NEIGHBOURS
def test_a_bound_from_the_true_lengths_is_refuted(neighbours):
    right, bug = (
        fitted.stated_bound(bugged(kind, budget(neighbours), MANY)) for kind in (FittedBound, TrueLengths)
    )
    assert shown(right, FEW) <= right.epsilon < shown(bug, FEW)


def test_a_bound_of_the_mean_from_rows_is_refuted():
    """Where a patient joins: the noise is smaller without the long row."""
    case = fitted.steps(bugged(TrueSquares, budget("add-remove")))["mean"]
    assert shown(case, 1000) > case.epsilon


@NEIGHBOURS
@EACH
def test_a_step_that_is_not_charged_is_refuted(step, neighbours):
    case = fitted.steps(bugged(Uncharged, budget(neighbours)))[step]
    assert shown(case, UNCHARGED[step]) > case.epsilon
