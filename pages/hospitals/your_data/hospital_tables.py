"""Hold the tables of several hospitals in one visitor's session, until they can be joined.

The first table's columns give the names. A mapping says which column of another table stands for each of
them, if its names differ. No Streamlit here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dppca_core.tables import Raw, join
from dppca_core.tables.several import check_hospitals
from pages.hospitals.your_data import several_text
from pages.hospitals.your_data.column_mapping import MOST_LISTED, ColumnMapping


@dataclass
class HospitalTable:
    """Hold the table of a hospital beside the first.

    number: counts the tables that were added, and stays if others are removed. mapping: asks which columns
    stand for those of the first table whose names this one does not have.
    """

    number: int
    name: str
    raw: Raw = field(repr=False)
    mapping: ColumnMapping
    confirmed: bool = False

    def columns(self, first: Raw) -> dict[str, str | None]:
        """Return, by the first table's names, this table's columns; None where the hospital has none.

        Names without an answer are left out.
        """
        same = set(self.raw.columns) - set(self.mapping.names)
        return {name: name for name in first.columns if name in same} | self.mapping.answers


@dataclass
class HospitalTables:
    """Hold the first table, and those of other hospitals in the order in which they were added.

    added: how many tables were ever added, so that no number is used twice. joined: the joined table that was
    made last, with what it was made from.
    """

    first: Raw = field(repr=False)
    first_name: str = "Hospital 1"
    others: list[HospitalTable] = field(default_factory=list)
    added: int = 0
    joined: tuple[object, Raw] | None = field(default=None, repr=False)

    def add(self, raw: Raw, other_names: Mapping[str, Sequence[str]]) -> None:
        """Add another hospital's table, and the question which of its columns are the first table's.

        Raises ValueError with one sentence for a table that is here already, and for one in which more than
        200 of the first table's names are missing.
        """
        named = ((self.first_name, self.first), *((other.name, other.raw) for other in self.others))
        for name, held in named:
            if held.key == raw.key:
                raise ValueError(several_text.again(name))
        mapping = _mapping_question(self.first, raw, other_names=other_names)
        if len(mapping.names) > MOST_LISTED:
            raise ValueError(several_text.too_many(len(mapping.names)))
        self.added += 1
        name = f"Hospital {self.added + 1}"
        # Where no name is asked about, there is nothing to confirm.
        self.others.append(HospitalTable(self.added, name, raw, mapping, not mapping.names))

    def remove(self, number: int) -> None:
        self.others = [other for other in self.others if other.number != number]

    def rename(self, new: Mapping[str, str]) -> None:
        """Give columns of the first table new names, by their old ones; answers of other tables stay."""
        names = [new.get(name, name) for name in self.first.columns]
        first = replace(self.first, table=self.first.table.rename_columns(names))
        for other in self.others:
            columns = {new.get(name, name): column for name, column in other.columns(self.first).items()}
            other.mapping = _mapping_question(first, other.raw, columns)
        self.first = first

    def problem(self) -> str:
        """Return why the tables cannot be joined yet, in one sentence, or "" if they can."""
        for other in self.others:
            if other.mapping.twice:
                return several_text.twice(other.name, other.mapping.twice)
            if other.mapping.unanswered:
                return several_text.unanswered(other.name, other.mapping.unanswered)
            if not other.confirmed:
                return several_text.unconfirmed(other.name)
        return ""

    def table(self) -> Raw:
        """Return all tables as one, the same object until something changes; without others, the first.

        Raises ValueError with one sentence for hospitals' names that cannot be used, and for tables that are
        too large together.
        """
        if not self.others:
            self.joined = None
            return self.first
        names = check_hospitals([self.first_name, *(other.name for other in self.others)])
        # By the first table's names, the column of each table; in the first itself these are the same.
        same: dict[str, str | None] = {name: name for name in self.first.columns}
        mappings = [same, *(other.columns(self.first) for other in self.others)]
        request = (names, mappings, [other.number for other in self.others])
        if self.joined is None or self.joined[0] != request:
            raws = [self.first, *(other.raw for other in self.others)]
            self.joined = request, join(raws, mappings, names)
        return self.joined[1]


def _mapping_question(
    first: Raw,
    raw: Raw,
    answers: Mapping[str, str | None] | None = None,
    other_names: Mapping[str, Sequence[str]] | None = None,
) -> ColumnMapping:
    """Return the question which columns of `raw` stand for those of the first table whose names it lacks.

    answers: columns of `raw` that were chosen before, by the first table's names; None for a new table. They
    stay, also where a column of another name was chosen for a name that `raw` has.
    """
    known, given = set(raw.columns), answers or {}
    names = [name for name in first.columns if name not in known or given.get(name, name) != name]
    same = set(first.columns) - set(names)
    free = [column for column in raw.columns if column not in same]
    mapping = ColumnMapping(names, free, other_names=other_names)
    if answers is not None:
        mapping.answers = {name: answers[name] for name in names if name in answers}
        mapping.restart()
    return mapping
