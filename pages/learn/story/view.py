"""Settings -> what each step of the story shows: recipes of the core, and what they measure. No Streamlit.

The story holds what a board need not decide: exact accounting, a random start, rows divided by a public
bound, sin Theta as the error, and rounds enough to reach what a method can. A run is kept by its recipe; the
same run counts in every step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration import setting
from dppca_core.experiments.collaboration.protocols import NUMBER, PROTOCOLS, Traffic
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.demonstrations import differencing
from dppca_core.experiments.demonstrations.neighbours import Picture, picture
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.numerics import subspace_metrics
from dppca_core.numerics.block_power import MOST_STEPS
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from pages.learn.story.settings import WAYS as OFFERED
from pages.shared.settings import to_experiment

OPEN = "sparse_pca"  # all rows together, without privacy
# One hospital by itself: what it may do in-house, and what it may publish, where it is its own trusted place.
IN_HOUSE = ("sparse_pca", "pca")
PROTECTED = ("analyze_gauss_sparse", "analyze_gauss")
_WORK = 1e8  # operations of the eigenproblems of one place of a chart: a few tenths of a second
_WIDE = 400  # measurements beyond which a chart over settings has fewer places
TOO_MUCH = 1 / 3  # of a random guess: beyond it a pattern is of little use (as the bounds page has it)
_NO_WEIGHT = 1e-9  # a weight that is none, up to rounding
_EXACT = 1e-12  # an error that is none, where one is divided by
NEARLY_FREE = 1.25  # times the error without noise
HELD = {"accounting": "exact", "start": "random", "scaling": "public", "metric": "sin"}
# Rounds and warm-up rounds, at least: with fewer, the start and not privacy decides the error.
ROUNDS, WARM_UP = 10, 2
_LEFT = 1e-3  # of what a random start misses, after the last round: the smallest error that the screen tells


class Spread(NamedTuple):
    """10, 50 and 90 % of the error over runs."""

    low: float
    middle: float
    high: float


def recipe(settings: Mapping[str, Any]) -> CollaborationSetting:
    """The hospitals of these settings."""
    experiment, epsilon = to_experiment.from_settings({**settings, **HELD})
    return CollaborationSetting(
        population=experiment.population,
        sizes=experiment.sizes,
        k=experiment.k,
        s_hat=experiment.s_hat,
        rank=experiment.k,
        budget=experiment.budget(epsilon),
        iterations=max(experiment.iterations, _rounds(experiment.population)),
        burn_in=max(experiment.burn_in, WARM_UP),
        scaling=experiment.scaling,
        repeats=experiment.repeats,
        seed=experiment.seed,
    )


def _rounds(population: SpikedModel | str) -> int:
    """T with (bulk / spike)^T <= 1/1000, by which each round shrinks what the start misses; 10 at least.

    Nobody knows a table's spectrum beforehand: it has 10.
    """
    if isinstance(population, str):
        return ROUNDS
    ratio = population.bulk[1] / population.spikes[-1]
    return max(ROUNDS, min(MOST_STEPS, math.ceil(math.log(_LEFT) / math.log(ratio))))


def basis(of: CollaborationSetting) -> Array:
    """The true patterns, (d, k): the population's, or those of the whole table."""
    if isinstance(of.population, SpikedModel):
        return of.population.basis
    return setting.truth(of.population, of.n, of.k, of.scaling).basis


def released(of: CollaborationSetting, way: str, repeat: int = 0) -> Array:
    """What one run gives, (d, k)."""
    return of.estimate(PROTOCOLS[way], ALL, repeat).basis


@lru_cache(maxsize=100_000)
def error(of: CollaborationSetting, way: str, repeat: int) -> float:
    """sin Theta of one run."""
    return subspace_metrics.sin_theta(released(of, way, repeat), basis(of))


def runs(of: CollaborationSetting) -> int:
    """How many runs a place of a chart is the median of: all, fewer where one takes long."""
    return max(1, min(of.repeats, int(_WORK / of.d**3)))


def spread(of: CollaborationSetting, way: str) -> Spread:
    """The error over runs."""
    return Spread(*(float(value) for value in quantiles([error(of, way, r) for r in range(runs(of))])))


def alone(of: CollaborationSetting) -> CollaborationSetting:
    """The largest hospital by itself, with the whole budget."""
    return replace(of, sizes=(max(of.sizes),))


