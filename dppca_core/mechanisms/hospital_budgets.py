"""Pool hospitals that ask for different guarantees: weights by precision, and the noise that each needs.

Hospital i wants (epsilon_i, delta_i), whose multiplier (std of Gaussian noise over sensitivity) is z_i. The
server takes sum_i w_i M_i, sum w_i = 1, M_i the mean over n_i patients of what each moves by at most Delta.
So w_i M_i moves by w_i Delta/n_i.

Own noise: hospital i adds Delta z_i/n_i to M_i, whatever the weights, and the sum carries

    Delta^2 sum w_i^2 z_i^2/n_i^2 + v sum w_i^2/n_i,

v the variance of an entry by one patient: least for w_i ~ 1/(z_i^2/n_i^2 + r/n_i), r = v/Delta^2. Without r
these are the weights n_i^2/z_i^2, with a large r the sizes.

Sealed sums (secure aggregation, only the sum is seen): all hospitals share one noise s, which protects
hospital i if s >= w_i Delta z_i/n_i. For a largest ratio M = max w_i z_i/n_i the sampling part is least for
w_i ~ n_i min(1, t/z_i). The search takes t between the smallest z and the largest. At the smallest all
hospitals are protected exactly (weights n_i/z_i), and at the largest the weights are the sizes.

Neighbours by add or remove protect n_i. Then hospital i scales its *sum* by a_i = 1/z_i^2 (own noise) or
1/z_i (sealed), which no size enters. The release is a sum, and its directions need no n.

The pooled moment and its noise have the law of one cohort with these weights at one budget. The budget's
multiplier is the noise of the mean over that of equal hospitals. So methods run unchanged. Each hospital's
guarantee is its own: its message is a Gaussian release, or several adaptive ones, at z_i.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.privacy import Budget
from dppca_core.records import SIGNAL

TRUSTS = ("untrusted server", "secure aggregation")


def trust_of(provider_noise: object, trust: str) -> str:
    """Return how hospitals add noise in a run, one of `TRUSTS` where the method pools their sums.

    provider_noise: a method's option of this name, None where it has none. trust: that of the method, which
    holds unless the option says secure aggregation. Raises ValueError for shared noise, which has one size
    for all hospitals.
    """
    if provider_noise == "shared":
        raise ValueError("provider_noise must not be 'shared' where each hospital has a budget of its own")
    return "secure aggregation" if provider_noise == "secure-aggregation" else trust


def sampling_ratio(d: int, k: int, kept: int | None, signal: float = SIGNAL) -> float:
    """Return r of the module's text from public numbers, for a declared `signal`, k lambda_k/tr Sigma.

    v is the variance of an entry between a component and the bulk, by one patient whose row has length 1 on
    the `kept` features, or on all d. It is set against the least noise, Delta^2/2 at Delta = 1 (isotropic
    symmetric noise has half the variance off the diagonal), so that r is rather too large: that leads towards
    the weights by size and never past them, where an r that is too small leads beyond the best weights.
    """
    # A patient's row has length 1 on this many features.
    rows = d if kept is None else kept
    # The components' part in the trace of the kept rows. v is the product of an eigenvalue of a component,
    # part/k, and one of the bulk, (1 - part)/rows.
    part = signal / (signal + (1 - signal) * rows / d)
    return 2 * part * (1 - part) / (k * rows) if part < 1 else 0.0


def weights(multipliers: Array, sizes: Array, sampling: float, sealed: bool) -> Array:
    """Return w, (N,), for hospitals whose sizes are public.

    Args:
        multipliers: z of every hospital, (N,).
        sizes: Patients of every hospital, (N,).
        sampling: r, the variance of an entry by one patient over the squared sensitivity.
        sealed: One noise for the sum instead of one a hospital.
    """
    if not sealed:
        precision = 1 / ((multipliers / sizes) ** 2 + sampling / sizes)
        normalised: Array = precision / precision.sum()
        return normalised

    def weights_at(cap: float) -> Array:
        raw = sizes * np.minimum(1.0, cap / multipliers)
        share: Array = raw / raw.sum()
        return share

    def variance(cap: float) -> float:
        """Return the variance of an entry of the weighted mean at t = cap, over Delta^2."""
        share = weights_at(cap)
        return float(_noise(share, multipliers, sizes, sealed) ** 2 + sampling * (share**2 / sizes).sum())

    # The ends are compared as well, which a bounded search does not reach.
    low, high = float(multipliers.min()), float(multipliers.max())
    caps = [low, high]
    if high > low:
        caps.append(float(minimize_scalar(variance, bounds=(low, high), method="bounded").x))
    return weights_at(min(caps, key=variance))


def _noise(share: Array, multipliers: Array, sizes: Array, sealed: bool) -> float:
    """Return the std of the noise in the weighted mean, over Delta, by the module's text.

    share: the weights w, (N,). multipliers, sizes, sealed: as for `weights`.
    """
    each = share * multipliers / sizes
    return float(each.max() if sealed else np.linalg.norm(each))


def pool(cohort: Cohort, budgets: Sequence[Budget], trust: str, sampling: float) -> tuple[Cohort, Budget]:
    """Return the cohort with weights by precision, and the budget at which it has the hospitals' noise.

    Args:
        cohort: The hospitals.
        budgets: The guarantee of each, under one relation.
        trust: Whose noise, one of `TRUSTS`.
        sampling: r, the variance of an entry by one patient over the squared sensitivity.

    Returns:
        The cohort and the one budget for all, which in general is none of the hospitals' own.

    Raises:
        ValueError: For another number of budgets, different relations, or noise as printed, which is not
            proportional to one multiplier.
    """
    if len(budgets) != len(cohort):
        raise ValueError(f"budget must name one for each of {len(cohort)} hospitals, got {len(budgets)}")
    share, common = pooled_budget([provider.n for provider in cohort], budgets, trust, sampling)
    return cohort.weighted(share), common


def pooled_budget(
    sizes: Sequence[float], budgets: Sequence[Budget], trust: str, sampling: float
) -> tuple[Array, Budget]:
    """Return the weights of hospitals, (N,), and the budget at which one cohort has their noise.

    sizes: patients of each. The other arguments and errors are those of `pool`.
    """
    if len({budget.neighbours for budget in budgets}) > 1:
        raise ValueError("budget must have the same neighbours for all hospitals")
    if any(budget.accounting == "as-printed" for budget in budgets):
        raise ValueError("budget must not be as-printed where each hospital has its own")
    sealed, n = trust == "secure aggregation", np.array(sizes, dtype=float)
    z = np.array([gaussian.noise_multiplier(budget) for budget in budgets])
    # Under add or remove sizes are protected: a hospital scales its sum, n times its mean, by a factor of z.
    if budgets[0].neighbours == "replace-one":
        share = weights(z, n, sampling, sealed)
    else:
        scaled = n / (z if sealed else z**2)
        share = scaled / scaled.sum()
    # The multiplier at which equal protection of all n patients would put the same noise into the mean.
    noise = _noise(share, z, n, sealed) * float(n.sum()) / (1.0 if sealed else math.sqrt(len(n)))
    delta = min(budget.delta for budget in budgets)
    return share, Budget(gaussian.epsilon_of(noise, delta), delta, budgets[0].neighbours)


def guarantees(budgets: Sequence[Budget]) -> str:
    """Return a sentence for the reader of a run that states each hospital's epsilon and delta."""
    each = (f"hospital {i} has ε = {b.epsilon:g}, δ = {b.delta:g}" for i, b in enumerate(budgets, start=1))
    return f"Each hospital's patients have its own guarantee: {'; '.join(each)}."
