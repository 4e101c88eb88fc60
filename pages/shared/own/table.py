"""A table ready for release: encoded by its public dictionary, clipped, dealt to hospitals."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from dppca_core import moments, tables
from dppca_core.tables import Raw, Schema
from dppca_core.types import Array, Indices

DEALING_SEED = 0  # public: which hospital a patient is dealt to hides nothing


@dataclass(frozen=True, eq=False)
class Prepared:
    """rows: (n, d), clipped to the bound and divided by it. groups: which of them each hospital holds.

    Private, all of it but the schema and the sizes.
    """

    raw: Raw = field(repr=False)
    schema: Schema
    encoded: tables.Encoded = field(repr=False)
    rows: Array = field(repr=False)
    groups: tuple[Indices, ...] = field(repr=False)
    dealt: str

    @property
    def of(self) -> tuple[object, ...]:
        """What tells it from another, without a row in it."""
        return self.raw.key, self.schema, self.dealt, tuple(len(group) for group in self.groups)

    @property
    def n(self) -> int:
        """Patients who are used."""
        return len(self.rows)

    @property
    def d(self) -> int:
        """Features."""
        return self.schema.d

    @property
    def parts(self) -> list[Array]:
        """Each hospital's rows."""
        return [self.rows[group] for group in self.groups]

    @property
    def public(self) -> dict[str, Any]:
        """What a release tells of the table, beside its sizes: the dictionary and how patients were dealt."""
        return {"dictionary": json.loads(self.schema.to_json()), "dealt": self.dealt}


def prepare(raw: Raw, schema: Schema, by: str | None, hospitals: int) -> Prepared:
    """Raises ValueError with one sentence where the table does not fit the dictionary."""
    encoded = tables.encode(schema, raw.table)
    n = len(encoded.rows)
    if n < 2:
        raise ValueError(
            "Fewer than two patients are left: every other row has a missing cell. Fill them in."
        )
    if by is None:
        groups = tables.at_random(n, min(hospitals, n), DEALING_SEED)
        dealt = f"at random, seed {DEALING_SEED}"
    else:
        groups = tuple(tables.by_column(raw.table[by], by, encoded.kept).values())
        dealt = f"by the column '{by}'"
    return Prepared(raw, schema, encoded, moments.clip_rows(encoded.rows, schema.bound), groups, dealt)
