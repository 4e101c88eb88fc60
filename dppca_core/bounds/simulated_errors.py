"""Predict the error of methods on rows of length 1, in the median of runs, by runs without sample.

For v = x/|x| of Gaussian patients let lambda be the eigenvalues of their covariance, the k spikes first,
lambda~_i = E[v_i^2] and m_ij = E[v_i^2 v_j^2] (`unit_rows`). In one noisy moment, spike i turns towards
direction j by a normal number of variance

    (o^2 + m_ij/n)/(lambda~_i - lambda~_j)^2,                                              (1)

o the noise off the diagonal. These add up to sin^2 Theta, and not only where it is small: of symmetric
Gaussian noise in many dimensions the top eigenvectors lose just that (recalled, Benaych-Georges & Nadakuditi
2011). So an estimate is U sqrt(1 - |E|^2) + E column by column, U the spikes' directions and |E|^2 the sum.

Features. U is uniform on s of the d features, and the bulk prefers none. So every feature's row of E has the
same law, but for what U takes of the s rows. Which rows are the heaviest is simulated with all d. In s_hat
features a bulk keeps its mean, and its spread shrinks by sqrt(s_hat/d).

    one moment        the sum of (1)
    a sparse step     the s_hat heaviest rows of U + E; in these, (1) with the restricted bulk, by the very
                      errors by which they were chosen
    stacked rounds    rounds in the population's eigenbasis (`reduced_rounds.GradedRows`), and sampling, which
                      is k/(E chi_k)^2 times that of a moment: a patient enters a round by a direction alone
    two stages        the s_hat heaviest rows of such rounds with sampling; in these, (1) with the noise of
                      stage 2 and the very errors of sampling by which they were chosen, shrunk at the end

The mean of a round has the eigenvalues lambda/tr Sigma where the trace is far above each, lambda~ where it is
not. Their geometric mean is within 10 % of it (`unit_rows.expected_normalised_product`) as long as the spikes
hold up to half of the trace. The random numbers are the same at every setting.

The medians are those over populations, patients and noise. In a population whose features that matter happen
to be heavier than most, methods that choose features err less.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array, Indices
from dppca_core.mechanisms import normalised_product, stacked, two_stage
from dppca_core.numerics import reduced_rounds, row_shrinkage, unit_rows
from dppca_core.numerics.reduced_rounds import GradedRows, transposed

_FEW, _MANY = 24, 128  # runs where all err alike, and where some miss features that others do not
_FEW_STARTS, _MANY_STARTS = 12, 48  # the same where some keep more of a random start than others
_ALIKE = 3.0  # times the 10 % quantile of sin^2, up to which its 90 % quantile is where all err alike
_LEAST_RUNS = 8
_NUMBERS = 2**16  # entries of all runs' bases together, beyond which runs are fewer
_LEAST_GAP = 1e-12  # between eigenvalues of rows of length 1
_MOST_TURNED = 0.9  # of sin^2 in a column, beyond which (1) says no more
_ROUNDING = 1e-12  # share of a covariance that makes it positive definite


class Sample(NamedTuple):
    """Hold what errors depend on: a population, and how many patients there are.

    Attributes:
        rows: The population's eigenvalues, in any unit.
        d: Features.
        s: Features that matter, on which the spikes' directions lie.
        n: Patients.
    """

    rows: GradedRows
    d: int
    s: int
    n: int

    @property
    def k(self) -> int:
        """Return the number of spikes."""
        return len(self.rows.spikes)

    def restricted(self, s_hat: int, share: float) -> "Sample":
        """Return these patients with s_hat of their features, which hold a share of the spikes' squares."""
        k, bulk = self.k, _restricted_bulk(self.rows.bulk, self.rows.each, s_hat / self.d)
        each = self.rows.each * (s_hat - k) / (self.d - k)
        spikes = tuple(share * spike for spike in self.rows.spikes)
        rows = GradedRows(spikes, bulk, each, sum(spikes) + float(each @ bulk))
        return Sample(rows, s_hat, self.s, self.n)


