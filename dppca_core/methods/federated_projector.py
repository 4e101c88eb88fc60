"""Averaged projectors: every hospital's private projector, averaged by precision.

This follows Li, Cai, Xia & Zhang (arXiv 2411.15660), of which the abstract was read. A server averages local
private projectors, and the error's rate is the harmonic mean of the local ones. What follows is ours, for the
spiked covariance of `methods.spiked_projector`, which has sensitivity, proof and the good event.

Hospital i releases its spectrum and P_i + Z_i, of its own n_i rows. The server takes the k leading
eigenvectors of sum_i w_i (P_i + Z_i), w_i proportional to the precision that it can know,

    1 / (s_i^2 + v_i (l_i + v_i) / (n_i l_i^2)),

s_i the std of Z_i off the diagonal, l_i and v_i the released spike and nuisance variance. In each entry
between the signal's directions and the others, a hospital's projector errs to first order by noise s_i and by
sampling, v (l + v) / (n l^2). Entries of different hospitals are independent, so these weights minimise the
error of the mean, whose precision is the sum of theirs. All but the release is post-processing.

Hospitals hold different patients, so each has the whole budget (parallel composition). One round: the upper
triangle of P_i + Z_i and the three numbers that give its precision. "basis" sends its k leading
eigenvectors instead: d k numbers.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import spiked_covariance, symmetric_gaussian
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget, Event
from dppca_core.records import Estimate, Method

release = spiked_covariance.release


def precision(std: float, spike: float, variance: float, n: int) -> float:
    """Return a hospital's weight before scaling, 1 / (s^2 + v (l + v)/(n l^2)), by the module's text.

    std: s. spike: l. variance: v. n: the hospital's patients. It is zero for l <= 0, where no spike was
    released above the noise.
    """
    flat = max(variance, 0.0)  # noise may have made it negative
    if spike <= 1e-9 * flat or spike <= 0:  # l^2 must not be lost to rounding either
        return 0.0
    return 1 / (std**2 + flat * (spike + flat) / (n * spike**2))


class SentProjector(NamedTuple):
    """Hold a hospital's message: the noisy projector, (d, d), or its leading basis, (d, k), and its quality.

    std: of the noise off the diagonal; spike, variance: l and v as released, or public.
    """

    matrix: Array
    std: float
    spike: float
    variance: float


def check(send: str, spike: float | None, variance: float | None, constant: float | None) -> None:
    """Raise ValueError for options that `fit` refuses."""
    checks.one_of(("projector", "basis"), send=send)
    spiked_covariance.check_public(spike, variance, constant)


def message(
    provider: Provider,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    *,
    spike: float | None = None,
    variance: float | None = None,
    constant: float | None = None,
    send: str = "projector",
) -> SentProjector:
    """Return what one hospital sends about its own rows.

    spike, variance: public l and v; None releases both. constant: C of the good event; None is the default.
    send: "projector", or "basis" for its k leading eigenvectors alone.
    """
    d = provider.moment.features
    # The std of the noise off the diagonal, over that on it.
    off_diagonal = 1.0 if symmetric_gaussian.shape_of(budget, None) == "mirrored" else math.sqrt(0.5)
    alone = Cohort((provider,), provider.moment)
    released = release(
        alone,
        k,
        budget,
        rng,
        spike=spike,
        variance=variance,
        constant=constant or spiked_covariance.default_constant(d, provider.n),
        covariance=False,
    )
    matrix = linalg.top_eigenspace(released.projector, k) if send == "basis" else released.projector
    return SentProjector(matrix, released.std * off_diagonal, released.spike, released.variance)


def combine(messages: Iterable[SentProjector], sizes: Sequence[int], k: int) -> tuple[Array, float]:
    """Return the server's top k directions, (d, k), of the mean weighted by precision, and its noise's std.

    Messages are added up as they come, so that one matrix at a time is in memory. sizes: patients of each
    hospital. Where no hospital has a spike, all count alike: so they do until the first one with a spike
    comes, which begins the sum anew.
    """
    # Of the messages so far: the weighted sum, the sum of weights, that of (weight * std)^2, and whether one
    # of them has a spike.
    total, mass, square, any_spike = np.zeros(()), 0.0, 0.0, False
    for sent, n in zip(messages, sizes, strict=True):
        weight = precision(sent.std, sent.spike, sent.variance, n)
        if weight > 0 and not any_spike:
            total, mass, square, any_spike = np.zeros(()), 0.0, 0.0, True
        share = weight if any_spike else 1.0
        if share > 0:
            matrix = sent.matrix
            whole = matrix if matrix.shape[0] == matrix.shape[1] else matrix @ matrix.T
            total = total + share * whole
            mass += share
            square += (share * sent.std) ** 2
    return linalg.top_eigenspace(total / mass, k), math.sqrt(square) / mass


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    spike: float | None = None,
    variance: float | None = None,
    constant: float | None = None,
    send: Literal["projector", "basis"] = "projector",
) -> Estimate:
    """Return the top k eigenvectors of the hospitals' noisy projectors, averaged by precision.

    Args:
        budget: Privacy budget; each hospital spends it on its own patients.
        rng: Source of the noise; hospitals draw from generators spawned from it.
        send: "projector", d (d + 1)/2 numbers, or "basis", its leading d k numbers.

    Returns:
        The basis, (d, k). Where no hospital releases a spike, all count alike.

    Raises:
        ValueError: For an unknown word, a public constant that is not positive, or one of spike and variance
            without the other.
    """
    d = cohort.features
    check(send, spike, variance, constant)
    public = {"spike": spike, "variance": variance, "constant": constant}
    messages = (message(provider, k, budget, rng.spawn(1)[0], send=send, **public) for provider in cohort)
    basis, std = combine(messages, [provider.n for provider in cohort], k)
    return Estimate(
        basis,
        noise_std=std,
        # Beside the matrix or basis a message has the numbers that give its precision.
        bytes_sent=8 * ((d * k if send == "basis" else d * (d + 1) // 2) + len(SentProjector._fields) - 1),
        spent=spends(budget, spike=spike, variance=variance),
    )


def spends(
    budget: Budget, *, spike: float | None = None, variance: float | None = None, **_: object
) -> tuple[Event, ...]:
    """Return releases of the spectrum and the projector: each hospital makes them, of its own patients."""
    return spiked_covariance.spends(budget, spike=spike, variance=variance, covariance=False)


METHOD = Method(
    title="Averaged projectors",
    reference="after Li, Cai, Xia & Zhang, arXiv 2411.15660 (abstract read; weights are ours)",
    trust="untrusted server",
    guarantee="on a good event",
    uses=("epsilon", "delta", "d", "n", "k", "s", "providers", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    # Each hospital solves an eigenproblem, draws noise and draws its moment.
    cost=lambda d, k, providers: 2.0 * providers + 1,
    audit="gaps.spectrum_of_one",
)
