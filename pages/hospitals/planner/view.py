"""Turn the planner's settings into plans, with their answers and simulations. No Streamlit here."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS as RECOMMENDED
from dppca_core.bounds.recommendation import Recommendation
from dppca_core.bounds.stated_spectra import Pattern
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.trusts import recommended as recommended_at
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.cautious import patients_with_cautious
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.plan_plane import EDGE_EPSILONS, Plane, answered, edge_column, plane
from dppca_core.experiments.planning.planning import (
    MOST_EPSILON,
    NO_NOISE,
    PLANNED_METHODS,
    Asked,
    PlanAnswer,
    Question,
    StudyPlan,
)
from dppca_core.experiments.planning.table_plan import PREDICTED_AS, TablePlan
from dppca_core.experiments.planning.table_search import TableSearch, can_search
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from dppca_core.records import TRUSTS, Bound, Method
from pages.hospitals.planner import own_table
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import CHOICES, Settings
from pages.shared.settings.setting import Value

CHART_EPSILONS = np.array(EPSILONS)
_FEWEST_RUNS = 10  # at each value of a simulation, for an interval
VALUES = 6  # that a bisection usually takes
_QUICK_SECONDS = 2.0  # a simulation up to here begins by itself where no closed form answers
QUESTIONS: tuple[Asked, ...] = ("patients", "epsilon", "hospitals")
EVALUATING = PlanAnswer(None, "evaluating")
LIKELY = 0.9  # below this chance that all features that matter are kept an answer is called a guess


def method(name: str) -> Method:
    """Return the method that a planned method runs."""
    return METHODS[PLANNED_METHODS[name].method]


def title(name: str) -> str:
    """Return a planned method's title."""
    return PLANNED_METHODS[name].title


class DrawnPlan(NamedTuple):
    """Hold the plane of the method in focus, None without a closed form, and the target's curve of each.

    amounts: the least and the most that is drawn. floor: the amount below which no epsilon reaches the
    target, NaN if none on the plane.
    """

    plane: Plane | None
    amounts: tuple[float, float]
    curves: dict[str, Array]
    floor: float

    @property
    def reaching(self) -> list[str]:
        """Return the methods whose curve is anywhere on the plane."""
        return [name for name, curve in self.curves.items() if np.isfinite(curve).any()]


class TrustAnswer(NamedTuple):
    """Hold the least answer under a trust, of the methods with the full guarantee, and which one has it.

    Where none has an answer it is that of the first method, while one is evaluated that one's.
    """

    trust: str
    name: str
    answer: PlanAnswer


class OnTable(NamedTuple):
    """Hold the method that errs least on the table under a trust, and where that is worst.

    name: the planned method. error, pattern: predicted at the table's size and this epsilon. answer: to what
    is asked, of the method that needs least, `needs_least`.
    """

    trust: str
    name: str
    error: float
    pattern: Pattern
    needs_least: str
    answer: PlanAnswer


