"""Turn the planner's settings into plans, with their answers and simulations. No Streamlit here."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS as RECOMMENDED
from dppca_core.bounds.recommendation import Recommendation
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.trusts import recommended as recommended_at
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
    StudyPlan,
)
from dppca_core.experiments.planning.table_plan import TablePlan
from dppca_core.experiments.planning.table_search import TableSearch
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from dppca_core.records import TRUSTS, Bound, Method
from pages.hospitals.planner import own_table
from pages.hospitals.planner.own_table import OnTable
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
Simulations = dict[str, SimulatedAnswer]  # by the name of the planned method
Needed = Callable[[Settings], Iterator[Evaluation]]  # that is slow to evaluate


def listed(settings: Settings) -> list[str]:
    """Return the planned methods under the chosen trust, those that trust most first, by formula first."""
    trust = settings["plan.trust"]
    possible = PLANNED_METHODS if own_table.table_of(settings) is None else own_table.names()
    names = [name for name in possible if trust in ("any", PLANNED_METHODS[name].trust)]

    def place(name: str) -> tuple[int, bool]:
        return TRUSTS.index(PLANNED_METHODS[name].trust), not PLANNED_METHODS[name].rule

    return sorted(names, key=place)


def method(name: str) -> Method:
    """Return the method that a planned method runs."""
    return METHODS[PLANNED_METHODS[name].method]


def focus(settings: Settings) -> str:
    """Return the planned method that is drawn: the chosen one, or the first that the trust leaves.

    Of a visitor's table the latter is the one that errs least there.
    """
    names = listed(settings)
    chosen: str = settings["plan.way"]
    if chosen in names:
        return chosen
    return names[0] if own_table.table_of(settings) is None else own_table.least(settings, names)


def title(name: str) -> str:
    """Return a planned method's title."""
    return PLANNED_METHODS[name].title


def energetic(settings: Settings) -> bool:
    """Say whether the target is a share of the captured energy, not an error."""
    return bool(settings["plan.of"] == "energy")


def published(settings: Settings, name: str) -> StudyPlan:
    """Return the plan as published; what does not matter is fixed, so that caches find its answers."""
    return _published(tuple(settings.items()), name)


@lru_cache(maxsize=256)
def _published(items: tuple[tuple[str, Any], ...], name: str) -> StudyPlan:
    settings = dict(items)
    if own_table.table_of(settings) is not None:
        return own_table.plan(settings, name)
    fixed = {"start": "random", "metric": "sin", "repeats": 10, "provider_noise": "independent"}
    n = {} if settings["data"] in TABLES else {"n": 10**9}
    experiment, _ = to_experiment.from_settings(settings | fixed | n)
    energy = energetic(settings)
    target = settings["plan.share"] if energy else settings["plan.target"] / factor(settings)
    return StudyPlan(experiment, name, target, energy)


def is_table(settings: Settings) -> bool:
    """Say whether patients are of a table, the visitor's or a bundled one, that has no more of them."""
    return settings["data"] in TABLES or own_table.table_of(settings) is not None


def in_total(settings: Settings) -> int:
    """Return the number of patients at the current setting."""
    table = TABLES.get(settings["data"])
    return int(table.n if table else settings["n"])


def _evaluated(cell: Evaluation, slow: bool) -> Any:
    """Return what a function gives; None where that is slow and has not been evaluated beside the page."""
    return EVALUATIONS.cells.get(cell) if slow else EVALUATIONS.cell(*cell)


def _question(settings: Settings, asked: Asked) -> tuple[Asked, float, int, int]:
    return asked, settings["epsilon"], in_total(settings), settings["plan.size"]


def _tuning(settings: Settings, name: str) -> Evaluation | None:
    """Return the evaluation that tunes a method's rows and rounds; None where they are as published."""
    if settings["plan.tuned"] == "published":
        return None
    return StudyPlan.tuned, published(settings, name), *_question(settings, settings["plan.asked"])


def _slow(study: StudyPlan) -> bool:
    return not study.no_formula and not study.smooth


def _plan(settings: Settings, name: str) -> StudyPlan | None:
    """Return the plan of a method; None while its rounds are being tuned."""
    tuning, study = _tuning(settings, name), published(settings, name)
    if tuning is None:
        return study
    return _evaluated(tuning, slow=method(name).tuned is not None and not study.no_formula)


