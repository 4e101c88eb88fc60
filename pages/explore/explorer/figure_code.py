"""Write the Python that gives the numbers of the explorer's figures."""

from collections.abc import Collection

from dppca_core.experiments.explorer.results import Results
from pages.shared.reports import python_code

_PANELS = """
import numpy as np
import pandas as pd
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results

experiment = $experiment
results, epsilon = Results(experiment), $epsilon
cells = [($method, at, repeat) for at in EPSILONS for repeat in range(results.repeats_of($method))]
for method in $others:
    cells += [(method, epsilon, repeat) for repeat in range(results.repeats_of(method))]
results.try_cells(cells)
errors = {cell: results.cell(*cell).sin[-1] for cell in cells}  # sin Theta after the last round
table = pd.Series(errors).groupby(level=[0, 1]).quantile([0.1, 0.5, 0.9]).unstack()
print(table)
rounds = [results.cell($method, epsilon, repeat).sin for repeat in range(experiment.repeats)]
print(np.median(rounds, axis=0), results.cell($method, epsilon, 0).plane)  # the first panel
"""


def panels(results: Results, epsilon: float, shown: Collection[str]) -> str:
    """Return the code of the error against epsilon, and of the methods side by side."""
    experiment = results.experiment
    others = tuple(name for name in results.names if name in shown and name != experiment.method)
    values = {"experiment": experiment, "method": experiment.method, "epsilon": epsilon, "others": others}
    return python_code.program(_PANELS, **values)
