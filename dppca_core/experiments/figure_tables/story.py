"""Tables of the story's figures: errors along its steps, a record from two totals, weights of a pattern."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dppca_core.experiments import no_privacy
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.demonstrations import differencing
from dppca_core.experiments.no_privacy import NO_PRIVACY, of_best_way
from dppca_core.numerics.subspace_metrics import largest_angles, runs_in_unit, sin_thetas


def errors(
    setting: CollaborationSetting,
    bars: tuple[tuple[str, str, tuple[tuple[tuple[int, ...], float, int], ...]], ...],
    metric: str,
) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the error by bar or line of a chart, patients and epsilon.

    Args:
        setting: The population, and all settings but those of `bars`.
        bars: For each its title, the key of its protocol, and its points, each with the sizes of the
            hospitals, epsilon, and the number of runs.
        metric: The unit of errors, one of those of `subspace_metrics.in_unit`.
    """
    rows = {}
    for title, key, (sizes, epsilon, repeats) in ((*bar[:2], point) for bar in bars for point in bar[2]):
        at = replace(setting, sizes=sizes, budget=replace(setting.budget, epsilon=epsilon), repeats=repeats)
        alone = PROTOCOLS[key].alone
        if PROTOCOLS[key].free:
            n = max(sizes) if alone else sum(sizes)
            sines, angles, _ = of_best_way(at.population, n, at.k, seed=at.seed, repeats=repeats)[1]
        else:
            hospital = at.hospitals[0] if alone else ALL
            bases = np.array([at.estimate(PROTOCOLS[key], hospital, run).basis for run in range(repeats)])
            sines, angles = sin_thetas(bases, at.truth.basis), largest_angles(bases, at.truth.basis)
        shown = runs_in_unit(metric, sines, angles, at.k)
        rows[title, sum(sizes), epsilon] = np.quantile(shown, [0.1, 0.5, 0.9])
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


def weights(setting: CollaborationSetting, method: str, repeats: int) -> pd.DataFrame:
    """Return the weight of every measurement in the true pattern and in a released one.

    A weight is the length of the measurement's row of the basis, (d, k). method: the key of a protocol, or
    NO_PRIVACY, the best way of which is chosen by so many repeats.
    """
    if method == NO_PRIVACY:
        released = no_privacy.basis(
            setting.population, setting.n, setting.k, seed=setting.seed, repeats=repeats
        )
    else:
        released = setting.estimate(PROTOCOLS[method], ALL, 0).basis
    both = {"true": setting.truth.basis, "released": released}
    return pd.DataFrame({name: np.linalg.norm(basis, axis=1) for name, basis in both.items()})
