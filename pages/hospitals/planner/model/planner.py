"""Hold what full view shows beside the answers: the chart's lines, the formula's assumptions, simulations."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.plan_plane import EDGE_EPSILONS, Plane, edge_column, prediction_questions
from dppca_core.experiments.planning.planning import MOST_EPSILON, NO_NOISE, Asked, StudyPlan
from dppca_core.experiments.sweeps import run_cells
from dppca_core.records import Bound
from pages.hospitals.planner.model.evaluated import (
    curve_over,
    evaluated,
    first_with_same_formula,
    is_slow,
    plane_over,
    with_fixed_target,
)
from pages.hospitals.planner.model.plans import Plans
from pages.shared.settings.catalogue import CHOICES, Settings
from pages.shared.settings.setting import Value

_FEWEST_RUNS = 10  # at each value of a simulation, for an interval
USUAL_VALUES = 6  # of patients or epsilon, that a bisection usually takes
_QUICK_SECONDS = 2.0  # a simulation up to here begins by itself where no closed form answers
QUESTIONS: tuple[Asked, ...] = ("patients", "epsilon", "hospitals")


class PlanChart(NamedTuple):
    """Hold what the chart draws. Amounts are hospitals where hospitals are asked for, else patients.

    plane: the losses of the method in focus over amounts and epsilon; None while there is no curve of it.
    amounts: the smallest and the largest of the plane. curves: by planned method, the amount that reaches the
    target at each of `CHART_EPSILONS`, or NaN. floor: the amount below which the method in focus misses the
    target at any epsilon; NaN off the plane.
    """

    plane: Plane | None
    amounts: tuple[float, float]
    curves: dict[str, Array]
    floor: float

    @property
    def reaching(self) -> list[str]:
        return [name for name, curve in self.curves.items() if np.isfinite(curve).any()]


class Planner(Plans):
    """Hold the page in full view at some settings; simulations: answers so far, by planned method."""

    def __init__(self, settings: Settings, simulations: dict[str, SimulatedAnswer] | None = None) -> None:
        super().__init__(settings)
        self.simulations = simulations or {}

    def changed(self, settings: Settings) -> "Planner":
        return Planner(self.settings | settings)

    @property
    def simulation(self) -> SimulatedAnswer | None:
        return self.simulations.get(self.focus)

    def wanted(self) -> Iterator[Evaluation]:
        """Return the slow evaluations that the page needs, in the order in which a visitor needs them.

        First come the answers that decide what is recommended, those to the question that is asked, and the
        line of the method in focus; then the other answers and lines, and last the answer that the hint "Try
        this" promises.
        """
        yield from self._wanted_by_trust()
        names = sorted(self.listed, key=lambda name: name != self.focus)  # the method in focus comes first
        yield from self._wanted_answers(names, self.asked)
        yield from self._wanted_line(names[0])
        for question in QUESTIONS:
            yield from self._wanted_answers(names, question)
        for name in names[1:]:
            yield from self._wanted_line(name)
        key, value = self.suggestion()
        after_hint = self.changed({key: value})
        if (tuning := after_hint._tuning_evaluation(self.focus)) is not None:
            yield tuning
        if is_slow(study := after_hint.plan(self.focus)):
            yield after_hint._answer_evaluation(study, self.asked)

    def _wanted_line(self, name: str) -> Iterator[Evaluation]:
        if is_slow(study := self.plan(name)):
            amounts, size = self._amounts_of_plane()
            if study.predicted:
                for question in prediction_questions(size):
                    yield StudyPlan.answer, study, question
                yield curve_over, study, amounts, size
                return
            # The plane is made of these columns: evaluated one by one, none takes long.
            for epsilon in (*EDGE_EPSILONS, NO_NOISE):
                yield edge_column, with_fixed_target(study), epsilon, amounts, size
            yield plane_over, with_fixed_target(study), amounts, size
            yield curve_over, first_with_same_formula(study), amounts, size

    def bound(self) -> Bound | None:
        """Return what the closed form in focus gives at its answer or, where it has none, at this setting.

        None for a method without a formula, or with too many features, and while it is being evaluated.
        """
        study, current = self.plan(), self.answer()
        if study.no_formula or current.kind in ("evaluating", "too large"):
            return None
        return current.bound or study.bound(self.n, self.epsilon)

    def _amounts_of_plane(self) -> tuple[tuple[float, float], int | None]:
        """Return the smallest and largest amount of the plane, and the number of each hospital's patients.

        The latter is None where amounts are patients. The ends are fixed powers of ten, but the plane reaches
        further up where the answer lies close to its end or beyond.
        """
        size = self.size if self.asked == "hospitals" else None
        low, high = (2, 9) if size is None else (0, 4)  # powers of ten
        # Where epsilon is asked for, the answer is no amount.
        start = self.answer().solution if self.asked != "epsilon" else None
        if start is not None and start > 10**high / 3:
            # The answer then lies at least half a decade below the end. No plan goes beyond 10^15 patients or
            # 10^5 hospitals.
            high = min(math.ceil(math.log10(start) + 0.5), 15 if size is None else 5)
        fewest = self.settings["providers"] if size is None else 1  # each hospital has a patient
        return (max(10.0**low, fewest), 10.0**high), size

    def drawn(self) -> PlanChart:
        """Return what the chart draws for what is asked, as far as it has been evaluated."""
        amounts, size = self._amounts_of_plane()
        curves: dict[str, Array] = {}
        for name in self.listed:
            study = self._plan(name)
            if study is None or (study.no_formula and not study.predicted):
                continue
            if self.answer(name).kind == "too large":
                continue
            curve = evaluated(
                (curve_over, first_with_same_formula(study), amounts, size), slow=is_slow(study)
            )
            if curve is not None:
                curves[name] = curve
        focus_plane, floor, study = None, math.nan, self.plan()
        if self.focus in curves and not study.predicted:  # its curve was read off its plane
            focus_plane = EVALUATIONS.cell(plane_over, with_fixed_target(study), amounts, size)
            without_noise = focus_plane.losses_without_noise
            # Losses without noise fall with the amount; reversed they rise, as np.interp needs them.
            if without_noise[-1] <= study.allowed_loss < without_noise[0]:
                log_losses, log_amounts = np.log(without_noise[::-1]), np.log(focus_plane.amounts[::-1])
                floor = math.exp(float(np.interp(math.log(study.allowed_loss), log_losses, log_amounts)))
        return PlanChart(focus_plane, amounts, curves, floor)

    def search(self, name: str = "") -> Search | None:
        """Return the simulation that would answer what is asked of a method, or of the one in focus.

        It begins at the closed form's solution, whether the formula applies there or not; without a formula,
        at the answer of a similar method that has one. None where there is no value to begin at, and for a
        bundled table, whose patients cannot be more.
        """
        study, closed_form, asked = self.plan(name), self.answer(name), self.asked
        # These two kinds say that no epsilon is enough by formula, so the largest is tried.
        start = MOST_EPSILON if closed_form.kind in ("epsilon", "sampling") else closed_form.solution
        if closed_form.kind == "simulation" and self.bundled is None:
            start = EVALUATIONS.cell(*self._answer_evaluation(study.plan_for_start, asked)).solution
            if start is None:  # nothing near it has an answer either
                start = MOST_EPSILON if asked == "epsilon" else self.current_value
        if start is None or self.bundled is not None:
            return None
        # Runs are kept by their question. Where epsilon is asked they do not depend on its slider, so it is
        # fixed, and moving it finds them again.
        question = self.question._replace(epsilon=1.0) if asked == "epsilon" else self.question
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
        """Return the key of a setting that the page's hint proposes to change, and the value to try."""
        settings = self.settings
        if self.asked == "hospitals":
            key, wanted_value = "plan.size", self.size / 2
        elif self.asked == "epsilon":
            key, wanted_value = "n", settings["n"] * 10
        else:
            key = "plan.share" if self.energetic else "plan.target"
            wanted_value = (1 + settings[key]) / 2 if self.energetic else settings[key] / 2
        return key, CHOICES[key].nearest(wanted_value)

    def code(self) -> FigureRecipe:
        drawn = self.drawn()
        values = self._figure_values(self.untuned_plan()) | {
            "names": tuple(drawn.curves),
            "tuned": self.settings["plan.tuned"] != "published",
            "amounts": drawn.amounts,
            "hospital": self.size if self.asked == "hospitals" else None,
        }
        return FigureRecipe("planning.plans", values)

    def true_epsilon(self, name: str = "") -> float | None:
        """Return the true epsilon of a method's noise; None where that is the one asked for, within 1 %.

        They differ where the accounting is not exact; constants printed in a paper may give a larger one.
        """
        study = self.plan(name)
        experiment, budget = study.experiment, study.experiment.budget(self.epsilon)
        true = study.method.true_epsilon(budget, d=experiment.d, k=experiment.k, **study.options)
        return None if true is None or abs(true / self.epsilon - 1) <= 0.01 else true


def seconds(simulation: Search) -> float:
    """Return roughly how many seconds a simulation of `USUAL_VALUES` values computes on one core."""
    first_step = simulation.recipe(simulation.first_values())
    (axis,) = first_step.swept  # over patients or epsilon
    return run_cells.total_seconds(first_step) * USUAL_VALUES / len(axis.values)
