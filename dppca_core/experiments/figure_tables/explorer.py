"""Tables of the explorer's figures: errors of methods, and the loadings of one release.

10, 50 and 90 % are quantiles over runs. `metric` is the unit of errors, one of `subspace_metrics.in_unit`, or
"energy" for the captured energy.
"""

import numpy as np
import pandas as pd

from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.picture import aligned_with
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.subspace_metrics import in_unit, runs_in_unit


def panels(
    experiment: ExplorerExperiment, epsilon: float, others: tuple[str, ...], metric: str
) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the error, indexed by method, epsilon and round.

    The experiment's method is measured at every epsilon, `others` at the given one only.
    """
    results, method = Results(experiment), experiment.method
    errors: dict[tuple[str, float, int, int], float] = {}
    cells = [(method, at, repeat) for at in EPSILONS for repeat in range(results.repeats_of(method))]
    for other in others:
        cells += [(other, epsilon, repeat) for repeat in range(results.repeats_of(other))]
    results.try_cells(cells)
    for name, at, repeat in cells:
        cell = results.cell(name, at, repeat)
        shown = (
            runs_in_unit(metric, cell.sin, cell.angle, experiment.k) if metric != "energy" else cell.energy
        )
        errors |= {(name, at, t, repeat): float(error) for t, error in enumerate(shown)}
    by_round = pd.Series(errors).groupby(level=[0, 1, 2])  # the last round is what a method releases
    return by_round.quantile(np.array([0.1, 0.5, 0.9])).unstack()


def shares(points: tuple[tuple[ExplorerExperiment, float], ...], methods: tuple[str, ...]) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the share of the pattern that methods recover, in %.

    points: experiments, each with the epsilon at which it is run.
    """
    rows = {}
    for experiment, epsilon in points:
        results = Results(experiment)
        for method in methods:
            for repeat in range(results.repeats_of(method)):
                results.cell(method, epsilon, repeat)
            runs = results.measured(method, epsilon)
            shown = in_unit("share", [run.sin[-1] for run in runs], experiment.k)
            rows[experiment.n, epsilon, method] = np.quantile(shown, [0.1, 0.5, 0.9])
    return pd.DataFrame(rows, index=["10 %", "50 %", "90 %"]).T


def loadings(experiment: ExplorerExperiment, method: str, epsilon: float) -> pd.DataFrame:
    """Return the true loadings and those of a method's first run, turned to be as near to them as possible.

    Features for which both are zero are left out.
    """
    results = Results(experiment)
    estimate = results.estimate(method, epsilon, 0)  # the first run: its patients and its noise
    true = results.truth.basis
    released = aligned_with(estimate.basis, true)  # only the subspace is estimated
    table = pd.concat([pd.DataFrame(true), pd.DataFrame(released)], axis=1, keys=["true", "released"])
    return table[np.any(table != 0, axis=1)]
