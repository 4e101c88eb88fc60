"""Turn the planner's settings into plans, with their answers and simulations. No Streamlit here.

A *planned method* is a private method under one trust model, a key of `PLANNED_METHODS`; that *in focus* is
the recommended one, or chosen on the page. A *plan* states the target for one of them. Its *answer* is the
smallest number of patients or hospitals, or the smallest epsilon, that reaches the target, found by inverting
the *closed form*: the formula that predicts the method's error. Other methods are simulated.

Some closed forms take seconds. Such an *evaluation*, a tuple of a function and its arguments, is done in the
background and kept in `EVALUATIONS` for all visitors; until then its answer is `EVALUATING`. The engine asks
`Planner.next_missing` what to do next, so `Planner.wanted` must name all that the page reads.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS as RECOMMENDED_TRUSTS
from dppca_core.bounds.recommendation import Recommendation
from dppca_core.bounds.stated_spectra import Pattern
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS
from dppca_core.experiments.explorer.trusts import recommended as recommended_at
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.cautious import patients_with_cautious
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.plan_plane import (
    EDGE_EPSILONS,
    Plane,
    amounts_by_prediction,
    amounts_reaching_target,
    edge_column,
    plane,
    prediction_questions,
)
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
USUAL_VALUES = 6  # of patients or epsilon, that a bisection usually takes
_QUICK_SECONDS = 2.0  # a simulation up to here begins by itself where no closed form answers
QUESTIONS: tuple[Asked, ...] = ("patients", "epsilon", "hospitals")
EVALUATING = PlanAnswer(None, "evaluating")
LEAST_CHANCE = 0.9  # below this chance that all features that matter are kept, an answer is called uncertain


def method(name: str) -> Method:
    """Return the method that a planned method runs."""
    return METHODS[PLANNED_METHODS[name].method]


def title(name: str) -> str:
    """Return a planned method's title."""
    return PLANNED_METHODS[name].title


