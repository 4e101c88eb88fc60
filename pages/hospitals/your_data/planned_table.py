"""Hold what is public of a table that is not there yet, to rehearse its release: for an ethics vote."""

from dataclasses import dataclass

from dppca_core.tables import Schema


@dataclass(frozen=True)
class PlannedTable:
    """Hold the public numbers of a planned table, under the names that a prepared one has for them.

    sizes: patients of each hospital. averaged: whether a column will name the patients, who count once each.
    """

    schema: Schema
    sizes: tuple[int, ...]
    averaged: bool = False

    @property
    def n(self) -> int:
        """Return the number of patients."""
        return sum(self.sizes)

    @property
    def d(self) -> int:
        """Return the number of features of an encoded row."""
        return self.schema.d


def deal(patients: int, hospitals: int) -> tuple[int, ...]:
    """Return how many patients each hospital has, as evenly as whole numbers allow.

    Raises ValueError for fewer patients than hospitals.
    """
    if patients < hospitals:
        raise ValueError(f"{hospitals:,} hospitals need at least one patient each, got {patients:,}")
    each, more = divmod(patients, hospitals)
    return (each + 1,) * more + (each,) * (hospitals - more)
