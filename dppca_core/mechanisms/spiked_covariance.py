"""The releases of a spiked covariance: spectrum, projector, eigenvalues; for every method that makes them.

Sensitivities, their proofs and their assumptions on the data stand in `methods.spiked_projector`.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget, Event, Release

_SHARES = {"projector": 0.8, "spectrum": 0.1, "eigenvalues": 0.1}
_SAFETY = 3.0  # standard deviations by which released eigenvalues are moved to the cautious side


def multipliers(budget: Budget, known: bool, covariance: bool) -> dict[str, float]:
    """Return std / sensitivity of each release that is made; together they are the budget exactly.

    1/z^2 adds up; as printed they add up by basic composition.
    """
    wanted = {"projector": True, "spectrum": not known, "eigenvalues": covariance}
    shares = {name: share for name, share in _SHARES.items() if wanted[name]}
    if budget.accounting == "as-printed":
        parts = len(shares)
        equal = replace(budget, epsilon=budget.epsilon / parts, delta=budget.delta / parts)
        return dict.fromkeys(shares, gaussian.noise_multiplier(equal))
    whole, total = gaussian.noise_multiplier(budget), sum(shares.values())
    return {name: whole / math.sqrt(share / total) for name, share in shares.items()}


def spectrum_sensitivity(budget: Budget, entries: int) -> float:
    """Return the l2 sensitivity of n times the spectrum, or the block, of so many entries.

    The proof is in the text of `methods.spiked_projector`.
    """
    return symmetric_gaussian.sensitivity(budget) if entries > 1 else 1.0


def default_constant(d: int, n: int) -> float:
    """Return the default C, near the largest movements in simulation."""
    return 2.0 if n >= d else 3.0


def check_public(spike: float | None, variance: float | None, constant: float | None) -> None:
    """Raise ValueError unless what is given is positive, and spike and variance are given together."""
    if (spike is None) != (variance is None):
        raise ValueError(f"spike and variance must be given together, got {spike!r} and {variance!r}")
    named = {"spike": spike, "variance": variance, "constant": constant}
    checks.positive(**{name: value for name, value in named.items() if value is not None})


def spectrum_std(budget: Budget, n: int, multiplier: float) -> float:
    """Return the std of each released number of the spectrum."""
    return spectrum_sensitivity(budget, 2) / n * multiplier


def move_cautiously(last: float, flat: float, std: float, d: int, k: int) -> tuple[float, float]:
    """Return l and v on the cautious side of a released lambda_k and bulk mean: moved by 3 std."""
    raised = max(flat, 0.0) + _SAFETY * std / (d - k)
    return last - _SAFETY * std - raised, raised


def projector_sensitivity(d: int, n: int, k: int, spike: float, variance: float, constant: float) -> float:
    """Return D of the method's text, at most sqrt(2 min(k, d - k)), which no two projectors exceed."""
    most = math.sqrt(2 * min(k, d - k))
    if spike <= 0:
        return most
    ratio = variance / spike
    good = constant * (ratio + math.sqrt(ratio)) * math.sqrt(d * (k + math.log(n))) / n
    return min(good, most)


class ReleasedCovariance(NamedTuple):
    """Hold noisy P, (d, d); std of its diagonal noise; v; the noisy (k, k) eigenvalues; the cautious l."""

    projector: Array
    std: float
    flat: float
    block: Array | None
    weakest: float


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
) -> ReleasedCovariance:
    """Return spectrum, projector and, with `covariance`, eigenvalues: steps 1 to 3 of the method's text.

    l2 sensitivities: `spectrum_sensitivity`/n for spectrum and block, `projector_sensitivity` for the
    projector. This is the only step that reads private rows.
    """
    d, n = cohort.features, cohort.n
    shape = symmetric_gaussian.shape_of(budget, None)
    symmetric = linalg.mirrored_noise if shape == "mirrored" else linalg.isotropic_noise
    known = spike is not None and variance is not None
    z = multipliers(budget, known, covariance)
    moment = cohort.pooled.dense()
    values, vectors = linalg.top_eigenpairs(moment, k)
    if spike is not None and variance is not None:
        flat, weakest, largest = variance, spike, spike + variance
        raised = flat
    else:
        exact = np.array([values[0], values[-1], moment.trace() - values.sum()])
        noise = spectrum_std(budget, n, z["spectrum"])
        first, last, rest = exact + noise * rng.standard_normal(3)
        last = first if k == 1 else last
        flat = float(rest) / (d - k)
        weakest, raised = move_cautiously(float(last), flat, noise, d, k)
        largest = max(float(first), 0.0) + _SAFETY * noise
    std = projector_sensitivity(d, n, k, weakest, raised, constant) * z["projector"]
    projector = symmetric(d, std, rng)
    projector += vectors @ vectors.T
    block = None
    if covariance:
        basis = linalg.top_eigenspace(projector, k)
        moved = min(spectrum_sensitivity(budget, k), constant * largest * (k + math.log(n))) / n
        block = basis.T @ moment @ basis + symmetric(k, moved * z["eigenvalues"], rng)
    return ReleasedCovariance(projector, std, flat, block, weakest)


def spends(
    budget: Budget,
    *,
    spike: float | None = None,
    variance: float | None = None,
    covariance: bool = True,
    **_: object,
) -> tuple[Event, ...]:
    """Return up to three Gaussian releases."""
    known = spike is not None and variance is not None
    return tuple(Release(z) for z in multipliers(budget, known, covariance).values())