class DrawnPlan(NamedTuple):
    """Hold what the chart draws. Amounts are hospitals where hospitals are asked for, else patients.

    Attributes:
        plane: The losses of the method in focus over amounts and epsilon; None while there is no curve of it.
        amounts: The smallest and the largest amount of the plane.
        curves: By planned method, the amount that reaches the target at each of `CHART_EPSILONS`, or NaN.
        floor: The amount below which the method in focus misses the target at any epsilon; NaN off the plane.
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
    """Hold the planned method that is recommended under a trust, and its answer.

    While an answer that it rests on is being evaluated, it is `EVALUATING`. Where no method has an answer, it
    is the reason of the first.
    """

    trust: str
    name: str
    answer: PlanAnswer


class OnTable(NamedTuple):
    """Hold two planned methods under a trust for a visitor's table: the best on it, and the most frugal.

    Attributes:
        trust: The trust model.
        name: The method that is predicted to err least on the table as it is.
        error: Its predicted ‖sin Θ‖ at the table's size and this epsilon, on the worst population.
        pattern: That population.
        needs_least: The method that needs least for the target.
        answer: How much that is.
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
        settings: Of the page; those that a visitor's own table fixes are set already, as by
            `own_table.with_table`.
        simulations: The answers by simulation so far, by planned method.

    Attributes:
        asked: What is asked: "patients", "epsilon" or "hospitals".
        epsilon: The privacy loss at this setting.
        n: The patients of all hospitals at this setting.
        size: The patients of each hospital, where hospitals are asked for.
        question: These four, as a plan's answer takes them.
        table: What is public of a visitor's table that is planned for; None for other patients.
        bundled: The real table that comes with the program, if its patients are planned for, else None.
        energetic: Whether the target is a share of the captured energy, not an error.
        planned: All planned methods that can be compared here, sorted by whom they trust, then those with a
            formula first.
        trust: Whom the hospitals trust: a method is recommended for that.
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
        if self.table is not None:  # only these methods can be predicted for a table
            planned = [each for each in planned if each.name in PREDICTED_AS]
        planned.sort(key=lambda each: (TRUSTS.index(each.trust), not each.rule))  # False sorts first
        self.planned = [each.name for each in planned]
        # The only hospital of a visitor's table trusts itself, as on Your data.
        alone = self.table is not None and settings["providers"] == 1
        self.trust: str = "central" if alone else settings["trust"]
        self._focus = ""  # this and the next are kept once they are known
        self._by_trust: list[TrustAnswer] = []

    def changed(self, settings: Settings) -> "Planner":
        """Return a planner in which these settings are changed, without simulations."""
        return Planner(self.settings | settings)

    @property
    def focus(self) -> str:
        """Return the planned method in focus: the chosen one, if it is compared, else the recommended one."""
        if not self._focus:
            chosen: str = self.settings["plan.way"]
            if chosen in self.planned and self._compared(chosen):
                self._focus = chosen
                return chosen
            _trust, name, answer = self.by_trust()[RECOMMENDED_TRUSTS.index(self.trust)]
            if answer == EVALUATING:  # another may be recommended once this is known
                return name
            self._focus = name
        return self._focus

    def _compared(self, name: str) -> bool:
        """Return whether a method has the trust that is compared."""
        return self.settings["plan.trust"] in ("any", PLANNED_METHODS[name].trust)

    @property
    def comparable(self) -> list[str]:
        """Return the planned methods that are compared if asked for, and the one in focus."""
        focus = self.focus
        return [name for name in self.planned if self._compared(name) or name == focus]

    @property
    def listed(self) -> list[str]:
        """Return the planned methods that are shown.

        They are all that are comparable where the visitor asks for that, or for one trust. At first they are
        those that are recommended under each trust, DPS-PCA as published, and the one in focus.
        """
        if self.settings["all_methods"] or self.settings["plan.trust"] != "any":
            return self.comparable
        shown = {DPS_PCA, self.focus, *(each.name for each in self.by_trust())}
        return [name for name in self.planned if name in shown]

    @property
    def limited(self) -> bool:
        """Return whether the patients are those of a real table, which has no more of them to simulate."""
        return self.bundled is not None or self.table is not None

    @property
    def current_value(self) -> float:
        """Return the current setting of what is asked: patients, hospitals or epsilon."""
        values = {"patients": self.n, "hospitals": self.settings["providers"], "epsilon": self.epsilon}
        return float(values[self.asked])

    @property
    def simulation(self) -> SimulatedAnswer | None:
        """Return the simulated answer of the method in focus so far; None where it is not simulated."""
        return self.simulations.get(self.focus)

    def untuned_plan(self, name: str = "") -> StudyPlan:
        """Return the plan of a method, or of the one in focus, with the rounds and row bound as published."""
        if self.table is not None:
            return own_table.plan(self.settings, name or self.focus)
        return _published(tuple(self.settings.items()), name or self.focus)

    def _tuning_evaluation(self, name: str) -> Evaluation | None:
        """Return the evaluation that tunes a method's row bound and rounds; None if published ones stay."""
        if self.settings["plan.tuned"] == "published":
            return None
        return StudyPlan.tuned, self.untuned_plan(name), self.question

    def _plan(self, name: str) -> StudyPlan | None:
        """Return the plan of a method; None while its rounds are being tuned."""
        tuning, study = self._tuning_evaluation(name), self.untuned_plan(name)
        if tuning is None:
            return study
        # Only a method with a rule of its own for the rounds takes long to tune.
        return _evaluated(tuning, slow=method(name).tuned is not None and not study.no_formula)

    def plan(self, name: str = "") -> StudyPlan:
        """Return the plan of a method, or of the one in focus; as published while it is being tuned."""
        return self._plan(name or self.focus) or self.untuned_plan(name)

    def _answer_evaluation(self, study: StudyPlan, asked: Asked) -> Evaluation:
        """Return the evaluation that gives a plan's answer to `asked` at the current setting."""
        return StudyPlan.answer, _first_with_same_formula(study), self.question._replace(asked=asked)

    def answer(self, name: str = "", asked: Asked | None = None) -> PlanAnswer:
        """Return the closed form's answer at the current setting; `EVALUATING` until the background has it.

        Args:
            name: The planned method, if not the one in focus.
            asked: What is asked, if not what the page asks.
        """
        name = name or self.focus
        study = self._plan(name)
        if study is None:
            return _failed_or_evaluating(self._tuning_evaluation(name))
        evaluation = self._answer_evaluation(study, asked or self.asked)
        return _evaluated(evaluation, slow=_is_slow(study)) or _failed_or_evaluating(evaluation)

    def wanted(self) -> Iterator[Evaluation]:
        """Return the slow evaluations that the page needs, in the order in which a visitor needs them.

        First come the answers that decide what is recommended, those to the question that is asked, and the
        line of the method in focus; then the other answers, the runs for a visitor's table, the other lines,
        and last the answer that the hint "Try this" promises.
        """
        yield from self._wanted_by_trust()
        names = sorted(self.listed, key=lambda name: name != self.focus)  # the method in focus comes first
        yield from self._wanted_answers(names, self.asked)
        yield from self._wanted_line(names[0])
        for question in QUESTIONS:
            yield from self._wanted_answers(names, question)
        if self.settings["plan.simulate"] and isinstance(simulation := self.search(), TableSearch):
            _answer, missing_runs = own_table.simulated(simulation)
            yield from missing_runs
        for name in names[1:]:
            yield from self._wanted_line(name)
        key, value = self.suggestion()
        after_hint = self.changed({key: value})
        if (tuning := after_hint._tuning_evaluation(self.focus)) is not None:
            yield tuning
        if _is_slow(study := after_hint.plan(self.focus)):
            yield after_hint._answer_evaluation(study, self.asked)

    def _wanted_answers(self, names: list[str], question: Asked) -> Iterator[Evaluation]:
        """Return the slow evaluations of these methods' answers to a question."""
        for name in names:
            tuning = self._tuning_evaluation(name)
            if tuning is not None and question == self.asked:  # a method is tuned for this question only
                yield tuning
            if _is_slow(study := self.plan(name)):
                yield self._answer_evaluation(study, question)

    def _wanted_line(self, name: str) -> Iterator[Evaluation]:
        """Return the slow evaluations that a method's line in the chart is drawn from."""
        if _is_slow(study := self.plan(name)):
            amounts, size = self._amounts_of_plane()
            if study.predicted:
                for question in prediction_questions(size):
                    yield StudyPlan.answer, study, question
                yield _curve, study, amounts, size
                return
            # The plane is made of these columns: evaluated one by one, none takes long.
            for epsilon in (*EDGE_EPSILONS, NO_NOISE):
                yield _cache_column, _with_fixed_target(study), epsilon, amounts, size
            yield _plane, _with_fixed_target(study), amounts, size
            yield _curve, _first_with_same_formula(study), amounts, size

    def next_missing(self) -> Evaluation | None:
        """Return the evaluation that the page lacks and needs first; None where it lacks nothing."""
        return EVALUATIONS.first_missing(self.wanted())

    def complete(self) -> None:
        """Evaluate all that the page lacks, before a report or a table is written."""
        while (missing := self.next_missing()) is not None:
            EVALUATIONS.try_cell(*missing)

    def bound(self) -> Bound | None:
        """Return what the closed form in focus gives at its answer or, where it has none, at this setting.

        None for a method without a formula, or with too many features, and while it is being evaluated.
        """
        study, current = self.plan(), self.answer()
        if study.no_formula or current.kind in ("evaluating", "too large"):
            return None
        return current.bound or study.bound(self.n, self.epsilon)

    def assumptions(self) -> list[tuple[bool, str]]:
        """Return for each assumption of `bound` whether it holds, and its words with their number."""
        current = self.bound()
        # Each line of `why` reads "holds: words" or has another word before the colon.
        lines = current.why if current is not None else ()
        return [(line.startswith("holds"), line.partition(": ")[2]) for line in lines]

    def _amounts_of_plane(self) -> tuple[tuple[float, float], int | None]:
        """Return the smallest and largest amount of the plane, and the number of each hospital's patients.

        The latter is None where amounts are patients. The ends are fixed powers of ten, but the plane reaches
        further up where the answer lies close to its end or beyond.
        """
        size = self.size if self.asked == "hospitals" else None
        low, high = (2, 9) if size is None else (0, 4)  # powers of ten
        if size is None and self.table is not None:  # a table may be small
            low, high = 1, 6
        # Where epsilon is asked for, the answer is no amount.
        start = self.answer().solution if self.asked != "epsilon" else None
        if start is not None and start > 10**high / 3:
            # The answer then lies at least half a decade below the end. No plan goes beyond 10^15 patients or
            # 10^5 hospitals.
            high = min(math.ceil(math.log10(start) + 0.5), 15 if size is None else 5)
        fewest = self.settings["providers"] if size is None else 1  # each hospital has a patient
        return (max(10.0**low, fewest), 10.0**high), size

    def drawn(self) -> DrawnPlan:
        """Return what the chart draws for what is asked, as far as it has been evaluated."""
        amounts, size = self._amounts_of_plane()
        curves: dict[str, Array] = {}
        for name in self.listed:
            study = self._plan(name)
            if study is None or (study.no_formula and not study.predicted):
                continue
            if self.answer(name).kind == "too large":
                continue
            curve = _evaluated((_curve, _first_with_same_formula(study), amounts, size), slow=_is_slow(study))
            if curve is not None:
                curves[name] = curve
        focus_plane, floor, study = None, math.nan, self.plan()
        if self.focus in curves and not study.predicted:  # its curve was read off its plane
            focus_plane = EVALUATIONS.cell(_plane, _with_fixed_target(study), amounts, size)
            without_noise = focus_plane.losses_without_noise
            # Losses without noise fall with the amount; reversed they rise, as np.interp needs them.
            if without_noise[-1] <= study.allowed_loss < without_noise[0]:
                log_losses, log_amounts = np.log(without_noise[::-1]), np.log(focus_plane.amounts[::-1])
                floor = math.exp(float(np.interp(math.log(study.allowed_loss), log_losses, log_amounts)))
        return DrawnPlan(focus_plane, amounts, curves, floor)

    def search(self, name: str = "") -> Search | None:
        """Return the simulation that would answer what is asked of a method, or of the one in focus.

        It begins at the closed form's solution, whether the formula applies there or not; without a formula,
        at the answer of a similar method that has one. For a visitor's table it runs on invented rows that
        the table's dictionary allows.

        Returns:
            The search; None where there is no value to begin at, for a bundled table, whose patients cannot
            be more, and for a visitor's table that is too large to invent.
        """
        study, closed_form, asked = self.plan(name), self.answer(name), self.asked
        # These two kinds say that no epsilon is enough by formula, so the largest is tried.
        start = MOST_EPSILON if closed_form.kind in ("epsilon", "sampling") else closed_form.solution
        if closed_form.kind == "simulation" and not self.limited:
            start = EVALUATIONS.cell(*self._answer_evaluation(study.plan_for_start, asked)).solution
            if start is None:  # nothing near it has an answer either
                start = MOST_EPSILON if asked == "epsilon" else self.current_value
        if start is None or self.bundled is not None:
            return None
        # Runs are kept by their question. Where epsilon is asked they do not depend on its slider, so it is
        # fixed, and moving it finds them again.
        question = self.question._replace(epsilon=1.0) if asked == "epsilon" else self.question
        if isinstance(study, TablePlan):
            patients, _epsilon, _hospitals = question.at(start)
            search = TableSearch(study, question, start, repeats=_FEWEST_RUNS)
            return search if can_search(study, patients) else None
        return Search(study, question, start, repeats=max(self.settings["repeats"], _FEWEST_RUNS))

    def is_simulated(self) -> bool:
        """Return whether the method in focus is simulated: asked for, or quick where no formula answers."""
        if self.settings["plan.simulate"]:
            return True
        if self.answer().kind != "simulation":
            return False
        simulation = self.search()
        return simulation is not None and seconds(simulation) <= _QUICK_SECONDS

    @property
    def agreement(self) -> float | None:
        """Return the ratio of the simulated answer to the closed form's; None where either is missing."""
        closed_form, simulation = self.answer(), self.simulation
        if closed_form.value is None or simulation is None or simulation.state != "found":
            return None
        # Patients and hospitals are whole numbers; the closed form rounds them up, so simulation must too.
        whole = isinstance(closed_form.value, int)
        return (math.ceil(simulation.value) if whole else simulation.value) / closed_form.value

    def suggestion(self) -> tuple[str, Value]:
        """Return the key of a setting that the page's hint proposes to change, and the value to try.

        Where hospitals are asked for, the hint halves their size; for epsilon, it multiplies patients by ten;
        for patients, and always for a visitor's table, it makes the target stricter.
        """
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
        """Return, for each trust model that has some of these methods, their answers by planned method."""
        for trust in RECOMMENDED_TRUSTS:
            answers = {name: self.answer(name) for name in names if PLANNED_METHODS[name].trust == trust}
            if answers:
                yield trust, answers

    def by_trust(self) -> list[TrustAnswer]:
        """Return what is recommended under each trust with its answer, from most trust to least.

        It is the method that the core recommends at the smallest answer of the (ε, δ) methods or, where that
        has no answer by formula, the one with the smallest. One that asks for less trust is taken where it
        needs no more.
        """
        if self._by_trust:
            return self._by_trust
        result: list[TrustAnswer] = []
        for trust, answers in reversed(list(self._answers(self.guaranteed(self.planned)))):
            # False sorts first: while any method is being evaluated, nobody knows the smallest answer.
            needs = {name: (each != EVALUATING, each.value or math.inf) for name, each in answers.items()}
            name = min(answers, key=needs.__getitem__)
            best, less = TrustAnswer(trust, name, answers[name]), result[0] if result else None
            if best.answer != EVALUATING or self.table is not None:
                advised = self._advised(best, list(answers))
                answer = self.answer(advised)
                neither = best.answer.value is None and answer.kind != "simulation"
                if answer.value is not None or neither:
                    best = TrustAnswer(trust, advised, answer)
            if less and best.answer != EVALUATING and self.table is None:
                needed = math.inf if best.answer.value is None else best.answer.value
                known = less.answer.value is not None and less.answer.value <= needed
                best = less._replace(trust=trust) if known or less.answer == EVALUATING else best
            result.insert(0, best)
        if EVALUATING not in (each.answer for each in result):
            self._by_trust = result
        return result

    def _advised(self, at: TrustAnswer, names: list[str]) -> str:
        """Return the method that is recommended at an answer; names: for a visitor's table, one of these."""
        if self.table is not None:
            return own_table.method_erring_least(self.settings, names)
        return self._recommendation(at).method

    @staticmethod
    def guaranteed(names: list[str]) -> list[str]:
        """Return the methods whose guarantee is (ε, δ): only these are compared by what they need."""
        return [name for name in names if method(name).guarantee == "(ε, δ)"]

    def _recommendation(self, at: TrustAnswer) -> Recommendation:
        """Return what the core recommends under a trust at an answer, or else at this setting."""
        value = self.current_value if at.answer.value is None else at.answer.value
        patients, epsilon, hospitals = self.question.at(value)
        # Hospitals are given only where they are asked for; then all have the same size.
        equal_sizes = {"providers": hospitals, "largest_share": 0.0} if hospitals else {}
        experiment = replace(self.untuned_plan(at.name).experiment, n=patients, **equal_sizes)
        return recommended_at(experiment, epsilon, at.trust)

    def recommended(self) -> list[tuple[TrustAnswer, Recommendation]]:
        """Return for each trust its answer, and what is recommended there; [] while one is being evaluated.

        Where the core recommends another method than the answer's, that has no answer by formula.
        """
        answers = self.by_trust()
        if EVALUATING in (each.answer for each in answers):
            return []
        return [(each, self._recommendation(each)) for each in answers]

    def _wanted_by_trust(self) -> Iterator[Evaluation]:
        """Return the slow evaluations that `by_trust` rests on."""
        names = [name for name in self.guaranteed(self.planned) if PLANNED_METHODS[name].trust != "local"]
        names.sort(key=lambda name: name != self.settings["plan.way"])  # the chosen one comes first
        yield from self._wanted_answers(names, self.asked)

    def on_table(self) -> list[OnTable]:
        """Return for each trust which method errs least on a visitor's table, and which one needs least.

        Of methods that need equally much, the one that errs least is named.
        """
        result = []
        for trust, answers in self._answers(self.comparable):
            best = own_table.method_erring_least(self.settings, list(answers))
            study = own_table.plan(self.settings, best)
            errors = zip(own_table.predicted_errors(study, self.epsilon), study.patterns, strict=True)
            worst_error, pattern = max(errors, key=itemgetter(0))  # by the error, the first of each pair
            needs_least = min(answers, key=lambda name: (answers[name].value or math.inf, name != best))
            result.append(OnTable(trust, best, worst_error, pattern, needs_least, answers[needs_least]))
        return result

    def code(self) -> FigureRecipe:
        """Return the recipe of the chart's numbers: what a downloaded program calls to compute them."""
        drawn = self.drawn()
        values = self._figure_values(self.untuned_plan()) | {
            "names": tuple(drawn.curves),
            "tuned": self.settings["plan.tuned"] != "published",
            "amounts": drawn.amounts,
            "hospital": self.size if self.asked == "hospitals" else None,
        }
        return FigureRecipe("planning.plans", values)

    def code_by_trust(self) -> FigureRecipe:
        """Return the recipe of the plain chart's numbers, the answer under each trust."""
        names = tuple(each.name for each in self.by_trust())
        # Experiment and target are the same in the plans of all methods, so the first gives them.
        values = self._figure_values(self.untuned_plan(names[0]))
        return FigureRecipe("planning.by_trust", values | {"names": names})

    def _figure_values(self, study: StudyPlan) -> dict[str, Any]:
        """Return the arguments that both recipes have; a visitor's table is without its columns."""
        return {
            "experiment": study.experiment,
            "question": tuple(self.question),
            "target": study.target,
            "energy": study.energy,
            "public": self.table and replace(self.table, columns=()),
        }

    def true_epsilon(self, name: str = "") -> float | None:
        """Return the true epsilon of a method's noise; None where that is the one asked for, within 1 %.

        They differ where the accounting is not exact; constants printed in a paper may give a larger one.
        """
        study = self.plan(name)
        experiment, budget = study.experiment, study.experiment.budget(self.epsilon)
        true = study.method.true_epsilon(budget, d=experiment.d, k=experiment.k, **study.options)
        return None if true is None or abs(true / self.epsilon - 1) <= 0.01 else true


