"""Measure what each step of the story shows, from the settings. No Streamlit here.

The story holds what a board need not decide: exact accounting, a random start, rows divided by a public
bound, and every error as a share or an angle (`units`). Runs are cached by their setting, so that the same
run counts in every step.

A protocol is a method with its options, by its key in `PROTOCOLS`. Under each trust the one that the core
recommends is shown, with the runs of the explorer; without privacy, the one number of `no_privacy`.
`settings` are those of all controls.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import Recommendation
from dppca_core.datasets import TABLES
from dppca_core.experiments import no_privacy
from dppca_core.experiments.collaboration.protocols import ALONE, NUMBER, PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.demonstrations import differencing
from dppca_core.experiments.demonstrations.neighbours import Picture, picture
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.verdicts import costs_nothing
from dppca_core.numerics import subspace_metrics
from dppca_core.privacy import Budget
from pages.learn.story.units import Spread, Unit, unit
from pages.shared import text
from pages.shared.settings import to_experiment

TRUSTS = tuple(text.JOINING)  # from the least trust to the most
_DRAW_SECONDS = 0.1  # of drawing all hospitals' patients, above which only the largest one's are drawn
_WORK = 1e9  # operations of the eigenproblems of the current setting: all repeats up to d = 464, as elsewhere
_WORK_OF_A_POINT = 2.5e7  # those of any other point of a curve
_FEW = 5  # runs at each point of a curve, at most
_WIDE = 400  # measurements beyond which a chart over settings has fewer points
TOO_MUCH = 1 / 3  # of a random guess: beyond it a pattern is of little use (as on the bounds page)
_NO_WEIGHT = 1e-9  # a weight that is zero up to rounding
NEARLY_FREE = 0.01  # of the pattern lost to noise
_NOTHING = 1e-12  # takes the place of a loss of zero where one divides by it
HELD = {"accounting": "exact", "start": "random", "scaling": "public", "metric": "sin"}
_SHOWN = 10  # measurements in a chart of values or weights


def to_setting(settings: Mapping[str, Any]) -> CollaborationSetting:
    """Return the hospitals, budget and parameters that these settings describe, with `HELD` for others."""
    experiment, epsilon = to_experiment.from_settings({**settings, **HELD})
    same = ("population", "sizes", "k", "s_hat", "scaling", "repeats", "seed", "choose_rows")
    return CollaborationSetting(
        **{name: getattr(experiment, name) for name in same},
        rank=experiment.k,  # of DPdisPCA: how many directions each hospital sends
        budget=experiment.budget(epsilon),
    )


def advised(setting: CollaborationSetting, trust: str) -> Recommendation:
    """Return the method recommended to the hospitals together, which is a protocol's key as well."""
    return trusts.recommended(_experiment(setting), setting.budget.epsilon, trust)


def advised_alone(setting: CollaborationSetting) -> Recommendation:
    """Return the method recommended to the largest hospital alone, which publishes its result."""
    return trusts.recommended_alone(_experiment(setting), setting.budget.epsilon, max(setting.sizes))


def _experiment(setting: CollaborationSetting) -> ExplorerExperiment:
    """Return the explorer's experiment with these patients and hospitals, whose number alone counts here."""
    same = {name: getattr(setting, name) for name in ("population", "n", "k", "s_hat", "choose_rows")}
    budget = {"delta": setting.budget.delta, "neighbours": setting.budget.neighbours}
    return ExplorerExperiment(**same, **budget, providers=len(setting.sizes))


def released_basis(setting: CollaborationSetting, protocol: str, repeat: int = 0) -> Array:
    """Return the basis, (d, k), of one run of a protocol; where hospitals stay alone, the largest one's."""
    chosen = PROTOCOLS[protocol]
    return setting.estimate(chosen, setting.hospitals[0] if chosen.alone else ALL, repeat).basis


def largest_alone(setting: CollaborationSetting) -> CollaborationSetting:
    """Return the setting in which the largest hospital is measured alone, as on the providers page.

    Where drawing all hospitals' patients takes long, only that hospital's are drawn. They are then other
    patients than those of the joined hospitals.
    """
    slow = setting.seconds(PROTOCOLS["alone"]) > _DRAW_SECONDS
    return replace(setting, sizes=(max(setting.sizes),)) if slow else setting


