"""Hold what is public of a table that is not there yet, to rehearse its release: for an ethics vote."""

from dataclasses import dataclass
from typing import ClassVar

from dppca_core.tables import Schema
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import AVERAGED, Counting


@dataclass(frozen=True)
class PlannedTable:
    """Hold the public numbers of a planned table, under the names that a prepared one has for them.

    sizes: patients of each hospital. averaged: whether a column will name the patients, who count once each.
    """

    schema: Schema
    sizes: tuple[int, ...]
    averaged: bool = False
    assignment: ClassVar[str] = "not yet: the table is not there"

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def d(self) -> int:
        return self.schema.d

    @property
    def counting(self) -> Counting | None:
        return AVERAGED if self.averaged else None


Study = PreparedTable | PlannedTable


def deal(patients: int, hospitals: int) -> tuple[int, ...]:
    """Return how many patients each hospital has, as evenly as whole numbers allow. Raises ValueError."""
    if patients < hospitals:
        raise ValueError(f"{hospitals:,} hospitals need at least one patient each, got {patients:,}")
    each, more = divmod(patients, hospitals)
    return (each + 1,) * more + (each,) * (hospitals - more)