@lru_cache(maxsize=256)
def _published(items: tuple[tuple[str, Any], ...], name: str) -> StudyPlan:
    """Return a method's plan for the sliders' population or a bundled table.

    Settings on which a plan does not depend are fixed, so that moving them finds what was evaluated before.

    Args:
        items: The settings as pairs, which `lru_cache` can hash.
        name: The planned method.
    """
    settings = dict(items)
    fixed = {"start": "random", "metric": "sin", "repeats": 10, "provider_noise": "independent"}
    # A plan ignores the experiment's n, so a fixed one stands for all; a table keeps its own.
    n = {} if settings["data"] in TABLES else {"n": 10**9}
    experiment, _epsilon = to_experiment.from_settings(settings | fixed | n)
    energy = settings["plan.of"] == "energy"
    # A plan's target is sin Theta, which the error on screen may be a multiple of.
    target = settings["plan.share"] if energy else settings["plan.target"] / factor(settings)
    return StudyPlan(experiment, name, target, energy)


def _evaluated(evaluation: Evaluation, slow: bool) -> Any:
    """Return an evaluation's value: computed here if it is quick, else None until the background has it."""
    return EVALUATIONS.cells.get(evaluation) if slow else EVALUATIONS.cell(*evaluation)


def _failed_or_evaluating(evaluation: Evaluation | None) -> PlanAnswer:
    """Return the answer for an evaluation without a value: the reason if it failed, else `EVALUATING`."""
    reason = EVALUATIONS.failed.get(evaluation) if evaluation else None
    return EVALUATING if reason is None else PlanAnswer(None, "assumption", failed=(reason,))


