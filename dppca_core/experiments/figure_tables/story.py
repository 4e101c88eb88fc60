"""Tables of the story's figures: shares along its steps, a record from two totals, weights of a pattern."""

from dataclasses import replace

import numpy as np
import pandas as pd

from dppca_core.experiments import draws
from dppca_core.experiments.decision import hospitals
from dppca_core.experiments.decision.decision import bar
from dppca_core.experiments.decision.hospitals import LEAST_REPEATS, JoiningExperiment
from dppca_core.experiments.decision.outcomes import JoiningRuns, truth
from dppca_core.experiments.demonstrations import differencing


def shares(setting: JoiningExperiment, trusts: tuple[str, ...]) -> pd.DataFrame:
    """Return the share recovered alone, together without privacy, and together under trusts, in %.

    A row has the ends of the 99 % interval of the median, the median, and 10 and 90 % of the runs.
    """
    runs = JoiningRuns(setting)
    each = {"alone": runs.alone(), "together, no privacy": runs.without_privacy()}
    each |= {f"together, {trust}": runs.together(trust) for trust in trusts}
    return pd.DataFrame({name: bar(values)._asdict() for name, values in each.items()}).T


def curve(setting: JoiningExperiment, trust: str, along: str, factors: tuple[float, ...]) -> pd.DataFrame:
    """Return the share recovered together under a trust, and without privacy, at multiples of a setting.

    along: what is multiplied for all hospitals, "epsilon" or "patients". A factor of 1 has all runs, others
    as few as an interval needs.
    """
    rows = {}
    for factor in factors:
        at = hospitals.scaled(setting, **{along: factor}) if factor != 1 else setting
        runs = JoiningRuns(replace(at, repeats=LEAST_REPEATS) if factor != 1 else at)
        rows[factor, "with privacy"] = bar(runs.together(trust))._asdict()
        if along == "patients" or factor == 1:
            rows[factor, "no privacy"] = bar(runs.without_privacy())._asdict()
    return pd.DataFrame(rows).T


def record(setting: JoiningExperiment, patient: int) -> pd.DataFrame:
    """Return a patient's values, and those rebuilt from two exact totals, with and without this patient.

    The totals do not tell the sign of the whole record: both columns have the same.
    """
    population, size = setting.population, setting.sizes[setting.ours]
    if setting.differing:
        population = setting.differing.only(setting.ours)
    totals = differencing.pair(population, size, patient, draws.PUBLIC, setting.seed)
    rebuilt = totals.bound * differencing.rebuilt(totals.with_, totals.without)
    return pd.DataFrame(
        {"patient": differencing.with_positive_largest(totals.patient), "from two totals": rebuilt}
    )


def weights(setting: JoiningExperiment, kind: str, trust: str) -> pd.DataFrame:
    """Return the weight of every measurement in the true pattern and in that of the first run together.

    A weight is the length of the measurement's row of the basis, (d, k).
    """
    released = JoiningRuns(setting).basis((kind, trust), 0)
    both = {"true": truth(setting), "released": released}
    return pd.DataFrame({name: np.linalg.norm(basis, axis=1) for name, basis in both.items()})
