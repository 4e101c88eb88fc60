"""What an error takes: patients, epsilon or hospitals, from the closed forms solved for them.

A closed form predicts sin^2 Theta = privacy(n, epsilon, N) + sampling(n), and the captured energy that goes
with it (`dppca_core.bounds.perturbation`). Here it is turned round: the smallest n at an epsilon, the
smallest epsilon at an n, the fewest hospitals of one size. Rows are divided by a public bound that n of
them respect, so the eigenvalues fall slowly as n grows; the bound is worked out anew at every n that is
tried.

An answer is given only where the closed form applies at it; else the reason why there is none.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from dppca_core import checks, datasets
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import draws as patients
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
    """A method with a closed form, under one trust. `provider_noise`: for methods that have the choice."""

    name: str
    method: str
    rule: str
    trust: str
    provider_noise: Literal["independent", "secure-aggregation"] = "independent"

    @property
    def title(self) -> str:
        """The method's, told apart where it goes two ways."""
        added = ", summed in secret" if self.provider_noise == "secure-aggregation" else ""
        return METHODS[self.method].title + added


def _ways() -> Iterator[PlannedMethod]:
    for rule in BOUNDS.values():
        for name in rule.methods if rule.kind == "prediction" else ():
            method = METHODS[name]
            yield PlannedMethod(name, name, rule.name, method.trust)
            if "provider_noise" in method.uses:
                summed = "secure aggregation"
                yield PlannedMethod(f"{name}_summed", name, rule.name, summed, "secure-aggregation")


WAYS: dict[str, PlannedMethod] = {way.name: way for way in _ways()}


@lru_cache(maxsize=32)
def _spectrum(population: SpikedModel | str, failure: float) -> tuple[Array, CubicSpline | None]:
    """All eigenvalues, and ln B^2 as a spline of ln n; a table's are of rows scaled to its own bound."""
    if not isinstance(population, SpikedModel):
        table = datasets.table(population)
        whole = patients.cohort(population, (table.n,), patients.PUBLIC, 0, 0)
        return patients.table_truth(whole, 1).eigenvalues, None
    sizes = sorted({round(n) for n in np.geomspace(1, MOST_PATIENTS, _NODES)})
    squares = [2 * math.log(population.norm_bound(n, failure)) for n in sizes]
    return population.eigenvalues, CubicSpline(np.log(sizes), squares)