class Turning(NamedTuple):
    """Hold what turns the eigenvectors of some patients' second moment, as it is without noise.

    Attributes:
        over: lambda~ of the spikes, (k,).
        under: lambda~ of the bulk, (m,).
        sampled: m_ij/n of every pair, (k, m).
        each: How many directions each of the bulk's values stands for, (m,).
    """

    over: Array
    under: Array
    sampled: Array
    each: Array

    def restricted(self, s_hat: int, d: int, share: float) -> "Turning":
        """Return the moment in s_hat of d features, which hold a share of the spikes' squares."""
        under = _restricted_bulk(self.under, self.each, s_hat / d)
        each = self.each * (s_hat - len(self.over)) / (d - len(self.over))
        return Turning(share * self.over, under, share * self.sampled, each)

    @property
    def gaps(self) -> Array:
        """Return lambda~_i - lambda~_j of every pair, (k, m), above 0 where a bulk reaches beyond a spike."""
        gaps: Array = np.maximum(self.over[:, None] - self.under, _LEAST_GAP)
        return gaps

    def turned(self, std: float, sampled: bool = True) -> Array:
        """Return (1) of the module's text for every pair, (k, m); sampled: whether sampling is in it."""
        variances: Array = (std**2 + self.sampled * sampled) / self.gaps**2
        return variances

    def per_entry(self, pairs: Array) -> Array:
        """Return the mean of the pairs' variances over the bulk's directions, (k,)."""
        mean: Array = pairs @ self.each / max(float(self.each.sum()), 1.0)
        return mean


def _turning(sample: Sample) -> Turning:
    """Return what turns the moment of these patients, each scaled to length 1."""
    rows, k = sample.rows, sample.k
    unit = unit_rows.expected_unit_eigenvalues(rows.values, rows.counts)
    pairs = unit_rows.expected_pair_moments(rows.values, k, rows.counts)
    return Turning(unit[:k], unit[k:], pairs / sample.n, rows.each)


def _restricted_bulk(values: Array, counts: Array, part: float) -> Array:
    """Return the eigenvalues of a bulk in some of its coordinates: the same mean, and less spread.

    part: the share of the coordinates that is kept, at whose root the spread is.
    """
    mean = counts @ values / counts.sum()
    restricted: Array = mean + (values - mean) * math.sqrt(part)
    return restricted


def _median_of_sum(variances: Array, counts: Array) -> float:
    """Return the median of a sum of squared normals, each of these variances counted so many times.

    By Wilson & Hilferty (1931), with as many degrees of freedom as chi2 of the same mean and variance has.
    """
    total, spread = float((variances @ counts).sum()), float((variances**2 @ counts).sum())
    freedom = total**2 / spread if spread else math.inf
    return total * max(1 - 2 / (9 * freedom), 0.0) ** 3


@lru_cache(maxsize=2)
def _feature_draws(d: int, s: int, k: int, runs: int) -> tuple[Array, Array]:
    """Return the spikes' directions on s features, (runs, s, k), and normals for all d, (runs, d, 3 k)."""
    rng = np.random.default_rng([3, d, s, k])
    truth = np.linalg.qr(rng.standard_normal((runs, s, k)))[0]
    normals = rng.standard_normal((runs, d, 3 * k))
    truth.flags.writeable = normals.flags.writeable = False
    return truth, normals


class KeptRows(NamedTuple):
    """Hold which rows are kept in every run.

    Attributes:
        truth: U in the rows kept, (runs, s_hat, k).
        rows: The rows kept, (runs, s_hat).
        complete: Whether all rows that matter are kept, (runs,).
    """

    truth: Array
    rows: Indices
    complete: Array

    @property
    def share(self) -> float:
        """Return the median share of the spikes' squares that is kept."""
        shares = np.square(self.truth).sum(axis=(1, 2)) / self.truth.shape[2]
        return float(np.median(shares))

    def taken(self, numbers: Array) -> Array:
        """Return the rows kept of numbers for all rows, (runs, d, j)."""
        taken: Array = np.take_along_axis(numbers, self.rows[:, :, None], axis=1)
        return taken


