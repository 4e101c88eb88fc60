"""Where privacy is free, where it costs, where nothing can be learnt, and where theory is silent: a map."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS, regimes
from dppca_core.experiments.explorer.results import Results
from dppca_core.populations.spiked import SpikedModel

RULES = {"closed form": "dps_prediction", "theorem": "ge2018"}
SIDE = 40


@dataclass(frozen=True, eq=False)
class RegimeMap:
    """`codes[i, j]` is the place in `regimes.REGIONS` of (epsilons[i], patients[j])."""

    patients: Array
    epsilons: Array
    codes: NDArray[np.intp]


def regime_map(found: Results, by: str, tau: float = 3.3, **constants: float) -> RegimeMap:
    """The plane n = 100 ... 10^9 by epsilon = 0.01 ... 10, SIDE x SIDE, at the experiment's other settings.

    by: "closed form" or "theorem"; tau: the theorem's; constants: free ones of that bound. A synthetic
    population's public row bound follows n; a table keeps its own, as if it had that many rows.
    Raises ValueError for another word.
    """
    checks.one_of(RULES, by=by)
    patients = [max(round(n), found.experiment.providers) for n in np.logspace(2, 9, SIDE)]
    epsilons = [float(epsilon) for epsilon in np.logspace(-2, 1, SIDE)]
    model, failure = found.experiment.population, found.experiment.failure

    def scaled(n: int) -> Array:
        if isinstance(model, SpikedModel):
            return np.asarray(model.eigenvalues / model.norm_bound(n, failure) ** 2)
        return found.truth.eigenvalues

    settings = regimes.grid(replace(found.setting(1.0), tau=tau), patients, epsilons, scaled)
    names = regimes.regions(BOUNDS[RULES[by]], settings, **constants)
    codes = np.array([[regimes.REGIONS.index(name) for name in row] for row in names]).T
    return RegimeMap(np.array(patients, dtype=float), np.array(epsilons), codes)
