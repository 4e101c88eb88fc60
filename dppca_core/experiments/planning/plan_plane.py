"""The closed form of a plan over patients, or hospitals, and epsilon, for a chart's lines of equal error.

It is evaluated at NODES_A_DECADE numbers of patients and NODES values of epsilon, and interpolated between by
PCHIP of the logarithm of what noise adds, which is nearly a power of each. The loss is within 0.5 %, or 10 %
for the noisy projector, whose noise bends and jumps (tested). A new target needs no new evaluation.

The closed form of two stages falls off an edge, which lies elsewhere at every epsilon: there it is evaluated
column by column, with more amounts where the loss falls, and lines are interpolated along epsilon.

Amounts are the chart's vertical axis, patients or hospitals. Where they are hospitals, `size` is the patients
of each. The loss is in the units of `StudyPlan.allowed_loss`: the error, or the share of energy lost.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator

from dppca_core.arrays import Array
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.experiments.planning.planning import (
    LEAST_EPSILON,
    MOST_EPSILON,
    NO_NOISE,
    Asked,
    Question,
    StudyPlan,
)
from dppca_core.numerics.subspace_metrics import random_guess

NODES_A_DECADE, NODES = 2, 10
_DRAWN_PER_STEP = 4  # amounts that are drawn, for each step between those that are evaluated
EDGE_EPSILONS = tuple(np.geomspace(LEAST_EPSILON, MOST_EPSILON, 7).tolist())
_STEEP_HALVINGS = 5  # of the steps between amounts where the loss falls off an edge
_CORNER_HALVINGS = 2  # of the step that follows one with a fall: there the curve bends
_STEEP_POWER = 1.15  # the power of the amount beyond which a loss falls off an edge


@dataclass(frozen=True, eq=False)
class Plane:
    """Hold losses[i, j] and errors[i, j] (sin Theta) at amounts[i] and nodes[j]."""

    amounts: Array
    nodes: Array  # values of epsilon at which losses are known
    epsilons: Array  # values of epsilon at which lines are drawn, at the nodes or between them
    losses: Array
    errors: Array
    losses_without_noise: Array  # loss without noise at each amount, below which no epsilon goes
    # Whether all assumptions but the smallness of the error held wherever the closed form was evaluated.
    holds: bool
    largest: float  # largest error that the closed form describes, which is right to first order only

    def line(self, loss: float) -> Array:
        """Return at each of `epsilons` from which amount on the loss is at most this; NaN off the plane."""
        return self._crossings(self.losses, loss)

    @property
    def edge(self) -> Array:
        """Return at each epsilon the amount below which the error is beyond `largest`; NaN off the plane."""
        return self._crossings(self.errors, self.largest)

    def _crossings(self, values: Array, level: float) -> Array:
        # Interpolate along the amounts at each node, then along epsilon between the nodes; all in logarithms.
        height, crossings = np.log(self.amounts), np.full(len(self.nodes), np.nan)
        for j, column in enumerate(np.log(np.maximum(values, 1e-300)).T):
            falling = np.minimum.accumulate(column)  # np.interp needs a curve that never turns back
            if falling[-1] <= math.log(level) <= falling[0]:
                crossings[j] = math.exp(np.interp(-math.log(level), -falling, height))
        if self.nodes is self.epsilons:  # nothing lies between the nodes
            return crossings
        known = np.isfinite(crossings)
        if known.sum() < 2:  # between fewer than two points there is no line
            return np.full(len(self.epsilons), np.nan)
        between = PchipInterpolator(np.log(self.nodes[known]), np.log(crossings[known]), extrapolate=False)
        drawn: Array = np.exp(between(np.log(self.epsilons)))
        return drawn


class EdgeColumn(NamedTuple):
    """Hold the losses and errors of a closed form with an edge at one epsilon, by amount: (m,) each.

    An error is made large, beyond all that is drawn, where an assumption other than its smallness fails.
    """

    amounts: Array
    losses: Array
    errors: Array


Column = Callable[[StudyPlan, float, tuple[float, float], int | None], EdgeColumn]


def plane(
    plan: StudyPlan,
    amounts: tuple[float, float],
    epsilons: Array,
    size: int | None = None,
    column: Column | None = None,
) -> Plane:
    """Evaluate the closed form over a range of patients, or of hospitals of this size, and epsilon.

    column: returns what `edge_column` does, perhaps from where it was kept.
    """
    if not plan.smooth:
        return _edge_plane(plan, amounts, epsilons, size, column or edge_column)
    evaluated = _amounts_to_evaluate(amounts)
    nodes = np.geomspace(LEAST_EPSILON, MOST_EPSILON, NODES)
    clean = np.empty((2, len(evaluated)))  # without noise: row 0 holds losses, row 1 squared errors
    noisy = np.empty((2, len(evaluated), NODES))  # the same with noise
    holds = True
    for i, amount in enumerate(evaluated):
        loss, error, _ = _evaluate(plan, amount, NO_NOISE, size)
        clean[:, i] = loss, error**2
        for j, epsilon in enumerate(nodes.tolist()):
            loss, error, holds_here = _evaluate(plan, amount, epsilon, size)
            noisy[:, i, j] = loss, error**2
            holds &= holds_here
    if not plan.energy:  # the loss is the error, whose square is what noise adds to
        clean[0], noisy[0] = clean[1], noisy[1]
    coarse, logs = np.log(evaluated), np.log(epsilons)
    fine = np.linspace(coarse[0], coarse[-1], _DRAWN_PER_STEP * (len(evaluated) - 1) + 1)

    def interpolated(with_noise: Array, without: Array) -> tuple[Array, Array]:
        smallest = np.exp(PchipInterpolator(coarse, np.log(without))(fine))
        # Noise adds nearly a power of amount and epsilon. Where it adds nothing there is no logarithm.
        log_added = np.log(np.maximum(with_noise - without[:, None], 1e-300))
        log_added = PchipInterpolator(coarse, log_added, axis=0)(fine)
        added = np.exp(PchipInterpolator(np.log(nodes), log_added, axis=1)(logs))
        return smallest, smallest[:, None] + added

    without, losses = interpolated(noisy[0], clean[0])
    _, squares = interpolated(noisy[1], clean[1])
    errors = np.sqrt(squares)
    largest = SMALL_SHARE * random_guess(plan.experiment.d, plan.experiment.k)
    if not plan.energy:
        without, losses = np.sqrt(without), errors
    drawn = np.asarray(epsilons, float)
    # Losses are interpolated to the epsilons that are drawn already, so these are the plane's nodes too.
    return Plane(np.exp(fine), drawn, drawn, losses, errors, without, holds, largest)


def _evaluate(plan: StudyPlan, amount: int, epsilon: float, size: int | None) -> tuple[float, float, bool]:
    """Return the loss, the error, and whether all assumptions but the smallness of the error hold."""
    setting = plan.setting(*_point(amount, epsilon, size))
    bound = plan.rule(setting)
    return plan.loss_of(setting, bound), bound.final, bound.applies_but_for_size


def _amounts_to_evaluate(amounts: tuple[float, float]) -> list[int]:
    low, high = (math.log10(end) for end in amounts)
    count = round(NODES_A_DECADE * (high - low)) + 1
    return sorted({round(amount) for amount in np.logspace(low, high, count)})


def edge_column(
    plan: StudyPlan, epsilon: float, amounts: tuple[float, float], size: int | None = None
) -> EdgeColumn:
    """Evaluate at one epsilon a closed form that falls off an edge; in between by powers of the amount."""
    values: dict[int, tuple[float, float]] = {}

    def evaluate(amount: int) -> float:
        if amount not in values:
            loss, error, holds = _evaluate(plan, amount, epsilon, size)
            values[amount] = loss, error if holds else math.inf
        return values[amount][0]

    def steep(low: int, high: int) -> bool:
        return evaluate(low) > evaluate(high) * math.pow(high / low, _STEEP_POWER)

    def refine(low: int, high: int, halvings: int, corner: int) -> None:
        """Halve a step between amounts `corner` times, and up to `halvings` times where it is steep."""
        middle = round(math.sqrt(low * high))
        if low < middle < high and (corner or (halvings and steep(low, high))):
            refine(low, middle, halvings - 1, max(corner - 1, 0))
            refine(middle, high, halvings - 1, max(corner - 1, 0))

    # The step after a steep one is halved as well, since the loss bends there.
    first_amounts, falls = _amounts_to_evaluate(amounts), False
    for low, high in pairwise(first_amounts):
        fell_before, falls = falls, steep(low, high)
        refine(low, high, _STEEP_HALVINGS, corner=_CORNER_HALVINGS if fell_before else 0)
    at = sorted(values)
    # As fine as the smallest step that halving can leave.
    points = 2**_STEEP_HALVINGS * (len(first_amounts) - 1) + 1
    fine = np.linspace(math.log(first_amounts[0]), math.log(first_amounts[-1]), points)
    beyond = 10 * random_guess(plan.experiment.d, plan.experiment.k)  # an error no line is drawn at
    logs = np.log([np.minimum(values[amount], beyond) for amount in at])
    losses, errors = (np.exp(np.interp(fine, np.log(at), column)) for column in logs.T)
    return EdgeColumn(np.exp(fine), losses, errors)


def _edge_plane(
    plan: StudyPlan, amounts: tuple[float, float], epsilons: Array, size: int | None, column: Column
) -> Plane:
    columns = [column(plan, epsilon, amounts, size) for epsilon in EDGE_EPSILONS]
    without = column(plan, NO_NOISE, amounts, size)
    losses = np.column_stack([each.losses for each in columns])
    errors = np.column_stack([each.errors for each in columns])
    largest = SMALL_SHARE * random_guess(plan.experiment.d, plan.experiment.k)
    nodes, drawn = np.array(EDGE_EPSILONS), np.asarray(epsilons, float)
    # `holds` is True: a column's errors are beyond `largest` already where an assumption fails.
    return Plane(without.amounts, nodes, drawn, losses, errors, without.losses, True, largest)


def amounts_reaching_target(plan: StudyPlan, field: Plane, size: int | None = None) -> Array:
    """Return the amount that reaches the plan's target at each epsilon; NaN where no closed form applies."""
    amounts = field.line(plan.allowed_loss)
    amounts[amounts < field.edge] = np.nan  # there the error is too large for the closed form
    # Where another assumption failed somewhere on the plane, each answer must be looked at by itself.
    for j in np.flatnonzero(np.isfinite(amounts)) if not field.holds else ():
        if not plan.bound(*_point(round(amounts[j]), float(field.epsilons[j]), size)).applies:
            amounts[j] = np.nan
    return amounts


