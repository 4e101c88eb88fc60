"""Noisy spectral projector for spiked covariances (Cai, Xia & Zha, arXiv 2401.03820).

Structure as read in the abstract and captions, constants as recalled and derived again here: rows have
covariance U L U^T + v I with k spikes. Released are, each with Gaussian noise:

1. (lambda_k, trace of the rest) of the pooled moment S: |x| <= 1, so by Weyl and Ky Fan each moves by at most
   1/n; together sqrt 2 / n. It gives l, the weakest spike, and v, the nuisance variance. Omitted, and free,
   where `spike` and `variance` are given as public constants.
2. P + Z, P the projector on the top k eigenvectors, Z symmetric, for the sensitivity on a good event
       D = C (v/l + sqrt(v/l)) sqrt(d (k + ln n)) / n,
   whose top k eigenvectors are the basis U~. First order: |dP|_F = (sqrt 2 / l) |U_perp^T dS U|_F, and for
   rows of the model |U_perp^T x| ~ sqrt(v d), |U^T x|^2 <~ (l + v)(k + ln n).
3. U~^T S U~ + E, (k, k): |U~^T (xx^T - yy^T) U~|_F <= sqrt 2 (1 when a row is added or removed), over n, or
   C (l + v)(k + ln n)/n on the good event, whichever is smaller.
4. The covariance U~ (L~ - v) U~^T + v I, free of charge, negative spikes set to zero.

The guarantee is conditional: D bounds how far a row moves P only for data that behave like the model, and
C is unspecified (in simulation the largest movement is 1.6 to 2.2 times the D of C = 1 for n >= d, 2 to 2.9
below). Do not compare it with worst-case methods without saying so. 80 % of the budget's precision go to P,
10 % to each of the others; as printed, each gets epsilon/3 and delta/3 at the classical constant.
"""

import math
from dataclasses import replace

import numpy as np

from dppca_core import checks, gaussian, linalg, noisy_moment
from dppca_core.types import Array, Budget, Cohort, Estimate, Event, Method, Release

_SHARES = {"projector": 0.8, "spectrum": 0.1, "eigenvalues": 0.1}


def multipliers(budget: Budget, known: bool, covariance: bool) -> dict[str, float]:
    """std / sensitivity of each release that is made; together they are the budget exactly (1/z^2 adds up).

    As printed they add up by basic composition.
    """
    wanted = {"projector": True, "spectrum": not known, "eigenvalues": covariance}
    shares = {name: share for name, share in _SHARES.items() if wanted[name]}
    if budget.accounting == "as-printed":
        parts = len(shares)
        own = replace(budget, epsilon=budget.epsilon / parts, delta=budget.delta / parts)
        return dict.fromkeys(shares, gaussian.noise_multiplier(own))
    whole, total = gaussian.noise_multiplier(budget), sum(shares.values())
    return {name: whole / math.sqrt(share / total) for name, share in shares.items()}


def projector_sensitivity(d: int, n: int, k: int, spike: float, variance: float, constant: float) -> float:
    """D of the module's text, at most sqrt(2 min(k, d - k)), which no two projectors exceed."""
    most = math.sqrt(2 * min(k, d - k))
    if spike <= 0:
        return most
    ratio = max(variance, 0.0) / spike
    good = constant * (ratio + math.sqrt(ratio)) * math.sqrt(d * (k + math.log(n))) / n
    return min(good, most)


def release(
    cohort: Cohort,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    *,
    spike: float | None,
    variance: float | None,
    constant: float,
    covariance: bool,
) -> tuple[Array, float, float, Array | None]:
    """(noisy P, its diagonal noise std, v, noisy eigenvalue block). The only step that reads private rows."""
    d, n = cohort.features, cohort.n
    shape = noisy_moment.shape_of(budget, None)
    symmetric = linalg.mirrored_noise if shape == "mirrored" else linalg.isotropic_noise
    known = spike is not None and variance is not None
    z = multipliers(budget, known, covariance)
    moment = cohort.pooled.dense()
    values, vectors = linalg.top_eigenpairs(moment, k)
    level, flat = spike, variance
    if level is None or flat is None:
        noise = math.sqrt(2) / n * z["spectrum"] * rng.standard_normal(2)
        flat = (float(moment.trace() - values.sum()) + float(noise[1])) / (d - k)
        level = float(values[-1] + noise[0]) - flat
    std = projector_sensitivity(d, n, k, level, flat, constant) * z["projector"]
    projector = symmetric(d, std, rng)
    projector += vectors @ vectors.T
    block = None
    if covariance:
        basis = linalg.top_eigenspace(projector, k)
        good = constant * (max(level, 0.0) + max(flat, 0.0)) * (k + math.log(n))
        moved = min(noisy_moment.sensitivity(budget), good) / n
        block = basis.T @ moment @ basis + symmetric(k, moved * z["eigenvalues"], rng)
    return projector, std, flat, block


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    spike: float | None = None,
    variance: float | None = None,
    constant: float | None = None,
    covariance: bool = True,
) -> Estimate:
    """Basis from the noisy projector and, with `covariance`, the private covariance of the scaled rows.

    spike, variance: public l and v in units of the scaled rows; released where not given. constant: C,
    default 2 for n >= d and 3 below. Raises ValueError for a public constant that is not positive.
    """
    d, n = cohort.features, cohort.n
    for name, value in (("spike", spike), ("variance", variance), ("constant", constant)):
        if value is not None:
            checks.positive(**{name: value})
    chosen = constant or (2.0 if n >= d else 3.0)
    projector, std, flat, block = release(
        cohort, k, budget, rng, spike=spike, variance=variance, constant=chosen, covariance=covariance
    )
    basis = linalg.top_eigenspace(projector, k)
    whole = None
    if block is not None:
        sizes, turn = np.linalg.eigh(block)
        nuisance = max(flat, 0.0)
        spikes = np.maximum(sizes - nuisance, 0.0)
        turned = basis @ turn
        whole = (turned * spikes) @ turned.T + nuisance * np.eye(d)
    mirrored = noisy_moment.shape_of(budget, None) == "mirrored"
    return Estimate(
        basis,
        noise_std=std if mirrored else std / math.sqrt(2),
        bytes_sent=8 * d * (d + 1) // 2,
        spent=spends(budget, spike=spike, variance=variance, covariance=covariance),
        covariance=whole,
    )


def spends(
    budget: Budget,
    *,
    spike: float | None = None,
    variance: float | None = None,
    covariance: bool = True,
    **_: object,
) -> tuple[Event, ...]:
    """Up to three Gaussian releases."""
    known = spike is not None and variance is not None
    return tuple(Release(z) for z in multipliers(budget, known, covariance).values())


METHOD = Method(
    name="spiked_projector",
    title="Noisy spectral projector",
    reference="Cai, Xia & Zha, arXiv 2401.03820 (constants as recalled)",
    trust="central",
    guarantee="on a good event",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    cost=lambda d, k, providers: 2.0,
)