@lru_cache(maxsize=100_000)
def error(setting: CollaborationSetting, protocol: str, repeat: int) -> tuple[float, float]:
    """Return ||sin Theta||_F of one run of a protocol, and its largest angle in degrees."""
    basis, truth = released_basis(setting, protocol, repeat), setting.truth.basis
    angle = float(subspace_metrics.largest_angles(basis[None], truth)[0])
    return subspace_metrics.sin_theta(basis, truth), angle


def runs(setting: CollaborationSetting, few: bool = False) -> int:
    """Return how many runs are measured: all repeats, or fewer where one takes long.

    few: asks for fewer, as at the points of a curve other than the current setting.
    """
    # The eigenproblem of a run takes about d^3 operations.
    most, work = (_FEW, _WORK_OF_A_POINT) if few else (setting.repeats, _WORK)
    return max(1, min(setting.repeats, most, int(work / setting.d**3)))


def spread(setting: CollaborationSetting, protocol: str, few: bool = False) -> Spread:
    """Return 10, 50 and 90 % over runs of a protocol's error, in all its units; few: see `runs`."""
    errors = [error(setting, protocol, repeat) for repeat in range(runs(setting, few))]
    sines, angles = np.array(errors).T
    return _spread(sines, angles, setting.k)


def _spread(sines: Array, angles: Array, k: int) -> Spread:
    """Return 10, 50 and 90 % over runs of these errors, (runs,) each, in all units."""
    shares = 100 * subspace_metrics.share_recovered(sines, k)
    return Spread(*(tuple(quantiles(values).tolist()) for values in (sines, shares, angles)))


def without_privacy(setting: CollaborationSetting, alone: bool = False, few: bool = False) -> Spread:
    """Return the error without privacy of all patients, or of as many as the largest hospital has.

    few: see `runs`.
    """
    patients = max(setting.sizes) if alone else setting.n
    which = {"seed": setting.seed, "repeats": runs(setting, few)}
    _, outcome = no_privacy.of_best_way(setting.population, patients, setting.k, **which)
    return _spread(outcome.sin, outcome.angle, setting.k)


class Used(NamedTuple):
    """Hold the method that is recommended, its protocol's key, and its error; near_guess: it is of no use."""

    method: str
    error: Spread
    near_guess: bool


def used(setting: CollaborationSetting, trust: str, few: bool = False) -> Used:
    """Return what is recommended to the hospitals together under a trust; few: see `runs`."""
    chosen = advised(setting, trust)
    return Used(chosen.method, spread(setting, chosen.method, few), chosen.near_guess)


def used_alone(setting: CollaborationSetting) -> Used:
    """Return what is recommended to the largest hospital alone, which publishes its result."""
    chosen = advised_alone(setting)
    protocol = ALONE[chosen.method].key
    return Used(protocol, spread(largest_alone(setting), protocol), chosen.near_guess)


def guess(setting: CollaborationSetting) -> float:
    """Return the ||sin Theta||_F of a random guess."""
    return subspace_metrics.random_guess(setting.d, setting.k)


class Sharing(NamedTuple):
    """Hold step 1: the errors of all hospitals together and of the largest alone, both without privacy."""

    setting: CollaborationSetting
    unit: Unit
    alone: Spread
    together: Spread


def measure_sharing(settings: Mapping[str, Any]) -> Sharing:
    """Measure, without privacy, the largest hospital alone and all hospitals together."""
    setting = to_setting(settings)
    alone, together = without_privacy(setting, alone=True), without_privacy(setting)
    return Sharing(setting, unit(settings, setting), alone, together)


class RebuiltRecord(NamedTuple):
    """Hold step 2: a patient's record, (d,), and what two exact totals give away of it, to so many digits."""

    setting: CollaborationSetting
    patient: Array
    rebuilt: Array
    digits: int
    rows: Array  # indices of the measurements in the chart, the largest values first


