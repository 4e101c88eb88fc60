"""The patients, epsilon or hospitals that an error needs: closed forms, solved for them.

A closed form predicts sin^2 Theta = privacy(n, epsilon, N) + sampling(n), and the captured energy that goes
with it (`dppca_core.bounds.perturbation`). Here it is inverted: the smallest n at an epsilon, the smallest
epsilon at an n, the fewest hospitals of one size. Rows are divided by a public bound that n of them respect,
so the eigenvalues fall slowly as n grows; the bound is computed again at every n that is tried.

A plan gives an answer only where the closed form applies at it, else the reason why there is none.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from dppca_core import checks, datasets
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.rule import BoundRule
from dppca_core.experiments import draws
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.spiked import MOST_PATIENTS, SpikedModel
from dppca_core.records import Bound, Setting

LEAST_EPSILON, MOST_EPSILON = EPSILONS[0], EPSILONS[-1]
MOST_HOSPITALS = 100_000
NO_NOISE = 1e9  # an epsilon at which noise plays no part
_NODES = 60  # of the spline of the row bound's square, whose error is below 1e-6 (tested)


@dataclass(frozen=True)
class PlannedMethod:
    """Hold a method with a closed form, under one trust model; DPS-PCA is planned under two."""

    name: str
    method: str
    rule: str
    trust: str
    provider_noise: Literal["independent", "secure-aggregation"] = "independent"

    @property
    def title(self) -> str:
        """Return the method's title, which also tells the two plans of DPS-PCA apart."""
        added = ", summed in secret" if self.provider_noise == "secure-aggregation" else ""
        return METHODS[self.method].title + added


def _planned_methods() -> Iterator[PlannedMethod]:
    for rule in BOUNDS.values():
        for name in rule.methods if rule.kind == "prediction" and rule.smooth else ():
            method = METHODS[name]
            yield PlannedMethod(name, name, rule.name, method.trust)
            if "provider_noise" in method.uses:
                trust = "secure aggregation"
                yield PlannedMethod(f"{name}_summed", name, rule.name, trust, "secure-aggregation")


PLANNED_METHODS: dict[str, PlannedMethod] = {planned.name: planned for planned in _planned_methods()}


@lru_cache(maxsize=32)
def _spectrum(population: SpikedModel | str, failure: float) -> tuple[Array, CubicSpline | None]:
    """Return all eigenvalues, and ln B^2 as a spline of ln n; a table's rows are scaled to its own bound."""
    if not isinstance(population, SpikedModel):
        sizes = (datasets.table(population).n,)
        return draws.truth(population, sizes, 1, draws.PUBLIC, 0).eigenvalues, None
    nodes = sorted({round(n) for n in np.geomspace(1, MOST_PATIENTS, _NODES)})
    squares = [2 * math.log(population.norm_bound(n, failure)) for n in nodes]
    return population.eigenvalues, CubicSpline(np.log(nodes), squares)


@dataclass(frozen=True)
class PlanAnswer:
    """Hold the answer of a plan, or None and the reason: `kind` with its `numbers`, for a sentence.

    Attributes:
        value: The number of patients or hospitals, or epsilon; None where there is no answer.
        kind: "guess" (a random guess does as well), "gap" (no eigengap), "first order" (an error beyond a
            third of a guess, which the closed form does not describe), "assumption" (`failed` names it),
            "sampling" (too few patients even without noise), "epsilon" (no epsilon up to MOST_EPSILON),
            "patients", "hospitals" (none up to MOST_PATIENTS, MOST_HOSPITALS); "" where there is an answer.
        numbers: The numbers of that reason, by name.
        failed: The assumptions of the closed form that fail.
        start: The solution of the closed form whether it applies or not, None if there is none: a simulation
            can begin there.
        bound: The closed form at `start`.
        least: Whether the smallest number that was tried is enough.
    """

    value: float | None
    kind: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    start: float | None = None
    bound: Bound | None = None
    least: bool = False