class Planner:
    """Give each method's plan at the page's settings, and its answers as far as they have been evaluated.

    Args:
        settings: Of the page, for a visitor's own table as it decides them.
        simulations: The answers by simulation, by the name of the planned method.

    Attributes:
        asked, epsilon, n, size: The `question`, as a plan's answer takes it; `n` is the number of patients
            at this setting.
        table: What is public of a visitor's table that is planned for; None for the sliders' population.
        bundled: The bundled table whose patients they are, or None.
        energetic: Whether the target is a share of the captured energy, not an error.
        listed: The planned methods under the chosen trust, those that trust most first, by formula first.
    """

    def __init__(self, settings: Settings, simulations: dict[str, SimulatedAnswer] | None = None) -> None:
        self.settings, self.simulations = settings, simulations or {}
        self.table, self.bundled = own_table.table_of(settings), TABLES.get(settings["data"])
        self.asked: Asked = settings["plan.asked"]
        self.epsilon: float = settings["epsilon"]
        self.n = int(self.bundled.n if self.bundled else settings["n"])
        self.size: int = settings["plan.size"]
        self.question = Question(self.asked, self.epsilon, self.n, self.size)
        self.energetic = bool(settings["plan.of"] == "energy")
        planned = list(PLANNED_METHODS.values())
        if self.table is not None:
            planned = [each for each in planned if each.name in PREDICTED_AS]
        allowed = [each for each in planned if settings["plan.trust"] in ("any", each.trust)]
        allowed.sort(key=lambda each: (TRUSTS.index(each.trust), not each.rule))
        self.listed = [each.name for each in allowed]

    def changed(self, settings: Settings) -> "Planner":
        """Return the planner of other settings, without simulations."""
        return Planner(self.settings | settings)

    @cached_property
    def focus(self) -> str:
        """Return the planned method that is drawn: the chosen one, or the first that the trust leaves.

        Of a visitor's table the latter is the one that errs least there.
        """
        chosen: str = self.settings["plan.way"]
        if chosen in self.listed:
            return chosen
        return self.listed[0] if self.table is None else own_table.least(self.settings, self.listed)

    @property
    def limited(self) -> bool:
        """Say whether patients are of a table, the visitor's or a bundled one, that has no more of them."""
        return self.bundled is not None or self.table is not None

    @property
    def here(self) -> float:
        """Return what there is now of what is asked."""
        now = {"patients": self.n, "hospitals": self.settings["providers"], "epsilon": self.epsilon}
        return float(now[self.asked])

    @property
    def simulation(self) -> SimulatedAnswer | None:
        """Return the simulated answer of the method in focus."""
        return self.simulations.get(self.focus)

    def published(self, name: str = "") -> StudyPlan:
        """Return the plan of a method, or of the one in focus, as published."""
        if self.table is not None:
            return own_table.plan(self.settings, name or self.focus)
        return _published(tuple(self.settings.items()), name or self.focus)

    def _tuning(self, name: str) -> Evaluation | None:
        """Return the evaluation that tunes a method's rows and rounds; None where they are as published."""
        if self.settings["plan.tuned"] == "published":
            return None
        return StudyPlan.tuned, self.published(name), self.question

    def _plan(self, name: str) -> StudyPlan | None:
        """Return the plan of a method; None while its rounds are being tuned."""
        tuning, study = self._tuning(name), self.published(name)
        if tuning is None:
            return study
        return _evaluated(tuning, slow=method(name).tuned is not None and not study.no_formula)

    def plan(self, name: str = "") -> StudyPlan:
        """Return the plan of a method, or of the one in focus; as published while it is being tuned."""
        return self._plan(name or self.focus) or self.published(name)

    def _answering(self, study: StudyPlan, asked: Asked) -> Evaluation:
        return StudyPlan.answer, _by_formula(study), self.question._replace(asked=asked)

    def answer(self, name: str = "", asked: Asked | None = None) -> PlanAnswer:
        """Return the closed form's answer at the current setting to what is asked, or to another question.

        Its kind is "evaluating" while it is evaluated beside the page.

        Args:
            name: The planned method, if not the one in focus.
            asked: The other question.
        """
        name = name or self.focus
        study = self._plan(name)
        if study is None:
            return _failed(self._tuning(name))
        cell = self._answering(study, asked or self.asked)
        return _evaluated(cell, _slow(study)) or _failed(cell)

    def wanted(self) -> Iterator[Evaluation]:
        """Return what the page needs that is slow to evaluate, what is asked of the method in focus first."""
        names = sorted(self.listed, key=lambda name: name != self.focus)
        for question in sorted(QUESTIONS, key=lambda question: question != self.asked):
            for name in names:
                tuning = self._tuning(name)
                if tuning is not None and question == self.asked:
                    yield tuning
                study = self.plan(name)
                if _slow(study):
                    yield self._answering(study, question)
        if self.settings["plan.simulate"] and isinstance(simulation := self.search(), TableSearch):
            yield from own_table.simulated(simulation)[1]
        for study in map(self.plan, names):
            if _slow(study):
                shape = self._shape()
                for epsilon in (*EDGE_EPSILONS, NO_NOISE):
                    yield _column, _any_target(study), epsilon, *shape
                yield _plane, _any_target(study), *shape
                yield _curve, _by_formula(study), *shape
        key, to = self.suggestion()
        then = self.changed({key: to})
        if (tuning := then._tuning(self.focus)) is not None:
            yield tuning
        if _slow(study := then.plan(self.focus)):
            yield then._answering(study, self.asked)

    def next_missing(self) -> Evaluation | None:
        """Return what the page lacks and needs first, or None."""
        return EVALUATIONS.first_missing(self.wanted())

    def complete(self) -> None:
        """Evaluate all that the page lacks, before a report or a table is written."""
        while (missing := self.next_missing()) is not None:
            EVALUATIONS.try_cell(*missing)

    def bound(self) -> Bound | None:
        """Return the closed form in focus at its answer, or at this setting where it has none, or None."""
        study, current = self.plan(), self.answer()
        if study.no_formula or current.kind in ("evaluating", "too large"):
            return None
        return current.bound or study.bound(self.n, self.epsilon)

    def assumptions(self) -> list[tuple[bool, str]]:
        """Return for each assumption of that closed form whether it holds, and it with its number."""
        current = self.bound()
        lines = current.why if current is not None else ()
        return [(line.startswith("holds"), line.partition(": ")[2]) for line in lines]

    def _shape(self) -> tuple[tuple[float, float], int | None]:
        """Return the amounts that are drawn, and each hospital's patients where hospitals are asked for."""
        size = self.size if self.asked == "hospitals" else None
        low, high = (2, 9) if size is None else (0, 4)  # powers of ten
        if size is None and self.table is not None:
            low, high = 1, 6
        start = self.answer().start if self.asked != "epsilon" else None
        if start is not None and start > 10**high / 3:
            high = min(math.ceil(math.log10(start) + 0.5), 15 if size is None else 5)
        fewest = self.settings["providers"] if size is None else 1
        return (max(10.0**low, fewest), 10.0**high), size

    def drawn(self) -> DrawnPlan:
        """Return what the chart draws for what is asked, as far as it has been evaluated."""
        shape = self._shape()
        curves: dict[str, Array] = {}
        for name in self.listed:
            study = self._plan(name)
            if study is None or study.no_formula or self.answer(name).kind == "too large":
                continue
            curve = _evaluated((_curve, _by_formula(study), *shape), _slow(study))
            if curve is not None:
                curves[name] = curve
        field, floor, study = None, math.nan, self.plan()
        if self.focus in curves:
            field = EVALUATIONS.cell(_plane, _any_target(study), *shape)
            if field.without[-1] <= study.allowed < field.without[0]:
                losses, amounts = np.log(field.without[::-1]), np.log(field.amounts[::-1])
                floor = math.exp(float(np.interp(math.log(study.allowed), losses, amounts)))
        return DrawnPlan(field, shape[0], curves, floor)

    def search(self, name: str = "") -> Search | None:
        """Return the simulation of what is asked; None with nowhere to begin, or only a table's patients.

        For a visitor's table it has rows that the dictionary allows, where these are few enough.
        """
        study, closed_form, asked = self.plan(name), self.answer(name), self.asked
        start = MOST_EPSILON if closed_form.kind in ("epsilon", "sampling") else closed_form.start
        if closed_form.kind == "simulation" and not self.limited:
            start = EVALUATIONS.cell(*self._answering(study.near, asked)).start
            if start is None:  # nothing near it has an answer either
                start = MOST_EPSILON if asked == "epsilon" else self.here
        if start is None or self.bundled is not None:
            return None
        # Runs are kept by what they depend on: not on the slider of what is asked.
        question = self.question._replace(epsilon=1.0) if asked == "epsilon" else self.question
        if isinstance(study, TablePlan):
            patients, _, _ = question.at(start)
            search = TableSearch(study, question, start, _FEWEST_RUNS)
            return search if can_search(study, patients) else None
        return Search(study, question, start, max(self.settings["repeats"], _FEWEST_RUNS))

    def begins(self) -> bool:
        """Return whether the method in focus is simulated: asked for, or quick where no formula answers."""
        if self.settings["plan.simulate"]:
            return True
        if self.answer().kind != "simulation":
            return False
        simulation = self.search()
        return simulation is not None and seconds(simulation) <= _QUICK_SECONDS

    @property
    def agreement(self) -> float | None:
        """Return the simulated answer over the closed form's; None where one of them is missing."""
        closed_form, simulation = self.answer(), self.simulation
        if closed_form.value is None or simulation is None or simulation.state != "found":
            return None
        whole = isinstance(closed_form.value, int)  # patients and hospitals
        return (math.ceil(simulation.value) if whole else simulation.value) / closed_form.value

    def suggestion(self) -> tuple[str, Value]:
        """Return the setting to try next, and its value."""
        settings = self.settings
        if self.asked == "hospitals" and self.table is None:
            key, wanted_value = "plan.size", self.size / 2
        elif self.asked == "epsilon" and self.table is None:
            key, wanted_value = "n", settings["n"] * 10
        else:
            key = "plan.share" if self.energetic else "plan.target"
            wanted_value = (1 + settings[key]) / 2 if self.energetic else settings[key] / 2
        return key, CHOICES[key].nearest(wanted_value)

    def _answers(self, names: list[str]) -> Iterator[tuple[str, dict[str, PlanAnswer]]]:
        """Return each trust with the answers of those of these methods that it is enough for, if any."""
        for trust in RECOMMENDED:
            answers = {name: self.answer(name) for name in names if PLANNED_METHODS[name].trust == trust}
            if answers:
                yield trust, answers

    def by_trust(self) -> list[TrustAnswer]:
        """Return the least answer under each trust among those listed."""
        result = []
        for trust, answers in self._answers(self.guaranteed):
            needs = {name: (each != EVALUATING, each.value or math.inf) for name, each in answers.items()}
            name = min(answers, key=needs.__getitem__)
            result.append(TrustAnswer(trust, name, answers[name]))
        return result

    @property
    def guaranteed(self) -> list[str]:
        """Return the listed methods that have the full guarantee."""
        return [name for name in self.listed if method(name).guarantee == "(ε, δ)"]

    def recommended(self) -> list[tuple[str, float, Recommendation]]:
        """Return what is recommended under each trust at the least answer there, else at this setting.

        With the trust stands the answer that it is recommended at. Nothing is returned while some are
        evaluated.
        """
        least, result = self.by_trust(), []
        if EVALUATING in (each.answer for each in least):
            return []
        for trust, name, current in least:
            at = self.here if current.value is None else current.value
            patients, at_epsilon, hospitals = self.question.at(at)
            equal = {"providers": hospitals, "largest_share": 0.0} if hospitals else {}
            experiment = replace(self.published(name).experiment, n=patients, **equal)
            result.append((trust, at, recommended_at(experiment, at_epsilon, trust)))
        return result

    def on_table(self) -> list[OnTable]:
        """Return for each trust which method errs least on a visitor's table, and which one needs least."""
        result = []
        for trust, answers in self._answers(self.listed):
            best = own_table.least(self.settings, list(answers))
            study = own_table.plan(self.settings, best)
            errors = zip(own_table.errors(study, self.epsilon), study.patterns, strict=True)
            error, pattern = max(errors, key=itemgetter(0))
            needs = min(answers, key=lambda name: (answers[name].value or math.inf, name != best))
            result.append(OnTable(trust, best, error, pattern, needs, answers[needs]))
        return result

    def code(self) -> FigureRecipe:
        """Return the table of the answers and of the lines that are drawn."""
        drawn = self.drawn()
        values = self._figure_values(self.published()) | {
            "names": tuple(drawn.curves),
            "tuned": self.settings["plan.tuned"] != "published",
            "amounts": drawn.amounts,
            "hospital": self.size if self.asked == "hospitals" else None,
        }
        return FigureRecipe("planning.plans", values)

    def code_by_trust(self) -> FigureRecipe:
        """Return the table of the least answer under each trust."""
        names = tuple(each.name for each in self.by_trust())
        values = self._figure_values(self.published(names[0]))
        return FigureRecipe("planning.by_trust", values | {"names": names})

    def _figure_values(self, study: StudyPlan) -> dict[str, Any]:
        return {
            "experiment": study.experiment,
            "question": tuple(self.question),
            "target": study.target,
            "energy": study.energy,
            "public": self.table and replace(self.table, columns=()),
        }

    def true_epsilon(self, name: str = "") -> float | None:
        """Return the epsilon that the calibration truly gives, where it is not the one asked for."""
        study = self.plan(name)
        budget, experiment = study.experiment.budget(self.epsilon), study.experiment
        true = study.method.true_epsilon(budget, d=experiment.d, k=experiment.k, **study.options)
        return None if true is None or abs(true / self.epsilon - 1) <= 0.01 else true