def _is_slow(study: StudyPlan) -> bool:
    """Return whether small simulations predict the error, which is too slow for a page."""
    return study.predicted or not (study.no_formula or study.smooth)


def _first_with_same_formula(study: StudyPlan) -> StudyPlan:
    """Return the plan of the first method that shares this one's closed form and noise.

    Methods that share them have equal answers, so that what is evaluated for one serves all.
    """
    planned = PLANNED_METHODS[study.planned]
    if isinstance(study, TablePlan) or not planned.rule:
        return study
    same = (planned.rule, planned.provider_noise)
    sharing = (each.name for each in PLANNED_METHODS.values() if (each.rule, each.provider_noise) == same)
    return replace(study, planned=next(sharing))


def _with_fixed_target(study: StudyPlan) -> StudyPlan:
    """Return the plan with a meaningless fixed target: a plane serves all targets, so one is evaluated."""
    return replace(_first_with_same_formula(study), target=0.5)


def _cache_column(study: StudyPlan, epsilon: float, amounts: tuple[float, float], size: int | None) -> bool:
    """Evaluate a plane's column at one epsilon for the cache of `edge_column`, which `_plane` reads.

    The result itself need not be kept twice, so it is only True.
    """
    edge_column(study, epsilon, amounts, size)
    return True


