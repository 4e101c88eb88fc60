"""Measure what each step of the story shows, from the settings. No Streamlit here.

The story holds what a board need not decide: exact accounting, a random start, rows divided by a public
bound, sin Theta as the error, and enough rounds. Runs are cached by their setting, so that the same run
counts in every step.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.protocols import NUMBER, PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.demonstrations import differencing
from dppca_core.experiments.demonstrations.neighbours import Picture, picture
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.numerics import subspace_metrics
from dppca_core.numerics.block_power import MOST_STEPS
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from pages.shared.settings import to_experiment

NOISELESS = "two_stage without noise"  # else it would seem that noise helps: its rows have length 1
NO_NOISE = 1e6  # epsilon
# Of each list the method that errs least at a setting is shown: all rows together without privacy, each way
# of working, and one hospital by itself, whose result stays in-house or is published.
OPEN = ("sparse_pca", "sparse_pca_shrunk", NOISELESS)
WORKING = {
    "own noise": ("two_stage_own_noise", "own_noise_sparse"),
    "sealed sum": ("two_stage_sealed", "sealed_sparse"),
    "one place": ("two_stage", "analyze_gauss_sparse"),
}
IN_HOUSE = (*OPEN, "pca")
PROTECTED = ("two_stage", "analyze_gauss_sparse", "analyze_gauss")
_WORK = 1e8  # operations of the eigenproblems of one point of a chart: a few tenths of a second
_CURVE = 4  # times less of them at each point of a curve
_WIDE = 400  # measurements beyond which a chart over settings has fewer points
TOO_MUCH = 1 / 3  # of a random guess: beyond it a pattern is of little use (as on the bounds page)
_NO_WEIGHT = 1e-9  # a weight that is zero up to rounding
_EXACT = 1e-12  # takes the place of an error of zero where one divides by it
NEARLY_FREE = 1.25  # times the error without noise
HELD = {"accounting": "exact", "start": "random", "scaling": "public", "metric": "sin"}
# Rounds and warm-up rounds, at least: with fewer, the start and not privacy decides the error.
ROUNDS, WARM_UP = 10, 2
_LEFT = 1e-3  # share of a random start's error after the last round: the smallest error that is shown
_SHOWN = 10  # measurements in a chart of values or weights


class Spread(NamedTuple):
    """Hold 10, 50 and 90 % of the error over runs."""

    low: float
    middle: float
    high: float


def to_setting(settings: Mapping[str, Any]) -> CollaborationSetting:
    """Return the hospitals of these settings."""
    experiment, epsilon = to_experiment.from_settings({**settings, **HELD})
    same = ("population", "sizes", "k", "s_hat", "scaling", "repeats", "seed")
    return CollaborationSetting(
        **{name: getattr(experiment, name) for name in same},
        rank=experiment.k,
        budget=experiment.budget(epsilon),
        iterations=max(experiment.iterations, _rounds(experiment.population)),
        burn_in=max(experiment.burn_in, WARM_UP),
    )


def _rounds(population: SpikedModel | str) -> int:
    """Return T with (bulk / spike)^T <= 1/1000, the factor by which rounds shrink what the start misses.

    It is at least 10, and 10 for a table, whose spectrum is not known beforehand.
    """
    if isinstance(population, str):
        return ROUNDS
    ratio = population.bulk[1] / population.spikes[-1]
    return max(ROUNDS, min(MOST_STEPS, math.ceil(math.log(_LEFT) / math.log(ratio))))


def noiseless(setting: CollaborationSetting) -> CollaborationSetting:
    """Return the setting with a budget for which hardly any noise is needed."""
    return replace(setting, budget=replace(setting.budget, epsilon=NO_NOISE))


def released_basis(setting: CollaborationSetting, protocol: str, repeat: int = 0) -> Array:
    """Return what one run gives, (d, k)."""
    if protocol == NOISELESS:
        return released_basis(noiseless(setting), "two_stage", repeat)
    return setting.estimate(PROTOCOLS[protocol], ALL, repeat).basis


@lru_cache(maxsize=100_000)
def error(setting: CollaborationSetting, protocol: str, repeat: int) -> float:
    """Return sin Theta of one run."""
    return subspace_metrics.sin_theta(released_basis(setting, protocol, repeat), setting.truth.basis)


def runs(setting: CollaborationSetting, few: bool = False) -> int:
    """Return how many runs are measured: all, or fewer where one takes long or few are asked."""
    return max(1, min(setting.repeats, int(_WORK / (_CURVE if few else 1) / setting.d**3)))


def spread(setting: CollaborationSetting, protocol: str, few: bool = False) -> Spread:
    """Return the error over runs."""
    errors = [error(setting, protocol, repeat) for repeat in range(runs(setting, few))]
    return Spread(*(float(v) for v in quantiles(errors)))


def largest_hospital(setting: CollaborationSetting) -> CollaborationSetting:
    """Return the largest hospital by itself, with the whole budget."""
    return replace(setting, sizes=(max(setting.sizes),))


class Best(NamedTuple):
    """Hold the method that errs least in the median, and its error."""

    method: str
    error: Spread


def best(setting: CollaborationSetting, methods: Sequence[str], few: bool = False) -> Best:
    """Return which of these methods errs least at a setting."""
    each = [Best(method, spread(setting, method, few)) for method in methods]
    return min(each, key=lambda method: method.error.middle)


def guess(setting: CollaborationSetting) -> float:
    """Return the error of a random guess."""
    return subspace_metrics.random_guess(setting.d, setting.k)


class Sharing(NamedTuple):
    """Hold step 1: the errors of all hospitals together and of the largest alone, both without privacy."""

    setting: CollaborationSetting
    alone: Spread
    together: Spread


def measure_sharing(settings: Mapping[str, Any]) -> Sharing:
    setting = to_setting(settings)
    lone = best(largest_hospital(setting), OPEN)
    return Sharing(setting, lone.error, best(setting, OPEN).error)


class RebuiltRecord(NamedTuple):
    """Hold step 2: a patient's record, and what two exact totals give away of it, to so many digits."""

    setting: CollaborationSetting
    patient: Array
    rebuilt: Array
    digits: int
    rows: Array  # of the chart, the largest values first


