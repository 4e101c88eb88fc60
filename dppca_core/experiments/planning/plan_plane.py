"""The closed form of a plan over patients, or hospitals, and epsilon: a chart's lines of equal error.

Evaluated at NODES_A_DECADE numbers of patients and NODES values of epsilon, and interpolated between: PCHIP
of the logarithm of what noise adds, which is nearly a power of each. Within 0.5 % of the loss, 10 % for the
noisy projector, whose noise bends and jumps (tested). So a new target costs nothing.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import PchipInterpolator

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.perturbation import LABEL, SMALL_SHARE
from dppca_core.experiments.planning.planning import LEAST_EPSILON, MOST_EPSILON, NO_NOISE, WAYS, StudyPlan
from dppca_core.numerics.subspace_metrics import random_guess

NODES_A_DECADE, NODES = 2, 10
_FINER = 4  # times more amounts are drawn than evaluated


@dataclass(frozen=True, eq=False)
class Plane:
    """losses[i, j] and errors[i, j] (sin Theta) at amounts[i] and epsilons[j].

    without[i]: the loss that no epsilon goes below. holds: whether all assumptions but the smallness of the
    error held wherever the closed form was evaluated.
    """

    amounts: Array
    epsilons: Array
    losses: Array
    errors: Array
    without: Array
    holds: bool
    largest: float

    def line(self, loss: float) -> Array:
        """The amount at each epsilon from which on the loss is at most this; NaN off the plane."""
        return self._fall(self.losses, loss)

    @property
    def edge(self) -> Array:
        """The same for the largest error that the first order describes."""
        return self._fall(self.errors, self.largest)

    def _fall(self, values: Array, level: float) -> Array:
        height, found = np.log(self.amounts), np.full(len(self.epsilons), np.nan)
        for j, column in enumerate(np.log(np.maximum(values, 1e-300)).T):
            falling = np.minimum.accumulate(column)
            if falling[-1] <= math.log(level) <= falling[0]:
                found[j] = math.exp(np.interp(-math.log(level), -falling, height))
        return found


def plane(plan: StudyPlan, amounts: tuple[float, float], epsilons: Array, size: int | None = None) -> Plane:
    """The closed form from one number of patients, or of hospitals with `size` patients each, to another."""
    low, high = (math.log10(end) for end in amounts)
    many = round(NODES_A_DECADE * (high - low)) + 1
    rows = sorted({round(amount) for amount in np.logspace(low, high, many)})
    columns = np.geomspace(LEAST_EPSILON, MOST_EPSILON, NODES)
    budgets = [plan.experiment.budget(float(epsilon)) for epsilon in columns]
    rule = BOUNDS[WAYS[plan.way].rule]
    clean = np.empty((2, len(rows)))  # losses and squared errors
    noisy = np.empty((2, len(rows), NODES))
    holds = True
    for i, whole in enumerate(rows):
        setting = (
            plan.setting(whole, NO_NOISE) if size is None else plan.setting(whole * size, NO_NOISE, whole)
        )
        bound = rule(setting)
        clean[:, i] = plan.loss_of(setting, bound), bound.final**2
        for j, budget in enumerate(budgets):
            at = replace(setting, budget=budget)
            bound = rule(at)
            noisy[:, i, j] = plan.loss_of(at, bound), bound.final**2
            holds &= not any(line.startswith("fails") and LABEL not in line for line in bound.why)
    if not plan.energy:
        clean[0], noisy[0] = clean[1], noisy[1]
    places, fine = (
        np.log(rows),
        np.linspace(math.log(rows[0]), math.log(rows[-1]), _FINER * (len(rows) - 1) + 1),
    )
    logs = np.log(epsilons)

    def interpolated(at_nodes: Array, least: Array) -> tuple[Array, Array]:
        floor = np.exp(PchipInterpolator(places, np.log(least))(fine))
        added = np.log(np.maximum(at_nodes - least[:, None], 1e-300))
        spread = PchipInterpolator(places, added, axis=0)(fine)
        return floor, floor[:, None] + np.exp(PchipInterpolator(np.log(columns), spread, axis=1)(logs))

    floor, losses = interpolated(noisy[0], clean[0])
    _, squares = interpolated(noisy[1], clean[1])
    errors = np.sqrt(squares)
    largest = SMALL_SHARE * random_guess(plan.experiment.d, plan.experiment.k)
    if not plan.energy:
        floor, losses = np.sqrt(floor), errors
    return Plane(np.exp(fine), np.asarray(epsilons, float), losses, errors, floor, holds, largest)


def answered(plan: StudyPlan, field: Plane, size: int | None = None) -> Array:
    """Where the target is reached, at each epsilon of the plane; NaN where the closed form does not apply."""
    found = field.line(plan.allowed)
    edge = field.edge
    found[found < edge] = np.nan
    for j in np.flatnonzero(np.isfinite(found)) if not field.holds else ():
        whole, epsilon = round(found[j]), float(field.epsilons[j])
        bound = plan.bound(whole, epsilon) if size is None else plan.bound(whole * size, epsilon, whole)
        if not bound.applies:
            found[j] = np.nan
    return found
