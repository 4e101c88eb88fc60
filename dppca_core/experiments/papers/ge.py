"""What formulas give of Ge, Wang, Wang & Liu (AISTATS 2018), and no run: Figure 2, and patients needed."""

import math

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dppca_core.bounds.dps_prediction import dps_prediction
from dppca_core.bounds.ge_figure2 import EPSILONS
from dppca_core.bounds.ge_figure2 import curves as figure_2_curves
from dppca_core.experiments.draws import truth
from dppca_core.experiments.papers.results import recipe
from dppca_core.experiments.papers.summary import COLUMNS
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import Setting


def figure_2() -> pd.DataFrame:
    """Return the terms of the bound over epsilon, and their sum, as the curves of a figure.

    They have the columns of `summary`. A formula has no repeats, so intervals are points.
    """
    across = np.linspace(*EPSILONS, 37)  # so many points of each curve
    labels = {"total": "overall", "stat": "sampling", "priv": "privacy", "opt": "optimisation"}
    curves = pd.DataFrame(figure_2_curves(across))[list(labels)].rename(columns=labels).assign(x=across)
    means = curves.melt("x", var_name="label", value_name="mean")
    return means.assign(method="dps_pca", low=means["mean"], high=means["mean"], runs=1)[COLUMNS]


def algorithm_1_patients(target: float) -> float:
    """Return the patients with whom DPS-PCA errs by `target` with the noise that Algorithm 1 prints.

    Its line 3 has sigma = (2T/epsilon) sqrt(2 (2T/delta)), without the logarithm of Lemma A.1, which proves
    its privacy. So it is sqrt((2T/delta)/ln(2T/delta)) times the noise of the lemma, as of a smaller epsilon.
    All else is that of the stored runs with a public bound, and the error is the closed form's.
    """
    chosen = recipe("needed-patients-public")
    model, ratio = chosen.population, 2 * chosen.iterations / chosen.delta
    assert isinstance(model, SpikedModel)  # as its file says
    epsilon = chosen.epsilon * math.sqrt(math.log(ratio) / ratio)
    budget = Budget(epsilon, chosen.delta, accounting="as-printed")

    def excess(power: float) -> float:
        n = round(10**power)
        values = truth(model, (n,), model.k, chosen.scaling_rule, chosen.seed).eigenvalues
        same = {name: getattr(chosen, name) for name in ("s_hat", "iterations", "burn_in", "providers")}
        setting = Setting(d=model.d, n=n, k=model.k, s=model.s, eigenvalues=values, budget=budget, **same)
        return math.log(dps_prediction(setting).final / target)

    return float(10 ** brentq(excess, 5.0, 12.0, xtol=1e-6))
