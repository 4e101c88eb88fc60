"""The providers of one analysis, with the moment of all their rows together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Moment, Provider
from dppca_core.numerics import moments
from dppca_core.privacy import Budget

if TYPE_CHECKING:  # it takes longer to load than all else here
    import pandas as pd

_MOST_NAMES = 5  # of columns that an error lists


@dataclass(frozen=True)
class Cohort:
    """Hold the providers of one analysis, and the moment of all their rows together.

    It behaves as a tuple of providers.

    Attributes:
        providers: The hospitals, at least one, all with the same d features.
        pooled: Second moment of all their rows together, (d, d).
        bound: Public row norm that the rows were divided by: a moment times bound**2 is in the units of the
            data.
        columns: Names of the features, where the rows were data frames; else empty.

    Raises:
        ValueError: For no providers, different numbers of features, a bound that is not positive, or names
            that are not as many as the features.
    """

    providers: tuple[Provider, ...]
    pooled: Moment
    bound: float = 1.0
    columns: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not self.providers:
            raise ValueError("providers must hold at least one provider, got none")
        checks.positive(bound=self.bound)
        for provider in self.providers:
            if provider.moment.features != self.features:
                raise ValueError(
                    f"providers must share the same features, got {provider.moment.features} "
                    f"beside {self.features}"
                )
        if self.columns and len(self.columns) != self.features:
            raise ValueError(f"columns must name {self.features} features, got {len(self.columns)} names")

    @staticmethod
    def together(providers: Iterable[Provider], bound: float = 1.0, columns: tuple[Any, ...] = ()) -> Cohort:
        """Return a cohort of these hospitals, whose pooled moment is the mean of theirs, weighted by size.

        Args:
            providers: Hospitals, each with its number of patients and their moment.
            bound: Public bound that every row was divided by.
            columns: Names of the features, if they have any.

        Returns:
            The cohort, in the hospitals' order.

        Raises:
            ValueError: For no hospital, and for those that differ in features.
        """
        members = tuple(providers)
        return Cohort(members, moments.SumMoment(members), bound, columns)

    @staticmethod
    def from_rows(rows: Sequence[Array | pd.DataFrame], bound: float) -> Cohort:
        """Return a cohort from the hospitals' rows: clip every row to norm `bound`, then divide it by that.

        Args:
            rows: One matrix or pandas data frame for each hospital, (n_i, d), in the units of the data. All
                data frames have the columns of the first, by name: those of another order are reordered.
            bound: Public row norm, in the units of the data.

        Returns:
            The cohort, whose rows have norm at most 1; its `columns` are those of the first data frame.

        Raises:
            ValueError: For an empty list, a matrix that is empty, complex, not finite or not of numbers,
                unequal numbers of columns, data frames with other columns or next to matrices, or a bound
                that is not positive. No message has a value of a row.
        """
        if _is_frame(rows):
            raise ValueError(f"rows must be a list with a part for each hospital, got {checks.shown(rows)}")
        if not len(rows):
            raise ValueError("rows must hold at least one provider, got none")
        matrices, columns = as_matrices(rows)
        clipped = [moments.clip_rows(part, bound) for part in matrices]
        widths = {part.shape[1] for part in clipped}
        if len(widths) > 1:
            raise ValueError(f"rows must share the same columns, got {sorted(widths)}")
        members = (Provider(len(part), moments.RowMoment(part)) for part in clipped)
        return Cohort.together(members, bound, columns)

    def unit(self) -> Cohort:
        """Return the same patients, each row scaled to length 1, so that the bound is 1 too.

        Moments are formed when they are first asked for.
        """
        providers = (Provider(provider.n, moments.UnitMoment(provider.moment)) for provider in self.providers)
        return Cohort(tuple(providers), moments.UnitMoment(self.pooled), columns=self.columns)

    def weighted(self, weights: Array) -> Cohort:
        """Return the same hospitals, pooled with these weights, (N,), instead of by their sizes."""
        pooled = moments.SumMoment(self.providers, tuple(weights.tolist()))
        return Cohort(self.providers, pooled, self.bound, self.columns)

    @property
    def features(self) -> int:
        """Number of features, d."""
        return self.pooled.features

    @cached_property
    def n(self) -> int:
        """Number of patients of all hospitals."""
        return sum(provider.n for provider in self.providers)

    def public_n(self, budget: Budget) -> float:
        """Return n where the budget's neighbours make it public, else infinity.

        It is for post-processing, such as shrinking, that takes the error of sampling into account: at
        infinity that error is 0, and nothing of a protected n is used.
        """
        return self.n if budget.neighbours == "replace-one" else math.inf

    def __len__(self) -> int:
        return len(self.providers)

    def __iter__(self) -> Iterator[Provider]:
        return iter(self.providers)

    def __getitem__(self, index: int) -> Provider:
        return self.providers[index]


def as_matrices(rows: Sequence[Any]) -> tuple[list[Array], tuple[Any, ...]]:
    """Return matrices or data frames as matrices of numbers, (n_i, d), with the frames' columns, if any.

    Raises ValueError as `Cohort.from_rows` does.
    """
    if any(np.iscomplexobj(part) for part in rows):
        raise ValueError("rows must hold real numbers, got complex ones")
    if any(map(_is_frame, rows)):
        return _of_frames(rows)
    return [_matrix(part) for part in rows], ()


def _is_frame(part: object) -> bool:
    """Return whether this is a data frame, without loading pandas for those who use arrays alone."""
    return hasattr(part, "select_dtypes")


def _matrix(part: object) -> Array:
    try:
        return np.asarray(part, dtype=float)
    except (TypeError, ValueError):  # whose text quotes a cell, as `shown` does of a short list
        what = f"list of length {len(part)}" if isinstance(part, list | tuple) else checks.shown(part)
        raise ValueError(f"rows must be a matrix of numbers, got {what}") from None


def _of_frames(rows: Sequence[Any]) -> tuple[list[Array], tuple[Any, ...]]:
    """Return the frames' values by the columns of the first one, (n_i, d) each, and these columns."""
    if not all(map(_is_frame, rows)):
        raise ValueError("rows must be all data frames or all matrices, as columns go by their names")
    columns = tuple(rows[0].columns)
    matrices = []
    for i, frame in enumerate(rows):
        names = list(frame.columns)
        if repeated := set(frame.columns[frame.columns.duplicated()]):
            raise ValueError(f"rows[{i}] must have each column once, got several of {_listed(repeated)}")
        missing, others = set(columns) - set(names), set(names) - set(columns)
        if missing or others:
            parts = [f"it lacks {_listed(missing)}"] if missing else []
            parts += [f"it has {_listed(others)} besides"] if others else []
            raise ValueError(f"rows[{i}] must have the columns of rows[0]: {' and '.join(parts)}")
        numbers = frame.select_dtypes(["number", "bool", "boolean"], ["timedelta", "complexfloating"])
        if words := set(names) - set(numbers.columns):
            raise ValueError(f"rows[{i}] must hold numbers, got other values in {_listed(words)}")
        if empty := set(frame.columns[frame.isna().any()]):
            raise ValueError(f"rows[{i}] must have no missing values, got some in {_listed(empty)}")
        matrices.append(frame[list(columns)].to_numpy(dtype=float))
    return matrices, columns


def _listed(names: Iterable[object]) -> str:
    every = sorted(map(str, names))
    more = f" and {len(every) - _MOST_NAMES} more" if len(every) > _MOST_NAMES else ""
    return f"{', '.join(map(repr, every[:_MOST_NAMES]))}{more}"
