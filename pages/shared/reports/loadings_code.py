"""Write the Python that gives the loadings of one release beside the true ones."""

from dppca_core.experiments.explorer.results import Results
from pages.shared.reports import python_code

_LOADINGS = """
import pandas as pd
from dppca_core.experiments.explorer.picture import turned
from dppca_core.experiments.explorer.results import Results

experiment = $experiment
results = Results(experiment)
estimate = results.estimate($method, $epsilon, 0)  # the first run: its patients and its noise
true = results.truth.basis
released = turned(estimate.basis, true)  # only the subspace is estimated
table = pd.concat([pd.DataFrame(true), pd.DataFrame(released)], axis=1, keys=["true", "released"])
print(table[(true != 0).any(axis=1) | (released != 0).any(axis=1)])
"""


def loadings(results: Results, method: str, epsilon: float) -> str:
    """Return the code of the loadings of a method's first run."""
    values = {"experiment": results.experiment, "method": method, "epsilon": epsilon}
    return python_code.program(_LOADINGS, **values)
