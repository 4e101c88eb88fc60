"""Predict the error of a release with a fitted bound from a spectrum, before anything is paid for.

The noise off the diagonal has std s = z b^2/(n sqrt w), w the moment's share, with the f that typical tails
give (`dppca_core.mechanisms.paid_lengths`). The released mean is e off, with std t in each entry, which adds
e e^T to the moment, and d' t^2 to the mean square length of rows: b^2 = f^2 (tr C + d' t^2). To first order
(`dppca_core.bounds.perturbation`)

    sin^2 = sum over i <= k < j of (s^2 + t^4)/(lambda_i - lambda_j)^2.

Few pairs with small gaps make most of it. So the median of runs is below the root mean square: it is that of
a multiple of chi-square with (sum)^2/(sum of squares) degrees of freedom, as by Satterthwaite.

The error is against the table's own components: nothing is added for sampling. What shortening adds is left
out. For standardised rows it is too small wherever the spread of a column is lost in noise: such a column
counts less than it should, or its noise more.
"""

import math

import numpy as np
from scipy.special import chdtri

from dppca_core.arrays import Array
from dppca_core.bounds import perturbation, stated_spectra
from dppca_core.mechanisms.paid_lengths import FittedBound


def fitted_prediction(eigenvalues: Array, k: int, rule: FittedBound, mean_square: float) -> float:
    """Return the median sin Theta to first order, infinite without a gap.

    Args:
        eigenvalues: All of the rows about their mean, in units of the encoded rows, falling, (d,); of the
            correlations where the rule is for standardised rows.
        k: Components.
        rule: The rule of the release, for so many patients and hospitals.
        mean_square: The mean square length of encoded rows about the middles of their ranges. That of rows
            that spread evenly is public: the square of a dictionary's `default_bound`.

    Returns:
        The error against PCA of the same rows without privacy.
    """
    moment_std, mean_std = entry_noise(float(eigenvalues.sum()), rule, mean_square)
    return median_error(eigenvalues[: rule.layout.rank], k, math.hypot(moment_std, mean_std**2))


def entry_noise(trace: float, rule: FittedBound, mean_square: float) -> tuple[float, float]:
    """Return s and t of the module's text: the std of the moment's noise off the diagonal, and of the mean's.

    trace: of the rows' covariance about their mean. rule, mean_square: as for `fitted_prediction`.
    """
    # In units of columns of variance 1 where these are standardised: all as if they had the same variance.
    mean_std = rule.mean_std("mean", rule.mean_bound(np.array([mean_square - rule.layout.categories_square])))
    if rule.standardised:
        mean_std *= math.sqrt(trace / mean_square)
    bound = math.sqrt(rule.relative_square() * (trace + rule.layout.rank * mean_std**2))
    return rule.mean_std("moment", bound) / math.sqrt(2), mean_std


def median_error(eigenvalues: Array, k: int, std: float) -> float:
    """Return the median sin Theta of a moment whose entries off the diagonal have noise of this std.

    eigenvalues: of all directions in which rows lie, falling. It is infinite without a gap.
    """
    if eigenvalues[k - 1] <= eigenvalues[k]:
        return math.inf
    over, under = perturbation.pair_eigenvalues(eigenvalues[:k], eigenvalues[k:])
    squares = perturbation.symmetric_pairs(over, under, std)
    mean = float(squares.sum())
    freedom = mean**2 / float(np.square(squares).sum())
    return math.sqrt(mean * float(chdtri(freedom, 0.5)) / freedom)


def worst_prediction(k: int, rule: FittedBound, mean_square: float) -> float:
    """Return the largest prediction on the three stated spectra of `stated_spectra`.

    All that rows have of length is taken to be about their mean: where they lie off the middles of their
    ranges, noise in the mean is larger beside them, and so is the error.

    The arguments are those of `fitted_prediction`, with a rule for centred rows.

    Returns:
        The error, to first order: where it is above a third of a random guess's, so is the true one.
    """
    return max(
        fitted_prediction(spectrum, k, rule, mean_square)
        for spectrum in spectra_of(rule.layout.rank, k, mean_square)
    )


def spectra_of(rank: int, k: int, mean_square: float) -> list[Array]:
    """Return the eigenvalues of the three stated spectra, (rank,) each, falling, with this sum."""
    bulk = 1 - (np.arange(rank - k) + 0.5) / (rank - k)  # spread evenly from 0 to the top
    spectra = (np.r_[np.sort(at.spikes)[::-1], bulk] for at in stated_spectra.patterns(rank, k))
    return [mean_square * spectrum / spectrum.sum() for spectrum in spectra]