def plan(settings: Settings, name: str) -> StudyPlan:
    """Return the plan of a method, as published while it is being tuned."""
    return _plan(settings, name) or published(settings, name)


def _by_formula(study: StudyPlan) -> StudyPlan:
    """Return the first plan with the same closed form: what that gives is evaluated once."""
    if isinstance(study, TablePlan):
        return study
    planned = PLANNED_METHODS[study.planned]
    same = (planned.rule, planned.provider_noise)
    others = PLANNED_METHODS.values() if planned.rule else ()
    first = next(
        (other.name for other in others if (other.rule, other.provider_noise) == same), study.planned
    )
    return replace(study, planned=first)


def _answering(settings: Settings, study: StudyPlan, asked: Asked) -> Evaluation:
    return StudyPlan.answer, _by_formula(study), *_question(settings, asked)


def answer(settings: Settings, name: str, asked: Asked | None = None) -> PlanAnswer:
    """Return the closed form's answer at the current setting to what is asked, or to another question.

    Its kind is "evaluating" while it is evaluated beside the page.
    """
    study = _plan(settings, name)
    if study is None:
        return _failed(_tuning(settings, name))
    cell = _answering(settings, study, asked or settings["plan.asked"])
    return _evaluated(cell, _slow(study)) or _failed(cell)


def _failed(cell: Evaluation | None) -> PlanAnswer:
    reason = EVALUATIONS.failed.get(cell) if cell else None
    return EVALUATING if reason is None else PlanAnswer(None, "assumption", failed=(reason,))


def wanted(settings: Settings) -> Iterator[Evaluation]:
    """Return what the page needs that is slow to evaluate, what is asked of the method in focus first."""
    asked, chosen = settings["plan.asked"], focus(settings)
    names = sorted(listed(settings), key=lambda name: name != chosen)
    questions = sorted(QUESTIONS, key=lambda question: question != asked)
    for question in questions:
        for name in names:
            tuning = _tuning(settings, name)
            if tuning is not None and question == asked:
                yield tuning
            study = plan(settings, name)
            if _slow(study):
                yield _answering(settings, study, question)
    if settings["plan.simulate"] and (simulation := table_search(settings)) is not None:
        yield from own_table.wanted(simulation)
    for name in names:
        study = plan(settings, name)
        if _slow(study):
            shape = _shape(settings)
            for epsilon in (*EDGE_EPSILONS, NO_NOISE):
                yield _column, _any_target(study), epsilon, *shape
            yield _plane, _any_target(study), *shape
            yield _curve, _by_formula(study), *shape
    key, to = suggestion(settings)
    then = settings | {key: to}
    if (tuning := _tuning(then, chosen)) is not None:
        yield tuning
    if _slow(plan(then, chosen)):
        yield _answering(then, plan(then, chosen), asked)


def next_missing(settings: Settings, needed: Needed = wanted) -> Evaluation | None:
    """Return what the page lacks and needs first, or None."""
    return EVALUATIONS.first_missing(needed(settings))


def complete(settings: Settings, needed: Needed = wanted) -> None:
    """Evaluate all that the page lacks, before a report or a table is written."""
    while (missing := next_missing(settings, needed)) is not None:
        EVALUATIONS.try_cell(*missing)


def bound(settings: Settings) -> Bound | None:
    """Return the closed form in focus at its answer, or at this setting where it has none; None without."""
    name = focus(settings)
    study, current = plan(settings, name), answer(settings, name)
    if study.no_formula or current.kind in ("evaluating", "too large"):
        return None
    return current.bound or study.bound(in_total(settings), settings["epsilon"])


def assumptions(settings: Settings) -> list[tuple[bool, str]]:
    """Return for each assumption of that closed form whether it holds, and the assumption with its number."""
    current = bound(settings)
    lines = current.why if current is not None else ()
    return [(line.startswith("holds"), line.partition(": ")[2]) for line in lines]


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