def rebuild_record(settings: Mapping[str, Any]) -> RebuiltRecord:
    """Rebuild a patient's record from two exact totals, with and without that patient.

    The totals are over the patients of the largest hospital.
    """
    setting = to_setting(settings)
    index, size = settings["story.patient"] - 1, max(setting.sizes)  # patients count from 1 on screen
    pair = differencing.pair(setting.population, size, index, setting.scaling, setting.seed)
    rebuilt = pair.bound * differencing.rebuilt(pair.with_, pair.without)
    # Two totals leave the sign of the whole row open, so both rows are given the same one.
    patient = differencing.with_positive_largest(pair.patient)
    rows = np.argsort(-np.abs(patient), kind="stable")[:_SHOWN]
    return RebuiltRecord(setting, patient, rebuilt, differencing.digits(patient, rebuilt), rows)


class Weights(NamedTuple):
    """Hold steps 3 and 8: how much each measurement counts in the true patterns and in one run's, (d,).

    A measurement's weight is the length of its row in the basis, (d, k): from 0 to 1, however the patterns
    are rotated. `method` is the method that is shown, NO_PRIVACY in step 3, `error` that over its runs.
    """

    setting: CollaborationSetting
    unit: Unit
    method: str
    true: Array
    released: Array
    rows: Array  # indices of the measurements in the chart, heaviest first
    error: Spread

    @property
    def counted(self) -> int:
        """Return how many measurements truly have a weight, but no more than the chart shows."""
        return min(len(self.rows), int(np.count_nonzero(self.true > _NO_WEIGHT)))

    @property
    def agree(self) -> int:
        """Return how many of the `counted` truly heaviest measurements are among as many released ones."""
        # The indices of the heaviest by their true weights, and by the released ones.
        heaviest = [set(np.argsort(-w, kind="stable")[: self.counted]) for w in (self.true, self.released)]
        return len(heaviest[0] & heaviest[1])


def measure_weights(settings: Mapping[str, Any], trust: str = "") -> Weights:
    """Measure the weights under a trust; without one, of all rows together without privacy."""
    setting = to_setting(settings)
    if trust:
        method, errors, _ = used(setting, trust)
        outcome = released_basis(setting, method)
    else:
        method, errors = NO_PRIVACY, without_privacy(setting)
        outcome = no_privacy.basis(
            setting.population, setting.n, setting.k, seed=setting.seed, repeats=runs(setting)
        )
    bases = setting.truth.basis, outcome
    true, released = (np.linalg.norm(basis, axis=1) for basis in bases)
    rows = np.argsort(-(released if trust else true), kind="stable")[:_SHOWN]
    return Weights(setting, unit(settings, setting), method, true, released, rows, errors)


class AttackPicture(NamedTuple):
    """Hold step 4: twenty releases with and without a patient, from which an attacker guesses."""

    budget: Budget
    picture: Picture


def attack(settings: Mapping[str, Any]) -> AttackPicture:
    """Draw releases from two data sets, which differ in one patient."""
    budget = to_setting(settings).budget
    seed = settings["seed"] + settings["story.draw"] - 1  # the first draw is that of the privacy page
    return AttackPicture(budget, picture(budget, seed=seed))


class Curve(NamedTuple):
    """Hold steps 5 and 6: the error along a setting, with and without privacy.

    `values` are that setting's values, ascending; `private` and `free` are the errors at each, with and
    without noise.
    """

    setting: CollaborationSetting
    unit: Unit
    trust: str
    method: str  # at the current setting; elsewhere another may be recommended
    values: tuple[float, ...]
    private: tuple[Spread, ...]
    free: tuple[Spread, ...]
    here: int  # index of the current setting in `values`

    @property
    def now(self) -> Spread:
        """Return the error at the current setting."""
        return self.private[self.here]

    @property
    def without(self) -> Spread:
        """Return the error at the current setting without noise."""
        return self.free[self.here]

    @property
    def costs(self) -> list[float]:
        """Return the share of the pattern, of 1, lost to noise at each point; 0 where it costs nothing."""
        pairs = zip(self.private, self.free, strict=True)
        return [
            0.0 if costs_nothing(private.shares[1], free.shares) else private.lost - free.lost
            for private, free in pairs
        ]

    @property
    def cost(self) -> float:
        """Return the share of the pattern, of 1, lost to noise at the current setting."""
        return self.costs[self.here]

    @property
    def useful(self) -> tuple[bool, ...]:
        """Return for each point whether the answer is of use: at most `TOO_MUCH` of a guess's error."""
        return tuple(spread.middle <= TOO_MUCH * guess(self.setting) for spread in self.private)

    @property
    def relaxed(self) -> float | None:
        """Return from which value on noise costs less than `NEARLY_FREE`; None where the last costs more.

        Between two points the cost is interpolated as a power of the setting, since what noise loses falls as
        1/n^2.
        """
        costs = self.costs
        # The first point from which on no cost is too high: none, or the very first, needs no interpolation.
        first = next((i for i in range(len(costs)) if max(costs[i:]) < NEARLY_FREE), None)
        if not first:
            return None if first is None else self.values[0]
        high, low, goal = (
            math.log(max(cost, _NOTHING)) for cost in (*costs[first - 1 : first + 1], NEARLY_FREE)
        )
        part = (high - goal) / (high - low)  # of the way from the point before to the first
        return self.values[first - 1] * (self.values[first] / self.values[first - 1]) ** part