def rebuild_record(settings: Mapping[str, Any]) -> RebuiltRecord:
    """Rebuild a patient's record from two exact results, with and without that patient."""
    setting = to_setting(settings)
    index, size = settings["story.patient"] - 1, max(setting.sizes)
    pair = differencing.pair(setting.population, size, index, setting.scaling, setting.seed)
    rebuilt = pair.bound * differencing.rebuilt(pair.with_, pair.without)
    patient = differencing.turned(pair.patient)
    rows = np.argsort(-np.abs(patient), kind="stable")[:_SHOWN]
    return RebuiltRecord(setting, patient, rebuilt, differencing.digits(patient, rebuilt), rows)


class Weights(NamedTuple):
    """Hold steps 3 and 8: how much each measurement counts in the true patterns and in one run's, (d,).

    A measurement's weight is the length of its row: from 0 to 1, however the patterns are rotated.
    """

    setting: CollaborationSetting
    method: str
    true: Array
    released: Array
    rows: Array  # of the chart, heaviest first
    error: Spread

    @property
    def counted(self) -> int:
        """Return how many of the truly heaviest, as many as are drawn, truly have a weight."""
        return min(len(self.rows), int(np.count_nonzero(self.true > _NO_WEIGHT)))

    @property
    def agree(self) -> int:
        """Return how many of the heaviest released are truly heaviest, of those counted."""
        heaviest = [set(np.argsort(-w, kind="stable")[: self.counted]) for w in (self.true, self.released)]
        return len(heaviest[0] & heaviest[1])


def measure_weights(settings: Mapping[str, Any], way: str = "") -> Weights:
    """Measure the weights of a way of working; without one, of all rows together without privacy."""
    setting = to_setting(settings)
    method, errors = best(setting, WORKING[way] if way else OPEN)
    bases = setting.truth.basis, released_basis(setting, method)
    true, released = (np.linalg.norm(basis, axis=1) for basis in bases)
    rows = np.argsort(-(released if way else true), kind="stable")[:_SHOWN]
    return Weights(setting, method, true, released, rows, errors)


class SpyAttack(NamedTuple):
    """Hold step 4: twenty releases with and without a patient, and how often a spy's guess was right."""

    budget: Budget
    picture: Picture
    limit: float
    right: int
    tries: int


def attack(settings: Mapping[str, Any]) -> SpyAttack:
    """Guess from every release which of two data sets it is of."""
    budget = to_setting(settings).budget
    seed = settings["seed"] + settings["story.draw"] - 1  # the first draw is that of the privacy page
    drawn = picture(budget, seed=seed)
    limit = drawn.mu / 2  # half-way between two normal laws of one width errs least
    return SpyAttack(budget, drawn, limit, drawn.right_guesses(limit), len(drawn.here) + len(drawn.there))


class Curve(NamedTuple):
    """Hold steps 5 and 6: the error along a setting, with and without privacy."""

    setting: CollaborationSetting
    way: str
    method: str  # at the current setting; elsewhere another may err less, and counts
    at: tuple[float, ...]
    private: tuple[Spread, ...]
    free: tuple[Spread, ...]
    here: int  # index of the current setting in `at`

    @property
    def now(self) -> float:
        """Return the error at the current setting."""
        return self.private[self.here].middle

    @property
    def without(self) -> float:
        """Return the error at the current setting without noise."""
        return self.free[self.here].middle

    @property
    def useful(self) -> tuple[bool, ...]:
        """Return where along the setting the answer with noise is of use."""
        return tuple(spread.middle <= TOO_MUCH * guess(self.setting) for spread in self.private)

    @property
    def relaxed(self) -> float | None:
        """Return from where on, to the end, noise adds little to the error; None where it adds much there.

        Between two points by (error / error without noise)^2 - 1 as a power of the setting: noise errs as
        1/n, sampling as 1/sqrt(n).
        """
        pairs = zip(self.private, self.free, strict=True)
        ratios = [private.middle / max(free.middle, _EXACT) for private, free in pairs]
        first = next((i for i in range(len(ratios)) if max(ratios[i:]) < NEARLY_FREE), None)
        if not first:
            return None if first is None else self.at[0]
        near = (ratios[first - 1], ratios[first], NEARLY_FREE)
        high, low, goal = (math.log(max(ratio * ratio - 1, _EXACT)) for ratio in near)
        part = (high - goal) / (high - low) if high > low else 1.0
        return self.at[first - 1] * (self.at[first] / self.at[first - 1]) ** part


