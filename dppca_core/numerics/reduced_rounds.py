"""Simulate noisy rounds of block power without patients, at a cost that does not grow with d.

A population with k spikes on s of its d rows, over a flat bulk, has d - s rows that carry noise alone. No
rotation of those rows changes their law. Write their noise in all rounds as N = O B, (d - s, m), O with
orthonormal columns and B upper triangular (Bartlett 1933). A run with B in place of N has the same products
Q^T Q and the same bases on the s rows, and so the same error. A round therefore costs s + m rows, m = k(T+1).

The mean of a plain round is S Q, S = U Lambda U^T + b (I - U U^T) with U uniform on the s rows. The mean of a
round of normalised rows (`unit_rows.expected_normalised_product`) is close to

    E(chi_k)/k S Q (Q^T S Q)^(-1/2)/sqrt(tr S).

A bulk that is not flat has no such reduction. There a round is followed in the population's eigenbasis, where
S is diagonal and U the first k axes. Up to _MOST_VALUES values stand for the bulk, and each counts for as
many directions as share it.

Where only the heaviest rows are kept, those of noise that stay are the heaviest of d - s: each holds
P(chi2_{k+2} > q)/P(chi2_k > q) times more than another, q the level of the lightest row that stays. The draws
are the same at every noise, so what is predicted changes smoothly with a setting.

In the code a draw is one simulated run, and all draws run together along the first axis of the arrays; their
second axis holds the s + m rows, those of the population first. A stack is the noisy rounds so far, side by
side (`stacked_rounds`).
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import bdtrc, chdtrc, chdtri

from dppca_core.arrays import Array
from dppca_core.numerics import linalg

DRAWS = 64  # by which a chance near 1 is estimated
FEW_DRAWS = 16  # enough for a median error, or a chance near 0
_TUNING_DRAWS = 32  # by which numbers of rounds are compared
_COLUMNS = 20  # of a stack, up to which its eigenvectors cost next to nothing
_MOST_KEPT = 2**19  # normals up to which draws are kept for the next call, 4 MB: else they fill memory
DECLARED_ENERGY = 1 / 3  # mean |x|^2 of rows inside a public bound, .2 to .6 for Gaussian rows
_NO_NOISE = 1e-200  # variance of rows of noise where there are none
_STEPS = 6  # of an iteration that starts from the last basis: enough where a stack has clear directions
_MOST_VALUES = 128  # of a bulk that is not flat
MOST_ROUNDS = 15  # among which the best number of rounds is sought


def affordable(most: int, k: int, rounds: int) -> int:
    """Return how many draws to take: `most`, or fewer, but at least four, where a stack has many columns.

    A stack of all rounds has k * rounds columns, and its eigenproblem would cost too much in every draw.
    """
    return max(4, most * _COLUMNS // max(_COLUMNS, k * rounds))


class SpikedRows(NamedTuple):
    """Hold what rounds see of a population.

    Attributes:
        d: Number of features, which are the rows of a basis.
        s: Number of rows on which the spikes' directions lie.
        spikes: The k largest eigenvalues.
        bulk: The one eigenvalue that stands for all others.
        rest: The sum of the others; None for (d - k) times `bulk`.
    """

    d: int
    s: int
    spikes: tuple[float, ...]
    bulk: float
    rest: float | None = None

    @property
    def trace(self) -> float:
        rest = (self.d - len(self.spikes)) * self.bulk if self.rest is None else self.rest
        return sum(self.spikes) + rest

    def product(self, truth: Array, basis: Array) -> Array:
        """Return S Q, the mean of a plain round, for every draw, (draws, rows, k); truth: U, basis: Q.

        S = U Lambda U^T + b (I - U U^T) is not formed; Lambda has the spikes on its diagonal, b is the bulk.
        """
        above = np.array(self.spikes) - self.bulk
        return (truth * above) @ (transposed(truth) @ basis) + self.bulk * basis

    @staticmethod
    def declared(d: int, k: int, s: int, signal: float, energy: float = 1.0) -> "SpikedRows":
        """Return the population with k equal spikes that `signal`, a guess of k lambda_k/tr Sigma, declares.

        energy: its trace. s: where all rows are kept it plays no part, and s = k is the cheapest.
        """
        spike = energy * signal / k
        return SpikedRows(d, s, (spike,) * k, min(energy * (1 - signal) / (d - k), spike))


class GradedRows(NamedTuple):
    """Hold a population in its eigenbasis, in which each row of a round has an eigenvalue of its own.

    Attributes:
        spikes: The k largest eigenvalues, those of the first k rows.
        bulk: Values that stand for all other eigenvalues, (m,), in any order.
        each: How many directions each of these stands for, (m,).
        trace: The sum of all eigenvalues.
    """

    spikes: tuple[float, ...]
    bulk: Array
    each: Array
    trace: float

    @staticmethod
    def reduced(eigenvalues: Array, k: int) -> "GradedRows":
        """Return the population with these eigenvalues, (d,), descending, of which the first k are spikes."""
        others = eigenvalues[k:]
        begins = np.unique(np.linspace(0, len(others), _MOST_VALUES + 1, dtype=int)[:-1])
        each = np.diff([*begins, len(others)]).astype(float)
        bulk = np.add.reduceat(others, begins) / each
        return GradedRows(tuple(eigenvalues[:k].tolist()), bulk, each, float(eigenvalues.sum()))

    @property
    def values(self) -> Array:
        """Return the eigenvalue of every row, (k + m,)."""
        return np.concatenate([self.spikes, self.bulk])

    @property
    def counts(self) -> Array:
        """Return how many directions each row stands for, (k + m,)."""
        return np.concatenate([np.ones(len(self.spikes)), self.each])

    def product(self, truth: Array, basis: Array) -> Array:
        """Return S Q, the mean of a plain round, for every draw, (draws, rows, k); S is diagonal here."""
        return self.values[:, None] * basis

    def draw(self, rounds: int, draws: int) -> "Draws":
        """Return the random numbers of `draws` runs of this many rounds, the same ones each time."""
        k = len(self.spikes)
        noise = _graded_normals(k + len(self.bulk), k, rounds, draws)
        return Draws(np.eye(k + len(self.bulk), k)[None], np.sqrt(self.counts)[:, None] * noise)


class Draws(NamedTuple):
    """Hold the random numbers of simulated runs, for noise of standard deviation 1.

    truth: U, the spikes' directions, (draws, rows, k), or (1, rows, k) where all draws share it. noise: of a
    random start and of T rounds, (T + 1, draws, rows, k). The first s rows are the population's; the others
    stand for the d - s of noise alone.
    """

    truth: Array
    noise: Array

    def after(self, count: int) -> "Draws":
        """Return the draws that follow the first `count`, for a caller that has run those already."""
        return Draws(self.truth[count:], self.noise[:, count:])


def draw(rows: SpikedRows, rounds: int, draws: int) -> Draws:
    """Return the random numbers of `draws` runs of this many rounds, the same ones each time.

    More draws begin with those of fewer, so that a caller can go on from few to many.
    """
    k = len(rows.spikes)
    width = k * (rounds + 1)
    normals = draws * (rows.s + min(rows.d - rows.s, width)) * (k + width)
    # Without the cache, where the draws would fill it.
    make = _draw if normals <= _MOST_KEPT else _draw.__wrapped__
    return make(rows.d, rows.s, k, rounds, draws)


@lru_cache(maxsize=2)  # a map asks for the same draws at hundreds of settings, few and many by turns
def _draw(d: int, s: int, k: int, rounds: int, draws: int) -> Draws:
    """Return the random numbers of `draw`, which does not keep them where they are many.

    B of the module's text stands for the d - s rows of noise where it has fewer rows than these.
    """
    others, width = d - s, k * (rounds + 1)
    height = min(others, width)
    # B's diagonal has a generator of its own, so that more draws begin with those of fewer.
    rng, diagonal = np.random.default_rng([0, d, s, k]), np.random.default_rng([1, others, k])
    # Of each draw k columns give U, the others the noise of the start and of all rounds.
    drawn = rng.standard_normal((draws, s + height, k + width))
    truth = drawn[:, :, :k].copy()
    truth[:, s:] = 0.0
    truth[:, :s] = np.linalg.qr(truth[:, :s])[0]
    noise = drawn[:, :, k:]
    if height == width:  # then B is upper triangular; fewer rows of noise stand for themselves
        triangle, column = noise[:, s:], np.arange(width)
        triangle[:, *np.tril_indices(width, -1)] = 0.0
        triangle[:, column, column] = np.sqrt(diagonal.chisquare(others - column, (draws, width)))
    parts = np.ascontiguousarray(noise.reshape(draws, s + height, rounds + 1, k).transpose(2, 0, 1, 3))
    truth.flags.writeable = parts.flags.writeable = False  # others get the same arrays
    return Draws(truth, parts)


@lru_cache(maxsize=4)
def _graded_normals(rows: int, k: int, rounds: int, draws: int) -> Array:
    """Return the normals of a random start and of all rounds, (T + 1, draws, rows, k), read-only."""
    normals = np.random.default_rng([2, rows, k]).standard_normal((rounds + 1, draws, rows, k))
    normals.flags.writeable = False
    return normals


def transposed(block: Array) -> Array:
    """Return each draw's matrix transposed, (draws, k, rows)."""
    return block.transpose(0, 2, 1)