@lru_cache(maxsize=256)
def _published(items: tuple[tuple[str, Any], ...], name: str) -> StudyPlan:
    """Return a plan of the sliders' population; what does not matter is fixed, for caches to find it."""
    settings = dict(items)
    fixed = {"start": "random", "metric": "sin", "repeats": 10, "provider_noise": "independent"}
    n = {} if settings["data"] in TABLES else {"n": 10**9}
    experiment, _ = to_experiment.from_settings(settings | fixed | n)
    energy = settings["plan.of"] == "energy"
    target = settings["plan.share"] if energy else settings["plan.target"] / factor(settings)
    return StudyPlan(experiment, name, target, energy)


def _evaluated(cell: Evaluation, slow: bool) -> Any:
    """Return what a function gives; None where that is slow and has not been evaluated beside the page."""
    return EVALUATIONS.cells.get(cell) if slow else EVALUATIONS.cell(*cell)


def _failed(cell: Evaluation | None) -> PlanAnswer:
    reason = EVALUATIONS.failed.get(cell) if cell else None
    return EVALUATING if reason is None else PlanAnswer(None, "assumption", failed=(reason,))


def _slow(study: StudyPlan) -> bool:
    return not study.no_formula and not study.smooth


def _by_formula(study: StudyPlan) -> StudyPlan:
    """Return the first plan with the same closed form: what that gives is evaluated once."""
    planned = PLANNED_METHODS[study.planned]
    if isinstance(study, TablePlan) or not planned.rule:
        return study
    same = (planned.rule, planned.provider_noise)
    others = (each.name for each in PLANNED_METHODS.values() if (each.rule, each.provider_noise) == same)
    return replace(study, planned=next(others))


