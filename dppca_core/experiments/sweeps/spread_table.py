"""The table with 10, 50 and 90 % over the runs of a sweep."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dppca_core.numerics.subspace_metrics import runs_in_unit


def spread_table(
    runs: pd.DataFrame, by: Sequence[str], k: int, metric: str, column: str = "sin_theta"
) -> pd.DataFrame:
    """Return the 10, 50 and 90 % quantiles of a column over the runs that have finished.

    Args:
        runs: A sweep's table, or `by_round` of it.
        by: The columns whose values are the rows of the result.
        k: The number of directions, where the table has none in a column.
        metric: The unit of errors, one of those of `subspace_metrics.in_unit`.
        column: What is shown; other columns than `sin_theta` are in their own unit.

    Returns:
        A row for each combination of values, and the columns 0.1, 0.5 and 0.9.
    """
    shown = runs[column].to_numpy(dtype=float, na_value=np.nan)
    if column == "sin_theta":
        angles = runs.get("largest_angle", np.nan)
        shown = runs_in_unit(metric, shown, angles, runs.get("k", k))
    groups = runs.assign(shown=shown).groupby(list(by), sort=False)["shown"]
    return groups.quantile(np.array([0.1, 0.5, 0.9])).unstack()
