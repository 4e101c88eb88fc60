"""The closed form of a plan over patients, or hospitals, and epsilon: a chart's lines of equal error."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.planning import NO_NOISE, WAYS, Plan
from dppca_core.types import Array


@dataclass(frozen=True, eq=False)
class Plane:
    """The closed form over patients (or hospitals) and epsilon: losses[i, j] at amounts[i], epsilons[j].

    speaks[i, j]: whether it applies there. without[i]: the loss that no epsilon goes below.
    """

    amounts: Array
    epsilons: Array
    losses: Array
    speaks: NDArray[np.bool_]
    without: Array

    def line(self, loss: float) -> Array:
        """The amount at each epsilon from which on the loss is at most this; NaN beyond the plane's edge."""
        height, found = np.log(self.amounts), np.full(len(self.epsilons), np.nan)
        for j, column in enumerate(np.log(np.maximum(self.losses, 1e-300)).T):
            falling = np.minimum.accumulate(column)  # a jump of a method's constant aside, it falls
            if falling[-1] <= math.log(loss) <= falling[0]:
                found[j] = math.exp(np.interp(-math.log(loss), -falling, height))
        return found


def plane(plan: Plan, amounts: Array, epsilons: Array, size: int | None = None) -> Plane:
    """The closed form at these numbers of patients, or of hospitals with `size` patients each."""
    rule = BOUNDS[WAYS[plan.way].rule]
    losses, speaks = np.empty((2, len(amounts), len(epsilons)))
    without = np.empty(len(amounts))
    budgets = [plan.scene.budget(float(epsilon)) for epsilon in epsilons]
    for i, amount in enumerate(amounts):
        whole = round(float(amount))
        row = plan.setting(whole, NO_NOISE) if size is None else plan.setting(whole * size, NO_NOISE, whole)
        without[i] = plan.loss_of(row, rule(row))
        for j, budget in enumerate(budgets):
            setting = replace(row, budget=budget)
            bound = rule(setting)
            losses[i, j], speaks[i, j] = plan.loss_of(setting, bound), bound.applies
    return Plane(np.asarray(amounts, float), np.asarray(epsilons, float), losses, speaks > 0, without)
