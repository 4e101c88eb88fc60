"""Hold a table that is not there yet: what is public about it. No Streamlit here."""

from dataclasses import dataclass

from dppca_core.tables import Schema
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import Counting


@dataclass(frozen=True)
class PlannedTable:
    """Hold a dictionary, and how many patients each hospital will have.

    counting: how the rows of a patient will count, None where no column names the patients.
    """

    schema: Schema
    sizes: tuple[int, ...]
    counting: Counting | None = None
    assignment = "none: the table is not there yet"

    @property
    def averaged(self) -> bool:
        return self.counting is not None

    @property
    def d(self) -> int:
        return self.schema.d

    @property
    def n(self) -> int:
        return sum(self.sizes)


Study = PreparedTable | PlannedTable
