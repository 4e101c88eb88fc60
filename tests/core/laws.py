"""Statistical checks with a stated false-alarm rate: each call errs with probability ALPHA at most.

Seeds are fixed, so a test passes or fails for good; ALPHA says how often a changed random stream would
break a correct program. Every use comes with a planted bug that the same check must reject.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

ALPHA = 1e-6
Z = float(stats.norm.isf(ALPHA / 2))  # 4.89 standard errors


def follows(sample: ArrayLike, law: object) -> bool:
    """Kolmogorov-Smirnov: no evidence at ALPHA against this continuous law."""
    return bool(stats.kstest(sample, law.cdf).pvalue > ALPHA)


def same_law(first: ArrayLike, second: ArrayLike) -> bool:
    """Two-sample Kolmogorov-Smirnov at ALPHA; ties only make it more lenient."""
    return bool(stats.ks_2samp(first, second, method="asymp").pvalue > ALPHA)


def uncorrelated(first: ArrayLike, second: ArrayLike) -> bool:
    """Spearman: no evidence at ALPHA against independence."""
    return bool(stats.spearmanr(first, second).pvalue > ALPHA)


def mean_is(sample: ArrayLike, expected: float, slack: float = 0.0) -> bool:
    """Mean within `slack` plus Z standard errors of `expected`."""
    values = np.asarray(sample, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    return bool(abs(values.mean() - expected) <= slack + Z * error)


def heaviest_share(part: float, k: int) -> float:
    """Return the share of the squares of k spread directions that their heaviest rows hold.

    part: the share of the rows that counts as the heaviest. Squared lengths of rows are like chi2_k, so that
    it is P(chi2_{k+2} > q), q the upper quantile of `part`.
    """
    return float(stats.chi2.sf(stats.chi2.isf(part, k), k + 2))


class HalfTheNoise(np.random.Generator):
    """Draw normal and Laplace variables of half their size: the planted bug of an audit."""

    def standard_normal(self, *args, **kwargs):
        return super().standard_normal(*args, **kwargs) / 2

    def laplace(self, *args, **kwargs):
        return super().laplace(*args, **kwargs) / 2
