"""Tables of the story's figures: errors along its steps, a record from two totals, weights of a pattern."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.demonstrations import differencing
from dppca_core.numerics.subspace_metrics import sin_theta


def errors(
    setting: CollaborationSetting,
    points: tuple[tuple[tuple[int, ...], float, int], ...],
    methods: dict[str, tuple[str, ...]],
) -> pd.DataFrame:
    """Return 10, 50 and 90 % of sin Theta by bar, patients and epsilon, of the method that errs least.

    `points` are (sizes, epsilon, runs); a method "without noise" runs with an epsilon of 1e6.
    """
    rows = {}
    for sizes, epsilon, repeats in points:
        for title, names in methods.items():
            spreads = []
            for name in names:
                budget = replace(setting.budget, epsilon=1e6 if "without noise" in name else epsilon)
                at, protocol = replace(setting, sizes=sizes, budget=budget), PROTOCOLS[name.split()[0]]
                bases = [at.estimate(protocol, ALL, repeat).basis for repeat in range(repeats)]
                spreads.append(np.quantile([sin_theta(v, at.truth.basis) for v in bases], [0.1, 0.5, 0.9]))
            rows[title, sum(sizes), epsilon] = min(spreads, key=lambda spread: float(spread[1]))
    table = pd.DataFrame(rows, index=["10 %", "50 %", "90 %"]).T
    return table


def record(setting: CollaborationSetting, patient: int) -> pd.DataFrame:
    """Return a patient's values, and the same from the totals with and without this patient."""
    largest, rows = max(setting.sizes), setting.scaling
    totals = differencing.pair(setting.population, largest, patient, rows, setting.seed)
    rebuilt = totals.bound * differencing.rebuilt(totals.with_, totals.without)
    table = pd.DataFrame({"patient": differencing.turned(totals.patient), "from two totals": rebuilt})
    return table


def weights(setting: CollaborationSetting, method: str) -> pd.DataFrame:
    """Return the weight of every measurement in the true pattern and in a released one."""
    released = setting.estimate(PROTOCOLS[method], ALL, 0).basis
    both = {"true": setting.truth.basis, "released": released}
    table = pd.DataFrame({name: np.linalg.norm(basis, axis=1) for name, basis in both.items()})
    return table
