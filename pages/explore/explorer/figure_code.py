"""Write the Python that gives the numbers of the explorer's figures."""

from collections.abc import Collection

from dppca_core.experiments.explorer.results import Results
from pages.shared.charts.metric_axis import unit
from pages.shared.reports import python_code
from pages.shared.settings.catalogue import Settings

_PANELS = """
import numpy as np
import pandas as pd
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results

experiment = $experiment
results, epsilon = Results(experiment), $epsilon
method = $method
cells = [(method, at, repeat) for at in EPSILONS for repeat in range(results.repeats_of(method))]
for other in $others:
    cells += [(other, epsilon, repeat) for repeat in range(results.repeats_of(other))]
results.try_cells(cells)
measured = {at: results.cell(*at) for at in cells}
errors = {at: $error for at, cell in measured.items()}  # after the last round
table = pd.Series(errors).groupby(level=[0, 1]).quantile([0.1, 0.5, 0.9]).unstack()
print(table)
rounds = [measured[method, epsilon, repeat].sin for repeat in range(results.repeats_of(method))]
print(np.median(rounds, axis=0), measured[method, epsilon, 0].plane)  # the first panel
"""


def panels(results: Results, epsilon: float, shown: Collection[str], settings: Settings) -> str:
    """Return the code of the error against epsilon, and of the methods side by side."""
    experiment = results.experiment
    others = tuple(name for name in results.names if name in shown and name != experiment.method)
    values = {"experiment": experiment, "method": experiment.method, "epsilon": epsilon, "others": others}
    runs = ("cell.sin[-1]", "cell.angle[-1]", "cell.energy[-1]", str(experiment.k))
    template = _PANELS.replace("$error", python_code.error(unit(settings), *runs))
    return python_code.program(template, **values)
