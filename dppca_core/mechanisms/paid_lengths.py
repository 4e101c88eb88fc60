"""Fit the bound of rows to their lengths: mean squares, a mean and two tails are paid for, then the moment.

The noise of a second moment grows with the square of the length at which rows are shortened. A public length,
such as that of rows that spread evenly, has little to do with rows about their mean. So four Gaussian
releases follow one another. Rows x are encoded, about the middles of their ranges (`Layout`): N numbers in
[-1, 1], and K columns of categories, each of c indicators less 1/max(c, 2).

    step       released of n patients                            sensitivity           share of 1/z^2
    squares    mean of x_j^2 over the numbers                    sqrt N                .02 or .05
    mean       mean of x shortened to b_m                        min(2 b_m, D)         c sqrt a in [.02, .3]
    tails      mean of min((X - 1.3)+, 1) and min((X - 2)+, 1)   sqrt 2                .02
    moment     mean of y y^T, y shortened to b                   sqrt 2 b^2            the rest

Second numbers are those of standardised rows; c = 1 or 1.5. a = z sqrt(d')/n is half the height of a moment's
noise for rows of length 1, d' = d less one direction for each column of categories of which every patient has
exactly one: its indicators add up to a constant. m is the released mean. y = (x - m)/s, with s = 1, or the
scales that squares and mean give: for a number its mean square less m^2; for an indicator p (1 - p), p the
released share of patients who have it. T is the mean of |y|^2 by the same two releases, X = |y|^2/T.
b_m = 1.05 sqrt(mean |x|^2), where a column of categories adds at most 1 - 1/c, or 1/4 for a single one.

A patient who is left out for a missing cell is an empty row, zeros, and still one of the n. Where there may
be such, the mean step also sums w for each other row, the count weight, and tells which share of the n they
are: all three means are divided by it, and so is the moment, so that they are of rows that are there.

Proof. Table of n patients, one replaced.
1. The squares of one row lie in [0, 1]^N, whose diameter is sqrt N.
2. Two rows shortened to b_m differ by at most 2 b_m. Two encoded rows differ by at most 2 in each number, and
   in the indicators of a column by a difference of two unit vectors, or one of them and 0: by sqrt 2 at most.
   So by D = sqrt(4 N + 2 K) at most, and where D <= 2 b_m they are not shortened. An empty row is zeros, and
   is at most b_m or |x| <= sqrt(N + K) <= D away. So the count is free: with w^2 = s^2 - r^2, s the
   sensitivity and r the most that |x| can be, (x, w) and 0 differ by s at most, and w alike in two rows.
3. The two tails lie in [0, 1]^2, whose diameter is sqrt 2.
4. |y y^T - u u^T|_F^2 = |y|^4 + |u|^4 - 2 (y.u)^2 <= 2 b^4.
5. b_m, m, s, T, b and all shares are functions of the dictionary, of n, and of what earlier steps released.
   What a step sums is a function of one patient and of these. So each step, given the earlier ones, is a
   Gaussian release with (sensitivity/std)^2 = share/z^2. Shares add up to 1, and adaptive Gaussian releases
   compose exactly (`dppca_core.accounting.closed_form`): all four are one Gaussian release with multiplier z.
   What is done with the noisy numbers afterwards is free.

A patient with several rows adds their average in each step. It lies in the convex hull of what single rows
add, which has the same diameter (1 to 3). A mean A of matrices y y^T is positive semidefinite with trace at
most b^2, so |A - B|^2 = |A|^2 + |B|^2 - 2 tr AB <= 2 b^4. A patient whose rows were merged has one row. Where
a patient is added or removed, sums move by at most the length of what one adds: sqrt N, min(b_m, the longest
row), sqrt 2, b^2; an empty row stays empty, and n is declared. There w is half of that, and the count makes
the noise of the mean sqrt(5/4) times as large. Hospitals that trust nobody each add the whole
noise to their own sums: each is private by itself, and rules reckon with sqrt(hospitals) times the noise.
Sealed sums are as one hospital's.

The rule for b = f sqrt T. Shortening at f^2 takes away E(X - f^2)+ of the mean square length, which is bias,
and leaves noise 2 a f^2 high. f makes the former kappa a f^2. kappa = 1.5 (4 for standardised rows) at a =
.006, times (a/.006)^.4 within .75 and 2.2. Above X = 1.3 lengths are taken as exponential, with the two
released tails; below, as normal about 1 and continuous there. The tails are first drawn towards those of
typical tables, .05 (std .05) and .005 (std .02), by their known noise: a small table uses the typical ones.
These numbers were chosen on fifteen real tables; docs/fitted-bound.md has ten others.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.mechanisms import paid_centre, paid_scale
from dppca_core.numerics import linalg, moments
from dppca_core.privacy import Budget, Release

STEPS = ("squares", "mean", "tails", "moment")
TYPICAL_TAILS = (0.05, 0.005)
_TAIL_SPREADS = (0.05, 0.02)  # of real tables, about the typical tails
_TAIL_STARTS = (1.3, 2.0)
_LEAST_MEAN_SHARE, _MOST_MEAN_SHARE = 0.02, 0.3
_TAILS_SHARE = 0.02
_MEAN_REACH = 1.05  # b_m in root mean square lengths
_TYPICAL_HEIGHT = 0.006  # a at which kappa is stated
_LEAST_SQUARE, _MOST_SQUARE = 0.25, 25.0  # of f
_LEAST_TRACE = 0.05  # of T, of the mean square length about the middles: noise may leave less than nothing
_LEAST_USABLE = 0.1  # share of the patients: noise may leave less
_ROUNDING = 1e-8  # above what 10^8 rows of one patient are rounded by, each to a multiple of 2^-40
_ENCODED = 1e-9  # by which indicators are rounded when they are encoded
_FLOOR = 0.7  # of the largest of d noises: the least square that a scale can have


class _Rule(NamedTuple):
    """Hold what differs between centred and standardised rows."""

    squares_share: float
    mean_factor: float  # c of the module's text
    kappa: float


_CENTRED, _STANDARDISED = _Rule(0.02, 1.0, 1.5), _Rule(0.05, 1.5, 4.0)


@dataclass(frozen=True, eq=False)
class Layout:
    """Say what encoded columns are. It is public.

    numbers: True for columns that are numbers, (d,). blocks: where the indicators of each column of
    categories are. answered: for each of these, whether every patient has exactly one of its categories.
    middle: the middles of ranges, (d,), in units of the encoded rows: not 0 where a usual value is encoded as
    0. complete: whether no patient is left out, so that no row is empty.
    """

    numbers: NDArray[np.bool_]
    blocks: tuple[slice, ...]
    answered: tuple[bool, ...]
    middle: Array
    complete: bool = True

    @staticmethod
    def of_columns(
        sizes: Sequence[int], answered: Sequence[bool], middle: Array, complete: bool = True
    ) -> "Layout":
        """Return the layout of columns in their order. sizes: 0 for a number, else its categories' number.

        answered: for each column, as above; not read for numbers. complete: as above.
        """
        widths = [max(size, 1) for size in sizes]
        ends = np.cumsum(widths)
        category = [i for i, size in enumerate(sizes) if size]
        return Layout(
            np.repeat(np.equal(sizes, 0), widths),
            tuple(slice(int(ends[i]) - sizes[i], int(ends[i])) for i in category),
            tuple(sizes[i] > 1 and answered[i] for i in category),
            middle,
            complete,
        )

    @staticmethod
    def of_numbers(d: int) -> "Layout":
        """Return the layout of d numbers, each in [-1, 1] by its public range."""
        return Layout.of_columns((0,) * d, (True,) * d, np.zeros(d))

    @property
    def d(self) -> int:
        """Return the number of encoded columns."""
        return len(self.numbers)

    @cached_property
    def count(self) -> int:
        """Return N, the number of numbers."""
        return int(self.numbers.sum())

    @cached_property
    def rank(self) -> int:
        """Return d' of the module's text: in how many directions rows can lie."""
        return self.d - sum(self.answered)

    @cached_property
    def categories_square(self) -> float:
        """Return the most that columns of categories add to the squared length of a row about the middles."""
        sizes = [block.stop - block.start for block in self.blocks]
        return math.fsum(1 - 1 / c if c > 1 else 1 / 4 for c in sizes)

    @cached_property
    def longest(self) -> float:
        """Return the length that no row about the middles exceeds."""
        return math.sqrt(self.count + self.categories_square)

    @cached_property
    def diameter(self) -> float:
        """Return D of the module's text."""
        return math.sqrt(4 * self.count + 2 * len(self.blocks))

    @cached_property
    def shares_of_none(self) -> Array:
        """Return what each indicator lost when it was encoded, (d,): 1/max(c, 2), and 0 for numbers."""
        lost = np.zeros(self.d)
        for block in self.blocks:
            lost[block] = 1 / max(block.stop - block.start, 2)
        return lost

    def check(self, rows: Array) -> None:
        """Raise ValueError for encoded rows, (m, d), whose indicators are not of one category at most.

        The diameter is proved for these. Numbers may be any finite ones, as they are cut to their ranges.
        """
        shares = rows[rows.any(axis=1)] - self.middle + self.shares_of_none
        for block in self.blocks:
            mine = shares[:, block]
            if not ((mine >= -_ENCODED).all() and (mine.sum(axis=1) <= 1 + _ENCODED).all()):
                raise ValueError("rows must be encoded as their layout says")
        if not np.isfinite(rows).all():
            raise ValueError("rows must be finite numbers")

    def empty_directions(self, divisors: Array) -> Array:
        """Return the directions in which no row lies about its mean, (d, how many), orthonormal.

        divisors: what columns were divided by, (d,). The indicators of an answered column add up to 1, so
        rows about their mean are orthogonal to its divisors.
        """
        full = [block for block, answered in zip(self.blocks, self.answered, strict=True) if answered]
        directions = np.zeros((self.d, len(full)))
        for column, block in enumerate(full):
            directions[block, column] = divisors[block] / np.linalg.norm(divisors[block])
        return directions