def _any_target(study: StudyPlan) -> StudyPlan:
    """Return the plan that stands for all targets: a plane does not depend on one."""
    return replace(_by_formula(study), target=0.5)


def _column(study: StudyPlan, epsilon: float, amounts: tuple[float, float], size: int | None) -> bool:
    """Evaluate a column of a plane, which is kept where planes take it from."""
    edge_column(study, epsilon, amounts, size)
    return True


def _plane(study: StudyPlan, amounts: tuple[float, float], size: int | None) -> Plane:
    return plane(study, amounts, CHART_EPSILONS, size)


def _curve(study: StudyPlan, amounts: tuple[float, float], size: int | None) -> Array:
    return answered(study, EVALUATIONS.cell(_plane, _any_target(study), amounts, size), size)


def seconds(simulation: Search) -> float:
    """Return roughly how long a simulation computes on one core."""
    first = simulation.recipe(simulation.first())
    return run_cells.total_seconds(first) * VALUES / len(first.swept[0].values)


class CautiousPlanner(Planner):
    """Give the least answer under each trust, and what one more cautious hospital costs."""

    def with_cautious(self, least: TrustAnswer) -> PlanAnswer:
        """Return the patients that are needed where one hospital is more cautious; slow."""
        cell = self._with_cautious(least)
        return _evaluated(cell, slow=True) or _failed(cell)

    def _with_cautious(self, least: TrustAnswer) -> Evaluation:
        strictest = self.epsilon / self.settings["plan.cautious"]
        return patients_with_cautious, self.plan(least.name), self.epsilon, strictest

    @property
    def has_cautious(self) -> bool:
        """Return whether one of several hospitals can be more cautious than the others."""
        return self.asked == "patients" and self.settings["providers"] > 1

    def wanted(self) -> Iterator[Evaluation]:
        """Return what the least answers need that is slow to evaluate."""
        for name in self.guaranteed:
            trusted = PLANNED_METHODS[name].trust in RECOMMENDED
            if trusted and _slow(study := self.plan(name)):
                yield self._answering(study, self.asked)
        if self.has_cautious:
            for least in self.by_trust():
                if least.answer.value is not None:
                    yield self._with_cautious(least)
