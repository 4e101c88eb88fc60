"""A table ready for release: encoded by its public dictionary, clipped, dealt to hospitals."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dppca_core import tables
from dppca_core.arrays import Array, Indices
from dppca_core.numerics import moments
from dppca_core.release import private_release
from dppca_core.release.discrete_gaussian import IntegerSum
from dppca_core.tables import OwnerOnly, Raw, Schema
from dppca_core.tables.cells import Mask
from pages.hospitals.your_data.large_table import LargeTable

_BY = "by the column "
IN_ONE_PLACE = "all in one place"
DEALING_SEED = 0  # public: which hospital a patient is dealt to hides nothing


@dataclass(frozen=True, eq=False)
class Rows:
    """rows: (m, d), clipped to the bound and divided by it. kept: which of the table. groups: by hospital."""

    rows: Array
    kept: Mask
    groups: tuple[Indices, ...]


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """sizes: patients of each hospital. A patient who is left out, for a missing cell, counts as a row of
    zeros: so the number of patients does not tell of any cell, and replacing a row by one that is left out
    moves a sum by at most the row's own length. held: their rows, or their exact sums, of a table too large
    to hold. row_sum: (d,), of all clipped rows: what the owner's covariance is centred by, never a release.

    Private, all of it but the schema, the sizes and how patients were dealt.
    """

    raw: Raw | LargeTable = field(repr=False)
    schema: Schema
    owner: OwnerOnly = field(repr=False)
    sizes: tuple[int, ...]
    dealt: str
    held: Rows | tuple[IntegerSum, ...] = field(repr=False)
    row_sum: Array = field(repr=False)

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from another, without a row in it."""
        return self.raw.key, self.schema, self.dealt, self.sizes

    @property
    def n(self) -> int:
        """Patients in the table, those without a usable row among them."""
        return sum(self.sizes)

    @property
    def d(self) -> int:
        """Features."""
        return self.schema.d

    @property
    def parts(self) -> list[private_release.Part]:
        """What each hospital brings to a release."""
        if isinstance(self.held, Rows):
            rows, groups = self.held.rows, self.held.groups
            return [
                np.concatenate([rows[group], np.zeros((size - len(group), self.d))])
                for group, size in zip(groups, self.sizes, strict=True)
            ]
        return list(self.held)

    @property
    def moment(self) -> Array:
        """Second moment of all rows, (d, d), without noise."""
        if isinstance(self.held, Rows):
            return self.held.rows.T @ self.held.rows / self.n
        total = private_release.summed(self.parts, self.d)
        exact: Array = total.total / (4.0**total.bits * total.n)
        return exact

    @property
    def mean(self) -> Array:
        """Mean of the clipped rows of the patients who are used, (d,)."""
        return self.row_sum / self.owner.kept

    @property
    def covariance(self) -> Array:
        """Covariance of the same rows, (d, d), without noise: about their own mean."""
        used = self.moment * (self.n / self.owner.kept)
        return used - np.outer(self.mean, self.mean)

    @property
    def by_column(self) -> bool:
        """Whether a patient's own row says to which hospital it belongs."""
        return is_by_column(self.dealt)

    @property
    def at_random(self) -> bool:
        """Whether the hospitals are none that exist."""
        return is_at_random(self.dealt)

    @property
    def public(self) -> dict[str, Any]:
        """What a release tells of the table, beside its sizes: the dictionary, where rows are centred, and
        how patients were dealt.
        """
        return {
            "dictionary": json.loads(self.schema.to_json()),
            "centred": "at the middle of the public ranges, not at the mean",
            "dealt": self.dealt,
        }


def prepare(raw: Raw, schema: Schema, by: str | None, hospitals: int) -> PreparedTable:
    """A table in memory. Raises ValueError with one sentence where it does not fit the dictionary."""
    encoded = tables.encode(schema, raw.table)
    n, places = len(encoded.kept), np.cumsum(encoded.kept) - 1
    if len(encoded.rows) < 2:
        raise ValueError(
            "Fewer than two patients are left: every other row has a missing cell. Fill them in."
        )
    if by is None and hospitals == 1:
        members, dealt = (np.arange(n),), IN_ONE_PLACE
    elif by is None:
        members = tables.at_random(n, min(hospitals, n), DEALING_SEED)
        dealt = f"at random, seed {DEALING_SEED}"
    else:
        members = tuple(tables.by_column(raw.table[by], by).values())
        dealt = by_column(by)
    groups = tuple(places[group[encoded.kept[group]]] for group in members)
    rows = Rows(moments.clip_rows(encoded.rows, schema.bound), encoded.kept, groups)
    sizes = tuple(len(group) for group in members)
    return PreparedTable(raw, schema, encoded.owner, sizes, dealt, rows, rows.rows.sum(axis=0))


def is_by_column(dealt: str) -> bool:
    """Return whether hospitals are the values of a column, by what a release tells of the dealing."""
    return dealt.startswith(_BY)


def is_at_random(dealt: str) -> bool:
    """Return whether hospitals are none that exist, by what a release tells of the dealing."""
    return not is_by_column(dealt) and dealt != IN_ONE_PLACE


def by_column(by: str) -> str:
    """How patients were dealt."""
    return f"{_BY}'{by}'"