def along_privacy(settings: Mapping[str, Any]) -> list[CollaborationSetting]:
    """Return the settings along the curve over epsilon, ascending; the current one is among them."""
    setting = to_setting(settings)
    budget = setting.budget
    # Every second value of the slider, of a wide table every fifth.
    at = sorted({*EPSILONS[:: 5 if setting.d > _WIDE else 2], EPSILONS[-1], budget.epsilon})
    return [replace(setting, budget=replace(budget, epsilon=epsilon)) for epsilon in at]


def along_patients(settings: Mapping[str, Any]) -> list[CollaborationSetting]:
    """Return the settings along the curve over patients, ascending; the current one is among them.

    The number of hospitals stays. Simulated patients are up to a hundred million, or those that are set if
    more; a table's are up to all that it has.
    """
    setting = to_setting(settings)
    table = settings["data"] in TABLES
    digits = (1,) if setting.d > _WIDE else (1, 3)  # points in each power of ten
    steps = {float(digit * 10**power) for power in range(2, 9) for digit in digits}
    if table:
        steps = {float(round(share * setting.n)) for share in (0.1, 0.2, 0.4, 0.6, 0.8)}
    # Each hospital has at least one patient, and k patterns need k.
    least, most = max(len(setting.sizes), setting.k), setting.n if table else max(1e8, setting.n)
    at = sorted({*(n for n in steps if least <= n <= most), float(setting.n)})
    return [_part(setting, int(n)) if table else to_setting({**settings, "n": int(n)}) for n in at]


def curve_over_privacy(settings: Mapping[str, Any]) -> Curve:
    """Measure the error over epsilon; that without privacy is the same at all its values."""
    points = along_privacy(settings)
    free = without_privacy(to_setting(settings))
    return _curve(settings, points, [point.budget.epsilon for point in points], lambda point, few: free)


def curve_over_patients(settings: Mapping[str, Any]) -> Curve:
    """Measure the error over the number of patients."""
    points = along_patients(settings)
    at = [float(point.n) for point in points]
    return _curve(settings, points, at, lambda point, few: without_privacy(point, few=few))


def _curve(
    settings: Mapping[str, Any],
    points: Sequence[CollaborationSetting],
    at: Sequence[float],  # the value of what varies, at each point
    without: Callable[[CollaborationSetting, bool], Spread],  # without privacy; True asks for few runs
) -> Curve:
    """Measure the error with noise at these points along a setting, and beside it the error without noise."""
    setting, trust = to_setting(settings), settings["trust"]
    private, free = [], []
    # Both errors at one point before the next, so that the patients of a wide table are drawn once.
    for point in points:
        few = point != setting  # which is shown in other steps too
        private.append(used(point, trust, few))
        free.append(without(point, few))
    here = points.index(setting)
    spreads = tuple(each.error for each in private), tuple(free)
    return Curve(setting, unit(settings, setting), trust, private[here].method, tuple(at), *spreads, here)