def along_privacy(settings: Mapping[str, Any]) -> list[CollaborationSetting]:
    """Return the points of the curve over epsilon."""
    setting = to_setting(settings)
    budget = setting.budget
    at = sorted({*EPSILONS[:: 5 if setting.d > _WIDE else 2], EPSILONS[-1], budget.epsilon})
    return [replace(setting, budget=replace(budget, epsilon=epsilon)) for epsilon in at]


def curve_over_privacy(settings: Mapping[str, Any]) -> Curve:
    """Measure the error over epsilon."""
    setting, way, points = to_setting(settings), settings["story.way"], along_privacy(settings)
    at = tuple(point.budget.epsilon for point in points)
    private = [best(point, WORKING[way], few=point != setting) for point in points]
    return _curve(setting, way, at, private, [best(setting, OPEN)] * len(at), setting.budget.epsilon)


def _curve(
    setting: CollaborationSetting,
    way: str,
    at: tuple[float, ...],
    private: Sequence[Best],
    free: Sequence[Best],
    here: float,
) -> Curve:
    index = at.index(here)
    spreads = (tuple(point.error for point in points) for points in (private, free))
    return Curve(setting, way, private[index].method, at, *spreads, index)


def along_patients(settings: Mapping[str, Any]) -> list[CollaborationSetting]:
    """Return the points of the curve over the patients of as many hospitals; a table's up to all of them."""
    setting = to_setting(settings)
    table = settings["data"] in TABLES
    digits = (1,) if setting.d > _WIDE else (1, 3)
    steps = {float(m * 10**p) for p in range(2, 9) for m in digits}
    if table:
        steps = {float(round(share * setting.n)) for share in (0.1, 0.2, 0.4, 0.6, 0.8)}
    least, most = max(len(setting.sizes), setting.k), setting.n if table else max(1e8, setting.n)
    at = sorted({*(n for n in steps if least <= n <= most), float(setting.n)})
    return [_part(setting, int(n)) if table else to_setting({**settings, "n": int(n)}) for n in at]


def curve_over_patients(settings: Mapping[str, Any]) -> Curve:
    """Measure the error over the number of patients."""
    setting, way, points = to_setting(settings), settings["story.way"], along_patients(settings)
    at = tuple(float(point.n) for point in points)
    # Both errors at one point before the next, so that the patients of a wide table are drawn once.
    private, free = [], []
    for point in points:
        few = point != setting  # which is shown in other steps too
        private.append(best(point, WORKING[way], few))
        free.append(best(point, OPEN, few))
    return _curve(setting, way, at, private, free, setting.n)


def _part(setting: CollaborationSetting, n: int) -> CollaborationSetting:
    """Return so many of a table's patients, in the same hospitals."""
    ends = [round(n * share) for share in np.cumsum(setting.sizes) / setting.n]
    sizes = tuple(max(1, end - begin) for begin, end in zip([0, *ends], ends, strict=False))
    return replace(setting, sizes=sizes)


class Joined(NamedTuple):
    """Hold step 7: ways of working, the largest hospital's alone, and what one hospital sends and keeps."""

    setting: CollaborationSetting
    way: str  # the chosen one
    ways: dict[str, Best]
    in_house: Best
    published: Best
    free: Spread
    sent: dict[str, int]  # bytes of one hospital in all rounds
    kept: int  # bytes of the largest hospital's own table

    @property
    def chosen(self) -> Spread:
        """Return the error of the chosen way."""
        return self.ways[self.way].error


def measure_joined(settings: Mapping[str, Any], ways: Collection[str] = tuple(WORKING)) -> Joined:
    setting = to_setting(settings)
    lone, shown = largest_hospital(setting), {way: best(setting, WORKING[way]) for way in ways}
    return Joined(
        setting,
        settings["story.way"],
        shown,
        best(lone, IN_HOUSE),
        best(lone, PROTECTED),
        best(setting, OPEN).error,
        {way: sum(setting.traffic(PROTOCOLS[used.method]).sent) for way, used in shown.items()},
        NUMBER * max(setting.sizes) * setting.d,
    )


class Decision(NamedTuple):
    """Hold step 8: what would be released, and what the chosen way of working costs."""

    weights: Weights
    joined: Joined


def measure_decision(settings: Mapping[str, Any]) -> Decision:
    way = settings["story.way"]
    return Decision(measure_weights(settings, way), measure_joined(settings, (way,)))