class Alone(NamedTuple):
    """What the largest hospital reaches by itself, and by which way."""

    way: str
    error: Spread


def best_alone(of: CollaborationSetting, ways: Sequence[str]) -> Alone:
    """Return the way with the least median error for the largest hospital by itself."""
    return min((Alone(way, spread(alone(of), way)) for way in ways), key=lambda each: each.error.middle)


def guess(of: CollaborationSetting) -> float:
    """What knowing nothing gives."""
    return subspace_metrics.random_guess(of.d, of.k)


class Sharing(NamedTuple):
    """Step 1: all together and the largest hospital alone, both without privacy."""

    of: CollaborationSetting
    alone: Spread
    together: Spread


def sharing(settings: Mapping[str, Any]) -> Sharing:
    """Measure it."""
    of = recipe(settings)
    return Sharing(of, spread(alone(of), OPEN), spread(of, OPEN))


class Given(NamedTuple):
    """Step 2: a patient's record, what two exact totals give away of it, and to how many digits."""

    of: CollaborationSetting
    patient: Array
    rebuilt: Array
    digits: int
    rows: Array  # those drawn, by the size of the patient's values


def given_away(settings: Mapping[str, Any], shown: int = 10) -> Given:
    """Rebuild it."""
    of = recipe(settings)
    found = differencing.pair(
        of.population, max(of.sizes), settings["story.patient"] - 1, of.scaling, of.seed
    )
    back = found.bound * differencing.rebuilt(found.with_, found.without)
    patient = differencing.turned(found.patient)
    rows = np.argsort(-np.abs(patient), kind="stable")[: min(shown, of.d)]
    return Given(of, patient, back, differencing.digits(patient, back), rows)


class Weights(NamedTuple):
    """Steps 3 and 8: how much each measurement counts in the true patterns and in those found, (d,).

    A measurement's weight is the length of its row: from 0 to 1, whichever way the patterns are turned.
    """

    of: CollaborationSetting
    true: Array
    found: Array
    rows: Array  # those drawn, heaviest first
    error: Spread

    @property
    def counted(self) -> int:
        """How many of the truly heaviest, as many as are drawn, truly have a weight."""
        return min(len(self.rows), int(np.count_nonzero(self.true > _NO_WEIGHT)))

    @property
    def agree(self) -> int:
        """How many of the heaviest found are truly heaviest, of those drawn that truly have a weight."""
        count = self.counted
        heaviest = [set(np.argsort(-weight, kind="stable")[:count]) for weight in (self.true, self.found)]
        return len(heaviest[0] & heaviest[1])


def weights(settings: Mapping[str, Any], way: str, shown: int = 10) -> Weights:
    """One run's, beside the truth."""
    of = recipe(settings)
    true, found = (np.linalg.norm(matrix, axis=1) for matrix in (basis(of), released(of, way)))
    rows = np.argsort(-(true if way == OPEN else found), kind="stable")[: min(shown, of.d)]
    return Weights(of, true, found, rows, spread(of, way))


class Hidden(NamedTuple):
    """Step 4: twenty releases with and without a patient, what was read, and how often a guess was right."""

    budget: Budget
    picture: Picture
    limit: float
    right: int
    tries: int


def hidden(settings: Mapping[str, Any]) -> Hidden:
    """Release and attack."""
    budget = recipe(settings).budget
    drawn = picture(budget, seed=settings["seed"] + settings["story.draw"] - 1)  # first the privacy page's
    limit = drawn.mu / 2  # of two bells of one width, half-way errs least
    right = sum(one.read > limit for one in drawn.here) + sum(one.read <= limit for one in drawn.there)
    return Hidden(budget, drawn, limit, right, len(drawn.here) + len(drawn.there))


