"""The releases of a spiked covariance: spectrum, projector, eigenvalues; for every method that makes them.

Rows have covariance U L U^T + v I. L holds k spikes, l is the weakest of them, and v is the nuisance variance
that all directions share. Spectrum: (lambda_1, lambda_k, trace of all but the first k) of the pooled moment.
Projector: P on its top k eigenvectors, plus symmetric noise. Eigenvalues: the block U~^T S U~, (k, k), in the
released basis U~. The noise on P suits data that behave like the model, up to a constant C. Sensitivities,
their proofs and their assumptions on the data stand in `methods.spiked_projector`.
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

_SHARES = {"projector": 0.8, "spectrum": 0.1, "eigenvalues": 0.1}  # of the budget, as 1/z^2
_SAFETY = 3.0  # standard deviations by which released eigenvalues are moved to the cautious side


def multipliers(budget: Budget, known: bool, covariance: bool) -> dict[str, float]:
    """Return std / sensitivity, z, of each release that is made, by its name; together they are the budget.

    The projector comes first, then the spectrum, then the eigenvalues.
    known: whether spike and variance are public, so that no spectrum is released. covariance: whether
    eigenvalues are. Budgets add up exactly, as 1/z^2; as printed by basic composition of equal parts.
    """
    made = {"projector": True, "spectrum": not known, "eigenvalues": covariance}
    shares = {name: share for name, share in _SHARES.items() if made[name]}
    if budget.accounting == "as-printed":
        parts = len(shares)
        equal = replace(budget, epsilon=budget.epsilon / parts, delta=budget.delta / parts)
        return dict.fromkeys(shares, gaussian.noise_multiplier(equal))
    whole, total = gaussian.noise_multiplier(budget), sum(shares.values())
    return {name: whole / math.sqrt(share / total) for name, share in shares.items()}


def spectrum_sensitivity(budget: Budget, entries: int) -> float:
    """Return the l2 sensitivity of n times the spectrum, or of n times the block.

    entries: how many numbers the spectrum has, or rows the block; a single one moves by at most 1. The proof
    is in the text of `methods.spiked_projector`.
    """
    return symmetric_gaussian.sensitivity(budget) if entries > 1 else 1.0


def default_constant(d: int, n: int) -> float:
    """Return the default C of the good event, near the largest movements in simulation.

    The simulations are those in `methods.spiked_projector`.
    """
    return 2.0 if n >= d else 3.0


def check_public(spike: float | None, variance: float | None, constant: float | None) -> None:
    """Raise ValueError unless public l, v and C are positive where given, and l and v are given together."""
    if (spike is None) != (variance is None):
        shown = [checks.shown(value) for value in (spike, variance)]
        raise ValueError(f"spike and variance must be given together, got {' and '.join(shown)}")
    named = {"spike": spike, "variance": variance, "constant": constant}
    checks.positive(**{name: value for name, value in named.items() if value is not None})


def spectrum_std(budget: Budget, n: int, multiplier: float) -> float:
    """Return the std of each released number of the spectrum. multiplier: its z (`multipliers`)."""
    return spectrum_sensitivity(budget, entries=2) / n * multiplier  # any entries above 1 give the same


def move_cautiously(last: float, flat: float, std: float, d: int, k: int) -> tuple[float, float]:
    """Return l and v, moved by three standard deviations of their noise to where P needs more noise.

    last: the released lambda_k. flat: the released mean of the other d - k eigenvalues. std: of each released
    number; flat is a sum over d - k of them divided by d - k. Without caution an estimate v near zero would
    leave P without noise.
    """
    raised = max(flat, 0.0) + _SAFETY * std / (d - k)
    return last - _SAFETY * std - raised, raised


def projector_sensitivity(d: int, n: int, k: int, spike: float, variance: float, constant: float) -> float:
    """Return D, how far one row moves P in Frobenius norm if the data behave like the model.

    It is C (v/l + sqrt(v/l)) sqrt(d (k + ln n))/n, from `methods.spiked_projector`, with l = spike, v =
    variance and C = constant, but at most sqrt(2 min(k, d - k)), by which any two projectors differ at most.
    """
    most = math.sqrt(2 * min(k, d - k))
    if spike <= 0:
        return most
    ratio = variance / spike
    good = constant * (ratio + math.sqrt(ratio)) * math.sqrt(d * (k + math.log(n))) / n
    return min(good, most)


class ReleasedCovariance(NamedTuple):
    """Hold all that is released. projector: noisy P, (d, d). std: of its noise on the diagonal.

    variance: v as released, not moved, or public. block: the noisy U~^T S U~, (k, k), or None. spike: l,
    public or moved to the cautious side.
    """

    projector: Array
    std: float
    variance: float
    block: Array | None
    spike: float


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

    spike, variance: public l and v, in whose place nothing is released; None for both releases a spectrum.
    constant: C. The l2 sensitivities are `spectrum_sensitivity`/n for spectrum and block, and
    `projector_sensitivity` for the projector. This is the only step that reads private rows.
    """
    d, n = cohort.features, cohort.n
    shape = symmetric_gaussian.shape_of(budget, None)
    draw_noise = linalg.mirrored_noise if shape == "mirrored" else linalg.isotropic_noise
    known = spike is not None and variance is not None
    z = multipliers(budget, known, covariance)
    moment = cohort.pooled.dense()
    values, vectors = linalg.top_eigenpairs(moment, k)
    # `raised` and `weakest` are v and l as the projector's noise takes them, `largest` is lambda_1.
    if spike is not None and variance is not None:
        flat, weakest, largest = variance, spike, spike + variance
        raised = flat
    else:
        spectrum = np.array([values[0], values[-1], moment.trace() - values.sum()])
        noise = spectrum_std(budget, n, z["spectrum"])
        first, last, rest = spectrum + noise * rng.standard_normal(3)
        last = first if k == 1 else last  # lambda_k is lambda_1 then, whose movement is counted once
        flat = float(rest) / (d - k)
        weakest, raised = move_cautiously(float(last), flat, noise, d, k)
        largest = max(float(first), 0.0) + _SAFETY * noise
    std = projector_sensitivity(d, n, k, weakest, raised, constant) * z["projector"]
    projector = draw_noise(d, std, rng)
    projector += vectors @ vectors.T
    block = None
    if covariance:
        basis = linalg.top_eigenspace(projector, k)
        # The worst case of any data, or what the model allows if that is less (step 3).
        moved = min(spectrum_sensitivity(budget, k), constant * largest * (k + math.log(n))) / n
        block = basis.T @ moment @ basis + draw_noise(k, moved * z["eigenvalues"], rng)
    return ReleasedCovariance(projector, std, flat, block, weakest)


def spends(
    budget: Budget,
    *,
    spike: float | None = None,
    variance: float | None = None,
    covariance: bool = True,
    **_: object,
) -> tuple[Event, ...]:
    """Return one Gaussian release each for the projector, the spectrum unless public, and the eigenvalues.

    They come in this order. There are no eigenvalues without `covariance`.
    """
    known = spike is not None and variance is not None
    return tuple(Release(z) for z in multipliers(budget, known, covariance).values())
