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
from functools import cached_property

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
_PILOT = 10  # runs by which the best way without privacy is chosen: as many as on other pages


class JoiningRuns:
    """Hold the runs of a setting, each kind measured when it is first asked for.

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
        self._shares: dict[object, Array] = {}

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

    def together(self, trust: str) -> Array:
        """Return the shares recovered together with privacy, in %, (repeats,).

        Args:
            trust: Whom the hospitals trust, one of `TRUSTS`.

        Returns:
            The shares. They are the very same for two trusts under which the same is run.

        Raises:
            ValueError: For another trust.
        """
        plan = hospitals.arrangement(self.setting, trust)
        law = plan._replace(method=draws.SAME_RUNS.get(plan.method, plan.method))
        return self._kept(law, lambda: self._joint(law))

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
        index = self.setting.ours if hospital is None else hospital
        if index not in self.measured:
            raise ValueError(f"hospital must be one of {self.measured}, got {index}")
        if self.setting.use == "in-house":
            return self._kept(("in-house", index), lambda: self._free(self._part(index)))
        return self._kept(("publish", index), lambda: self._published(index))

    def without_privacy(self) -> Array:
        """Return the shares recovered together by the best without privacy, in %, (repeats,)."""
        return self._kept("free", lambda: self._free(self._cohort))

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

    def _kept(self, key: object, measure: Callable[[], Array]) -> Array:
        if key not in self._shares:
            self._shares[key] = measure()
        return self._shares[key]

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

    def _joint(self, plan: Arrangement) -> Array:
        """Run the hospitals together, each time with the noise of all of them."""
        setting = self.setting
        options = setting.experiment.options(plan.method)

        def basis(draw: int) -> Array:
            """Return what one run finds, (d, k)."""
            cohort = joined(self._cohort(draw), self.parts, setting.sizes, plan.weights)
            rng = draws.generator(setting.seed, draw, plan.method)
            return METHODS[plan.method].fit(cohort, k=setting.k, budget=plan.budget, rng=rng, **options).basis

        return self._recovered([basis(draw) for draw in range(setting.repeats)])

    def _published(self, hospital: int) -> Array:
        """Run the release that one hospital makes by itself, with its own ε."""
        setting, patients = self.setting, self._part(hospital)
        name = hospitals.alone(setting, hospital).method
        options, budget = setting.experiment.options(name), setting.budgets[hospital]

        def basis(draw: int) -> Array:
            """Return what one run finds, (d, k)."""
            # The key of a hospital that stays alone on the page of hospitals.
            rng = draws.generator(setting.seed, draw, ALONE[name].key, (1 + hospital,))
            return METHODS[name].fit(patients(draw), k=setting.k, budget=budget, rng=rng, **options).basis

        return self._recovered([basis(draw) for draw in range(setting.repeats)])

    def _free(self, patients: Callable[[int], Cohort]) -> Array:
        """Run the way without privacy that has the least median error in the first runs."""
        setting = self.setting
        population, k = setting.population, setting.k
        ways, few = no_privacy.ways(population), min(_PILOT, setting.repeats)

        def shares(draw: int, chosen: Sequence[tuple[str, str]]) -> Array:
            """Return what these ways recover in one run, (ways,)."""
            which = {"seed": setting.seed, "draw": draw}
            return self._recovered(no_privacy.bases_of(population, patients(draw), k, chosen, **which))

        pilot = np.array([shares(draw, ways) for draw in range(few)])
        best = int(np.median(pilot, axis=0).argmax())
        rest = [shares(draw, ways[best : best + 1])[0] for draw in range(few, setting.repeats)]
        return np.array([*pilot[:, best], *rest])

    def _recovered(self, bases: Sequence[Array]) -> Array:
        """Return the share of the pattern that each basis, (d, k), recovers, in %."""
        sines = subspace_metrics.sin_thetas(np.stack(bases), truth(self.setting))
        shares: Array = 100 * subspace_metrics.share_recovered(sines, self.setting.k)
        return shares


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
