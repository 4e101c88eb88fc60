"""Invented rows that a public dictionary allows: numbers within their ranges, categories as indicators.

A Gaussian z with a stated spectrum (`spiked.SpikedModel`) has one latent for each column, so that a category
holds exactly one of its answers and its indicators are tied as a table's are. With low <= 0 <= high the ends
of an encoded number (`dppca_core.tables.dictionary`; 0 is its middle, or its usual value),

    t = clip(sigma z_j/sd(z_j), -1, 1),    x = high t where t > 0, else |low| t.

So the stated spectrum is that of the latents, and a pattern is in how columns go together. sigma = 1/sqrt(3)
spreads every number as evenly as its range allows, E[x^2] = (low^2 + high^2)/6 before the cut, which is
`Column.even_square` about a middle: rows are as long as the default bound supposes, as rows of clinical
tables are (.95 to 1.4 times; `benchmarks/own_tables.py`). About a usual
value half of the numbers lie on either side: it is their median, and x is skewed as the range is.

A category is cut from its latent at quantiles. Answers are spread evenly; the usual one has 3/4 of them, in
the middle of "most", 1/2 to 1. A single category is a yes or no.

Rows are shortened to the public bound and divided by it, as a table's are. Their mean and second moment have
no closed form after that: they are those of a large draw from a seed.

A dictionary states the columns of a table: the range of a number, the categories of an answer, and perhaps
a usual value. Cells are what is public of one column. The twin of a table is the population of invented rows,
on which a release of the table's rows is rehearsed.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dppca_core import checks
from dppca_core.arrays import Array, Moment, Provider
from dppca_core.cohort import Cohort
from dppca_core.mechanisms.paid_lengths import Layout
from dppca_core.numerics import linalg, moments
from dppca_core.populations.spiked import SpikedModel
from dppca_core.tables.dictionary import Column, Schema

FITTED = ("centred", "standardised")  # targets of a release with a fitted bound
EVEN = 3**-0.5  # standard deviation of an even spread over [-1, 1]
_LEAST_SPREAD = 0.01  # of numbers, in half ranges
_USUAL_SHARE = 0.75  # share of the answers that the usual category has
_BLOCK_NUMBERS = 2**18  # numbers of a block of rows
# The large draw has 20 n rows, at least 20,000, and at most 10^7 numbers (rows times features).
_DRAWN_TIMES, _FEWEST_DRAWN, _MOST_NUMBERS = 20, 20_000, 10**7


class NumberCells(NamedTuple):
    """Hold the ends of a number's range once it is encoded, where 0 is the middle or the usual value."""

    low: float
    high: float