@dataclass(frozen=True)
class StudyPlan:
    """A plan states a target for one method at an experiment's population, budget and number of hospitals.

    Args:
        experiment: The setting; its n and its noise across hospitals play no part.
        planned: The planned method, a key of `PLANNED_METHODS`.
        target: sin Theta at most (root mean square over runs), or with `energy` the share of the
            population's energy in its k leading directions that is captured, at least.
        energy: Whether the target is captured energy.

    Raises:
        ValueError: For an unknown method, a target that is not positive, or a share outside (0, 1).
    """

    experiment: ExplorerExperiment
    planned: str
    target: float
    energy: bool = False

    def __post_init__(self) -> None:
        checks.one_of(PLANNED_METHODS, planned=self.planned)
        checks.positive(target=self.target)
        if self.energy:
            checks.inside_unit_interval(target=self.target)

    @property
    def rule(self) -> BoundRule:
        """Return the closed form, which is called with a setting."""
        return BOUNDS[PLANNED_METHODS[self.planned].rule]

    @property
    def allowed(self) -> float:
        """Return the largest loss that reaches the target: the error, or the share of energy lost."""
        return 1 - self.target if self.energy else self.target

    @cached_property
    def guess(self) -> float:
        """Return the loss of a random guess."""
        experiment = self.experiment
        if self.energy:
            values, _ = _spectrum(experiment.population, experiment.failure)
            return 1 - experiment.k * float(values.mean()) / float(values[: experiment.k].sum())
        return subspace_metrics.random_guess(experiment.d, experiment.k)

    def setting(self, n: int, epsilon: float, hospitals: int | None = None) -> Setting:
        """Return the point at which the closed form is evaluated; None: the experiment's hospitals."""
        values, squares = _spectrum(self.experiment.population, self.experiment.failure)
        scaled = values if squares is None else values * math.exp(-float(squares(math.log(n))))
        return self.experiment.setting(
            epsilon,
            scaled,
            n=n,
            providers=self.experiment.providers if hospitals is None else hospitals,
            provider_noise=PLANNED_METHODS[self.planned].provider_noise,
            start_error=None,
        )

    def bound(self, n: int, epsilon: float, hospitals: int | None = None) -> Bound:
        """Return the closed form there."""
        return self.rule(self.setting(n, epsilon, hospitals))

    def loss(self, n: int, epsilon: float, hospitals: int | None = None) -> float:
        """Return the predicted loss, in the units of `allowed`; infinite where the closed form is void."""
        setting = self.setting(n, epsilon, hospitals)
        return self.loss_of(setting, self.rule(setting))

    def loss_of(self, setting: Setting, bound: Bound) -> float:
        """Return the loss that a closed form predicts at `setting`, in the units of `allowed`."""
        if not self.energy or not bound.terms:
            return bound.final
        return bound.quantities["energy_lost"] / float(setting.eigenvalues[: setting.k].sum())

    def patients(self, epsilon: float) -> PlanAnswer:
        """Return the smallest number of patients that reaches the target.

        Args:
            epsilon: The privacy loss.

        Returns:
            The answer, to a patient or a millionth of it, or the reason why there is none.
        """
        fewest = self.experiment.providers
        return self._answer("patients", lambda n: (n, epsilon, None), fewest, MOST_PATIENTS)

    def hospitals(self, epsilon: float, size: int) -> PlanAnswer:
        """Return the fewest hospitals that reach the target together.

        Args:
            epsilon: The privacy loss.
            size: The patients of each hospital.

        Returns:
            The answer, a whole number, or the reason why there is none.

        Raises:
            ValueError: For a size that is not a positive whole number.
        """
        checks.whole(1, size=size)
        most = min(MOST_HOSPITALS, MOST_PATIENTS // size)
        return self._answer("hospitals", lambda N: (N * size, epsilon, N), 1, most)

    def epsilon(self, n: int) -> PlanAnswer:
        """Return the smallest epsilon in [LEAST_EPSILON, MOST_EPSILON] that reaches the target.

        Args:
            n: The patients of all hospitals.

        Returns:
            The answer, to a millionth of it, or the reason why there is none.
        """
        return self._answer("epsilon", lambda epsilon: (n, epsilon, None), LEAST_EPSILON, MOST_EPSILON)

    @cached_property
    def _refused(self) -> PlanAnswer | None:
        if self.allowed >= self.guess:
            return PlanAnswer(None, "guess", {"guess": self.guess, "allowed": self.allowed})
        bound = self.bound(self.experiment.providers, 1.0)
        if not bound.terms:
            return PlanAnswer(None, "gap", failed=_failed(bound), bound=bound)
        return None

    def _answer(
        self, kind: str, at: Callable[[Any], tuple[int, float, int | None]], low: float, high: float
    ) -> PlanAnswer:
        """Return the smallest number in [low, high] that reaches the target; but for epsilon a whole one."""
        if self._refused is not None:
            return self._refused
        whole = kind != "epsilon"

        def excess(value: float) -> float:
            loss = self.loss(*at(round(value) if whole else value))
            return min(math.log(max(loss, 1e-300) / self.allowed), 1e3)

        if excess(low) <= 0:
            return self._checked(low, self.bound(*at(low)), least=True)
        if excess(high) > 0:
            n, epsilon, hospitals = at(high)
            best, clean = self.loss(n, epsilon, hospitals), self.loss(n, NO_NOISE, hospitals)
            if whole:
                return PlanAnswer(None, kind, {"most": high, "best": best, "without": clean})
            kind = "sampling" if clean > self.allowed else kind
            return PlanAnswer(None, kind, {"n": n, "best": best, "without": clean, "epsilon": epsilon})
        # Closed forms are nearly straight in logarithms.
        logs = math.log(low), math.log(high)
        smallest = math.exp(brentq(lambda x: excess(math.exp(x)), *logs, xtol=1e-9, rtol=1e-12))
        if whole:
            smallest = math.ceil(smallest * (1 - 1e-9))
            while excess(smallest) > 0:
                smallest += max(1, smallest // 10**8)
        return self._checked(smallest, self.bound(*at(smallest)))

    def _checked(self, value: float, bound: Bound, least: bool = False) -> PlanAnswer:
        failed = _failed(bound)
        if not failed:
            return PlanAnswer(value, start=value, bound=bound, least=least)
        kind = "first order" if all(line.startswith("first order") for line in failed) else "assumption"
        return PlanAnswer(None, kind, {"guess": self.guess}, failed, start=value, bound=bound)


def _failed(bound: Bound) -> tuple[str, ...]:
    return tuple(line.removeprefix("fails: ") for line in bound.why if line.startswith("fails: "))