def _part(setting: CollaborationSetting, n: int) -> CollaborationSetting:
    """Return the setting with n of a table's patients, in as many hospitals with the same shares of them."""
    # The numbers of patients in the first hospital, in the first two, and so on: each is rounded once.
    ends = [round(n * share) for share in np.cumsum(setting.sizes) / setting.n]
    sizes = tuple(max(1, end - begin) for begin, end in zip([0, *ends], ends, strict=False))
    return replace(setting, sizes=sizes)


class Joined(NamedTuple):
    """Hold step 7: joining by trust, the largest hospital alone, and what one hospital sends and keeps.

    Alone, its result stays in-house, without noise, or is published, with noise. `free` is the error of all
    together without privacy. `measure_joined` can leave out trusts that are not needed.
    """

    setting: CollaborationSetting
    unit: Unit
    trust: str  # the chosen one
    by_trust: dict[str, Used]
    in_house: Spread
    published: Used
    free: Spread
    sent: dict[str, int]  # bytes of one hospital in all rounds
    kept: int  # bytes of the largest hospital's own table

    @property
    def chosen(self) -> Spread:
        """Return the error of the chosen trust."""
        return self.by_trust[self.trust].error


def measure_joined(settings: Mapping[str, Any], asked: Collection[str] = TRUSTS) -> Joined:
    """Measure step 7: what is recommended under each of these trusts, and to the largest hospital alone."""
    setting = to_setting(settings)
    by_trust = {trust: used(setting, trust) for trust in asked}
    return Joined(
        setting,
        unit(settings, setting),
        settings["trust"],
        by_trust,
        without_privacy(setting, alone=True),
        used_alone(setting),
        without_privacy(setting),
        {trust: sum(setting.traffic(PROTOCOLS[each.method]).bytes_sent) for trust, each in by_trust.items()},
        NUMBER * max(setting.sizes) * setting.d,  # NUMBER: the bytes of one number
    )


class Decision(NamedTuple):
    """Hold step 8: what would be released, and what it costs under the chosen trust."""

    weights: Weights
    joined: Joined


def measure_decision(settings: Mapping[str, Any]) -> Decision:
    """Measure step 8: the weights under the chosen trust, and what joining recovers under each."""
    return Decision(measure_weights(settings, settings["trust"]), measure_joined(settings))


def code(settings: Mapping[str, Any]) -> FigureRecipe:
    """Return the recipe of the numbers behind the figure of the step that the settings are at.

    The page's menu makes Python code of it.
    """
    setting, step = to_setting(settings), settings["story.step"]
    if step == 2:
        return FigureRecipe("story.record", {"setting": setting, "patient": settings["story.patient"] - 1})
    if step == 4:
        seed = settings["seed"] + settings["story.draw"] - 1
        return FigureRecipe("privacy.releases", {"budget": setting.budget, "seed": seed})
    if step in (3, 8):  # step 3 shows the weights without privacy
        method = measure_weights(settings, settings["trust"] if step == 8 else "").method
        return FigureRecipe("story.weights", {"setting": setting, "method": method, "repeats": runs(setting)})
    # A table of bars or curves has the unit of its chart. Its recipe lists the bars, each as (title,
    # protocol, points), and a point as (sizes, epsilon, number of runs).
    alone = largest_alone(setting)
    lone = (f"alone, {NO_PRIVACY}", alone, f"alone, {NO_PRIVACY}", False)
    shown = [("together", setting, NO_PRIVACY, False), lone]
    if step in (1, 7):
        if step == 7:
            drawn = measure_joined(settings)
            joined = [(trust, setting, each.method, False) for trust, each in drawn.by_trust.items()]
            shown = [*joined, ("alone, published", alone, drawn.published.method, False), lone]
    else:
        points = along_privacy(settings) if step == 5 else along_patients(settings)
        shown = [
            (title, point, protocol or advised(point, settings["trust"]).method, point != setting)
            for title, protocol in (("with privacy", ""), ("no privacy", NO_PRIVACY))
            for point in points
        ]
    bars = tuple(
        (*bar, tuple((at.sizes, at.budget.epsilon, runs(at, few)) for _, at, _, few in same))
        for bar, same in groupby(shown, key=lambda each: (each[0], each[2]))
    )
    values = {"setting": setting, "bars": bars, "metric": unit(settings, setting).metric}
    return FigureRecipe("story.errors", values)