class RowFrame(NamedTuple):
    """Hold where rows lie and how they are scaled, as squares and mean tell.

    mean: m about the middles, (d,). divisors: s, (d,). variances: of the columns of y, (d,), as released, so
    that one may be negative. stds: of the noise in these, (d,). mean_square: T, of |y|^2. usable: the share
    of the patients whose rows are there.
    """

    mean: Array
    divisors: Array
    variances: Array
    stds: Array
    mean_square: float
    usable: float = 1.0


@dataclass(frozen=True, eq=False)
class FittedBound:
    """Hold what the rules of the module's text depend on before anything is released. It is public.

    layout: of the encoded rows. n: patients; declared, under add-remove. standardised: whether columns are
    divided by scales. hospitals: how many add the whole noise, each to its own sums. averaged: whether a
    patient's rows are rounded one by one before they are averaged, so that their mean stays in a ball, but
    maybe not within D of others.

    What a step sums over patients is a method of its name, of rows and of what earlier steps gave.
    """

    layout: Layout
    budget: Budget
    n: int
    standardised: bool = False
    hospitals: int = 1
    averaged: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for numbers that cannot be, and for noise as printed: its shares do not add up."""
        checks.whole(1, n=self.n, hospitals=self.hospitals)
        checks.one_of(("exact", "zcdp"), accounting=self.budget.accounting)

    @property
    def _rule(self) -> _Rule:
        return _STANDARDISED if self.standardised else _CENTRED

    @cached_property
    def _multiplier(self) -> float:
        """Return the multiplier of all noise together: z, sqrt(hospitals) times."""
        return gaussian.noise_multiplier(self.budget) * math.sqrt(self.hospitals)

    @cached_property
    def height(self) -> float:
        """Return a of the module's text; where a patient is added or removed, that noise is sqrt 2 less."""
        removed = self.budget.neighbours == "add-remove"
        return self._multiplier * math.sqrt(self.layout.rank) / self.n / (math.sqrt(2) if removed else 1.0)

    @cached_property
    def shares(self) -> dict[str, float]:
        """Return the share of the budget, as 1/z^2, that pays for each step; they add up to 1."""
        squares = self._rule.squares_share if self.layout.count else 0.0
        mean = self._rule.mean_factor * math.sqrt(self.height)
        mean = min(max(mean, _LEAST_MEAN_SHARE), _MOST_MEAN_SHARE)
        rest = 1 - squares - mean - _TAILS_SHARE
        return {"squares": squares, "mean": mean, "tails": _TAILS_SHARE, "moment": rest}

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """Return the steps that are paid for, in their order: without numbers there are no squares."""
        return tuple(step for step in STEPS if self.shares[step])

    def price(self, step: str) -> Release:
        """Return what a payment states for a step: one Gaussian release with its share of the budget."""
        return paid_centre.price(self.budget, self.shares[step])

    @property
    def events(self) -> tuple[Release, ...]:
        return tuple(map(self.price, self.steps))

    def sensitivity(self, step: str, bound: float = 0.0) -> float:
        """Return how far one patient moves a step's sum, by the proof in the module's text.

        bound: b_m for the mean and b for the moment. Raises ValueError for an unknown step.
        """
        checks.one_of(STEPS, step=step)
        replaced = self.budget.neighbours == "replace-one"
        if step == "squares":
            return math.sqrt(self.layout.count)
        if step == "mean":
            if not replaced:
                ends = math.hypot(self._reach(bound), self.count_weight(bound))
            else:
                ends = 2 * bound if self._shortens(bound) else self.layout.diameter
            # Rows that are averaged are rounded one by one, so that their counts differ by next to nothing.
            return ends if self.layout.complete else ends * (1 + _ROUNDING)
        if step == "tails":
            return math.sqrt(2)
        return (math.sqrt(2) if replaced else 1.0) * bound**2

    def sum_std(self, step: str, bound: float = 0.0) -> float:
        """Return the std of the noise that each hospital adds to every entry of a step's sum.

        Of the moment's symmetric noise it is that of a diagonal entry. bound: as for `sensitivity`.
        """
        return self.sensitivity(step, bound) * self.price(step).noise_multiplier

    def mean_std(self, step: str, bound: float = 0.0) -> float:
        """Return the std of all noise in every entry of a step's mean over n patients."""
        if step == "squares" and not self.layout.count:
            return 0.0
        return self.sum_std(step, bound) * math.sqrt(self.hospitals) / self.n

    def _shortens(self, bound: float) -> bool:
        """Return whether rows of the mean's sum are shortened to b_m: where all are within, they are not."""
        if self.budget.neighbours == "replace-one":
            return self.averaged or self.layout.diameter > 2 * bound
        return self.layout.longest > bound

    def _reach(self, bound: float) -> float:
        """Return the most that a row in the mean's sum can be long. bound: b_m."""
        return bound if self._shortens(bound) else self.layout.longest

    def count_weight(self, bound: float) -> float:
        """Return w of the module's text, 0 where no row is empty. bound: b_m."""
        if self.layout.complete:
            return 0.0
        reach = self._reach(bound)
        if self.budget.neighbours == "add-remove":
            return reach / 2
        ends = 2 * bound if self._shortens(bound) else self.layout.diameter
        return math.sqrt(ends**2 - reach**2)

    def about_middle(self, rows: Array) -> Array:
        """Return encoded rows, (m, d), about the middles of their ranges, to which numbers are cut."""
        moved = rows - self.layout.middle
        ends = np.where(self.layout.numbers, 1.0, np.inf)
        np.clip(moved, -ends, ends, out=moved)
        return paid_centre.empty_rows_kept(moved, rows)

    def squares(self, rows: Array) -> Array:
        """Return what rows, (m, d), add to the sum of squares, (m, N)."""
        return np.square(self.about_middle(rows)[:, self.layout.numbers])

    def mean_bound(self, squares: Array) -> float:
        """Return b_m from the released mean squares, (N,). No row is read."""
        square = max(float(squares.sum()), 0.0) + self.layout.categories_square
        # Noise may leave nothing of numbers: b_m is at least what one number in the middle third has.
        return _MEAN_REACH * math.sqrt(max(square, 1 / 9))

    def mean(self, rows: Array, bound: float) -> Array:
        """Return what rows, (m, d), add to the sum that the mean is of, (m, d) or, with counts, (m, d + 1).

        bound: b_m.
        """
        moved = self.about_middle(rows)
        if self._shortens(bound):
            moved = moments.clip_rows(moved, bound) * bound if len(moved) else moved
        if self.layout.complete:
            return moved
        return np.hstack([moved, self.count_weight(bound) * rows.any(axis=1, keepdims=True)])

    def frame(self, squares: Array, mean: Array) -> RowFrame:
        """Return where rows lie and how they are scaled. No row is read.

        squares: released mean squares, (N,). mean: as released about the middles, (d,) or (d + 1,).
        """
        layout, numbers = self.layout, self.layout.numbers
        mean_bound, usable = self.mean_bound(squares), 1.0
        if not layout.complete:
            usable = min(max(float(mean[-1]) / self.count_weight(mean_bound), _LEAST_USABLE), 1.0)
        # From here on all is of the rows that are there.
        squares, mean = squares / usable, mean[: layout.d] / usable
        std = self.mean_std("mean", mean_bound) / usable
        # m^2 is std^2 too large on average, so both variances are unbiased.
        share = mean + layout.shares_of_none
        variances = share * (1 - share) + std**2
        variances[numbers] = squares - mean[numbers] ** 2 + std**2
        # To first order in the mean's noise, and its second order, sqrt 2 std^2.
        stds = np.hypot((1 - 2 * share) * std, math.sqrt(2) * std**2)
        of_squares = self.mean_std("squares") / usable
        stds[numbers] = np.sqrt(of_squares**2 + (2 * mean[numbers] * std) ** 2 + 2 * std**4)
        divisors = np.ones(layout.d)
        if self.standardised:
            divisors = scales(variances, stds)
        variances, stds = variances / divisors**2, stds / divisors**2
        # Rows are centred at a noisy mean, which is std off in every column.
        mean_square = float(variances.sum() + np.sum(std**2 / divisors**2))
        about_middle = float(squares.sum()) + layout.categories_square
        least = _LEAST_TRACE * (layout.rank if self.standardised else max(about_middle, 1 / 9))
        return RowFrame(mean, divisors, variances, stds, max(mean_square, least), usable)

    def framed(self, rows: Array, frame: RowFrame) -> Array:
        """Return rows y, (m, d), about the released mean and divided by the scales; empty rows stay empty."""
        moved = (self.about_middle(rows) - frame.mean) / frame.divisors
        return paid_centre.empty_rows_kept(moved, rows)

    def tails(self, rows: Array, frame: RowFrame) -> Array:
        """Return what rows, (m, d), add to the two tails of lengths, (m, 2)."""
        square = np.zeros(len(rows))
        # Column by column: a sum over a row could depend on where the row stands, to the last bit.
        for column in self.framed(rows, frame).T:
            square += column**2
        beyond: Array = np.clip(square[:, None] / frame.mean_square - _TAIL_STARTS, 0.0, 1.0)
        return beyond

    def bound(self, tails: Sequence[float] | Array, frame: RowFrame) -> float:
        """Return b from the released mean tails. No row is read."""
        return math.sqrt(self.relative_square(tails, frame.usable) * frame.mean_square)

    def relative_square(self, tails: Sequence[float] | Array = TYPICAL_TAILS, usable: float = 1.0) -> float:
        """Return f^2, the square of b over T, from mean tails: by default those of typical tables.

        usable: the share of the n patients whose rows are there.
        """
        std, height = self.mean_std("tails") / usable, self.height / usable
        first, second = (
            (tail / usable * spread**2 + typical * std**2) / (spread**2 + std**2)
            for tail, typical, spread in zip(tails, TYPICAL_TAILS, _TAIL_SPREADS, strict=True)
        )
        factor = min(max((height / _TYPICAL_HEIGHT) ** 0.4, 0.75), 2.2)
        return _balanced_square(first, second, self._rule.kappa * factor * height)

    def fitted(self, rows: Array, frame: RowFrame, bound: float) -> Array:
        """Return rows whose moment is released, (m, d), no longer than 1: y shortened to b, over b."""
        moved = self.framed(rows, frame)
        return moments.clip_rows(moved, bound) if len(moved) else moved

    def released_frame(self, released: Mapping[str, Array]) -> RowFrame:
        """Return the frame that squares and mean give, as released. No row is read."""
        return self.frame(released.get("squares", np.zeros(0)), released["mean"])

    def noisy_sum(
        self,
        step: str,
        rows: Array,
        released: Mapping[str, Array],
        rng: np.random.Generator,
        *,
        part: float = 1.0,
        weights: Array | None = None,
    ) -> Array:
        """Return a step's sum over patients with its noise. This is the only step that reads private rows.

        The moment's sum, (d, d), is of rows divided by b; other steps give vectors.

        rows: encoded, (m, d). released: the noisy means of the steps before, by name. part: of the noise's
        std, how much is added here, as for `paid_centre.release`. weights: of each row in its patient, (m,);
        None: each row is a patient.
        """
        if step == "moment":
            frame = self.released_frame(released)
            short = self.fitted(rows, frame, self.bound(released["tails"], frame))
            weighted = short if weights is None else short * weights[:, None]
            noise = linalg.isotropic_noise(self.layout.d, part * self.sum_std(step, 1.0), rng)
            return np.asarray(weighted.T @ short + noise)
        bound = 0.0
        if step == "squares":
            added = self.squares(rows)
        elif step == "mean":
            bound = self.mean_bound(released.get("squares", np.zeros(0)))
            added = self.mean(rows, bound)
        else:
            added = self.tails(rows, self.released_frame(released))
        total = added.sum(axis=0) if weights is None else weights @ added
        return np.asarray(total + part * self.sum_std(step, bound) * rng.standard_normal(added.shape[1]))

    def after(self, moment: Array, frame: RowFrame, bound: float) -> tuple[Array, Array]:
        """Return a released moment of y, (d, d), after what is free: rescaled, without empty directions.

        Also returns what columns about the mean were divided by in all, (d,).
        """
        divisors, moment = frame.divisors, moment / frame.usable
        if self.standardised:
            std = self.mean_std("moment", bound) / frame.usable
            moment, roots = paid_scale.rescaled(moment, std, frame.variances, frame.stds)
            divisors = divisors * roots
        return linalg.without_directions(moment, self.layout.empty_directions(divisors)), divisors