def _gram(block: Array) -> Array:
    """Return X^T X of each draw's matrix X, (draws, k, k)."""
    return transposed(block) @ block


def _orthonormal(block: Array) -> Array:
    """Return an orthonormal basis of each draw's columns, (draws, rows, k)."""
    values, axes = np.linalg.eigh(_gram(block))
    scales = np.sqrt(np.maximum(values, np.finfo(float).tiny))[:, None, :]
    basis: Array = block @ (linalg.oriented(axes) / scales)
    return basis


def stacked(
    rows: SpikedRows | GradedRows, stds: Sequence[float], sampling: float, left_out: int, draws: Draws
) -> tuple[Array, Array]:
    """Simulate normalised rounds, each from the k leading directions of the stack of those before it.

    Args:
        rows: The population; its eigenvalues may have any unit.
        stds: Noise of each entry of every round, (T,).
        sampling: Variance of an entry of a round by sampling.
        left_out: First rounds that are not stacked (`stacked_rounds`).
        draws: The random numbers, for at least T rounds.

    Returns:
        The last stack projected on its top k right singular vectors, (draws, rows, k), and the orthonormal
        basis of that, of the same shape.
    """
    k, (runs, count) = len(rows.spikes), draws.noise.shape[1:3]
    # The factor E(chi_k)/k / sqrt(tr S) of the module's second formula.
    length = math.sqrt(2) * math.exp(math.lgamma((k + 1) / 2) - math.lgamma(k / 2)) / k  # E(chi_k)/k
    length /= math.sqrt(rows.trace)
    # The stack and its Gram matrix, of which the first `end` columns are filled.
    columns = k * max(len(stds) - left_out, 1)
    stack, gram, end = np.empty((runs, count, columns)), np.empty((runs, columns, columns)), 0
    basis = _orthonormal(draws.noise[0])
    for step, std in enumerate(stds):
        product = rows.product(draws.truth, basis)
        values, axes = np.linalg.eigh(transposed(basis) @ product)
        values = np.maximum(values, np.finfo(float).eps * values[:, -1:])  # which rounding leaves about zero
        # S Q (Q^T S Q)^(-1/2), by the eigenvectors of Q^T S Q.
        mean = length * product @ ((axes / np.sqrt(values)[:, None, :]) @ transposed(axes))
        noisy = mean + math.sqrt(std**2 + sampling) * draws.noise[step + 1]
        # Until a first round is stacked, each round stands alone. They count by their privacy noise alone,
        # as in `stacked_rounds`, which does not know that of sampling.
        begin, end = (end, end + k) if step > left_out else (0, k)
        stack[:, :, begin:end] = noisy / std
        filled = stack[:, :, :end]
        gram[:, :end, begin:end] = transposed(filled) @ filled[:, :, begin:]
        gram[:, begin:end, :begin] = transposed(gram[:, :begin, begin:end])
        # The top k right singular vectors, from those that the last basis gives.
        rotation = transposed(filled) @ basis if begin else np.broadcast_to(np.eye(k), (runs, k, k))
        for _ in range(_STEPS if begin else 0):
            rotation = gram[:, :end, :end] @ rotation
            rotation /= np.abs(rotation).max(axis=(1, 2), keepdims=True)
        rotation = np.linalg.qr(rotation)[0] if begin else rotation
        values, axes = np.linalg.eigh(transposed(rotation) @ gram[:, :end, :end] @ rotation)
        leading = filled @ linalg.oriented(rotation @ axes)
        basis = leading / np.sqrt(values[:, None, :])
    return leading, basis


