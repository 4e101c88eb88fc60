"""DPdisPCA (Imtiaz & Sarwate, ICASSP 2018): every hospital sends a compressed, noisy second moment.

Hospital i adds symmetric noise to its own moment, keeps the R leading directions, P_i = U_R L_R^(1/2), and
sends P_i, (d, R). The server decomposes the mean of P_i P_i^T. Hospitals hold different patients, so each
has the whole budget (parallel composition). With R = d nothing is compressed and the noisy moment itself is
sent ("full" in the authors' tables).

Sensitivity of one hospital's sum: that of `dppca_core.mechanisms.symmetric_gaussian`, with its proof; the
noise is divided by the hospital's own n_i. The paper's constant is sqrt(2 ln(1.25/delta))/epsilon with
sensitivity 1, though its neighbours replace a row. Its mean is not weighted by n_i ("as printed" for
unequal hospitals), and its authors' code uses `svd` where the matrix has negative eigenvalues: it ranks by
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
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget, Event
from dppca_core.records import Estimate, Method


def release(provider: Provider, budget: Budget, rng: np.random.Generator, noise: str | None) -> Array:
    """One hospital's noisy second moment, (d, d). The only step that reads private rows."""
    std = symmetric_gaussian.sum_noise_std(budget) / provider.n
    shape = symmetric_gaussian.shape_of(budget, noise)
    return symmetric_gaussian.with_noise(provider.moment, std, shape, rng)


def compress(noisy: Array, rank: int, decomposition: str) -> Array:
    """P, (d, rank), of the `rank` leading directions: largest eigenvalues, or by `svd` the absolute ones."""
    if decomposition == "svd":
        left, sizes, _ = np.linalg.svd(noisy)
        half: Array = left[:, :rank] * np.sqrt(sizes[:rank])
        return half
    values, vectors = linalg.top_eigenpairs(noisy, rank)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    return half


def message(
    provider: Provider,
    budget: Budget,
    rng: np.random.Generator,
    rank: int,
    decomposition: str,
    noise: str | None,
) -> Array:
    """What one hospital sends: P, (d, rank), or where rank is d all of its noisy moment."""
    noisy = release(provider, budget, rng, noise)
    return noisy if rank == len(noisy) else compress(noisy, rank, decomposition)


def shares(sizes: Sequence[int], budget: Budget, weights: str | None) -> Array:
    """What each hospital counts in the mean, (hospitals,): by `weights`, or as `fit` says for None.

    "size" is n_i/n, "equal" one over their number. Raises ValueError for another word.
    """
    usual = "equal" if budget.accounting == "as-printed" else "size"
    chosen = usual if weights is None else weights
    checks.one_of(("size", "equal"), weights=chosen)
    share = np.array([n if chosen == "size" else 1 for n in sizes], dtype=float)
    return np.asarray(share / share.sum())


def combine(messages: Iterable[Array], share: Array, k: int, decomposition: str) -> Array:
    """The server's part: top k directions, (d, k), of the mean of P_i P_i^T with these shares."""
    total: Array | None = None
    for weight, sent in zip(share, messages, strict=True):
        part = weight * (sent if sent.shape[0] == sent.shape[1] else sent @ sent.T)
        total = part if total is None else total + part
    assert total is not None  # a cohort has a hospital
    if decomposition == "svd":
        return linalg.orthonormalise(np.linalg.svd(total)[0][:, :k])
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
) -> Estimate:
    """Top k eigenvectors of the hospitals' mean.

    rank: R, default min(2k, d). weights: "size" (n_i/n), or "equal" as printed (default when accounting is
    as printed). decomposition: "eigh", or the authors' "svd". noise: as for Analyze Gauss.
    Raises ValueError unless k <= rank <= d, or for an unknown word.
    """
    d = cohort.features
    kept = min(2 * k, d) if rank is None else rank
    checks.whole(k, d, rank=kept)
    checks.one_of(("eigh", "svd"), decomposition=decomposition)
    share = shares([provider.n for provider in cohort], budget, weights)
    messages = (message(provider, budget, rng.spawn(1)[0], kept, decomposition, noise) for provider in cohort)
    basis = combine(messages, share, k, decomposition)
    one = symmetric_gaussian.entry_std(budget, 1, noise)
    sizes = np.array([provider.n for provider in cohort], dtype=float)
    return Estimate(
        basis,
        noise_std=float(one * np.linalg.norm(share / sizes)),
        bytes_sent=8 * d * kept if kept < d else 8 * d * (d + 1) // 2,
        spent=spends(budget),
    )


def spends(budget: Budget, **_: object) -> tuple[Event, ...]:
    """One Gaussian release at each hospital, of different patients."""
    return symmetric_gaussian.spends(budget)


def cost(d: int, k: int, providers: int) -> float:
    """An eigenproblem, and a draw, at each hospital."""
    return 2.0 * providers + 1


METHOD = Method(
    name="dpdis_pca",
    title="DPdisPCA",
    reference="Imtiaz & Sarwate, ICASSP 2018",
    trust="untrusted server",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "providers", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    cost=cost,
    audit="moments.one_hospital",
)
