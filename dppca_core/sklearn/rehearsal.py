"""Refuse a method's options before anybody pays: its `fit` runs up to where it first asks for rows.

Methods check their options themselves, before the one named step that reads private rows. So a cohort that
has public sizes and no rows shows what they refuse, for every method, at next to no cost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Never

import numpy as np

from dppca_core.arrays import Array, Indices, Moment, Provider
from dppca_core.cohort import Cohort
from dppca_core.privacy import Budget
from dppca_core.records import Method


class _RowsAskedFor(Exception):  # noqa: N818 - it is no error: the method got as far as its rows
    """Say that a method has accepted its options, and asks for rows."""


@dataclass(frozen=True)
class _NoRows:
    """Stand for the rows of a provider (`dppca_core.arrays.Moment`), of which nothing can be read."""

    features: int
    exact: ClassVar[bool] = True

    def apply(self, block: Array, rows: Indices | None = None) -> Never:
        raise _RowsAskedFor

    def dense(self) -> Never:
        raise _RowsAskedFor

    def unit(self) -> Never:
        raise _RowsAskedFor

    def restricted_unit(self, columns: Indices) -> Never:
        raise _RowsAskedFor

    def normalised_product(self, block: Array, runs: int = 1) -> Never:
        raise _RowsAskedFor

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        raise _RowsAskedFor


def check_options(
    method: Method, options: Mapping[str, Any], *, n: int, d: int, k: int, budget: Budget
) -> None:
    """Raise what a method's `fit` raises for its options at these sizes. Nothing is read or spent."""
    provider = Provider(n, _NoRows(d))
    cohort = Cohort((provider,), provider.moment)
    try:
        method.fit(cohort, k=k, budget=budget, rng=np.random.default_rng(0), **options)
    except _RowsAskedFor:
        return
