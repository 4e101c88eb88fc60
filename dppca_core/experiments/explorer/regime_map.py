"""The map of regimes on the bounds page, over patients and epsilon.

It shows where privacy is free, where it costs, where nothing can be learnt, and where theory does not apply;
`dppca_core.bounds.regimes` defines these.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS, regimes
from dppca_core.experiments.explorer.results import Results
from dppca_core.populations.synthetic import Synthetic

RULES = {"closed form": "dps_prediction", "theorem": "ge2018"}
SIDE = 40


@dataclass(frozen=True, eq=False)
class RegimeMap:
    """Hold the region of each point of the map.

    `codes[i, j]` is the index in `regimes.REGIONS` of the region at epsilons[i] and patients[j].
    """

    patients: Array
    epsilons: Array
    codes: NDArray[np.intp]


def regime_map(results: Results, by: str, tau: float = 3.3, **constants: float) -> RegimeMap:
    """Classify the plane n = 100 ... 10^9 by epsilon = 0.01 ... 10 at the experiment's other settings.

    A synthetic population's public row bound follows n; a table keeps its own, as if it had that many rows.
    by: "closed form", the prediction of DPS-PCA's error, or "theorem", Theorem 4.3 of Ge et al. (AISTATS
    2018), whose tau and free constants are given too.
    """
    checks.one_of(RULES, by=by)
    patients = [max(round(n), results.experiment.providers) for n in np.logspace(2, 9, SIDE)]
    epsilons = [float(epsilon) for epsilon in np.logspace(-2, 1, SIDE)]
    model, failure = results.experiment.population, results.experiment.failure

    def scaled(n: int) -> Array:
        if isinstance(model, Synthetic):
            # Some of n rows is longer than this bound with probability `failure`.
            return model.scaled_eigenvalues(model.norm_bound(n, failure))
        return results.truth.eigenvalues

    base = replace(results.setting(1.0), tau=tau)  # epsilon, patients and eigenvalues vary on the map
    names = regimes.regions(BOUNDS[RULES[by]], base, patients, epsilons, scaled, **constants)
    codes = np.array([[regimes.REGIONS.index(name) for name in row] for row in names]).T
    return RegimeMap(np.array(patients, dtype=float), np.array(epsilons), codes)
