"""Figure 2 of Ge, Wang, Wang & Liu (AISTATS 2018), which a formula gives and no run."""

import numpy as np
import pandas as pd

from dppca_core.bounds.ge_figure2 import EPSILONS
from dppca_core.bounds.ge_figure2 import curves as figure_2_curves
from dppca_core.experiments.papers.summary import COLUMNS


def figure_2() -> pd.DataFrame:
    """Return the terms of the bound over epsilon, and their sum, as the curves of a figure.

    They have the columns of `summary`. A formula has no repeats, so intervals are points.
    """
    across = np.linspace(*EPSILONS, 37)  # so many points of each curve
    labels = {"total": "overall", "stat": "sampling", "priv": "privacy", "opt": "optimisation"}
    curves = pd.DataFrame(figure_2_curves(across))[list(labels)].rename(columns=labels).assign(x=across)
    means = curves.melt("x", var_name="label", value_name="mean")
    return means.assign(method="dps_pca", low=means["mean"], high=means["mean"], runs=1)[COLUMNS]
