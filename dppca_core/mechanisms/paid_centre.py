"""Release a mean that privacy is paid for, to centre rows where they lie, not at the middle of public ranges.

The second moment of rows r, |r| <= 1, that are centred elsewhere is C + m m^T. Where the mean m is large, its
first component is nearly m, and no budget changes that. So a share w of the budget (as 1/z^2) releases

    m~ = mean of r + N(0, (D z/(n sqrt w))^2 I),

D = 2 for replacing a row and 1 for emptying or filling one. Then every row becomes r - m~, shortened to
length 1 again: a function of one patient and of what was released. What follows has the rest, 1 - w, and both
together are one Gaussian release at the budget's multiplier z (`dppca_core.accounting.closed_form`).

The rule for w. The error of m~ adds a component of strength d (D z/n)^2/w = 4 a^2/w, a = z sqrt(d)/n. The
noise of a moment has 2 a/sqrt(1 - w). Their sum is least near w = 2 sqrt a. But the former is one direction
only. On eight clinical tables half as much, w = clip(sqrt a, .05, .25), errs within a tenth of the best share
(docs/checks.md). n is public under replace-one, or declared.
"""

import math

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.numerics import moments
from dppca_core.privacy import Budget, Release

_LEAST_SHARE, _MOST_SHARE = 0.05, 0.25


def sensitivity(budget: Budget) -> float:
    """Return D, how far one row moves the sum of rows no longer than 1; the proof is in the module's text."""
    return 2.0 if budget.neighbours == "replace-one" else 1.0


def share(budget: Budget, *, d: int, n: int) -> float:
    """Return w from public numbers alone, by the rule in the module's text."""
    checks.whole(1, d=d, n=n)
    height = gaussian.noise_multiplier(budget) * math.sqrt(d) / n  # a of the module's text
    return min(max(math.sqrt(height), _LEAST_SHARE), _MOST_SHARE)


def price(budget: Budget, w: float) -> Release:
    """Return what a payment states for the mean: one Gaussian release with a share w of the budget.

    Raises ValueError unless 0 < w < 1.
    """
    checks.inside_unit_interval(share=w)
    return Release(gaussian.noise_multiplier(budget) / math.sqrt(w))


def noise_std(budget: Budget, w: float, n: int) -> float:
    """Return the std of the noise in each entry of m~, for n rows no longer than 1."""
    return sensitivity(budget) * price(budget, w).noise_multiplier / n


def release(rows: Array, budget: Budget, w: float, rng: np.random.Generator, *, part: float = 1.0) -> Array:
    """Return m~, (d,), of rows no longer than 1, (n, d). This is the only step here that reads private rows.

    w: the share of the budget that pays for it. part: the part of the noise's std that is added here, below 1
    where others add the rest of one noise to a sum that alone is seen.
    """
    n, d = rows.shape
    mean: Array = rows.mean(axis=0)
    return mean + part * noise_std(budget, w, n) * rng.standard_normal(d)


def centred(rows: Array, mean: Array, neighbours: str = "replace-one") -> Array:
    """Return rows, (n, d), less a released mean, (d,), shortened to length 1 where they are longer.

    Under add-remove, where neighbours differ by a row that is empty (zeros) in one of them, an empty row
    stays empty. If it became -mean, the second moment would move by up to sqrt 2, and only 1 is paid for.
    """
    moved = moments.clip_rows(rows - mean, 1.0) if len(rows) else rows
    return empty_rows_kept(moved, rows) if neighbours == "add-remove" else moved


def empty_rows_kept(moved: Array, rows: Array) -> Array:
    """Return the rows `moved`, (n, d), but zeros wherever a row of `rows`, before the move, was all zeros."""
    return np.where(rows.any(axis=1, keepdims=True), moved, 0.0)
