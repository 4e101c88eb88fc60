"""A closed form for DPS-PCA's error that simulation confirms: no unspecified constant.

Derived here. After a burn-in the noise of the last step dominates. In one step the rows off the true
support carry independent Gaussian noise, and thresholding keeps the s_hat - s largest of them: their
mean square is inflated by

    f^2 = P(chi2_{k+2} > q) / P(chi2_k > q),   P(chi2_k > q) = (s_hat - s)/(d - s),

while on the support only the s - k directions outside the truth err:

    sin^2 = k [(s - k) + (s_hat - s) f^2] (tau^2 + v^2),
    tau^2   privacy: `iterated_pairs` at lambda_k, b and the noise c sigma/n, c = sqrt N, N or 1 by noise mode
    v^2     sampling: `sampling_pairs` at lambda_k and b, the mean bulk eigenvalue.

For s_hat = d (no thresholding) both are summed over all pairs of eigenvalues instead. The pairs' formulas
stand in `dppca_core.bounds.perturbation`.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, chdtri

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, spectrum
from dppca_core.methods.dps_pca import aggregate_factor, sum_noise_std
from dppca_core.records import Bound, Setting


@lru_cache(maxsize=1024)
def selection_inflation(d: int, k: int, s: int, s_hat: int) -> float:
    """Return f^2: the mean square of the s_hat - s largest of d - s noise rows over that of all.

    The squared length of a noise row in k columns has the law of chi2_k. Where no such row is kept, or all
    are, it is 1.
    """
    share = (s_hat - s) / (d - s) if d > s else 1.0
    if share <= 0 or share >= 1:
        return 1.0
    quantile = chdtri(k, share)
    return float(chdtrc(k + 2, quantile)) / share


def dps_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of DPS-PCA's output.

    Returns:
        The prediction; its terms privacy and sampling add in squares. `applies` is False, with the reason in
        `why`, where first-order reasoning does not reach.
    """
    d, n, k, s, s_hat = setting.d, setting.n, setting.k, setting.s, setting.s_hat
    sigma = sum_noise_std(setting.budget, k=k, iterations=setting.iterations)
    spread = sigma * aggregate_factor(setting.provider_noise, setting.providers) / n
    top, bulk = spectrum(setting)
    # With thresholding one pair, of the weakest spike and the mean bulk, stands for all `entries` that err;
    # without, every pair of eigenvalues counts by itself.
    inflation = 1.0
    if s_hat < d:
        inflation = selection_inflation(d, k, s, s_hat)
        entries = k * ((s - k) + max(s_hat - s, 0) * inflation)
        weakest, mean_bulk = float(top[-1]), float(bulk.mean())
        over, under = np.full((1, 1), weakest), np.full((1, 1), mean_bulk)
    else:
        entries = 1.0
        over, under = perturbation.pair_eigenvalues(top, bulk)
    private = entries * perturbation.iterated_pairs(over, under, spread)
    sampled = entries * perturbation.sampling_pairs(over, under, n)
    steps = setting.iterations - (setting.burn_in if s_hat < d else 0)
    conditions = (
        perturbation.check_converged(setting, math.sqrt(float((private + sampled).sum()))),
        (s_hat >= s, f"features kept ŝ = {s_hat} should be at least s = {s}"),
        (s_hat == d or setting.burn_in >= 1, f"burn-in {setting.burn_in} should be at least 1"),
        (steps >= 1, f"{steps} rounds after burn-in should be at least 1"),
    )
    quantities = {"inflation": math.sqrt(inflation), "sigma": sigma, "noise_std": spread}
    gaps = over - under  # of eigenvalues: they turn sin^2 into the energy that is lost
    return perturbation.predict(setting, private, sampled, gaps, conditions, quantities)


BOUNDS = (
    BoundRule(
        title="Closed form for DPS-PCA",
        methods=("dps_pca",),
        formula=(
            r"\sin^2\Theta \approx k\,[(s-k)+(\hat s-s)f^2]\left["
            r"\frac{(c\sigma/n\lambda_k)^2}{1-(b/\lambda_k)^2}+\frac{\lambda_k b}{n(\lambda_k-b)^2}\right]"
        ),
        compute=dps_prediction,
    ),
)
