"""Paired runs of a decision: the share of our pattern that is recovered alone and together, in %.

In each run the patients of all hospitals are drawn once, as exact moments at a cost without n. Both arms have
the same patients: alone, the hospital's own part of that draw. So the difference of the arms is free of who
the patients happen to be. Each arm draws its own noise.

Hospitals other than those measured alone are drawn as one part, whose mean has the same law. Where weights
are not by patients, each part has hospitals of similar weights for a patient, within _ALIKE, and their total.
By the spread of these weights the error of sampling differs by about 1 %; the noise is exact.

Together with privacy, equal ε, a run has the patients and the noise of the explorer's run of the same number.
The share is 100 (1 - sin^2 Theta/k).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from dppca_core.arrays import Array, Provider
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.collaboration.protocols import ALONE
from dppca_core.experiments.decision import hospitals
from dppca_core.experiments.decision.hospitals import Arrangement, JoiningSetting
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

    Args:
        setting: The hospitals.

    Attributes:
        setting: The same.
        measured: The indices of the hospitals whose own verdicts can be asked for: ours, and one of each
            distinct size, or also of each ε where results are published; of more than eight, eight that are
            spread evenly by rank.
    """

    def __init__(self, setting: JoiningSetting) -> None:
        self.setting = setting
        self.measured = measured_hospitals(setting)
        self._known: dict[object, Any] = {}

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Return the indices of the hospitals in each part that is drawn: measured ones, then the others."""
        setting = self.setting
        others = [i for i in range(len(setting.hospitals)) if i not in self.measured]
        weights = hospitals.arrangement(setting, "untrusted server").weights
        alike: dict[int, list[int]] = {}
        for i in others:
            level = math.log(weights[i] / setting.sizes[i], _ALIKE) if weights else 0.0
            alike.setdefault(round(level), []).append(i)
        return (*((i,) for i in self.measured), *map(tuple, alike.values()))

    def extended(self, repeats: int) -> "JoiningRuns":
        """Return so many runs of the same setting, of which these are the first."""
        more = JoiningRuns(replace(self.setting, repeats=repeats))
        more._known = self._known
        return more

    def together(self, trust: str) -> Array:
        """Return the shares recovered together with privacy, in %, (repeats,).

        Args:
            trust: Whom the hospitals trust, one of `TRUSTS`.

        Returns:
            The shares. They are the very same for two trusts under which the same is run.

        Raises:
            ValueError: For another trust.
        """
        key = ("all", self.setting.repeats, self.plan(trust))
        return self._kept(key, lambda: self._all((TOGETHER, trust)))

    def alone(self, hospital: int | None = None) -> Array:
        """Return the shares that a hospital recovers alone, in %, (repeats,): as the setting's use asks.

        In-house it is the best without privacy, else the hospital's own release.

        Args:
            hospital: The index of one of `measured`; ours by default.

        Returns:
            The shares.

        Raises:
            ValueError: For a hospital that is not measured.
        """
        return self._all((ALONE_AT, self.setting.ours if hospital is None else hospital))

    def without_privacy(self) -> Array:
        """Return the shares recovered together by the best without privacy, in %, (repeats,)."""
        return self._all((WITHOUT, ""))

    def run(self, arm: Arm, draw: int) -> float:
        """Return the share that one run of an arm recovers, in %; measure it unless it was before.

        Args:
            arm: (TOGETHER, a trust), (ALONE_AT, the index of one of `measured`) or (WITHOUT, "").
            draw: The number of the run.

        Returns:
            The share.

        Raises:
            ValueError: For another arm.
        """
        kind, which = arm
        if kind == TOGETHER:
            law = self.plan(str(which))
            return self._kept((law, draw), lambda: self._joint(law, draw))
        if kind == WITHOUT:
            return self._free(WITHOUT, self._cohort, draw)
        if kind != ALONE_AT or which not in self.measured:
            raise ValueError(f"hospital must be one of {self.measured}, got {which}")
        index = int(which)
        if self.setting.use == "in-house":
            return self._free(index, self._part(index), draw)
        return self._kept((index, draw), lambda: self._published(index, draw))

    def gain(self, trust: str, hospital: int | None = None) -> Array:
        """Return the paired gain of a hospital: together less alone, in percent points, (repeats,).

        The arguments and errors are those of `together` and `alone`.
        """
        gain: Array = self.together(trust) - self.alone(hospital)
        return gain

    @property
    def guess(self) -> float:
        """Return the share that a random guess recovers in the mean, 100 k/d, in %."""
        return 100 * self.setting.k / self.setting.experiment.d

    def quantities(self) -> Mapping[str, Array]:
        """Return all quantities that claims compare, by name, each in % by run, (repeats,)."""
        private = {f"together, {trust}": self.together(trust) for trust in reversed(TRUSTS)}
        guess = np.full(self.setting.repeats, self.guess)
        free = {"together, no privacy": self.without_privacy()}
        return {"alone": self.alone(), **private, **free, "a random guess": guess}

    def plan(self, trust: str) -> Arrangement:
        """Return what is run under a trust: the same where two trusts have one law."""
        plan = hospitals.arrangement(self.setting, trust)
        return plan._replace(method=draws.SAME_RUNS.get(plan.method, plan.method))

    def _all(self, arm: Arm) -> Array:
        return np.array([self.run(arm, draw) for draw in range(self.setting.repeats)])

    def _kept(self, key: object, measure: Callable[[], _Value]) -> _Value:
        if key not in self._known:
            self._known[key] = measure()
        value: _Value = self._known[key]
        return value

    def _cohort(self, draw: int) -> Cohort:
        """Return the patients of a run, as `parts`."""
        sizes = tuple(sum(self.setting.hospitals[i].patients for i in part) for part in self.parts)
        return draws.cohort(self.setting.population, sizes, draws.PUBLIC, self.setting.seed, draw)

    def _part(self, hospital: int) -> Callable[[int], Cohort]:
        """Return what draws the patients of one hospital in a run, as a cohort of that one."""
        index = self.measured.index(hospital)

        def drawn(draw: int) -> Cohort:
            """Return the hospital's part of the patients of a run."""
            whole = self._cohort(draw)
            return Cohort((whole[index],), whole[index].moment, whole.bound)

        return drawn

    def _joint(self, plan: Arrangement, draw: int) -> float:
        """Run the hospitals together, with the noise of all of them."""
        setting = self.setting
        cohort = joined(self._cohort(draw), self.parts, setting.sizes, plan.weights)
        how: dict[str, Any] = {"budget": plan.budget, "rng": draws.generator(setting.seed, draw, plan.method)}
        how |= setting.experiment.options(plan.method)
        return self._recovered([METHODS[plan.method].fit(cohort, k=setting.k, **how).basis])[0]

    def _published(self, hospital: int, draw: int) -> float:
        """Run the release that one hospital makes by itself, with its own ε."""
        setting, patients = self.setting, self._part(hospital)(draw)
        name = hospitals.alone(setting, hospital).method
        # The key of a hospital that stays alone on the page of hospitals.
        rng = draws.generator(setting.seed, draw, ALONE[name].key, (1 + hospital,))
        how: dict[str, Any] = {"budget": setting.budgets[hospital], "rng": rng}
        how |= setting.experiment.options(name)
        return self._recovered([METHODS[name].fit(patients, k=setting.k, **how).basis])[0]

    def _free(self, whose: object, patients: Callable[[int], Cohort], draw: int) -> float:
        """Run the way without privacy that has the least median error in the first runs."""
        setting = self.setting
        population, k = setting.population, setting.k
        ways, few = no_privacy.ways(population), min(_PILOT, setting.repeats)

        def shares(draw: int, chosen: Sequence[tuple[str, str]]) -> list[float]:
            """Return what these ways recover in one run."""
            which = {"seed": setting.seed, "draw": draw}
            return self._recovered(no_privacy.bases_of(population, patients(draw), k, chosen, **which))

        def pilot(draw: int) -> list[float]:
            """Return what all ways recover in one of the first runs."""
            return self._kept((whose, "pilot", draw), lambda: shares(draw, ways))

        best = int(np.median([pilot(i) for i in range(few)], axis=0).argmax())
        if draw < few:
            return pilot(draw)[best]
        return self._kept((whose, "free", draw), lambda: shares(draw, ways[best : best + 1])[0])

    def _recovered(self, bases: Sequence[Array]) -> list[float]:
        """Return the share of the pattern that each basis, (d, k), recovers, in %."""
        sines = subspace_metrics.sin_thetas(np.stack(bases), truth(self.setting))
        return [100 * float(share) for share in subspace_metrics.share_recovered(sines, self.setting.k)]


