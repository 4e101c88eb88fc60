"""The patients, epsilon or hospitals that an error needs, for every private method: closed forms, inverted.

A closed form predicts sin^2 Theta = privacy(n, epsilon, N) + sampling(n), and the captured energy that goes
with it (`dppca_core.bounds.perturbation`). Here it is inverted: the smallest n at an epsilon, the smallest
epsilon at an n, the fewest hospitals of one size. Rows are divided by a public bound that n of them respect,
so the eigenvalues fall slowly as n grows; the bound is computed again at every n that is tried.

Two stages err little where stage 1 names all features that matter, and much where it misses one. The mean
over runs is one of rare misses, which neither the runs without patients that predict them nor twenty
simulated ones count well. So the target of two stages is for the median run: the median of sin^2 by missed
rows is added to the closed form, and the chance that none is missed stands beside the answer.

A plan gives an answer only where the closed form applies at it, else the reason why there is none. Where a
method has none, but is recommended by the error that small simulations predict in the median of runs
(`dppca_core.bounds.recommendation`), that prediction is inverted in its place. Where it has neither,
`dppca_core.experiments.planning.bisection` answers by simulation, from a start given here.
The loss is sin Theta, or with a target of captured energy the share of energy lost; a guess is a random
k-dimensional answer.

As published, rows are divided by a bound that all respect, and rounds are those of the experiment.
`StudyPlan.tuned` sets both from public numbers. The lower the length to which rows are clipped, the less the
same noise hides: E[v v^T] of clipped rows, in units of the bound, grows with every step down. The limit is
rows of length 1, v = x/|x|, for which no bound has to be known. They lose a little where sampling errs, so
the scaling whose closed form needs less is taken. Their moments are those of
`dppca_core.numerics.unit_rows`; to first order sampling errs by sum m_ij/(n gap^2), m_ij = E[v_i^2 v_j^2],
where a closed form has lambda_i lambda_j. Rounds are those of the method's own rule at the answer: along a
line of equal error noise stands in the same relation to the signal, so they are held there.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from dppca_core import checks, datasets
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.bounds.recommendation import TRUSTS, candidates
from dppca_core.bounds.rule import BoundRule, heavy
from dppca_core.experiments import draws
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS, why_not_applicable
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.trusts import recommended
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics, unit_rows
from dppca_core.populations.elliptical import MOST_PATIENTS
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import SIGNAL, Bound, Method, Setting

LEAST_EPSILON, MOST_EPSILON = EPSILONS[0], EPSILONS[-1]
MOST_HOSPITALS = 100_000
NO_NOISE = 1e9  # an epsilon at which noise plays no part
_NODES = 60  # of the spline of the row bound's square, whose error is below 1e-6 (tested)
_EDGE_TOLERANCE = 2e-3  # in logarithms: how near an answer comes where a chance is simulated
_MOST_TUNINGS = 3  # of the rounds at an answer, which moves with them
# The planned method near whose answer a simulation begins where a method has no closed form.
_START_METHODS = {
    "central": "analyze_gauss",
    "secure aggregation": "cape",
    "untrusted server": "dps_pca",
    "local": "ldp_pca",
}
Asked = Literal["patients", "epsilon", "hospitals"]


class Question(NamedTuple):
    """Hold what is asked of a plan, and what is held meanwhile."""

    asked: Asked  # "patients", "epsilon" or "hospitals"
    epsilon: float = 1.0  # privacy loss; of no meaning where it is asked for
    n: int = 1  # patients of all hospitals, where epsilon is asked for
    size: int = 1  # patients of each hospital, where the number of hospitals is asked for

    def at(self, value: float) -> tuple[int, float, int | None]:
        """Return patients, epsilon and hospitals (None: the experiment's own) at an answer."""
        if self.asked == "epsilon":
            return self.n, value, None
        whole = round(value)
        if self.asked == "patients":
            return whole, self.epsilon, None
        return whole * self.size, self.epsilon, whole

    def limits(self, providers: int) -> tuple[float, float]:
        """Return the smallest and the largest answer to look for; every hospital has a patient at least."""
        if self.asked == "epsilon":
            return LEAST_EPSILON, MOST_EPSILON
        if self.asked == "patients":
            return providers, MOST_PATIENTS
        return 1, min(MOST_HOSPITALS, MOST_PATIENTS // self.size)


@dataclass(frozen=True)
class PlannedMethod:
    """Hold a private method under one trust model; DPS-PCA is planned under two."""

    name: str  # its key in PLANNED_METHODS
    method: str  # its key in METHODS
    rule: str  # key in BOUNDS of its closed form, or ""
    trust: str  # whom it trusts, one of `records.TRUSTS`
    # DPS-PCA's noise across hospitals.
    provider_noise: Literal["independent", "secure-aggregation"] = "independent"

    @property
    def title(self) -> str:
        added = ", sealed sums" if self.provider_noise == "secure-aggregation" else ""
        return METHODS[self.method].title + added


def _planned_methods() -> Iterator[PlannedMethod]:
    for name, method in METHODS.items():
        if not method.private:
            continue
        rule = CLOSED_FORMS.get(name, "")
        yield PlannedMethod(name, name, rule, method.trust)
        if "provider_noise" in method.uses:
            trust = "secure aggregation"
            yield PlannedMethod(f"{name}_summed", name, rule, trust, "secure-aggregation")


PLANNED_METHODS: dict[str, PlannedMethod] = {planned.name: planned for planned in _planned_methods()}


@lru_cache(maxsize=32)
def _spectrum(population: Synthetic | str, failure: float) -> tuple[Array, CubicSpline | None]:
    """Return all eigenvalues, (d,), and ln B^2 as a spline of ln n, B the public row bound of n patients.

    The spline is faster than B itself at every n that is tried. Of a table the eigenvalues are those of rows
    divided by its own bound, whatever n, and the spline is None. failure: the chance that a row is longer.
    """
    if not isinstance(population, Synthetic):
        sizes = (datasets.table(population).n,)
        # The eigenvalues depend neither on k nor, for a whole table, on the seed.
        return draws.truth(population, sizes, k=1, scaling=draws.PUBLIC, seed=0).eigenvalues, None
    if population.tails is not None:  # the same bound at every n, and rows clipped to it
        bound = population.norm_bound(1, failure)
        flat = CubicSpline(np.log([1, MOST_PATIENTS]), [2 * math.log(bound)] * 2)
        return population.scaled_eigenvalues(bound) * bound**2, flat
    nodes = sorted({round(n) for n in np.geomspace(1, MOST_PATIENTS, _NODES)})
    log_squares = [2 * math.log(population.norm_bound(n, failure)) for n in nodes]
    return population.eigenvalues, CubicSpline(np.log(nodes), log_squares)


class _UnitRows(NamedTuple):
    """Hold how a prediction changes where rows are scaled to length 1 in place of a bound."""

    eigenvalues: Array  # expected eigenvalues of the second moment of rows of length 1, (d,)
    sampling: float  # factor on sin^2 by sampling that a closed form for Gaussian rows lacks
    energy: float  # factor from the share of energy lost of such rows to that of the rows as they are


@lru_cache(maxsize=32)
def _unit_rows(population: Synthetic | str, failure: float, k: int) -> _UnitRows:
    values, _ = _spectrum(population, failure)
    # Clipping changes the eigenvalues of rows with heavy tails, and not their directions.
    whole = population.eigenvalues if isinstance(population, Synthetic) else values
    units = unit_rows.expected_unit_eigenvalues(whole)
    squared_gaps = (units[:k, None] - units[None, k:]) ** 2
    # Sampling errs by the sum of m_ij / gap^2 over components i and others j; a closed form for Gaussian rows
    # has the product of both eigenvalues in place of m_ij = E[v_i^2 v_j^2].
    pairs = unit_rows.expected_pair_moments(whole, k)
    sampling = float((pairs / squared_gaps).sum() / (np.outer(units[:k], units[k:]) / squared_gaps).sum())

    def lost(eigenvalues: Array) -> float:
        return 1 - float(eigenvalues[k:].mean() / eigenvalues[:k].mean())

    return _UnitRows(units, sampling, lost(values) / lost(units))


WhyNone = Literal[
    "",  # there is an answer
    "guess",  # a random guess does as well
    "gap",  # no eigengap
    "first order",  # an error beyond a third of a guess, which the closed form does not describe
    "assumption",  # `failed` names it
    "sampling",  # too few patients even without noise
    "epsilon",  # none up to MOST_EPSILON
    "patients",  # none up to MOST_PATIENTS
    "hospitals",  # none up to MOST_HOSPITALS
    "simulation",  # no closed form, `failed` says why
    "too large",  # the method does not run at so many features, `failed` says why
    "evaluating",  # not computed yet
]


@dataclass(frozen=True)
class PlanAnswer:
    """Hold the answer of a plan, or None and the reason: `kind` with its `numbers`, for a sentence."""

    value: float | None  # patients, hospitals, or epsilon
    kind: WhyNone = ""
    numbers: dict[str, float] = field(default_factory=dict)
    failed: tuple[str, ...] = ()  # the assumptions of the closed form that fail
    solution: float | None = None  # of the closed form whether it applies or not, where a simulation begins
    bound: Bound | None = None  # the closed form at `solution`
    at_lower_limit: bool = False  # whether the smallest number that was tried is enough

    @property
    def chance(self) -> float | None:
        return None if self.bound is None else self.bound.quantities.get("support_probability")


@dataclass(frozen=True)
class StudyPlan:
    """A plan states a target for one method at an experiment's population, budget and number of hospitals."""

    experiment: ExplorerExperiment  # setting; its n and its noise across hospitals play no part
    planned: str  # planned method, a key of `PLANNED_METHODS`
    # sin Theta at most (root mean square over runs, of two stages the median), or with `energy` the share of
    # the population's energy in its k leading directions that is captured, at least.
    target: float
    energy: bool = False  # whether the target is captured energy
    # Whether rows are scaled to length 1 in place of a bound, for a method that divides by one.
    unit_rows: bool = False

    def __post_init__(self) -> None:
        checks.one_of(PLANNED_METHODS, planned=self.planned)
        checks.positive(target=self.target)
        if self.energy:
            checks.inside_unit_interval(target=self.target)

    @property
    def method(self) -> Method:
        return METHODS[PLANNED_METHODS[self.planned].method]

    @property
    def rule(self) -> BoundRule:
        """Return the method's closed form, which is called with a setting; KeyError where there is none."""
        return BOUNDS[PLANNED_METHODS[self.planned].rule]

    @cached_property
    def no_formula(self) -> str:
        """Return why there is no closed form for what is planned, or "" where there is one."""
        if not PLANNED_METHODS[self.planned].rule:
            return "none is known for this method"
        tails = None if self._of_length_1 else draws.tails_of(self.experiment.population)
        return why_not_applicable(self.experiment, self.rule) or ("" if tails is None else heavy(tails))

    @property
    def _of_length_1(self) -> bool:
        """Return whether rows are scaled to length 1, so that no tails are left."""
        return self.unit_rows or self.method.scaling == "unit"

    @cached_property
    def predicted(self) -> bool:
        """Return whether the recommendation predicts the error where no closed form does: of a median run."""
        experiment = self.experiment
        if self.energy or not self.no_formula or not isinstance(experiment.population, Synthetic):
            return False
        s_hat, trust = None if experiment.choose_rows else experiment.s_hat, self.method.trust
        tailed = experiment.population.tails is not None
        return trust in TRUSTS and self.method.name in (
            candidates(trust, d=experiment.d, k=experiment.k, s_hat=s_hat, heavy=tailed).values()
        )

    @property
    def smooth(self) -> bool:
        """Return whether there is a closed form without an edge at which stage 1 finds all features."""
        return not self.no_formula and self.rule.smooth

    @property
    def median(self) -> bool:
        return self.method.chooses_rows or self.predicted

    @property
    def options(self) -> dict[str, Any]:
        noise = {"provider_noise": PLANNED_METHODS[self.planned].provider_noise}
        options = self.experiment.options(self.method.name)
        scaling = {"scaling": "unit"} if self.unit_rows else {}
        return options | (noise if "provider_noise" in options else {}) | scaling

    @property
    def allowed_loss(self) -> float:
        """Return the largest loss that reaches the target: the error, or the share of energy lost."""
        return 1 - self.target if self.energy else self.target

    @cached_property
    def guess(self) -> float:
        experiment = self.experiment
        if self.energy:
            values, _ = _spectrum(experiment.population, experiment.failure)
            return 1 - experiment.k * float(values.mean()) / float(values[: experiment.k].sum())
        return subspace_metrics.random_guess(experiment.d, experiment.k)

    def setting(self, n: int, epsilon: float, hospitals: int | None = None) -> Setting:
        """Return the setting at which the closed form is evaluated.

        Its eigenvalues are of rows divided by the bound that n of them respect, or of rows of length 1; those
        of a table stay as they are, since its bound does not depend on n.
        """
        values, log_square_of_bound = _spectrum(self.experiment.population, self.experiment.failure)
        population = self.experiment.population
        if isinstance(population, Synthetic) and self._of_length_1:  # which no clipping has changed
            values = population.eigenvalues
        scaled = values
        if log_square_of_bound is not None:
            scaled = values * math.exp(-float(log_square_of_bound(math.log(n))))
        if self.unit_rows:
            scaled = self._units.eigenvalues
        return self.experiment.setting(
            epsilon,
            scaled,
            n=n,
            providers=self.experiment.providers if hospitals is None else hospitals,
            provider_noise=PLANNED_METHODS[self.planned].provider_noise,
            start_error=None,  # the start is random
            tails=None if self._of_length_1 else draws.tails_of(population),
        )

    def bound(self, n: int, epsilon: float, hospitals: int | None = None) -> Bound:
        return self.rule(self.setting(n, epsilon, hospitals))

    def loss(self, n: int, epsilon: float, hospitals: int | None = None) -> float:
        """Return the predicted loss, in units of `allowed_loss`; infinite where the closed form is void."""
        if self.predicted:
            experiment = replace(self.experiment, n=n)
            if hospitals:
                experiment = replace(experiment, providers=hospitals, largest_share=0.0)
            return recommended(experiment, epsilon, self.method.trust).errors[self.method.name]
        setting = self.setting(n, epsilon, hospitals)
        return self.loss_of(setting, self.rule(setting))

    def loss_of(self, setting: Setting, bound: Bound) -> float:
        """Return the loss that a closed form predicts, corrected for missed features and unit rows."""
        if not bound.terms:  # void: its total is infinite
            return bound.final
        # Besides its own sin^2, two stages lose what missed features cost in the median of runs.
        square, missed, energy_factor = bound.final**2, bound.quantities.get("missed_median", 0.0), 1.0
        growth = 1.0
        if self.unit_rows:
            # Of sin^2 only the part by sampling is another one for rows of length 1.
            growth += (self._units.sampling - 1) * float(bound.terms["sampling"]) ** 2 / square
            energy_factor = self._units.energy
        if not self.energy:
            return math.sqrt(square * growth + missed)
        top, others = setting.eigenvalues[: setting.k], setting.eigenvalues[setting.k :]
        # What missed features cost in sin^2 swaps a component's energy for that of other directions.
        lost = bound.quantities["energy_lost"] * growth + missed * float(top.mean() - others.mean())
        return energy_factor * lost / float(top.sum())

    @property
    def _units(self) -> _UnitRows:
        return _unit_rows(self.experiment.population, self.experiment.failure, self.experiment.k)

    def tuned(self, question: Question) -> "StudyPlan":
        """Return this plan with rows and rounds tuned from public numbers, at the answer to what is asked.

        Rows have length 1 where these need less, or where no closed form says which need less.
        """

        def needed(plan: StudyPlan) -> tuple[bool, float]:
            answer = plan.answer(question)
            return answer.value is None, math.inf if answer.solution is None else answer.solution

        plan = self
        if self.method.scaling == "inside":  # the default is rows inside a bound, and length 1 an option
            units = replace(self, unit_rows=True)
            plan = units if self.no_formula else min(self, units, key=needed)
        # Other rounds move the answer, and another answer the rounds, so they are set in turn.
        for _ in range(_MOST_TUNINGS if self.method.tuned and not self.no_formula else 0):
            _, value = needed(plan)
            rounds = plan._tuned_rounds(value, question)
            if rounds == plan.experiment.iterations:
                break
            plan = replace(plan, experiment=replace(plan.experiment, iterations=rounds))
        return plan

    def _tuned_rounds(self, value: float, question: Question) -> int:
        """Return the rounds of the method's own rule at an answer; those that are set where there is none."""
        if self.method.tuned is None or not math.isfinite(value):
            return self.experiment.iterations
        patients, epsilon, hospitals = question.at(value)
        population = self.experiment.population
        options = {name: option for name, option in self.options.items() if name != "iterations"}
        return self.method.tuned(
            self.experiment.budget(epsilon),
            d=self.experiment.d,
            n=patients,
            k=self.experiment.k,
            providers=hospitals or self.experiment.providers,
            signal=population.signal if isinstance(population, Synthetic) else SIGNAL,
            **options,
        )

    def patients(self, epsilon: float) -> PlanAnswer:
        return self.answer(Question("patients", epsilon))

    @cached_property
    def _refused(self) -> PlanAnswer | None:
        """Return the answer to every question where there can be no other; None where it must be computed."""
        if self.allowed_loss >= self.guess:
            return PlanAnswer(None, "guess", {"guess": self.guess, "allowed": self.allowed_loss})
        if reason := self.method.skip(self.experiment.d):
            return PlanAnswer(None, "too large", failed=(reason,))
        if self.predicted:
            return None
        if self.no_formula:
            return PlanAnswer(None, "simulation", failed=(self.no_formula,))
        # Without an eigengap a closed form is void at every n and epsilon, so any of them shows it.
        bound = self.bound(n=self.experiment.providers, epsilon=1.0)
        if not bound.terms:
            return PlanAnswer(None, "gap", failed=bound.failed, bound=bound)
        return None

    @property
    def plan_for_start(self) -> "StudyPlan":
        """Return a plan of the same trust with a closed form, near whose answer a simulation begins."""
        units = self.unit_rows or self.method.scaling == "unit"
        return replace(self, planned=_START_METHODS[PLANNED_METHODS[self.planned].trust], unit_rows=units)

    def answer(self, question: Question) -> PlanAnswer:
        """Return the smallest number of what is asked that reaches the target, by inverting the prediction.

        It is right to a millionth, a whole number but for epsilon.
        """
        checks.whole(1, size=question.size)
        if self._refused is not None:
            return self._refused
        asked, at, whole = question.asked, question.at, question.asked != "epsilon"
        low, high = question.limits(self.experiment.providers)
        smooth = not self.predicted and self.rule.smooth
        close = 1e-9 if smooth else _EDGE_TOLERANCE

        def excess(value: float) -> float:
            return min(math.log(max(self.loss(*at(value)), 1e-300) / self.allowed_loss), 1e3)

        if excess(low) <= 0:
            return self._checked(low, at(low), least=True)
        if excess(high) > 0:
            # Not even the largest number is enough: its loss, and that without noise, say why.
            n, epsilon, hospitals = at(high)
            lowest, clean = self.loss(n, epsilon, hospitals), self.loss(n, NO_NOISE, hospitals)
            if whole:
                return PlanAnswer(None, asked, {"most": high, "best": lowest, "without": clean})
            why: WhyNone = "sampling" if clean > self.allowed_loss else asked
            return PlanAnswer(None, why, {"n": n, "best": lowest, "without": clean, "epsilon": epsilon})
        # Closed forms are nearly straight in logarithms.
        logs = math.log(low), math.log(high)
        smallest = math.exp(brentq(lambda x: excess(math.exp(x)), *logs, xtol=close, rtol=1e-12))
        if not smooth:
            smallest *= math.exp(close)  # the root is known to this factor: end on the side of the target
        if whole:
            smallest = math.ceil(smallest * (1 - 1e-9))  # a whole number but for rounding stays that number
            while excess(smallest) > 0:  # rounding, or an edge, may leave it a little short
                smallest += max(1, round(smallest * max(close, 1e-8)))
        return self._checked(smallest, at(smallest))

    def _checked(self, value: float, at: tuple[int, float, int | None], least: bool = False) -> PlanAnswer:
        if self.predicted:
            if self.loss(*at) > SMALL_SHARE * self.guess:
                return PlanAnswer(None, "first order", {"guess": self.guess}, solution=value)
            return PlanAnswer(value, solution=value, at_lower_limit=least)
        bound = self.bound(*at)
        if bound.applies:
            return PlanAnswer(value, solution=value, bound=bound, at_lower_limit=least)
        kind: WhyNone = "first order" if bound.applies_but_for_size else "assumption"
        return PlanAnswer(None, kind, {"guess": self.guess}, bound.failed, solution=value, bound=bound)
