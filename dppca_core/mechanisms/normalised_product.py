"""Release a round of block power, in which every patient counts the same, with Gaussian noise.

R = (1/n) sum v q^T with v = x/|x| and q = Q^T x/|Q^T x|, either 0 where it is undefined, Q public.

Sensitivity of n R: |v q^T|_F = |v| |q| <= 1 for every patient, whatever Q and its number of columns. Adding
or removing one moves the sum by at most 1, replacing one by |v q^T - u p^T|_F <= 2. Two patients can come as
close to 2 as one likes: take Q = e1, v = (a, c) and u = (a, -c) with a small a. Then q = p = 1, and they
differ by 2 c. A plain product v v^T Q has norm |Q^T v|, about sqrt(k/d) at a random Q: the same noise hides
much less of it.

One curator adds the noise, or hospitals add it together by sealed sums: one noise in all. Hospitals that
trust nobody each add it to their own sum, sqrt(N) times as much in all.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import linalg, stacked_rounds
from dppca_core.privacy import Budget


def sensitivity(budget: Budget) -> float:
    """Return the l2 sensitivity of n R; the proof is in the module's text."""
    return 2.0 if budget.neighbours == "replace-one" else 1.0


def noise_factor(trust: str, providers: int) -> float:
    """Return how many times the noise of one curator the sum over hospitals carries.

    Raises ValueError for a trust under which hospitals send no such sums.
    """
    checks.one_of(("central", "secure aggregation", "untrusted server"), trust=trust)
    return math.sqrt(providers) if trust == "untrusted server" else 1.0


def mean_length(k: int) -> float:
    """Return E(chi_k)/k, chi_k being the length of k standard normal numbers.

    It turns the size of a round into the size of the components in the data.
    Where Q spans the k leading directions U, all of eigenvalue lambda, a round is on average close to this
    times U sqrt(lambda/tr Sigma), up to a rotation of its columns.
    """
    return math.sqrt(2) * math.exp(math.lgamma((k + 1) / 2) - math.lgamma(k / 2)) / k


def release(cohort: Cohort, block: Array, std: float, rng: np.random.Generator) -> Array:
    """Return the noisy mean of v q^T, (d, k). This is the only step that reads private rows.

    Args:
        cohort: All hospitals' patients, as rows or drawn from a population.
        block: Q with orthonormal columns, (d, k), from what was released before.
        std: Of each entry of the noise, on the scale of the mean.
        rng: Draws the noise.
    """
    noisy = std * rng.standard_normal(block.shape)
    noisy += cohort.pooled.normalised_product(block)
    return noisy


def release_rounds(
    cohort: Cohort, stds: Sequence[float], start: Array, left_out: int, rng: np.random.Generator
) -> tuple[tuple[Array, ...], list[Array]]:
    """Release rounds one after the other, each from the basis that the rounds before it give.

    It reads private rows once a round.

    Args:
        cohort: All hospitals' patients, as rows or drawn from a population.
        stds: Of each entry of the noise of every round, (T,), on the scale of the mean.
        start: Basis of the first round, (d, k) orthonormal.
        left_out: First rounds that are not stacked (`dppca_core.numerics.stacked_rounds`).
        rng: Draws the noise.

    Returns:
        The bases, T + 1 of (d, k), the first being the start, and the noisy rounds, T of (d, k).
    """
    return follow_rounds(lambda block, std: release(cohort, block, std, rng), stds, start, left_out)


def follow_rounds(
    ask: Callable[[Array, float], Array], stds: Sequence[float], start: Array, left_out: int
) -> tuple[tuple[Array, ...], list[Array]]:
    """Return the bases and the noisy rounds as `release_rounds` does, whoever releases them.

    ask(Q, std) returns one noisy round, (d, k), from the basis Q with noise of this std in each entry: a
    curator's release, or hospitals' answers. The next basis has the k leading directions of all rounds so
    far side by side, without the first `left_out`.
    """
    bases, rounds = [start], list[Array]()
    for std in stds:
        rounds.append(ask(bases[-1], std))
        bases.append(next_basis(rounds, stds, left_out))
    return tuple(bases), rounds


def next_basis(rounds: Sequence[Array], stds: Sequence[float], left_out: int) -> Array:
    """Return the basis, (d, k), that the noisy rounds so far give: post-processing."""
    return linalg.orthonormalise(stacked_rounds.leading(rounds, stds, left_out))