def scales(variances: Array, stds: Array) -> Array:
    """Return by what columns are divided, (d,): roots of released variances with a floor by their noise.

    stds: of the noise in each variance, (d,).
    """
    floor = _FLOOR * math.sqrt(2 * math.log(2 * len(variances))) * stds
    roots: Array = np.sqrt(np.maximum(variances, floor))
    return roots


def _balanced_square(first: float, second: float, slope: float) -> float:
    """Return f^2 at which what is cut of the mean square length is slope f^2.

    first, second: mean tails beyond 1.3 and 2. The survival function of X beyond 1.3 is A e^(-r (X - 1.3)),
    so the tails are A (1 - e^-r)/r and e^(-.7 r) times that, and what lies beyond u is A e^(-r (u - 1.3))/r.
    """
    start, later = _TAIL_STARTS
    first = min(max(first, 1e-3), 0.7)
    rate = min(max(math.log(first / max(second, 1e-9)) / (later - start), 0.5), 10.0)
    beyond = first / -math.expm1(-rate)  # A/r

    def normal(square: float, std: float) -> float:
        """Return E(X - u)+ of a normal law about 1."""
        t = (square - 1) / std
        return std * (math.exp(-t * t / 2) / math.sqrt(2 * math.pi) - t * float(ndtr(-t)))

    std = brentq(lambda std: normal(start, std) - beyond, 1e-3, 10.0)

    def excess(square: float) -> float:
        cut = beyond * math.exp(-rate * (square - start)) if square > start else normal(square, std)
        return cut - slope * square

    if excess(_LEAST_SQUARE) <= 0:
        return _LEAST_SQUARE
    return float(brentq(excess, _LEAST_SQUARE, _MOST_SQUARE)) if excess(_MOST_SQUARE) < 0 else _MOST_SQUARE