def _heaviest(truth: Array, block: Array, s_hat: int) -> KeptRows:
    """Return the s_hat heaviest rows of a block, (runs, d, k), whose first s rows are those of the truth."""
    s, weights = truth.shape[1], np.einsum("rdk,rdk->rd", block, block)
    kept = np.argpartition(-weights, s_hat - 1, axis=1)[:, :s_hat]
    matter = kept < s
    part = np.take_along_axis(truth, np.minimum(kept, s - 1)[:, :, None], axis=1) * matter[:, :, None]
    return KeptRows(part, kept, matter.sum(axis=1) == s)


def _estimate(truth: Array, error: Array, turned: Array) -> Array:
    """Return U sqrt(1 - |E|^2) + E in the rows kept, (runs, s_hat, k).

    truth: U. error: normals by (1). turned: sin^2 of every column, (k,).
    """
    error = error - truth @ (transposed(truth) @ error)
    estimate: Array = truth * np.sqrt(1 - np.minimum(turned, _MOST_TURNED)) + error
    return estimate


def _squares(truth: Array, estimate: Array) -> Array:
    """Return sin^2 Theta of the span of the columns of every run's estimate, (runs,)."""
    overlap = transposed(truth) @ np.linalg.qr(estimate)[0]
    squares: Array = np.maximum(truth.shape[2] - np.square(overlap).sum(axis=(1, 2)), 0.0)
    return squares