class CategoryCells(NamedTuple):
    """Hold the centre that encoding takes off each category's indicator, in the order of the categories.

    A usual category has the centre 1 and the others 0; without one, all have 1/max(c, 2). answered: whether
    a table's row always has one of the categories. Invented rows have one, but a release may not know it.
    """

    centres: tuple[float, ...]
    answered: bool = True

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the share of invented rows that have each category; a single one leaves the rest to "no"."""
        c = len(self.centres)
        if 1.0 not in self.centres:  # no category is usual
            return (1 / max(c, 2),) * c
        return tuple(_USUAL_SHARE if centre == 1 else (1 - _USUAL_SHARE) / (c - 1) for centre in self.centres)


def dictionary_cells(schema: Schema) -> tuple[NumberCells | CategoryCells, ...]:
    """Return what is public of each column of a dictionary, without its name."""
    return tuple(map(_cells, schema.columns))


def _cells(column: Column) -> NumberCells | CategoryCells:
    """Return what is public of one column, in encoded units, without its name."""
    if column.kind == "category":
        return CategoryCells(column.centres, column.fill != "")
    low, high = ((end - column.origin) / column.half for end in (column.low, column.high))
    return NumberCells(low, high)


class TwinMoments(NamedTuple):
    """Hold the moments of rows that were shortened to length 1: of a population, from a large draw.

    mean: (d,). second: their second moment, (d, d), about the mean where rows are centred, else about 0.
    """

    mean: Array
    second: Array


@dataclass(frozen=True)
class DictionaryTwin:
    """Hold the recipe of invented rows; the same recipe is the same population, and it holds no row.

    Attributes:
        columns: What is public of each column.
        bound: Length to which encoded rows are shortened.
        latent: The Gaussian whose features become the columns, one each; it has as many or more.
        centred: Whether rows are taken about their mean, as after a paid mean, and shortened again.
        spread: Standard deviation of every number before its range cuts it, in half ranges.
        fitted: The target of a release with a fitted bound, one of FITTED: then no row is shortened, rows are
            taken about their mean and, where it is "standardised", divided by their standard deviations. ""
            for another release.

    Raises:
        ValueError: For fewer latents than columns, a number out of range, or another target.
    """

    columns: tuple[NumberCells | CategoryCells, ...]
    bound: float
    latent: SpikedModel
    centred: bool = False
    spread: float = EVEN
    fitted: str = ""

    def __post_init__(self) -> None:
        checks.one_of(("", *FITTED), fitted=self.fitted)
        checks.whole(1, self.latent.d, columns=len(self.columns))
        checks.positive(bound=self.bound, spread=self.spread)

    @cached_property  # asked for at every step of a rehearsal
    def d(self) -> int:
        return sum(map(_width, self.columns))

    @cached_property
    def layout(self) -> Layout:
        middle, sizes, answered = [], [], []
        for cells in self.columns:
            if isinstance(cells, CategoryCells):
                sizes.append(len(cells.centres))
                answered.append(cells.answered)
                middle.append(1 / max(len(cells.centres), 2) - np.array(cells.centres))
            else:
                sizes.append(0)
                answered.append(True)
                middle.append(np.array([(cells.low + cells.high) / 2]))
        return Layout.of_columns(sizes, answered, np.hstack(middle))

    @property
    def skewed(self) -> bool:
        """Return whether some column has a usual value off the middle, so that the mean is not 0."""
        return any(
            1.0 in cells.centres if isinstance(cells, CategoryCells) else cells.low != -cells.high
            for cells in self.columns
        )

    @property
    def number_squares(self) -> float:
        """Return what all numbers add to a row's squared length on average, for spread 1 and before any cut.

        Half of the values lie above 0, on the scale of `high`, and half below, on that of `low`.
        """
        return sum(
            (cells.low**2 + cells.high**2) / 2 for cells in self.columns if isinstance(cells, NumberCells)
        )

    @property
    def category_squares(self) -> float:
        """Return what all categories add to a row's squared length on average."""
        # Each term is E[(indicator - centre)^2], where the indicator is 1 with chance `share`.
        return sum(
            share * (1 - 2 * centre) + centre**2
            for cells in self.columns
            if isinstance(cells, CategoryCells)
            for share, centre in zip(cells.shares, cells.centres, strict=True)
        )

    @cached_property
    def _latent_stds(self) -> Array:
        return np.sqrt(self.latent.covariance().diagonal()[: len(self.columns)])

    def rows(self, n: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield n rows in blocks, (m, d), shortened to length 1 and not centred."""
        return (moments.clip_rows(rows, self.bound) for rows in self.encoded(n, rng))

    def encoded(self, n: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield n rows in blocks, (m, d), as they are encoded."""
        # A column j of the dictionary becomes the features from starts[j] to starts[j + 1].
        columns, stds = self.columns, self._latent_stds
        numbers = [j for j, cells in enumerate(columns) if isinstance(cells, NumberCells)]
        low, high = np.array([columns[j] for j in numbers]).reshape(-1, 2).T
        starts = np.cumsum([0, *map(_width, columns)])
        for block in self.latent.rows(n, rng, chunk=max(1, _BLOCK_NUMBERS // self.latent.d)):
            rows = np.empty((len(block), self.d))
            # t, from -1 to 1, says how far a number goes from 0 towards the low or the high end of its range.
            t = np.clip(block[:, numbers] * (self.spread / stds[numbers]), -1.0, 1.0)
            rows[:, starts[numbers]] = np.where(t > 0, high, -low) * t
            for j, cells in enumerate(columns):
                if isinstance(cells, CategoryCells):
                    rows[:, starts[j] : starts[j + 1]] = _indicators(cells, block[:, j] / stds[j])
            yield rows

    def moments(self, n: int) -> TwinMoments:
        """Return the moments of a large draw, the same each time, which stand for the population's.

        n: rows of the estimates that are measured against them. The draw has 20 n rows, so that its sampling
        adds a twentieth to the square of an estimate's error. It has 20,000 rows at least. Above these it has
        at most 1e7/d, which are still n rows or more where n d is at most 1e7: the square is then doubled at
        most. So this draw's sampling only ever makes a rehearsed error larger. Rows about the mean are not
        shortened here as they are in `draw`: what shortening costs is part of a rehearsed error.
        """
        count = max(_FEWEST_DRAWN, min(_DRAWN_TIMES * n, _MOST_NUMBERS // self.d))
        total, second = np.zeros(self.d), np.zeros((self.d, self.d))
        drawn = self.encoded if self.fitted else self.rows
        for rows in drawn(count, np.random.default_rng([self.latent.seed, 2])):
            total += rows.sum(axis=0)
            second += rows.T @ rows
        mean = total / count
        if self.fitted:
            return TwinMoments(mean, about_mean(mean, second / count, self.fitted == "standardised"))
        # Where rows are not centred, False counts as 0 and the moment stays about 0.
        return TwinMoments(mean, second / count - self.centred * np.outer(mean, mean))

    def draw(
        self, sizes: Sequence[int], rng: np.random.Generator, mean: Array, with_rows: bool = False
    ) -> Cohort:
        """Draw the rows of hospitals of these sizes, and keep them or only their moments.

        mean: that of `moments`, about which rows are taken where they are centred.
        """

        def moment(size: int) -> Moment:
            blocks = self.rows(size, rng)
            if self.centred:
                blocks = (moments.clip_rows(rows - mean, 1.0) for rows in blocks)
            if with_rows:
                return moments.RowMoment(np.concatenate(list(blocks)))
            return moments.DenseMoment(linalg.gram(blocks, self.d) / size)

        return Cohort.together((Provider(size, moment(size)) for size in sizes), self.bound)


def spiked_twin(
    columns: tuple[NumberCells | CategoryCells, ...],
    bound: float,
    spiked: SpikedModel,
    *,
    centred: bool = False,
    square: float = 0.0,
    fitted: str = "",
) -> DictionaryTwin:
    """Return the population whose rows follow a dictionary, with the spectrum of a spiked one beneath.

    It has one latent for each column, with the spikes of `spiked` on as large a share of the latents as they
    have of the features.

    Args:
        columns, bound, centred, fitted: As in `DictionaryTwin`.
        spiked: The population whose spectrum it takes, stated for the features that the columns become.
        square: Mean squared length of rows in units of the squared bound, which sets how far numbers spread;
            0 spreads them evenly. It is the sum of eigenvalues that were paid for; about the mean without
            the first, which is at least the mean's share.
    """
    latents, k = max(len(columns), spiked.k + 1), spiked.k
    # Columns are fewer than features where there are categories; the share that carries the spikes is kept.
    latent = replace(spiked, d=latents, s=min(max(k, round(spiked.s * latents / spiked.d)), latents))
    twin = DictionaryTwin(columns, bound, latent, centred, fitted=fitted)
    if not square or not twin.number_squares:
        return twin
    # Categories have the squares that they have: what the rows' mean square leaves is the numbers'.
    numbers = square * bound**2 - twin.category_squares
    spread = math.sqrt(max(numbers / twin.number_squares, 0.0))
    return replace(twin, spread=min(max(spread, _LEAST_SPREAD), EVEN))


def about_mean(mean: Array, second: Array, standardised: bool) -> Array:
    """Return the covariance of rows with this mean, (d,), and second moment, (d, d), or their correlations.

    A column without spread has correlations of 0.
    """
    covariance = second - np.outer(mean, mean)
    if not standardised:
        return covariance
    stds = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    divisors = np.where(stds > 1e-9, stds, np.inf)
    correlations: Array = covariance / np.outer(divisors, divisors)
    return correlations


def _width(cells: NumberCells | CategoryCells) -> int:
    return len(cells.centres) if isinstance(cells, CategoryCells) else 1


def _indicators(cells: CategoryCells, z: Array) -> Array:
    """Return the centred indicators, (n, c), of answers that are cut from standard normal latents z, (n,).

    Cuts are at the quantiles that give each category its share.
    """
    c = len(cells.centres)
    # c - 1 cuts separate c categories; a single category is cut from its "no", the second row of np.eye(2).
    cuts = np.cumsum(cells.shares)[: max(c - 1, 1)]
    answers = np.searchsorted(ndtri(cuts), z)
    return np.asarray(np.eye(max(c, 2))[answers, :c] - np.array(cells.centres))
