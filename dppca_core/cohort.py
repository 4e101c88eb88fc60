"""The providers of one analysis, with the moment of all their rows together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Moment, Provider
from dppca_core.numerics import moments


@dataclass(frozen=True)
class Cohort:
    """The providers, and the moment of all their rows together.

    `bound` is the public row norm that the rows were divided by: a moment times bound**2 is in the
    units of the data. Behaves as a tuple of providers.
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
    def from_rows(rows: Sequence[Array], bound: float) -> Cohort:
        """Providers from their rows, list of (n_i, d): clip every row to norm `bound`, divide by it.

        Raises ValueError for an empty list, a matrix that is empty, complex or not finite, unequal numbers
        of columns, or a bound that is not positive.
        """
        if not rows:
            raise ValueError("rows must hold at least one provider, got none")
        if any(np.iscomplexobj(part) for part in rows):
            raise ValueError("rows must hold real numbers, got complex ones")
        clipped = [moments.clip_rows(np.asarray(part, dtype=float), bound) for part in rows]
        widths = {part.shape[1] for part in clipped}
        if len(widths) > 1:
            raise ValueError(f"rows must share the same columns, got {sorted(widths)}")
        providers = tuple(Provider(len(part), moments.RowMoment(part)) for part in clipped)
        return Cohort(providers, moments.SumMoment(providers), bound)

    def unit(self) -> Cohort:
        """Return the same patients, each row scaled to length 1; what is not asked for is not formed."""
        providers = (Provider(provider.n, moments.UnitMoment(provider.moment)) for provider in self.providers)
        return Cohort(tuple(providers), moments.UnitMoment(self.pooled))

    @property
    def features(self) -> int:
        """d."""
        return self.pooled.features

    @cached_property
    def n(self) -> int:
        """Patients in total."""
        return sum(provider.n for provider in self.providers)

    def __len__(self) -> int:
        return len(self.providers)

    def __iter__(self) -> Iterator[Provider]:
        return iter(self.providers)

    def __getitem__(self, index: int) -> Provider:
        return self.providers[index]