def _shape(settings: Settings) -> tuple[tuple[float, float], int | None]:
    """Return the amounts that are drawn, and the patients of each hospital where hospitals are asked for."""
    size = settings["plan.size"] if settings["plan.asked"] == "hospitals" else None
    low, high = (2, 9) if size is None else (0, 4)  # powers of ten
    if size is None and own_table.table_of(settings) is not None:
        low, high = 1, 6
    start = answer(settings, focus(settings)).start if settings["plan.asked"] != "epsilon" else None
    if start is not None and start > 10**high / 3:
        high = min(math.ceil(math.log10(start) + 0.5), 15 if size is None else 5)
    fewest = settings["providers"] if size is None else 1
    return (max(10.0**low, fewest), 10.0**high), size


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


def drawn(settings: Settings) -> DrawnPlan:
    """Return what the chart draws for what is asked, as far as it has been evaluated."""
    shape, chosen = _shape(settings), focus(settings)
    curves: dict[str, Array] = {}
    for name in listed(settings):
        study = _plan(settings, name)
        if study is None or study.no_formula or answer(settings, name).kind == "too large":
            continue
        curve = _evaluated((_curve, _by_formula(study), *shape), _slow(study))
        if curve is not None:
            curves[name] = curve
    field, floor, study = None, math.nan, plan(settings, chosen)
    if chosen in curves:
        field = EVALUATIONS.cell(_plane, _any_target(study), *shape)
        if field.without[-1] <= study.allowed < field.without[0]:
            losses, amounts = np.log(field.without[::-1]), np.log(field.amounts[::-1])
            floor = math.exp(float(np.interp(math.log(study.allowed), losses, amounts)))
    return DrawnPlan(field, shape[0], curves, floor)


def search(settings: Settings, name: str) -> Search | None:
    """Return the simulation of what is asked; None with nowhere to begin, or only a table's patients."""
    if is_table(settings):
        return None
    asked: Asked = settings["plan.asked"]
    closed_form = answer(settings, name)
    start = MOST_EPSILON if closed_form.kind in ("epsilon", "sampling") else closed_form.start
    if closed_form.kind == "simulation":
        start = EVALUATIONS.cell(*_answering(settings, plan(settings, name).near, asked)).start
    if start is None and closed_form.kind == "simulation":  # nothing near it has an answer either
        somewhere = {"patients": in_total(settings), "hospitals": settings["providers"]}
        start = somewhere.get(asked, MOST_EPSILON)
    if start is None:
        return None
    at = float(in_total(settings) if asked == "epsilon" else settings["epsilon"])
    repeats = max(settings["repeats"], _FEWEST_RUNS)
    return Search(plan(settings, name), asked, at, start, settings["plan.size"], repeats)


def table_search(settings: Settings) -> TableSearch | None:
    """Return the simulation of the method in focus for a visitor's table; None where nothing is drawn."""
    name = focus(settings)
    study = published(settings, name)
    if not isinstance(study, TablePlan):
        return None
    return own_table.search(settings, study, answer(settings, name))


def seconds(simulation: Search) -> float:
    """Return roughly how long a simulation computes on one core."""
    first = simulation.recipe(simulation.first())
    return run_cells.total_seconds(first) * VALUES / len(first.swept[0].values)


def begins(settings: Settings) -> bool:
    """Return whether the method in focus is simulated: asked for, or quick where no closed form answers."""
    if settings["plan.simulate"]:
        return True
    name = focus(settings)
    if answer(settings, name).kind != "simulation":
        return False
    simulation = search(settings, name)
    return simulation is not None and seconds(simulation) <= _QUICK_SECONDS


def suggestion(settings: Settings) -> tuple[str, Value]:
    """Return the setting to try next, and its value."""
    asked, energetic_target = settings["plan.asked"], energetic(settings)
    if asked == "hospitals" and own_table.table_of(settings) is None:
        key, wanted_value = "plan.size", settings["plan.size"] / 2
    elif asked == "epsilon" and own_table.table_of(settings) is None:
        key, wanted_value = "n", settings["n"] * 10
    else:
        key = "plan.share" if energetic_target else "plan.target"
        wanted_value = (1 + settings[key]) / 2 if energetic_target else settings[key] / 2
    return key, CHOICES[key].nearest(wanted_value)