def truth(setting: JoiningSetting) -> Array:
    """Return our pattern, (d, k): the population's, or PCA without privacy of a whole table."""
    table = setting.experiment.table
    whole = table.n if table else setting.n
    return draws.truth(setting.population, (whole,), setting.k, draws.PUBLIC, setting.seed).basis


def joined(
    drawn: Cohort,
    parts: Sequence[Sequence[int]],
    sizes: Sequence[int],
    weights: Sequence[float] | None,
) -> Cohort:
    """Return the cohort of all hospitals, of which some were drawn as one part.

    Args:
        drawn: The patients, by part.
        parts: The indices of the hospitals in each part.
        sizes: The patients of each hospital.
        weights: The weight of each hospital in the mean; None is by patients.

    Returns:
        A cohort with an entry for each hospital, for methods that ask for the pooled moment alone: a
        hospital that was drawn with others has their common moment.
    """
    of_hospital = {i: drawn[number].moment for number, part in enumerate(parts) for i in part}
    members = tuple(Provider(size, of_hospital[i]) for i, size in enumerate(sizes))
    if weights is None:
        return Cohort(members, drawn.pooled, drawn.bound)
    by_part = tuple(sum(weights[i] for i in part) for part in parts)
    return Cohort(members, SumMoment(drawn.providers, by_part), drawn.bound)


def measured_hospitals(setting: JoiningSetting) -> tuple[int, ...]:
    """Return the indices of the hospitals whose own verdict is measured, as `JoiningRuns.measured` says.

    They come in the order of patients, then of ε, the smallest first.
    """

    def rank(i: int) -> tuple[int, float]:
        """Return what a verdict depends on: in-house it does not on the hospital's own ε."""
        member = setting.hospitals[i]
        return member.patients, member.epsilon if setting.use == "publish" else 0.0

    first: dict[tuple[int, float], int] = {rank(setting.ours): setting.ours}
    for i in range(len(setting.hospitals)):
        first.setdefault(rank(i), i)
    ranked = sorted(first.values(), key=rank)
    if len(ranked) <= MOST_MEASURED:
        return tuple(ranked)
    chosen = {round(step) for step in np.linspace(0, len(ranked) - 1, MOST_MEASURED)}
    ours = ranked.index(setting.ours)
    if ours not in chosen:  # it takes the place of the nearest that is not at an end
        inner = chosen - {0, len(ranked) - 1}
        chosen = chosen - {min(inner, key=lambda i: abs(i - ours))} | {ours}
    return tuple(ranked[i] for i in sorted(chosen))
