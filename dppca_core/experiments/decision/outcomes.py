"""Paired runs of a decision: the share of our pattern that is recovered alone and together, in %.

In each run the patients of all hospitals are drawn once, as exact moments at a cost without n. Both arms have
the same patients: alone, the hospital's own part of that draw. So the difference of the arms is free of who
the patients happen to be. Each arm draws its own noise.

Hospitals other than those measured alone are drawn as one part, whose mean has the same law. Where weights
are not by patients, each part has hospitals of similar weights for a patient, within _ALIKE, and their total.
By the spread of these weights the error of sampling differs by about 1 %; the noise is exact.

Hospitals that differ (`dppca_core.populations.differing`) have patients, and a pattern, of their own: each is
drawn by itself and measured by its own pattern. All others are measured by the one pattern of all.

Together with privacy, equal ε, a run has the patients and the noise of the explorer's run of the same number.
The share is 100 (1 - sin^2 Theta/k).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.collaboration.protocols import ALONE
from dppca_core.experiments.decision import hospitals
from dppca_core.experiments.decision.hospitals import Arrangement, JoiningExperiment
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.numerics.moments import SumMoment

MOST_MEASURED = 8  # hospitals whose own verdict is measured
_ALIKE = 1.5  # between the largest and the least weight for a patient in one part
Arm = tuple[str, str | int]
TOGETHER, ALONE_AT, WITHOUT = "together", "alone", "without privacy"  # with a trust, a hospital, and nothing
_Value = TypeVar("_Value")
_PILOT = 10  # runs by which the best way without privacy is chosen: as many as on other pages


class JoiningRuns:
    """Hold the runs of a setting, each measured when it is first asked for.

    `measured` are the indices of the hospitals whose own verdicts can be asked for: ours, and one of each
    distinct size, or also of each ε where results are published, and all where hospitals differ; of more
    than eight, eight that are spread evenly by rank. ValueError for any other `hospital`; None is ours.
    """

    def __init__(self, setting: JoiningExperiment) -> None:
        self.setting = setting
        self.measured = measured_hospitals(setting)
        self.known: dict[object, Any] = {}

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Return the hospitals in each part that is drawn: measured or differing ones, then the others."""
        setting, count = self.setting, len(self.setting.hospitals)
        if setting.differing:
            return tuple((i,) for i in range(count))
        others = [i for i in range(count) if i not in self.measured]
        weights = hospitals.arrangement(setting, "untrusted server").weights
        alike: dict[int, list[int]] = {}
        for i in others:
            level = math.log(weights[i] / setting.sizes[i], _ALIKE) if weights else 0.0
            alike.setdefault(round(level), []).append(i)
        return (*((i,) for i in self.measured), *map(tuple, alike.values()))

    def extended(self, repeats: int) -> "JoiningRuns":
        """Return so many runs of the same setting, of which these are the first."""
        more = JoiningRuns(replace(self.setting, repeats=repeats))
        more.known = self.known
        return more

    def together(self, trust: str, hospital: int | None = None) -> Array:
        """Return the shares of a hospital's pattern recovered together with privacy, in %, (repeats,).

        They are the very same for two trusts under which the same is run.
        """
        key = "all runs", self.setting.repeats, self.plan(trust), self._truth_of(hospital)
        return self._kept(key, lambda: self._all((TOGETHER, trust), hospital))

    def alone(self, hospital: int | None = None) -> Array:
        """Return the shares that a hospital recovers alone, in %, (repeats,): as the setting's use asks.

        In-house it is the best without privacy, else the hospital's own release.
        """
        index = self.setting.ours if hospital is None else hospital
        return self._all((ALONE_AT, index), index)

    def without_privacy(self, hospital: int | None = None) -> Array:
        """Return the shares of a hospital's pattern recovered together by the best without privacy, in %."""
        return self._all((WITHOUT, ""), hospital)

    def run(self, arm: Arm, draw: int, hospital: int | None = None) -> float:
        """Return the share of a hospital's pattern that one run of an arm recovers, in %.

        arm: (TOGETHER, a trust), (ALONE_AT, the index of one of `measured`), measured by its own pattern, or
        (WITHOUT, "").
        """
        kind, which = arm
        if kind == ALONE_AT:
            hospital = int(which)
        truth = self._truth_of(hospital)
        if self._free(arm):
            best = self._best_way(arm, truth)
            if draw < self._few:
                return self._pilot(arm, draw)[best][truth]
            return self._kept(
                (arm, best, draw), lambda: self._recovered(self._free_bases(arm, draw, best))[0]
            )[truth]
        law = self.plan(str(which)) if kind == TOGETHER else arm
        return self._kept((law, draw), lambda: self._recovered([self.basis(arm, draw)])[0])[truth]

    def basis(self, arm: Arm, draw: int) -> Array:
        """Return what one run of an arm finds, (d, k), run again each time: the same as was measured."""
        kind, which = arm
        if self._free(arm):
            truth = self._truth_of(int(which) if kind == ALONE_AT else None)
            return self._free_bases(arm, draw, self._best_way(arm, truth))[0]
        checks.one_of((TOGETHER, ALONE_AT), arm=kind)
        if kind == TOGETHER:
            return self._joint(self.plan(str(which)), draw)
        return self._published(int(which), draw)

    def gain(self, trust: str, hospital: int | None = None) -> Array:
        """Return the paired gain of a hospital: together less alone, in percent points, (repeats,)."""
        gain: Array = self.together(trust, hospital) - self.alone(hospital)
        return gain

    @property
    def guess(self) -> float:
        return 100 * self.setting.k / self.setting.experiment.d

    def quantities(self, hospital: int | None = None) -> Mapping[str, Array]:
        """Return all quantities that claims compare, by name, each in % by run, (repeats,)."""
        private = {f"together, {trust}": self.together(trust, hospital) for trust in reversed(TRUSTS)}
        guess = np.full(self.setting.repeats, self.guess)
        free = {"together, no privacy": self.without_privacy(hospital)}
        return {"alone": self.alone(hospital), **private, **free, "a random guess": guess}

    def plan(self, trust: str) -> Arrangement:
        """Return what is run under a trust: the same where two trusts have one law."""
        plan = hospitals.arrangement(self.setting, trust)
        return plan._replace(method=draws.SAME_RUNS.get(plan.method, plan.method))

    def _all(self, arm: Arm, hospital: int | None) -> Array:
        return np.array([self.run(arm, draw, hospital) for draw in range(self.setting.repeats)])

    def _kept(self, key: object, measure: Callable[[], _Value]) -> _Value:
        if key not in self.known:
            self.known[key] = measure()
        value: _Value = self.known[key]
        return value

    @cached_property
    def _truths(self) -> tuple[Array, ...]:
        """Return the pattern of each measured hospital, (d, k), in their order; else the one of all."""
        setting = self.setting
        if setting.differing:
            return tuple(truth(setting, i) for i in self.measured)
        return (truth(setting),)

    def _truth_of(self, hospital: int | None) -> int:
        index = self.setting.ours if hospital is None else hospital
        if index not in self.measured:
            raise ValueError(f"hospital must be one of {self.measured}, got {index}")
        return self.measured.index(index) if self.setting.differing else 0

    def _cohort(self, draw: int) -> Cohort:
        sizes = tuple(sum(self.setting.hospitals[i].patients for i in part) for part in self.parts)
        return draws.cohort(self.setting.population, sizes, draws.PUBLIC, self.setting.seed, draw)

    def _part(self, hospital: int) -> Callable[[int], Cohort]:
        index, setting = self.parts.index((hospital,)), self.setting

        def drawn(draw: int) -> Cohort:
            if setting.differing:  # the same patients, with a public bound that asks for no others
                single, size = setting.differing.only(hospital), (setting.sizes[hospital],)
                return draws.cohort(single, size, draws.PUBLIC, setting.seed, draw)
            whole = self._cohort(draw)
            return Cohort((whole[index],), whole[index].moment, whole.bound)

        return drawn

    def _joint(self, plan: Arrangement, draw: int) -> Array:
        setting = self.setting
        cohort = joined(self._cohort(draw), self.parts, setting.sizes, plan.weights)
        how: dict[str, Any] = {"budget": plan.budget, "rng": draws.generator(setting.seed, draw, plan.method)}
        how |= setting.experiment.options(plan.method)
        return METHODS[plan.method].fit(cohort, k=setting.k, **how).basis

    def _published(self, hospital: int, draw: int) -> Array:
        setting, patients = self.setting, self._part(hospital)(draw)
        name = hospitals.alone(setting, hospital).method
        # The key of a hospital that stays alone on the page of hospitals.
        rng = draws.generator(setting.seed, draw, ALONE[name].key, (1 + setting.site(hospital),))
        how: dict[str, Any] = {"budget": setting.budgets[hospital], "rng": rng}
        how |= setting.experiment.options(name)
        return METHODS[name].fit(patients, k=setting.k, **how).basis

    def _free(self, arm: Arm) -> bool:
        """Return whether an arm has no privacy: all hospitals without, and in-house a hospital alone."""
        return arm[0] == WITHOUT or (arm[0] == ALONE_AT and self.setting.use == "in-house")

    @property
    def _few(self) -> int:
        return min(_PILOT, self.setting.repeats)

    def _best_way(self, arm: Arm, truth: int) -> int:
        first = [[shares[truth] for shares in self._pilot(arm, draw)] for draw in range(self._few)]
        return int(np.median(first, axis=0).argmax())

    def _pilot(self, arm: Arm, draw: int) -> list[list[float]]:
        """Return what all ways without privacy recover in one of the first runs, of each of `_truths`."""
        return self._kept((arm, "pilot", draw), lambda: self._recovered(self._free_bases(arm, draw, None)))

    def _free_bases(self, arm: Arm, draw: int, way: int | None) -> list[Array]:
        """Return what a way without privacy finds in a run, or all of them for None, (d, k) each."""
        setting, (kind, which) = self.setting, arm
        patients = self._cohort if kind == WITHOUT else self._part(int(which))
        ways = no_privacy.ways(setting.population)
        return no_privacy.bases_of(
            setting.population,
            patients(draw),
            setting.k,
            ways if way is None else ways[way : way + 1],
            seed=setting.seed,
            draw=draw,
        )

    def _recovered(self, bases: Sequence[Array]) -> list[list[float]]:
        """Return the share of each of `_truths` that each basis, (d, k), recovers, in %."""
        stacked, k = np.stack(bases), self.setting.k
        by_truth = [
            100 * subspace_metrics.share_recovered(subspace_metrics.sin_thetas(stacked, truth), k)
            for truth in self._truths
        ]
        shares: list[list[float]] = np.transpose(by_truth).tolist()
        return shares


