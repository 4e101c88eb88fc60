"""A noisy second moment for real patients: exact integer sums, and noise by OpenDP's discrete Gaussian.

A Gaussian drawn in floating point, added to a sum in floating point, is not private to the letter: last
digits tell which sums are possible (Mironov 2012; Casacuberta et al. 2022). Here nothing is rounded after
the data were touched:

1. each entry of a clipped row, |x| <= 1, is rounded towards zero to a multiple of 2^-b, so |x| <= 1 still;
2. sums of products are integers in units of 4^-b, below 2^53, which double precision adds without error;
3. OpenDP adds discrete Gaussian noise, drawn from the operating system's entropy, to these integers.

Replacing a row moves the sum by |xx^T - yy^T|_F <= sqrt 2, adding or removing one by |x|^2 <= 1
(`dppca_core.mechanisms.symmetric_gaussian`). Diagonal entries get noise of std s, those above it s/sqrt 2,
and are mirrored:

    sum_i D_ii^2 / s^2 + sum_{i<j} D_ij^2 / (s^2/2) = |D|_F^2 / s^2,

so both draws together are one Gaussian release with sensitivity/std = |D|_F/s, the isotropic noise of
`linalg.isotropic_noise`. s is calibrated for the continuous Gaussian (Balle & Wang 2018). The discrete one
has its zero-concentrated guarantee exactly (Canonne, Kamath & Steinke 2020), and its privacy curve up to
terms of e^(-2 pi^2 s^2 16^b), zero in any arithmetic: s 4^b is at least 64 wherever `release` answers.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget

if TYPE_CHECKING:
    import opendp.prelude as dp

ACCOUNTINGS = ("exact", "zcdp")  # for real patients; the constants that papers print may spend more
MOST_FEATURES = 400  # drawing a larger matrix takes many seconds
_EXACT_BITS = 53  # bits of an integer that double precision holds
_MOST_BITS = 20  # of b; entries are rounded to multiples of 2^-b
_LEAST_BITS = 8
_PIECE = 2_000  # entries drawn between two reports of progress

Progress = Callable[[float], bool]


class StoppedError(Exception):
    """Say that the person cancelled while noise was drawn: nothing was shown, what was paid stays paid."""


class IntegerSum(NamedTuple):
    """Hold sum x x^T of n rows rounded to multiples of 2^-bits, (d, d), in whole units of 4^-bits."""

    n: int
    bits: int
    total: Array


def bits_for(n: int) -> int:
    """Return b, the number of binary digits to which entries of n rows are rounded: the largest up to 20 with

        n 4^b <= 2^53,

    so that double precision adds n products of two entries exactly. Raises ValueError for more than 2^37
    rows, which would leave fewer than 8 digits.
    """
    # The bit length of n - 1 is the least m with n <= 2^m.
    checks.whole(1, 2 ** (_EXACT_BITS - 2 * _LEAST_BITS), n=n)
    return min((_EXACT_BITS - (n - 1).bit_length()) // 2, _MOST_BITS)


class Adder:
    """Add up an `IntegerSum` of d columns block by block, without keeping the rows. Reads private rows.

    bits: of the rounding, `bits_for` as many rows as may come.
    """

    def __init__(self, d: int, bits: int) -> None:
        self._n, self._bits, self._total = 0.0, bits, np.zeros((d, d))

    def add(self, rows: Array, weights: Array | float = 1.0) -> None:
        """Add clipped rows, (m, d).

        weights: each row is multiplied by its own, (m, 1) and at most 1, before it is rounded. It then counts
        as its squared weight. Where these add up to n, no entry of the sum, nor of a part of it, is above
        n 4^bits, by Cauchy and Schwarz: so `bits_for` n leave room for any number of rows.

        Raises ValueError for rows longer than 1, other columns, or more rows than fit.
        """
        if rows.ndim != 2 or rows.shape[1] != len(self._total):
            raise ValueError(f"rows must have {len(self._total)} columns, got shape {rows.shape}")
        check_clipped(rows)
        whole = np.trunc(rows * weights * 2.0**self._bits)
        n = float(np.broadcast_to(np.square(weights), (len(rows), 1)).sum())  # how much room they take
        if (self._n + n) * 4**self._bits > 2**_EXACT_BITS:
            raise ValueError("a sum must have room for all its rows")
        self._total += whole.T @ whole
        self._n += n

    @property
    def sum(self) -> IntegerSum:
        """Return the sum so far; its n is that of the squared weights, rounded."""
        return IntegerSum(round(self._n), self._bits, self._total)


def check_clipped(rows: Array) -> None:
    """Raise ValueError for rows, (m, d), that are longer than 1 or hold what is no number."""
    lengths = np.einsum("ij,ij->i", rows, rows)
    if not (lengths <= 1 + 1e-12).all():  # squared, up to rounding; NaN fails as well
        raise ValueError("rows must be clipped to norm 1 beforehand")


def noise_std(d: int, bits: int, budget: Budget, share: float = 1.0) -> float:
    """Return the std of the noise of a diagonal entry of sum x x^T, (d, d), in units of 4^-bits.

    bits: entries of rows are rounded to multiples of 2^-bits. share: what this release takes of the budget,
    measured in 1/z^2, z the noise multiplier. No rows are needed, so callers ask before they pay. Raises
    ValueError for more than 400 features, accounting as printed, whose noise is not exact, and noise beyond
    what 64-bit integers hold.
    """
    checks.whole(1, MOST_FEATURES, features=d)
    checks.one_of(ACCOUNTINGS, accounting=budget.accounting)
    return check_std(symmetric_gaussian.sum_noise_std(budget) / math.sqrt(share) * 4.0**bits, budget)


def check_std(std: float, budget: Budget) -> float:
    """Return the std of integer noise unchanged if it can be drawn, or else raise ValueError.

    Below 64 the discrete Gaussian is not close enough to the continuous one, for which noise is calibrated
    (the module's text); above 2^56 noise of more than a hundred stds would overflow 64-bit integers.
    """
    if not 2.0**6 <= std <= 2.0**56:
        raise ValueError(f"epsilon = {budget.epsilon:g} asks for noise outside of what integers can hold")
    return std


def release(
    summed: IntegerSum, budget: Budget, progress: Progress = lambda share: True, *, share: float = 1.0
) -> Array:
    """Return the noisy second moment, (d, d) symmetric: the mean of x x^T over the n rows that were summed.

    This is the only step that releases private rows. progress: is told the share of entries drawn, and
    answers whether to go on. share: of the budget, as for `noise_std`. Raises StoppedError where progress
    says no, and ValueError as `noise_std`.
    """
    d, unit = len(summed.total), 4.0**summed.bits
    std = noise_std(d, summed.bits, budget, share)
    rows, columns = np.triu_indices(d)
    diagonal = rows == columns
    noisy = np.empty(len(rows))
    whole = summed.total[rows, columns]
    done = 0

    def report(piece: int) -> bool:
        nonlocal done
        done += piece
        return progress(done / len(rows))

    # One draw has one std, so the diagonal and the entries above it are drawn apart.
    for chosen, entry_std in ((diagonal, std), (~diagonal, std / math.sqrt(2))):
        noisy[chosen] = add_noise(whole[chosen], entry_std, report)
    mean = np.zeros((d, d))
    mean[rows, columns] = noisy / (unit * summed.n)
    mean[columns, rows] = mean[rows, columns]
    return mean


def add_noise(whole: Array, std: float, keep_drawing: Callable[[int], bool] = lambda drawn: True) -> Array:
    """Return whole numbers, (m,), plus discrete Gaussian noise of this std, which `check_std` has accepted.

    keep_drawing: is told how many entries were drawn since the last call, and answers whether to draw more.
    Raises StoppedError where it says no.
    """
    measure, noisy = _measurement(std), np.empty(len(whole))
    for begin in range(0, len(whole), _PIECE):
        piece = whole[begin : begin + _PIECE]
        noisy[begin : begin + _PIECE] = measure([int(entry) for entry in piece])
        if not keep_drawing(len(piece)):
            raise StoppedError
    return noisy


def _measurement(std: float) -> "dp.Measurement":
    """Return OpenDP's vector Gaussian on integers: each entry gets discrete Gaussian noise of this std."""
    import opendp.prelude as dp  # here: slow to load, and needed at a release only

    dp.enable_features("contrib")  # OpenDP refuses to construct the Gaussian otherwise
    # The vectors that it takes, and by which norm two of them are told apart.
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=std)
