"""A closed form for DPS-PCA's error that simulation confirms: no unspecified constant.

Derived here. After a burn-in the noise of the last step dominates. In one step the rows off the true
support carry independent Gaussian noise, and thresholding keeps the s_hat - s largest of them: their
mean square is inflated by

    f^2 = P(chi2_{k+2} > q) / P(chi2_k > q),   P(chi2_k > q) = (s_hat - s)/(d - s),

while on the support only the s - k directions outside the truth err:

    sin^2 = k [(s - k) + (s_hat - s) f^2] (tau^2 + v^2),
    tau = c sigma / (n lambda_k) / sqrt(1 - r^2)        privacy, c = sqrt N, N or 1 by noise mode
    v^2 = lambda_k b / (n (lambda_k - b)^2)             sampling, b the mean bulk eigenvalue, r = b/lambda_k.

For s_hat = d (no thresholding) the bulk is taken eigenvalue by eigenvalue:

    sin^2 = sum over j <= k < i of [ (c sigma/(n lambda_j))^2 / (1 - (lambda_i/lambda_j)^2)
                                     + lambda_i lambda_j / (n (lambda_j - lambda_i)^2) ].
"""

import math

import numpy as np
from scipy.stats import chi2

from dppca_core.methods.dps_pca import aggregate_factor, sum_noise_std
from dppca_core.metrics import random_guess
from dppca_core.types import Bound, Setting

SOURCE = "closed form derived for this tool; checked against simulation in its tests"

# First-order: beyond a third of a random guess, or with the iteration unfinished, it is not trusted.
_SMALL_SHARE = 1 / 3


def selection_inflation(d: int, k: int, s: int, s_hat: int) -> float:
    """f^2: mean square of the s_hat - s largest of d - s noise rows over that of all; 1 if all stay."""
    share = (s_hat - s) / (d - s) if d > s else 1.0
    if share <= 0 or share >= 1:
        return 1.0
    quantile = chi2.isf(share, k)
    return float(chi2.sf(quantile, k + 2)) / share


def dps_prediction(setting: Setting) -> Bound:
    """Predicted sin Theta of DPS-PCA's output; terms privacy and sampling add in squares.

    `applies` is False, with the reason, where first-order reasoning does not reach.
    """
    d, n, k, s, s_hat = setting.d, setting.n, setting.k, setting.s, setting.s_hat
    sigma = sum_noise_std(setting.budget, k=k, iterations=setting.iterations)
    spread = sigma * aggregate_factor(setting.provider_noise, setting.providers) / n
    eigenvalues = np.maximum(setting.eigenvalues, 0.0)  # rounding leaves zeros on either side
    top, bulk = eigenvalues[:k], eigenvalues[k:]
    weakest, mean_bulk = float(top[-1]), float(bulk.mean())
    next_one = float(bulk[0])
    if not weakest > next_one:
        gapless = f"fails: no gap: λ_k = {weakest:.3g}, λ_k+1 = {next_one:.3g}"
        return Bound({}, math.inf, False, (gapless,), SOURCE)
    if s_hat < d:
        inflation = selection_inflation(d, k, s, s_hat)
        entries = k * ((s - k) + max(s_hat - s, 0) * inflation)
        ratio = mean_bulk / weakest
        private = entries * (spread / weakest) ** 2 / (1 - ratio**2)
        sampling = entries * weakest * mean_bulk / (n * (weakest - mean_bulk) ** 2)
    else:
        over, under = top[:, None], bulk[None, :]
        private = float(((spread / over) ** 2 / (1 - (under / over) ** 2)).sum())
        sampling = float((over * under / (over - under) ** 2).sum()) / n
        inflation = 1.0
    total = math.sqrt(private + sampling)
    small = total <= _SMALL_SHARE * random_guess(d, k)
    steps = setting.iterations - (setting.burn_in if s_hat < d else 0)
    left = random_guess(d, k) * (next_one / weakest) ** setting.iterations
    finished = left <= max(total, 1e-12)
    checks = [
        (small, f"first order: predicted error {total:.3g} below {_SMALL_SHARE:.2g} of a guess"),
        (finished, f"T = {setting.iterations} steps leave {left:.2g} of the start"),
        (s_hat >= s, f"rows kept ŝ = {s_hat} at least s = {s}"),
        (s_hat == d or setting.burn_in >= 1, f"burn-in {setting.burn_in} at least 1"),
        (steps >= 1, f"{steps} thresholded steps at least 1"),
    ]
    why = tuple(f"{'holds' if ok else 'fails'}: {text}" for ok, text in checks)
    terms: dict[str, float | np.ndarray] = {
        "privacy": math.sqrt(private),
        "sampling": math.sqrt(sampling),
    }
    quantities = {"inflation": math.sqrt(inflation), "sigma": sigma, "noise_std": spread}
    applies = all(ok for ok, _ in checks)
    return Bound(terms, total, applies, why, SOURCE, {}, quantities)


BOUNDS = {"dps_prediction": dps_prediction}