def truth(setting: JoiningExperiment, hospital: int | None = None) -> Array:
    """Return a pattern, (d, k): the population's, a differing hospital's, or a whole table's PCA."""
    table, population = setting.experiment.table, setting.population
    if setting.differing:
        population = setting.differing.only(setting.ours if hospital is None else hospital)
    whole = table.n if table else setting.n
    return draws.truth(population, (whole,), setting.k, draws.PUBLIC, setting.seed).basis


def joined(
    drawn: Cohort,
    parts: Sequence[Sequence[int]],
    sizes: Sequence[int],
    weights: Sequence[float] | None,
) -> Cohort:
    """Return the cohort of all hospitals, of which some were drawn as one part.

    It is for methods that ask for the pooled moment alone: a hospital that was drawn with others has their
    common moment. weights: of each hospital in the mean; None is by patients.
    """
    of_hospital = {i: drawn[number].moment for number, part in enumerate(parts) for i in part}
    members = tuple(Provider(size, of_hospital[i]) for i, size in enumerate(sizes))
    if weights is None:
        return Cohort(members, drawn.pooled, drawn.bound)
    by_part = tuple(sum(weights[i] for i in part) for part in parts)
    return Cohort(members, SumMoment(drawn.providers, by_part), drawn.bound)


def measured_hospitals(setting: JoiningExperiment) -> tuple[int, ...]:
    """Return `JoiningRuns.measured`, in the order of patients, then of ε, the smallest first."""
    first = {setting.rank(setting.ours): setting.ours}
    for i in range(len(setting.hospitals)):
        first.setdefault(setting.rank(i), i)
    ranked = sorted(first.values(), key=setting.rank)
    if len(ranked) <= MOST_MEASURED:
        return tuple(ranked)
    chosen = {round(step) for step in np.linspace(0, len(ranked) - 1, MOST_MEASURED)}
    ours = ranked.index(setting.ours)
    if ours not in chosen:  # it takes the place of the nearest that is not at an end
        inner = chosen - {0, len(ranked) - 1}
        chosen = chosen - {min(inner, key=lambda i: abs(i - ours))} | {ours}
    return tuple(ranked[i] for i in sorted(chosen))
