"""Exact sums of rows, and where they are drawn from, for tests of releases."""

from collections.abc import Sequence

from dppca_core import Budget
from dppca_core.arrays import Part
from dppca_core.release import stages
from dppca_core.release.discrete_gaussian import IntegerSum
from tests.core.accounts.paying import begun


def sum_rows(parts: Sequence[Part], d: int) -> IntegerSum:
    """Return the exact sum of x x^T over all rows of these hospitals, (d, d)."""
    return stages.whole_moments(stages.Source(parts, 1, Budget(1.0, 1e-5), begun()), d)[0]
