"""Hold a table that is not there yet: what is public about it. No Streamlit here."""

from dataclasses import dataclass

from dppca_core.tables import Schema
from dppca_core.tables.encode import PreparedTable


@dataclass(frozen=True)
class PlannedTable:
    """Hold a dictionary, and how many patients each hospital will have.

    averaged: whether a column will name the patients, so that each counts once.
    """

    schema: Schema
    sizes: tuple[int, ...]
    averaged: bool = False

    @property
    def d(self) -> int:
        return self.schema.d

    @property
    def n(self) -> int:
        return sum(self.sizes)


Study = PreparedTable | PlannedTable
