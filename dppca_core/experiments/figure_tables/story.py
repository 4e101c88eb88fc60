"""Tables of the story's figures: errors along its steps, a record from two totals, weights of a pattern."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.demonstrations import differencing
from dppca_core.numerics.subspace_metrics import largest_angles, runs_in_unit, sin_thetas


def errors(
    setting: CollaborationSetting,
    points: tuple[tuple[tuple[int, ...], float, int], ...],
    methods: dict[str, tuple[str, ...]],
    metric: str,
    lost_in: int | None,
) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the error by bar, patients and epsilon, of the method that errs least.

    Args:
        setting: The population, and all settings but those of `points`.
        points: The sizes of the hospitals, epsilon, and the number of runs, for each point of the chart.
        methods: For each bar of the chart, by its title, the keys of the protocols that compete in it.
        metric: The unit of errors, one of those of `subspace_metrics.in_unit`.
        lost_in: A number m: the error is then how many of m equal parts of the pattern are lost. None: as
            `metric` says.
    """
    rows = {}
    for sizes, epsilon, repeats in points:
        at = replace(setting, sizes=sizes, budget=replace(setting.budget, epsilon=epsilon))
        for title, names in methods.items():
            spreads = []
            for protocol in (PROTOCOLS[name] for name in names):
                hospital = at.hospitals[0] if protocol.alone else ALL
                bases = np.array([at.estimate(protocol, hospital, repeat).basis for repeat in range(repeats)])
                sines, angles = sin_thetas(bases, at.truth.basis), largest_angles(bases, at.truth.basis)
                lost = None if lost_in is None else lost_in * sines**2 / at.k
                shown = runs_in_unit(metric, sines, angles, at.k) if lost is None else lost
                spreads.append((np.median(sines), *np.quantile(shown, [0.1, 0.5, 0.9])))
            rows[title, sum(sizes), epsilon] = min(spreads)[1:]  # of who errs least in the median
    return pd.DataFrame(rows, index=["10 %", "50 %", "90 %"]).T


def record(setting: CollaborationSetting, patient: int) -> pd.DataFrame:
    """Return a patient's values, and those rebuilt from two exact totals, with and without this patient.

    patient: the index of the patient, from 0 on. The totals do not tell the sign of the whole record: both
    columns have the one that makes the value of largest magnitude positive.
    """
    largest, rows = max(setting.sizes), setting.scaling
    totals = differencing.pair(setting.population, largest, patient, rows, setting.seed)
    rebuilt = totals.bound * differencing.rebuilt(totals.with_, totals.without)
    return pd.DataFrame(
        {"patient": differencing.with_positive_largest(totals.patient), "from two totals": rebuilt}
    )


def weights(setting: CollaborationSetting, method: str) -> pd.DataFrame:
    """Return the weight of every measurement in the true pattern and in a released one.

    A weight is the length of the measurement's row of the basis, (d, k). method: the key of a protocol.
    """
    released = setting.estimate(PROTOCOLS[method], ALL, 0).basis
    both = {"true": setting.truth.basis, "released": released}
    return pd.DataFrame({name: np.linalg.norm(basis, axis=1) for name, basis in both.items()})