def amounts_by_prediction(plan: StudyPlan, epsilons: Array, size: int | None = None) -> Array:
    """Return the amount that reaches the target at each epsilon for a plan whose error is predicted.

    It is computed at EDGE_EPSILONS, and interpolated between them; NaN where there is no answer.
    """
    answers = [plan.answer(question).value or math.nan for question in prediction_questions(size)]
    known = np.isfinite(answers)
    if known.sum() < 2:  # between fewer than two points there is no line
        return np.full(len(epsilons), np.nan)
    logs = np.log(np.array(EDGE_EPSILONS)[known]), np.log(np.array(answers)[known])
    between: Array = np.exp(PchipInterpolator(*logs, extrapolate=False)(np.log(epsilons)))
    return between


def prediction_questions(size: int | None) -> list[Question]:
    """Return the questions that `amounts_by_prediction` asks, which take a second each when asked first."""
    asked: Asked = "patients" if size is None else "hospitals"
    return [Question(asked, epsilon, size=size or 1) for epsilon in EDGE_EPSILONS]


def _point(amount: int, epsilon: float, size: int | None) -> tuple[int, float, int | None]:
    """Return patients, epsilon, and hospitals, or None for the experiment's own, at an amount."""
    return (amount, epsilon, None) if size is None else (amount * size, epsilon, amount)
