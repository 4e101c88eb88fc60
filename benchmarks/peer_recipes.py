"""Run private PCA as a user of each package writes it, and ours, on the same rows and the same budget.

A recipe is `recipe(rows, k, budget)` to a function without arguments that fits once and gives a basis,
(d, k). What comes before, reading rows and forming their moment where the recipe needs it, is not timed. The
module is also the process that `benchmarks.peers` starts for one recipe of a package, and stops at its
limit: a line of JSON per fit.

    python -m benchmarks.peer_recipes RECIPE FOLDER K NEIGHBOURS MOST_FITS
"""

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.arrays import Array
from dppca_core.mechanisms import symmetric_gaussian

EPSILON, DELTA = 1.0, 1e-5
KEPT = 20  # rows that sparse methods keep, twice the true ones; all where there are fewer features
Fit = Callable[[], Array]


def scikit_learn(rows: Array, k: int, budget: Budget) -> Fit:
    """Return scikit-learn's PCA, without privacy, which centres by the sample mean."""
    from sklearn.decomposition import PCA

    return lambda: PCA(n_components=k).fit(rows).components_.T


def diffprivlib(rows: Array, k: int, budget: Budget) -> Fit:
    """Return IBM's PCA: pure epsilon, replace-one; told the public row norm and that rows are centred."""
    from diffprivlib.models import PCA

    warnings.simplefilter("ignore")
    options = {"n_components": k, "epsilon": budget.epsilon, "data_norm": 1.0, "centered": True}
    return lambda: np.linalg.qr(PCA(**options).fit(rows).components_.T)[0]


def opendp_pca(rows: Array, k: int, budget: Budget) -> Fit:
    """Return OpenDP's PCA: pure epsilon, replace-one; it estimates a mean as well."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    n, d = rows.shape
    options = {"epsilon": budget.epsilon, "row_norm": 1.0, "n_samples": n, "n_features": d}
    return lambda: dp.sklearn.decomposition.PCA(**options, n_components=k).fit(rows).components_.T


def opendp_gaussian(rows: Array, k: int, budget: Budget) -> Fit:
    """Return OpenDP's Gaussian on the second moment's upper triangle, calibrated by OpenDP, then eigh."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    total = rows.T @ rows
    d = len(total)
    upper = np.triu_indices(d)
    moved = math.sqrt(2) if budget.neighbours == "replace-one" else 1.0
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l2_distance(T=float)

    def approximate(scale: float) -> "dp.Measurement":
        return dp.c.make_fix_delta(
            dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale)), budget.delta
        )

    def fit() -> Array:
        allowed = (budget.epsilon, budget.delta)
        scale = dp.binary_search_param(approximate, d_in=moved, d_out=allowed, T=float)
        noisy = np.zeros((d, d))
        noisy[upper] = dp.m.make_gaussian(*space, scale)(total[upper].tolist())
        return np.linalg.eigh(noisy, UPLO="U")[1][:, -k:]

    return fit


def ours(name: str, rows: Array, k: int, budget: Budget, classical: bool = False, **options: object) -> Fit:
    """Return a method of this project on the moment of the rows.

    classical: with the constant sqrt(2 ln(1.25/delta))/epsilon in place of exact accounting. The method's
    "as printed" takes it at sensitivity 1, so where a row moves more the epsilon is divided by that.
    """
    cohort = Cohort.from_rows([rows], 1.0)
    cohort.pooled.dense()
    rng = np.random.default_rng(0)
    if "s_hat" in METHODS[name].uses:
        options["s_hat"] = min(KEPT, rows.shape[1])
    if classical:
        moved = symmetric_gaussian.sensitivity(budget)
        budget = Budget(budget.epsilon / moved, budget.delta, budget.neighbours, "as-printed")
    return lambda: METHODS[name].fit(cohort, k=k, budget=budget, rng=rng, **options).basis


PEERS = {
    "diffprivlib PCA": diffprivlib,
    "OpenDP PCA": opendp_pca,
    "OpenDP Gaussian + eigh": opendp_gaussian,
}
PURE = ("diffprivlib PCA", "OpenDP PCA")  # replace-one only, and no delta
ANALYZE, SPARSE = partial(ours, "analyze_gauss"), partial(ours, "analyze_gauss_sparse")
OURS = {
    "Analyze Gauss + sparse step": SPARSE,
    "DPS-PCA": partial(ours, "dps_pca"),
}
ABLATIONS = {  # the first of ours without one of its parts, and without both
    "without sparsity": ANALYZE,
    "without sparsity, mirrored noise": partial(ANALYZE, noise="mirrored"),
    "classical constant": partial(SPARSE, classical=True, noise="isotropic"),
    "classical constant, without sparsity": partial(ANALYZE, classical=True, noise="isotropic"),
}
NOT_PRIVATE = "scikit-learn PCA, no privacy"


def answers(fit: Fit, truth: Array, most: int) -> Iterator[dict[str, float]]:
    for _ in range(most):
        began = time.perf_counter()
        basis = fit()
        seconds = time.perf_counter() - began
        yield {"seconds": seconds, "error": sin_theta(basis, truth)}


def main(recipe: str, folder: str, k: str, neighbours: str, most: str) -> None:
    """Run a recipe of PEERS on the arrays in a folder, printing each answer at once: we may be stopped."""
    rows, truth = (np.load(Path(folder) / name) for name in ("rows.npy", "truth.npy"))
    with threadpool_limits(1):
        fit = PEERS[recipe](rows, int(k), Budget(EPSILON, DELTA, neighbours))
        for answer in answers(fit, truth, int(most)):
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
