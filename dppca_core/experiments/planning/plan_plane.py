"""The closed form of a plan over patients, or hospitals, and epsilon, for a chart's lines of equal error.

It is evaluated at NODES_A_DECADE numbers of patients and NODES values of epsilon, and interpolated between by
PCHIP of the logarithm of what noise adds, which is nearly a power of each. The loss is within 0.5 %, or 10 %
for the noisy projector, whose noise bends and jumps (tested). A new target needs no new evaluation.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import PchipInterpolator

from dppca_core.arrays import Array
from dppca_core.bounds.perturbation import LABEL, SMALL_SHARE
from dppca_core.experiments.planning.planning import LEAST_EPSILON, MOST_EPSILON, NO_NOISE, StudyPlan
from dppca_core.numerics.subspace_metrics import random_guess

NODES_A_DECADE, NODES = 2, 10
_FINER = 4  # times more amounts are drawn than evaluated


@dataclass(frozen=True, eq=False)
class Plane:
    """Hold losses[i, j] and errors[i, j] (sin Theta) at amounts[i] and epsilons[j].

    without[i]: the loss that no epsilon goes below. holds: whether all assumptions but the smallness of the
    error held wherever the closed form was evaluated. largest: the largest error that it describes.
    """

    amounts: Array
    epsilons: Array
    losses: Array
    errors: Array
    without: Array
    holds: bool
    largest: float

    def line(self, loss: float) -> Array:
        """Return at each epsilon the amount from which on the loss is at most this; NaN off the plane."""
        return self._crossings(self.losses, loss)

    @property
    def edge(self) -> Array:
        """Return the same for the largest error that the first order describes."""
        return self._crossings(self.errors, self.largest)

    def _crossings(self, values: Array, level: float) -> Array:
        height, crossings = np.log(self.amounts), np.full(len(self.epsilons), np.nan)
        for j, column in enumerate(np.log(np.maximum(values, 1e-300)).T):
            falling = np.minimum.accumulate(column)
            if falling[-1] <= math.log(level) <= falling[0]:
                crossings[j] = math.exp(np.interp(-math.log(level), -falling, height))
        return crossings


def plane(plan: StudyPlan, amounts: tuple[float, float], epsilons: Array, size: int | None = None) -> Plane:
    """Evaluate the closed form over a range of patients, or of hospitals, and epsilon.

    Args:
        plan: The plan; its target plays no part.
        amounts: The smallest and the largest number of patients, or of hospitals.
        epsilons: The values of epsilon, shape (m,), within [LEAST_EPSILON, MOST_EPSILON].
        size: The patients of each hospital where amounts are hospitals; None where they are patients.

    Returns:
        The plane, on a grid of amounts finer than what was evaluated.
    """
    low, high = (math.log10(end) for end in amounts)
    count = round(NODES_A_DECADE * (high - low)) + 1
    rows = sorted({round(amount) for amount in np.logspace(low, high, count)})
    columns = np.geomspace(LEAST_EPSILON, MOST_EPSILON, NODES)
    budgets = [plan.experiment.budget(float(epsilon)) for epsilon in columns]
    clean = np.empty((2, len(rows)))  # losses and squared errors
    noisy = np.empty((2, len(rows), NODES))
    holds = True
    for i, whole in enumerate(rows):
        n, hospitals = _patients(whole, size)
        setting = plan.setting(n, NO_NOISE, hospitals)
        bound = plan.rule(setting)
        clean[:, i] = plan.loss_of(setting, bound), bound.final**2
        for j, budget in enumerate(budgets):
            at = replace(setting, budget=budget)
            bound = plan.rule(at)
            noisy[:, i, j] = plan.loss_of(at, bound), bound.final**2
            holds &= not any(line.startswith("fails") and LABEL not in line for line in bound.why)
    if not plan.energy:
        clean[0], noisy[0] = clean[1], noisy[1]
    coarse, logs = np.log(rows), np.log(epsilons)
    fine = np.linspace(coarse[0], coarse[-1], _FINER * (len(rows) - 1) + 1)

    def interpolated(at_nodes: Array, least: Array) -> tuple[Array, Array]:
        floor = np.exp(PchipInterpolator(coarse, np.log(least))(fine))
        added = np.log(np.maximum(at_nodes - least[:, None], 1e-300))
        spread = PchipInterpolator(coarse, added, axis=0)(fine)
        return floor, floor[:, None] + np.exp(PchipInterpolator(np.log(columns), spread, axis=1)(logs))

    floor, losses = interpolated(noisy[0], clean[0])
    _, squares = interpolated(noisy[1], clean[1])
    errors = np.sqrt(squares)
    largest = SMALL_SHARE * random_guess(plan.experiment.d, plan.experiment.k)
    if not plan.energy:
        floor, losses = np.sqrt(floor), errors
    return Plane(np.exp(fine), np.asarray(epsilons, float), losses, errors, floor, holds, largest)


def answered(plan: StudyPlan, field: Plane, size: int | None = None) -> Array:
    """Return where the target is reached at each epsilon; NaN where the closed form does not apply."""
    amounts = field.line(plan.allowed)
    amounts[amounts < field.edge] = np.nan
    for j in np.flatnonzero(np.isfinite(amounts)) if not field.holds else ():
        n, hospitals = _patients(round(amounts[j]), size)
        if not plan.bound(n, float(field.epsilons[j]), hospitals).applies:
            amounts[j] = np.nan
    return amounts


def _patients(amount: int, size: int | None) -> tuple[int, int | None]:
    """Return the patients of an amount, and the number of hospitals where it is that."""
    return (amount, None) if size is None else (amount * size, amount)