def _median_of_runs(
    sample: Sample, squares: Callable[[int], tuple[Array, float]], few: int = _FEW, many: int = _MANY
) -> tuple[float, float]:
    """Return the median of sin^2 Theta over runs, and the chance that comes with it.

    squares(runs) simulates this many runs, and returns their squares and a chance. There are `few` where
    these err alike, else `many`.
    """
    limit = max(_NUMBERS // (sample.d * sample.k), _LEAST_RUNS)
    values, chance = squares(min(few, limit))
    low, high = np.quantile(values, [0.1, 0.9])
    if high > _ALIKE * low and limit > few:
        values, chance = squares(min(many, limit))
    return float(np.median(values)), chance


def one_moment(sample: Sample, std: float) -> float:
    """Return sin^2 Theta of the top eigenvectors of one noisy moment, in the median of runs.

    It is the sum of (1) of the module's text, which may exceed that of a guess. std: noise of an entry off
    the diagonal.
    """
    moment = _turning(sample)
    return _median_of_sum(moment.turned(std), moment.each)


def sparse_moment(sample: Sample, std: float, s_hat: int) -> float:
    """Return sin^2 Theta of truncated power iteration on one noisy moment, in the median of runs.

    std: noise of an entry off the diagonal. s_hat: features kept, below d.
    """
    d, k, moment = sample.d, sample.k, _turning(sample)
    # The iteration starts from the eigenvectors of the whole moment, whose heaviest rows it goes on with.
    whole = moment.per_entry(moment.turned(std))

    def squares(runs: int) -> tuple[Array, float]:
        truth, normals = _feature_draws(d, sample.s, k, runs)
        block = normals[:, :, :k] * np.sqrt(whole)
        block[:, : sample.s] += truth
        kept = _heaviest(truth, block, s_hat)
        inside = moment.restricted(s_hat, d, kept.share)
        variances = inside.per_entry(inside.turned(std))
        error = kept.taken(normals[:, :, :k]) * np.sqrt(variances)
        return _squares(kept.truth, _estimate(kept.truth, error, variances * (s_hat - k))), 0.0

    return _median_of_runs(sample, squares)[0]


def _rounds(
    sample: Sample, moment: Turning, stds: tuple[float, ...], left_out: int, runs: int
) -> tuple[Array, Array]:
    """Return the last stack of rounds, (runs, rows, k), and its basis, as `reduced_rounds.stacked` does.

    moment: that of the sample. stds: noise of each entry of every round. left_out: rounds that are not
    stacked. There is no sampling in these rounds.
    """
    rows, k = sample.rows, sample.k
    unit = np.concatenate([moment.over, moment.under])
    means = np.sqrt(unit * rows.values / rows.trace)
    graded = GradedRows(tuple(means[:k].tolist()), means[k:], rows.each, 1.0)
    return reduced_rounds.stacked(graded, stds, 0.0, left_out, graded.draw(len(stds), runs))


def _by_sign(k: int) -> float:
    """Return how many times the variance of a moment by sampling a normalised round has: k/(E chi_k)^2."""
    return 1 / (k * normalised_product.mean_length(k) ** 2)


def stacked_rounds(sample: Sample, std: float) -> float:
    """Return sin^2 Theta of stacked rounds, in the median of runs.

    std: noise of an entry of a round.
    """
    k, moment = sample.k, _turning(sample)

    def squares(runs: int) -> tuple[Array, float]:
        _, basis = _rounds(sample, moment, (std,) * stacked.ROUNDS, stacked.LEFT_OUT, runs)
        return np.square(basis[:, k:]).sum(axis=(1, 2)), 0.0

    private, _ = _median_of_runs(sample, squares, _FEW_STARTS, _MANY_STARTS)
    return private + _by_sign(k) * _median_of_sum(moment.turned(0.0), moment.each)


def two_stages(
    sample: Sample, noise: two_stage.StageNoise, s_hat: int, shrink_n: float
) -> tuple[float, float]:
    """Return sin^2 Theta of two stages, in the median of runs, and the chance that all that matters is kept.

    Args:
        noise: The noise of both stages.
        s_hat: Features kept, below d.
        shrink_n: Patients that shrinking knows of, infinite where their number is protected.

    Returns:
        sin^2 Theta, and the share of runs in which the features kept hold all that matter.
    """
    d, s, k, moment = sample.d, sample.s, sample.k, _turning(sample)
    left_out, std = two_stage.left_out(len(noise.round_stds)), noise.block_std / math.sqrt(2)
    sampled = moment.per_entry(moment.turned(0.0))

    def squares(runs: int) -> tuple[Array, float]:
        leading, _ = _rounds(sample, moment, noise.round_stds, left_out, runs)
        truth, normals = _feature_draws(d, s, k, runs)
        # Stage 1 in features: the spikes' part of the stack turns their directions and the errors of
        # sampling. The bulk's part, and what signs add to sampling, are spread evenly over all features.
        part, others = leading[:, :k], leading[:, k:]
        covariance = transposed(others) @ others / (d - k)
        covariance += transposed(part) @ (part * ((_by_sign(k) - 1) * sampled)[:, None])
        covariance += _ROUNDING * np.trace(covariance, axis1=1, axis2=2)[:, None, None] * np.eye(k)
        root = np.linalg.cholesky(covariance).transpose(0, 2, 1)
        block = normals[:, :, : 2 * k] @ np.concatenate([np.sqrt(sampled)[:, None] * part, root], axis=1)
        block[:, :s] += truth @ part
        kept = _heaviest(truth, block, s_hat)
        # Stage 2, in the moment of these rows.
        inside = _turning(sample.restricted(s_hat, kept.share))
        by_noise, both = (inside.per_entry(inside.turned(std, sampled=counts)) for counts in (False, True))
        error = kept.taken(normals[:, :, :k]) * np.sqrt(both - by_noise)
        error += normals[:, :s_hat, 2 * k :] * np.sqrt(by_noise)
        estimate = _estimate(kept.truth, error, both * (s_hat - k))
        standing_out = np.square(estimate) @ _strength(inside, std, shrink_n)
        weights = row_shrinkage.weights(standing_out, k)
        return _squares(kept.truth, estimate * weights[:, :, None]), float(kept.complete.mean())

    return _median_of_runs(sample, squares)


def _strength(moment: Turning, std: float, n: float) -> Array:
    """Return what a row's squares are multiplied by before it is shrunk (`row_shrinkage`), (k,).

    n: patients that shrinking knows of. Noise pushes the top eigenvalues up and leaves less for the others.
    """
    pushed = (std**2 / moment.gaps) @ moment.each
    left = float(moment.under @ moment.each) - float(pushed.sum())
    values, rest = moment.over + pushed, max(left, 0.0) / max(float(moment.each.sum()), 1.0)
    strength: Array = values**2 / (std**2 + values * rest / n)
    return strength
