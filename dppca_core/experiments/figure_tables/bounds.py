"""Tables of the figures of bounds: measured errors beside closed forms, and what dominates where.

Bounds are named by their keys in `BOUNDS`; `constants` are the free constants of one, by name, and `tau` is
Theorem 4.3's slack. `metric` is the unit of errors, one of those of `subspace_metrics.in_unit`. 10, 50 and
90 % are quantiles over runs.
"""

import numpy as np
import pandas as pd

from dppca_core.bounds import ge_figure2
from dppca_core.experiments.explorer.closed_forms import count_complete, evaluate
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.regime_map import regime_map
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.subspace_metrics import in_unit, runs_in_unit


def against_epsilon(
    experiment: ExplorerExperiment, method: str, bounds: dict[str, dict[str, float]], tau: float, metric: str
) -> pd.DataFrame:
    """Return 10, 50 and 90 % of a method's error, and each bound at its constants, by epsilon."""
    results, k = Results(experiment), experiment.k
    repeats = range(results.repeats_of(method))
    results.try_cells((method, epsilon, repeat) for repeat in repeats for epsilon in EPSILONS)
    runs = {e: [results.cell(method, e, repeat) for repeat in repeats] for e in EPSILONS}
    last = {e: [runs_in_unit(metric, cell.sin[-1], cell.angle[-1], k) for cell in runs[e]] for e in EPSILONS}
    table = pd.DataFrame({e: np.quantile(last[e], [0.1, 0.5, 0.9]) for e in EPSILONS}).T
    for name, constants in bounds.items():
        final = [evaluate(results, name, e, tau=tau, **constants).final for e in EPSILONS]
        table[name] = in_unit(metric, np.array(final, float), k)
    return table


def chances(
    experiment: ExplorerExperiment, method: str, rule: str, constants: dict[str, float], tau: float
) -> pd.DataFrame:
    """Return the share of runs that find all features that matter, and its prediction, by epsilon.

    rule: the key of the method's closed form in `BOUNDS`, which predicts the chance of that.
    """
    results, repeats = Results(experiment), range(experiment.repeats)
    complete = [count_complete(results.cell(method, e, repeat) for repeat in repeats) for e in EPSILONS]
    bounds = [evaluate(results, rule, e, tau=tau, **constants) for e in EPSILONS]
    predicted = [bound.quantities.get("support_probability") for bound in bounds]
    share = np.array(complete) / len(repeats)
    return pd.DataFrame({"share of runs": share, "predicted": predicted}, EPSILONS)


def terms(
    experiment: ExplorerExperiment, epsilon: float, constants: dict[str, float], tau: float
) -> pd.DataFrame:
    """Return quantiles of DPS-PCA's sin Theta, and the terms of Ge et al.'s Theorem 4.3, by round."""
    results = Results(experiment)
    bound = evaluate(results, "ge2018", epsilon, tau=tau, **constants)
    runs = [results.cell("dps_pca", epsilon, repeat).sin for repeat in range(experiment.repeats)]
    table = pd.DataFrame(np.quantile(runs, [0.1, 0.5, 0.9], axis=0).T, columns=["10 %", "50 %", "90 %"])
    for term in bound.terms:  # sampling, privacy and optimisation, which add up; from the first round on
        table[term] = [np.nan, *np.broadcast_to(bound.terms[term], len(table) - 1)]
    return table


def regimes(experiment: ExplorerExperiment, by: str, tau: float, constants: dict[str, float]) -> pd.DataFrame:
    """Return what dominates the error, by epsilon (rows) and patients (columns).

    The numbers are indices in `dppca_core.bounds.regimes.REGIONS`. by: "closed form" or "theorem".
    """
    regions = regime_map(Results(experiment), by, tau, **constants)
    return pd.DataFrame(regions.codes, regions.epsilons, regions.patients)


def figure_2() -> pd.DataFrame:
    """Return Figure 2 of Ge et al. by epsilon: the terms of their bound, and their sum."""
    epsilons = np.linspace(*ge_figure2.EPSILONS, 60)
    return pd.DataFrame(ge_figure2.curves(epsilons), index=epsilons)