class Curve(NamedTuple):
    """Steps 5 and 6: the error along a setting, with and without privacy, and at the setting itself."""

    of: CollaborationSetting
    way: str
    at: tuple[float, ...]
    private: tuple[Spread, ...]
    free: tuple[Spread, ...]
    here: int  # where the setting itself stands in `at`

    @property
    def now(self) -> float:
        """The error at the setting."""
        return self.private[self.here].middle

    @property
    def without(self) -> float:
        """The same without noise."""
        return self.free[self.here].middle

    @property
    def useful(self) -> tuple[bool, ...]:
        """Where along the setting the answer with noise is of use."""
        return tuple(one.middle <= TOO_MUCH * guess(self.of) for one in self.private)

    @property
    def relaxed(self) -> float | None:
        """From where on, to the end, noise adds little to the error; None where it does to the very end.

        Between two places by (error / error without noise)^2 - 1 as a power of the setting: noise errs as
        1/n, sampling as 1/sqrt(n).
        """
        near = [p.middle < NEARLY_FREE * f.middle for p, f in zip(self.private, self.free, strict=True)]
        first = next((i for i in range(len(near)) if all(near[i:])), None)
        if not first:
            return None if first is None else self.at[0]
        before, after = (
            self.private[i].middle / max(self.free[i].middle, _EXACT) for i in (first - 1, first)
        )
        high, low, goal = (math.log(max(r * r - 1, _EXACT)) for r in (before, after, NEARLY_FREE))
        part = (high - goal) / (high - low) if high > low else 1.0
        return self.at[first - 1] * (self.at[first] / self.at[first - 1]) ** part


def against_privacy(settings: Mapping[str, Any]) -> Curve:
    """Over epsilon."""
    of, way = recipe(settings), settings["story.way"]
    each = 5 if of.d > _WIDE else 2
    at = tuple(sorted({*EPSILONS[::each], EPSILONS[-1], of.budget.epsilon}))
    private = tuple(spread(replace(of, budget=replace(of.budget, epsilon=e)), way) for e in at)
    return Curve(of, way, at, private, (spread(of, OPEN),) * len(at), at.index(of.budget.epsilon))


def against_patients(settings: Mapping[str, Any]) -> Curve:
    """Over the number of patients, of as many hospitals; a table's up to all of them."""
    of, way = recipe(settings), settings["story.way"]
    each = (1,) if of.d > _WIDE else (1, 3)
    steps = {float(m * 10**p) for p in range(2, 9) for m in each}
    if settings["data"] in TABLES:
        steps = {float(round(share * of.n)) for share in (0.1, 0.2, 0.4, 0.6, 0.8)}
    least, most = max(len(of.sizes), of.k), of.n if settings["data"] in TABLES else 1e8
    at = tuple(sorted({*(n for n in steps if least <= n <= max(most, of.n)), float(of.n)}))
    of_n = [
        recipe({**settings, "n": int(n)}) if settings["data"] not in TABLES else _part(of, int(n)) for n in at
    ]
    # Both at one place before the next: wide patients are not drawn twice.
    both = [(spread(one, way), spread(one, OPEN)) for one in of_n]
    private, free = zip(*both, strict=True)
    return Curve(of, way, at, private, free, at.index(of.n))


def _part(of: CollaborationSetting, n: int) -> CollaborationSetting:
    """So many of a table's patients, in the same hospitals."""
    ends = [round(n * share) for share in np.cumsum(of.sizes) / of.n]
    sizes = tuple(max(1, end - begin) for begin, end in zip([0, *ends], ends, strict=False))
    return replace(of, sizes=sizes)


class Joined(NamedTuple):
    """Step 7: the error by whom hospitals trust, and what one hospital sends and keeps."""

    of: CollaborationSetting
    errors: dict[str, Spread]  # by way
    in_house: Alone
    published: Alone
    free: Spread
    sent: dict[str, Traffic]
    kept: int  # bytes of the largest hospital's own table


def joined(settings: Mapping[str, Any]) -> Joined:
    """Measure every way on offer."""
    of = recipe(settings)
    errors = {way: spread(of, way) for way in OFFERED}
    own = best_alone(of, IN_HOUSE), best_alone(of, PROTECTED)
    sent = {way: of.traffic(PROTOCOLS[way]) for way in OFFERED}
    return Joined(of, errors, *own, spread(of, OPEN), sent, NUMBER * max(of.sizes) * of.d)


class Offer(NamedTuple):
    """Step 8: what would be released, what it would cost, and what the largest hospital has by itself."""

    weights: Weights
    way: str
    in_house: Alone
    published: Alone
    free: Spread
    sent: Traffic


def offer(settings: Mapping[str, Any]) -> Offer:
    """One release by the way chosen."""
    way = settings["story.way"]
    found = weights(settings, way)
    own = best_alone(found.of, IN_HOUSE), best_alone(found.of, PROTECTED)
    return Offer(found, way, *own, spread(found.of, OPEN), found.of.traffic(PROTOCOLS[way]))
