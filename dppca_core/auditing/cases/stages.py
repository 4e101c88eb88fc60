"""Audit what two-stage and stacked methods release: normalised rounds, and moments of rows of length 1.

A round moves most, by nearly 2, from v = (a, c, b, 0) to u = (a, -c, 0, b) at Q = e1 with a and b small.
Stage 2 moves most at the same pair, by sqrt 2, where the server names the last two rows: what is left of v
and u, scaled to length 1, is e1 and e2. So both stages together attain what they spend together, and are
read as one: each in proportion to how far the pair moves it over its variance. Which rows stage 1 names is
audited as well.
"""

import math
from collections.abc import Callable

import numpy as np

from dppca_core.arrays import Array, Provider
from dppca_core.auditing.cases.pairs import Case, Pair, gaussian_case
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, stacked, symmetric_gaussian, two_stage
from dppca_core.numerics.moments import RowMoment
from dppca_core.privacy import Budget

_TILT = 0.05  # a and b: how far the two rows lean towards Q, and into the rows that the server names
_NAMED = np.array([2, 3])  # the features that the server names at the end of stage 1, from 0
_STEPS = 2  # rounds
_SHARE = 0.5  # of the budget, for stage 1


def rows_pair(budget: Budget, x: Array, y: Array) -> Pair:
    """Return two cohorts of two patients that differ in one row: x, (d,), or y in its place.

    For add/remove an empty row stands in the place of y. The other patient's row is the last axis.
    """
    other = np.eye(len(x))[-1]

    def cohort(row: Array) -> Cohort:
        moment = RowMoment(np.array([row, other]))
        return Cohort((Provider(2, moment),), moment)

    return cohort(x), cohort(y if budget.neighbours == "replace-one" else np.zeros_like(x))


def tilted(budget: Budget) -> Pair:
    """Return the pair that moves a round most, with Q = e1, and the moment of the rows that are named."""
    height = math.sqrt(1 - 2 * _TILT**2)  # c of the module's text, which makes both rows 1 long
    return rows_pair(
        budget, x=np.array([_TILT, height, _TILT, 0, 0]), y=np.array([_TILT, -height, 0, _TILT, 0])
    )


def crossed(budget: Budget) -> Pair:
    """Return the pair that makes stage 1 name the first feature or the second."""
    return rows_pair(budget, x=np.eye(3)[0], y=np.eye(3)[1])


def _read_rounds(
    pair: Pair, k: int, stds: tuple[float, ...]
) -> Callable[[Cohort, np.random.Generator], float]:
    """Return a function that releases all rounds of a cohort and adds up what tells the pair apart.

    Every round is of the basis e1, or [e1, e5] for k = 2. stds: noise of each entry of every round.
    """
    block = np.eye(5)[:, [0, 4][:k]]
    first, second = (cohort.pooled.normalised_product(block) for cohort in pair)
    change = first - second

    def read(cohort: Cohort, rng: np.random.Generator) -> float:
        """Return the sum over rounds of their part along the change, over the variance: the best weights."""
        rounds = (normalised_product.release(cohort, block, std, rng) / std**2 for std in stds)
        return float(sum(np.vdot(change, noisy) for noisy in rounds))

    return read


def both_stages(budget: Budget, k: int, noise: two_stage.StageNoise) -> Case:
    """Return the case of all that one run releases, where the server names the features that tell most.

    k: columns of the rounds' basis, 1 or 2. noise: that of every release, and the share of stage 1.
    """
    pair, iterations = tilted(budget), len(noise.round_stds)
    read_rounds = _read_rounds(pair, k, noise.round_stds)
    first, second = (cohort.pooled.restricted_unit(_NAMED).dense() for cohort in pair)
    change_over_variance = (first - second) / noise.block_std**2

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        stage_one = read_rounds(cohort, rng)
        moment = cohort.pooled.restricted_unit(_NAMED)
        noisy = symmetric_gaussian.with_noise(moment, noise.block_std, "isotropic", rng)
        return stage_one + float(np.vdot(change_over_variance, noisy))

    spent = two_stage.spends(budget, iterations=iterations, share=noise.share)
    title = f"{iterations} rounds and the moment of the features kept, k = {k}"
    return gaussian_case(title, pair, mechanism, spent, budget)


def _stages(budget: Budget, k: int, noise: two_stage.StageNoise) -> tuple[Case, ...]:
    """Return two cases: all that one run releases, and which features stage 1 alone names."""
    *stage_one, _ = two_stage.spends(budget, iterations=_STEPS, share=_SHARE)  # the last event is stage 2
    pair, start = crossed(budget), np.eye(3)[:, :k]

    def named(cohort: Cohort, rng: np.random.Generator) -> float:
        """Return 1 where the first feature is among the two named and the second is not, -1 vice versa."""
        rows = two_stage.release(cohort, noise, start, rng, s_hat=2).rows
        return float(0 in rows) - float(1 in rows)

    return (
        both_stages(budget, k, noise),
        gaussian_case("rows named", pair, named, stage_one, budget, tight=False),
    )


def noise_at(budget: Budget, trust: str = "central", iterations: int = _STEPS) -> two_stage.StageNoise:
    """Return the noise of a run at one place or, for another `trust`, that of one of two equal hospitals.

    That hospital sends its own mean, with its share of the noise. The sum of both carries `noise_factor`
    times one curator's noise, and each adds 1/sqrt 2 of that to its own sum. iterations: rounds of stage 1.
    """
    factor = 1.0 if trust == "central" else normalised_product.noise_factor(trust, 2) / math.sqrt(2)
    n = tilted(budget)[0].n
    return two_stage.stage_noise(budget, factor, d=5, n=n, share=_SHARE, iterations=iterations)


def one_place(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of both stages at one place, or as sealed sums."""
    return _stages(budget, min(k, 2), noise_at(budget))


def own_noise(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the cases of both stages as the first of two equal hospitals sends them."""
    return _stages(budget, min(k, 2), noise_at(budget, "untrusted server"))


def rounds(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all rounds of the stacked method, at one place or as sealed sums."""
    n = tilted(budget)[0].n
    std = stacked.noise_std(budget, "central", providers=1, n=n, iterations=_STEPS)
    return _all_rounds(budget, min(k, 2), std)


def own_rounds(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all stacked rounds as the first of two equal hospitals sends them."""
    n = tilted(budget)[0].n
    # The noise of the mean over both hospitals. Twice that is on the scale of one hospital's own mean, to
    # which it adds 1/sqrt 2 of the noise.
    together = stacked.noise_std(budget, "untrusted server", providers=2, n=2 * n, iterations=_STEPS)
    return _all_rounds(budget, min(k, 2), 2 * together / math.sqrt(2))


def _all_rounds(budget: Budget, k: int, std: float) -> tuple[Case, ...]:
    pair, spent = tilted(budget), stacked.spends(budget, iterations=_STEPS)
    read = _read_rounds(pair, k, (std,) * _STEPS)
    return (gaussian_case(f"{_STEPS} normalised rounds, k = {k}", pair, read, spent, budget),)