class TrustAnswer(NamedTuple):
    """Hold the least answer under a trust, of the methods with the full guarantee, and which one has it.

    Where none has an answer it is that of the first method, while one is evaluated that one's.
    """

    trust: str
    name: str
    answer: PlanAnswer


def by_trust(settings: Settings) -> list[TrustAnswer]:
    """Return the least answer under each trust among those listed."""
    result = []
    for trust in RECOMMENDED:
        answers = {name: answer(settings, name) for name in _guaranteed(settings, trust)}
        needs = {name: (each != EVALUATING, each.value or math.inf) for name, each in answers.items()}
        if answers:
            name = min(answers, key=needs.__getitem__)
            result.append(TrustAnswer(trust, name, answers[name]))
    return result


def _guaranteed(settings: Settings, *trusts: str) -> list[str]:
    full = (name for name in listed(settings) if method(name).guarantee == "(ε, δ)")
    return [name for name in full if PLANNED_METHODS[name].trust in trusts]


def with_cautious(settings: Settings, least: TrustAnswer) -> PlanAnswer:
    """Return the patients that are needed where one hospital is more cautious; slow, so evaluated beside."""
    cell = _with_cautious(settings, least)
    return _evaluated(cell, slow=True) or _failed(cell)


def _with_cautious(settings: Settings, least: TrustAnswer) -> Evaluation:
    epsilon = settings["epsilon"]
    study = plan(settings, least.name)
    return patients_with_cautious, study, epsilon, epsilon / settings["plan.cautious"]


def has_cautious(settings: Settings) -> bool:
    """Return whether one of several hospitals can be more cautious than the others."""
    return settings["plan.asked"] == "patients" and settings["providers"] > 1


def wanted_by_trust(settings: Settings) -> Iterator[Evaluation]:
    """Return what the least answers need that is slow to evaluate."""
    for name in _guaranteed(settings, *RECOMMENDED):
        if _slow(study := plan(settings, name)):
            yield _answering(settings, study, settings["plan.asked"])
    if has_cautious(settings):
        for least in by_trust(settings):
            if least.answer.value is not None:
                yield _with_cautious(settings, least)


def recommended(settings: Settings) -> list[tuple[str, float, Recommendation]]:
    """Return what is recommended under each trust at the least answer there, else at this setting.

    With the trust stands the answer that it is recommended at. Nothing is returned while some are evaluated.
    """
    asked, epsilon, n, size = _question(settings, settings["plan.asked"])
    least, result = by_trust(settings), []
    if EVALUATING in (each.answer for each in least):
        return []
    here = {"patients": n, "epsilon": epsilon, "hospitals": settings["providers"]}[asked]
    for trust, name, current in least:
        at = here if current.value is None else current.value
        experiment = published(settings, name).experiment
        if asked == "hospitals":
            experiment = replace(experiment, n=int(at) * size, providers=int(at), largest_share=0.0)
        else:
            experiment = replace(experiment, n=n if asked == "epsilon" else int(at))
        at_epsilon = at if asked == "epsilon" else epsilon
        result.append((trust, at, recommended_at(experiment, at_epsilon, trust)))
    return result


def on_table(settings: Settings) -> list[OnTable]:
    """Return for each trust which method errs least on a visitor's table, and which one needs least."""
    answers = {name: answer(settings, name) for name in listed(settings)}
    return own_table.on_table(settings, answers)


def agreement(closed_form: PlanAnswer, simulation: SimulatedAnswer | None) -> float | None:
    """Return the simulated answer over the closed form's; None where one of them is missing."""
    if closed_form.value is None or simulation is None or simulation.state != "found":
        return None
    whole = isinstance(closed_form.value, int)  # patients and hospitals
    return (math.ceil(simulation.value) if whole else simulation.value) / closed_form.value


def true_epsilon(settings: Settings, name: str) -> float | None:
    """Return the epsilon that the calibration truly gives, where it is not the one asked for."""
    study, epsilon = plan(settings, name), settings["epsilon"]
    budget, experiment = study.experiment.budget(epsilon), study.experiment
    true = method(name).true_epsilon(budget, d=experiment.d, k=experiment.k, **study.options)
    return None if true is None or abs(true / epsilon - 1) <= 0.01 else true