def squared_errors(draws: Draws, basis: Array) -> Array:
    """Return sin^2 Theta of every draw, (draws,)."""
    k = basis.shape[2]
    errors: Array = k - np.square(transposed(draws.truth) @ basis).sum(axis=(1, 2))
    return np.maximum(errors, 0.0)


class Kept(NamedTuple):
    """Hold how well the heaviest rows of a block name the s rows that matter, over all draws.

    chance: that all s rows are kept. missed: the mean over draws of the sin^2 that rows not kept cost.
    missed_median: its median.
    """

    chance: float
    missed: float
    missed_median: float


class KeptDraws(NamedTuple):
    """Hold, for each draw, the chance that all s rows are kept, and the sin^2 that rows not kept cost.

    Both are (draws,), and expectations over the d - s rows of noise.
    """

    chance: Array
    missed: Array

    def followed_by(self, others: "KeptDraws") -> "KeptDraws":
        return KeptDraws(*map(np.concatenate, zip(self, others, strict=True)))

    def summary(self) -> Kept:
        return Kept(float(self.chance.mean()), float(self.missed.mean()), float(np.median(self.missed)))


def kept_rows(rows: SpikedRows, draws: Draws, leading: Array, s_hat: int) -> KeptDraws:
    """Return how well the s_hat heaviest rows of a block name the population's s rows, draw by draw.

    Args:
        rows: The population.
        draws: The random numbers, of which the truth is used.
        leading: The block, (draws, rows, k), as `stacked` returns it.
        s_hat: Rows kept of all d.
    """
    # |row|^2 over the variance of an entry of noise has the law of chi2_k for a row of noise. The variance is
    # that of the d - s rows, whose squares add up to those of the few rows that stand for them.
    others, k = rows.d - rows.s, len(rows.spikes)
    weights = np.square(leading).sum(axis=2)
    variance = weights[:, rows.s :].sum(axis=1) / max(others * k, 1)
    scaled = weights[:, : rows.s] / np.maximum(variance, _NO_NOISE)[:, None]
    rank = np.argsort(np.argsort(-scaled, axis=1), axis=1)  # among the s rows, 0 for the heaviest
    # A row stays while fewer than `room` rows of noise are heavier, given the s rows that are.
    room = s_hat - 1 - rank
    missing = np.where(room < 0, 1.0, bdtrc(np.clip(room, 0, others), others, chdtrc(k, scaled)))
    # The rows of noise decide together: where the lightest row of the truth stays, all of them do.
    chance = 1 - missing.max(axis=1)
    missed = (missing * np.square(draws.truth[:, : rows.s]).sum(axis=2)).sum(axis=1)
    return KeptDraws(chance, missed)


