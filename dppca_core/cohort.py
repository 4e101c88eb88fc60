"""The providers of one analysis, with the moment of all their rows together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Moment, Provider
from dppca_core.numerics import moments
from dppca_core.privacy import Budget


@dataclass(frozen=True)
class Cohort:
    """Hold the providers of one analysis, and the moment of all their rows together.

    It behaves as a tuple of providers.

    Attributes:
        providers: The hospitals, at least one, all with the same d features.
        pooled: Second moment of all their rows together, (d, d).
        bound: Public row norm that the rows were divided by: a moment times bound**2 is in the units of the
            data.

    Raises:
        ValueError: For no providers, different numbers of features, or a bound that is not positive.
    """

    providers: tuple[Provider, ...]
    pooled: Moment
    bound: float = 1.0

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

    @staticmethod
    def together(providers: Iterable[Provider], bound: float = 1.0) -> Cohort:
        """Return a cohort of these hospitals, whose pooled moment is the mean of theirs, weighted by size.

        Args:
            providers: Hospitals, each with its number of patients and their moment.
            bound: Public bound that every row was divided by.

        Returns:
            The cohort, in the hospitals' order.

        Raises:
            ValueError: For no hospital, and for those that differ in features.
        """
        members = tuple(providers)
        return Cohort(members, moments.SumMoment(members), bound)

    @staticmethod
    def from_rows(rows: Sequence[Array], bound: float) -> Cohort:
        """Return a cohort from the hospitals' rows: clip every row to norm `bound`, then divide it by that.

        Args:
            rows: One matrix for each hospital, (n_i, d), in the units of the data.
            bound: Public row norm, in the units of the data.

        Returns:
            The cohort, whose rows have norm at most 1.

        Raises:
            ValueError: For an empty list, a matrix that is empty, complex or not finite, unequal numbers of
                columns, or a bound that is not positive.
        """
        if not rows:
            raise ValueError("rows must hold at least one provider, got none")
        if any(np.iscomplexobj(part) for part in rows):
            raise ValueError("rows must hold real numbers, got complex ones")
        clipped = [moments.clip_rows(np.asarray(part, dtype=float), bound) for part in rows]
        widths = {part.shape[1] for part in clipped}
        if len(widths) > 1:
            raise ValueError(f"rows must share the same columns, got {sorted(widths)}")
        return Cohort.together((Provider(len(part), moments.RowMoment(part)) for part in clipped), bound)

    def unit(self) -> Cohort:
        """Return the same patients, each row scaled to length 1, so that the bound is 1 too.

        Moments are formed when they are first asked for.
        """
        providers = (Provider(provider.n, moments.UnitMoment(provider.moment)) for provider in self.providers)
        return Cohort(tuple(providers), moments.UnitMoment(self.pooled))

    def weighted(self, weights: Array) -> Cohort:
        """Return the same hospitals, pooled with these weights, (N,), instead of by their sizes."""
        pooled = moments.SumMoment(self.providers, tuple(weights.tolist()))
        return Cohort(self.providers, pooled, self.bound)

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