def _plane(study: StudyPlan, amounts: tuple[float, float], size: int | None) -> Plane:
    """Return the losses over amounts and `CHART_EPSILONS`; size: of each hospital, if those are counted."""
    return plane(study, amounts, CHART_EPSILONS, size)


def _curve(study: StudyPlan, amounts: tuple[float, float], size: int | None) -> Array:
    """Return the amount that reaches the target at each of `CHART_EPSILONS`, NaN where none does."""
    if study.predicted:
        return amounts_by_prediction(study, CHART_EPSILONS, size)
    return amounts_reaching_target(
        study, EVALUATIONS.cell(_plane, _with_fixed_target(study), amounts, size), size
    )


def seconds(simulation: Search) -> float:
    """Return roughly how many seconds a simulation of `USUAL_VALUES` values computes on one core."""
    first_step = simulation.recipe(simulation.first_values())
    (axis,) = first_step.swept  # over patients or epsilon
    return run_cells.total_seconds(first_step) * USUAL_VALUES / len(axis.values)


class CautiousPlanner(Planner):
    """Give the answer under each trust, and what one hospital that asks for more privacy costs.

    That hospital's epsilon is smaller by the factor of the setting "plan.cautious".
    """

    def with_cautious(self, least: TrustAnswer) -> PlanAnswer:
        """Return the patients needed where one hospital is more cautious; `EVALUATING` until it is known."""
        evaluation = self._cautious_evaluation(least)
        return _evaluated(evaluation, slow=True) or _failed_or_evaluating(evaluation)

    def _cautious_evaluation(self, least: TrustAnswer) -> Evaluation:
        """Return the evaluation of `with_cautious`: a function, the plan, and both values of epsilon."""
        strictest = self.epsilon / self.settings["plan.cautious"]
        return patients_with_cautious, self.plan(least.name), self.epsilon, strictest

    @property
    def has_cautious(self) -> bool:
        """Return whether one of several hospitals can be more cautious than the others."""
        return self.asked == "patients" and self.settings["providers"] > 1

    def wanted(self) -> Iterator[Evaluation]:
        """Return the slow evaluations of plain view: the answers, then those with a cautious hospital."""
        yield from self._wanted_by_trust()
        if self.has_cautious:
            for least in self.by_trust():
                if least.answer.value is not None:
                    yield self._cautious_evaluation(least)