@dataclass(frozen=True)
class PlanAnswer:
    """The number asked for, or None and why: `kind` with its `numbers`, for a sentence.

    kind: "guess" (a random guess does as well), "gap" (no eigengap), "first order" (an error beyond a third
    of a guess, which the closed form does not describe), "assumption" (`failed` names it), "sampling" (too
    few patients even without noise), "epsilon" (no epsilon up to MOST_EPSILON), "patients", "hospitals"
    (none up to MOST_PATIENTS, MOST_HOSPITALS); "" where there is an answer.
    start: where the closed form would have been solved, None if nowhere: a simulation can begin there.
    bound: the closed form there. least: whether the smallest number that was tried is enough.
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
    """One way to reach a target at an experiment's population, budget and number of hospitals.

    target: sin Theta at most (root mean square over runs), or with `energy` the share of the population's
    energy in its k leading directions that is captured, at least. The experiment's n and noise across
    hospitals play no part. Raises ValueError for an unknown way, a target that is not positive, or a share
    outside (0, 1).
    """

    experiment: ExplorerExperiment
    way: str
    target: float
    energy: bool = False

    def __post_init__(self) -> None:
        checks.one_of(WAYS, way=self.way)
        checks.positive(target=self.target)
        if self.energy:
            checks.inside_unit_interval(target=self.target)

    @property
    def allowed(self) -> float:
        """The largest loss: the error, or the share of energy lost."""
        return 1 - self.target if self.energy else self.target

    @cached_property
    def guess(self) -> float:
        """The loss of a random guess."""
        experiment, (values, _) = (
            self.experiment,
            _spectrum(self.experiment.population, self.experiment.failure),
        )
        if self.energy:
            return 1 - experiment.k * float(values.mean()) / float(values[: experiment.k].sum())
        return subspace_metrics.random_guess(experiment.d, experiment.k)

    def setting(self, n: int, epsilon: float, hospitals: int | None = None) -> Setting:
        """Where the closed form is evaluated; `hospitals`: the experiment's number of them where None."""
        experiment, population = self.experiment, self.experiment.population
        values, squares = _spectrum(population, experiment.failure)
        scaled = values if squares is None else values * math.exp(-float(squares(math.log(n))))
        return Setting(
            d=experiment.d,
            n=n,
            k=experiment.k,
            s=population.s if isinstance(population, SpikedModel) else experiment.d,
            s_hat=experiment.s_hat,
            providers=experiment.providers if hospitals is None else hospitals,
            iterations=experiment.iterations,
            eigenvalues=scaled,
            budget=experiment.budget(epsilon),
            provider_noise=WAYS[self.way].provider_noise,
            burn_in=experiment.burn_in,
        )

    def bound(self, n: int, epsilon: float, hospitals: int | None = None) -> Bound:
        """The closed form there."""
        return BOUNDS[WAYS[self.way].rule](self.setting(n, epsilon, hospitals))

    def loss(self, n: int, epsilon: float, hospitals: int | None = None) -> float:
        """What the closed form predicts, in the units of `allowed`; infinite where it is void."""
        setting = self.setting(n, epsilon, hospitals)
        return self.loss_of(setting, BOUNDS[WAYS[self.way].rule](setting))

    def loss_of(self, setting: Setting, bound: Bound) -> float:
        """What a closed form evaluated at `setting` predicts, in the units of `allowed`."""
        if not self.energy or not bound.terms:
            return bound.final
        return bound.quantities["energy_lost"] / float(setting.eigenvalues[: setting.k].sum())

    def patients(self, epsilon: float, near: float | None = None) -> PlanAnswer:
        """The smallest n that reaches the target, to a patient or 1e-6 of it. near: a guess at it."""
        fewest = self.experiment.providers
        return self._answer(
            lambda n: (n, epsilon, None),
            fewest,
            MOST_PATIENTS,
            near,
            self._none_by("patients", fewest, epsilon),
        )

    def hospitals(self, epsilon: float, size: int, near: float | None = None) -> PlanAnswer:
        """The fewest hospitals of `size` patients each that reach it together. near: a guess at it."""
        checks.whole(1, size=size)
        most = min(MOST_HOSPITALS, MOST_PATIENTS // size)
        return self._answer(
            lambda N: (N * size, epsilon, N),
            1,
            most,
            near,
            self._none_by("hospitals", most * size, epsilon, most),
        )

    def epsilon(self, n: int) -> PlanAnswer:
        """The smallest epsilon in [LEAST_EPSILON, MOST_EPSILON] that reaches it with n patients, to 1e-6."""
        if self._refused is not None:
            return self._refused
        excess = self._excess(lambda epsilon: (n, epsilon, None))
        if excess(MOST_EPSILON) > 0:
            best, clean = self.loss(n, MOST_EPSILON), self.loss(n, NO_NOISE)
            kind = "sampling" if clean > self.allowed else "epsilon"
            return PlanAnswer(None, kind, {"n": n, "best": best, "without": clean, "epsilon": MOST_EPSILON})
        if excess(LEAST_EPSILON) <= 0:
            return self._judged(LEAST_EPSILON, self.bound(n, LEAST_EPSILON), least=True)
        found = _root(excess, LEAST_EPSILON, MOST_EPSILON)
        return self._judged(found, self.bound(n, found))

    def _none_by(
        self, kind: str, n: int, epsilon: float, hospitals: int | None = None
    ) -> Callable[[], PlanAnswer]:
        def refusal() -> PlanAnswer:
            most = MOST_PATIENTS if kind == "patients" else n
            best = self.loss(most, epsilon, hospitals)
            numbers = {
                "most": hospitals or most,
                "best": best,
                "without": self.loss(most, NO_NOISE, hospitals),
            }
            return PlanAnswer(None, kind, numbers)

        return refusal

    @cached_property
    def _refused(self) -> PlanAnswer | None:
        if self.allowed >= self.guess:
            return PlanAnswer(None, "guess", {"guess": self.guess, "allowed": self.allowed})
        bound = self.bound(self.experiment.providers, 1.0)
        if not bound.terms:
            return PlanAnswer(None, "gap", failed=_failed(bound), bound=bound)
        return None

    def _answer(
        self,
        at: Callable[[int], tuple[int, float, int | None]],
        low: int,
        high: int,
        near: float | None,
        none: Callable[[], PlanAnswer],
    ) -> PlanAnswer:
        """The smallest whole number in [low, high] that reaches the target."""
        if self._refused is not None:
            return self._refused
        excess = self._excess(lambda value: at(round(value)))
        if near is not None and low < near / 4 and near < high and excess(near / 4) > 0 >= excess(near):
            low_end, high_end = near / 4, near
        elif excess(low) <= 0:
            return self._judged(low, self.bound(*at(low)), least=True)
        elif excess(high) > 0:
            return none()
        else:
            low_end, high_end = float(low), float(high)
        found = math.ceil(_root(excess, low_end, high_end) * (1 - 1e-9))
        while excess(found) > 0:
            found += max(1, found // 10**8)
        return self._judged(found, self.bound(*at(found)))

    def _excess(self, at: Callable[[float], tuple[int, float, int | None]]) -> Callable[[float], float]:
        def excess(value: float) -> float:
            return min(math.log(max(self.loss(*at(value)), 1e-300) / self.allowed), 1e3)

        return excess

    def _judged(self, value: float, bound: Bound, least: bool = False) -> PlanAnswer:
        failed = _failed(bound)
        if not failed:
            return PlanAnswer(value, start=value, bound=bound, least=least)
        first = all(line.startswith("first order") for line in failed)
        kind = "first order" if first else "assumption"
        return PlanAnswer(None, kind, {"guess": self.guess}, failed, start=value, bound=bound)


def _failed(bound: Bound) -> tuple[str, ...]:
    return tuple(line.removeprefix("fails: ") for line in bound.why if line.startswith("fails: "))


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where it falls to zero, in logarithms: closed forms are nearly powers."""
    found = brentq(lambda x: excess(math.exp(x)), math.log(low), math.log(high), xtol=1e-9, rtol=1e-12)
    return math.exp(float(found))