def level_and_share_kept(rows: SpikedRows, s_hat: int) -> tuple[float, float]:
    """Return the level q of the lightest row of noise kept, and the share of all noise in the rows kept.

    The squared length of a row of noise, over the variance of an entry, has the law of chi2_k, and q is on
    that scale. The rows kept are taken to be the s that matter and s_hat - s of the d - s of noise.
    """
    k, others = len(rows.spikes), rows.d - rows.s
    kept = max(s_hat - rows.s, 0)
    if kept >= others:
        return 0.0, 1.0
    # The lightest of the rows kept lies between the quantiles of its rank and of the next one.
    level = float(chdtri(k, (kept + 0.5) / others))
    return level, float(chdtrc(k + 2, level)) * kept / (kept + 0.5)


def truncated_power(
    rows: SpikedRows, std: float, sampling: float, *, s_hat: int, rounds: int, burn_in: int, draws: Draws
) -> Array:
    """Return sin^2 Theta of every draw after this many plain rounds, each keeping the s_hat heaviest rows.

    Args:
        rows: The population, in the units of the rounds.
        std: Noise of each entry of a round.
        sampling: Variance of an entry of a round by sampling.
        s_hat: Rows kept; d keeps all.
        rounds: T.
        burn_in: First rounds that keep all rows.
        draws: The random numbers, for at least T rounds.

    Returns:
        The squared errors, (draws,).
    """
    k, others = len(rows.spikes), rows.d - rows.s
    level, share = level_and_share_kept(rows, s_hat)
    basis = _orthonormal(draws.noise[0])
    for step in range(rounds):
        noise = math.sqrt(std**2 + sampling) * draws.noise[step + 1]
        basis = _orthonormal(rows.product(draws.truth, basis) + noise)
        if s_hat < rows.d and step >= burn_in:
            # A row of the population stays if it is heavier than the lightest row of noise that is kept. The
            # rows that stand for noise shrink to what the kept ones hold of it.
            variance = np.square(basis[:, rows.s :]).sum(axis=(1, 2)) / (others * k)
            stays = np.square(basis[:, : rows.s]).sum(axis=2) > level * variance[:, None]
            basis[:, : rows.s] *= stays[:, :, None]
            basis[:, rows.s :] *= math.sqrt(share)
            basis = _orthonormal(basis)
    return squared_errors(draws, basis)


def best_rounds(
    rows: SpikedRows, std_of: Callable[[int], float], n: int, *, s_hat: int, burn_in: int = 0
) -> int:
    """Return the number T of plain rounds whose predicted error (root mean square) is the least.

    Few rounds get stuck where the noise is large beside a random start; many rounds pay for each.

    Args:
        rows: The declared population.
        std_of: Returns the noise of each entry of a round, where there are T rounds in all.
        n: Patients.
        s_hat: Rows kept; d keeps all.
        burn_in: First rounds that keep all rows.
    """
    draws = draw(rows, MOST_ROUNDS, _TUNING_DRAWS)
    sampling = rows.spikes[0] * rows.bulk / n  # variance of an entry of a round

    def error(rounds: int) -> float:
        squares = truncated_power(
            rows, std_of(rounds), sampling, s_hat=s_hat, rounds=rounds, burn_in=burn_in, draws=draws
        )
        return float(squares.mean())

    return min(range(1, MOST_ROUNDS + 1), key=error)
