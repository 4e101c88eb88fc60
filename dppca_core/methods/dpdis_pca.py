"""DPdisPCA (Imtiaz & Sarwate, ICASSP 2018): every hospital sends a compressed, noisy second moment.

Hospital i adds symmetric noise to its own moment, keeps the R leading directions, P_i = U_R L_R^(1/2), and
sends P_i, (d, R). The server decomposes the mean of P_i P_i^T. Hospitals hold different patients, so each
has the whole budget (parallel composition). With R = d nothing is compressed and the noisy moment itself is
sent ("full" in the authors' tables).

Sensitivity of one hospital's sum: that of `dppca_core.mechanisms.symmetric_gaussian`, with its proof; the
noise is divided by the hospital's own n_i. The paper's constant is sqrt(2 ln(1.25/delta))/epsilon with
sensitivity 1, though its neighbours replace a row. Its mean is not weighted by n_i ("as printed" for unequal
hospitals). Its authors' code uses `svd` where the matrix has negative eigenvalues, so it ranks by
|eigenvalue| and keeps large negative noise directions. Their tables depend on it; the default is `eigh`,
negative eigenvalues dropped.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import linalg, row_shrinkage
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

# Hospitals hold different patients, so each one's release costs its own patients the whole.
spends = symmetric_gaussian.spends


def release(provider: Provider, budget: Budget, rng: np.random.Generator, noise: str | None) -> Array:
    """Return one hospital's noisy second moment, (d, d). This is the only step that reads private rows.

    noise: how it is spread over the entries, one of `symmetric_gaussian.SHAPES`; None takes the default.
    """
    std = symmetric_gaussian.sum_noise_std(budget) / provider.n
    shape = symmetric_gaussian.shape_of(budget, noise)
    return symmetric_gaussian.with_noise(provider.moment, std, shape, rng)


def compress(noisy: Array, rank: int, decomposition: str) -> Array:
    """Return P, (d, rank), for which P P^T keeps the `rank` leading directions of a noisy moment.

    decomposition: "eigh" keeps those of the largest eigenvalues, and takes negative ones for 0; "svd", as the
    authors' code, those of the largest absolute values.
    """
    if decomposition == "svd":
        left, singular_values, _ = np.linalg.svd(noisy)
        half: Array = left[:, :rank] * np.sqrt(singular_values[:rank])
        return half
    values, vectors = linalg.top_eigenpairs(noisy, rank)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def message(
    provider: Provider,
    budget: Budget,
    rng: np.random.Generator,
    rank: int,
    decomposition: str,
    noise: str | None,
) -> Array:
    """Return what one hospital sends: P, (d, rank), or all of its noisy moment, (d, d), where rank is d.

    decomposition: as for `compress`. noise: the shape of the noise, as for `release`.
    """
    noisy = release(provider, budget, rng, noise)
    return noisy if rank == len(noisy) else compress(noisy, rank, decomposition)


def shares(sizes: Sequence[int], budget: Budget, weights: str | None) -> Array:
    """Return each hospital's weight in the mean, (hospitals,); None stands for the default of `fit`.

    "size" is n_i/n, "equal" is one over their number. Raises ValueError for another word.
    """
    usual = "equal" if budget.accounting == "as-printed" else "size"
    chosen = usual if weights is None else weights
    checks.one_of(("size", "equal"), weights=chosen)
    share = np.array([n if chosen == "size" else 1 for n in sizes], dtype=float)
    return np.asarray(share / share.sum())


def mean_moment(messages: Iterable[Array], share: Array) -> Array:
    """Return the weighted mean of P_i P_i^T, (d, d), or of noisy moments that were sent whole.

    messages: from `message`, one for each hospital. share: their weights, (hospitals,), which add up to 1.
    """
    total: Array | None = None
    for weight, sent in zip(share, messages, strict=True):
        whole = sent.shape[0] == sent.shape[1]  # a noisy moment, as for rank d
        part = weight * (sent if whole else sent @ sent.T)
        total = part if total is None else total + part
    assert total is not None  # a cohort has at least one hospital
    return total


def combine(messages: Iterable[Array], share: Array, k: int, decomposition: str) -> Array:
    """Return the server's top k directions, (d, k), of the mean of what hospitals sent.

    messages, share: as for `mean_moment`. decomposition: "eigh" or "svd", as for `compress`.
    """
    return _directions(mean_moment(messages, share), k, decomposition)


def _directions(total: Array, k: int, decomposition: str) -> Array:
    """Return the k directions, (d, k), of largest eigenvalues or, by "svd", of largest absolute ones."""
    if decomposition == "svd":
        left, _, _ = np.linalg.svd(total)
        return linalg.orthonormalise(left[:, :k])
    return linalg.top_eigenspace(total, k)


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    rank: int | None = None,
    weights: Literal["size", "equal"] | None = None,
    decomposition: Literal["eigh", "svd"] = "eigh",
    noise: str | None = None,
    shrink: bool = False,
) -> Estimate:
    """Return the top k eigenvectors of the mean of the hospitals' noisy, compressed moments.

    Args:
        budget: Privacy budget; each hospital spends it on its own patients.
        rng: Source of the noise; hospitals draw from generators spawned from it.
        rank: R, the number of directions that a hospital sends; default min(2k, d).
        weights: "size" (n_i/n), or "equal" as printed (the default when the accounting is as printed).
        decomposition: "eigh", or the authors' "svd".

    Returns:
        The basis, (d, k).

    Raises:
        ValueError: Unless k <= rank <= d, or for an unknown word.
    """
    d = cohort.features
    kept = min(2 * k, d) if rank is None else rank
    checks.whole(k, d, rank=kept)
    checks.one_of(("eigh", "svd"), decomposition=decomposition)
    share = shares([provider.n for provider in cohort], budget, weights)
    messages = (message(provider, budget, rng.spawn(1)[0], kept, decomposition, noise) for provider in cohort)
    total = mean_moment(messages, share)
    basis = _directions(total, k, decomposition)
    sizes = np.array([provider.n for provider in cohort], dtype=float)
    # Hospital i adds the noise of a sum over its size, and the mean weights that by its share.
    noise_std = float(symmetric_gaussian.entry_std(budget, n=1, noise=noise) * np.linalg.norm(share / sizes))
    if shrink:
        basis = row_shrinkage.shrunk(total, basis, noise_std, cohort.public_n(budget))
    return Estimate(
        basis,
        noise_std=noise_std,
        bytes_sent=8 * d * kept if kept < d else 8 * d * (d + 1) // 2,
        spent=spends(budget),
    )


METHOD = Method(
    title="DPdisPCA",
    reference="Imtiaz & Sarwate, ICASSP 2018",
    trust="untrusted server",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "providers", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    # Each hospital solves an eigenproblem and draws noise.
    cost=lambda d, k, providers: 2.0 * providers + 1,
    audit="moments.one_hospital",
)
