"""The tables of several hospitals in one visitor's session, until they can be joined. No Streamlit here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dppca_core.tables import Raw, join
from dppca_core.tables.several import check_hospitals
from pages.hospitals.your_data import several_text
from pages.hospitals.your_data.column_mapping import MOST_LISTED, ColumnMapping


@dataclass
class HospitalTable:
    """Hold another hospital's table. `mapping` asks for the first table's columns that it has not."""

    number: int
    name: str
    raw: Raw = field(repr=False)
    mapping: ColumnMapping
    confirmed: bool = False

    def columns(self, first: Raw) -> dict[str, str | None]:
        """Return which column stands for each of the first table's that has an answer."""
        same = set(self.raw.columns) - set(self.mapping.names)
        return {name: name for name in first.columns if name in same} | self.mapping.answers


@dataclass
class HospitalTables:
    """Hold the first table, None while there is none in memory, and those of other hospitals."""

    first: Raw | None = field(default=None, repr=False)
    first_name: str = "Hospital 1"
    others: list[HospitalTable] = field(default_factory=list)
    added: int = 0  # ever: a removed table's number is not given again
    joined: tuple[object, Raw] | None = field(default=None, repr=False)  # with what it was joined from

    def add(self, raw: Raw) -> None:
        """Add another hospital's table to the first, which must be held.

        Raises ValueError with one sentence for one that cannot be joined.
        """
        for name, held in ((self.first_name, self.first), *((o.name, o.raw) for o in self.others)):
            if held.key == raw.key:
                raise ValueError(several_text.again(name))
        mapping = _mapping(self.first, raw)
        if len(mapping.names) > MOST_LISTED:
            raise ValueError(several_text.too_many(len(mapping.names)))
        self.added += 1
        name = f"Hospital {self.added + 1}"
        self.others.append(HospitalTable(self.added, name, raw, mapping, not mapping.names))

    def remove(self, number: int) -> None:
        self.others = [other for other in self.others if other.number != number]

    def rename(self, new: Mapping[str, str]) -> None:
        """Give columns of the first table other names; whatever stands for them still does."""
        names = [new.get(name, name) for name in self.first.columns]
        first = replace(self.first, table=self.first.table.rename_columns(names))
        for other in self.others:
            columns = {new.get(name, name): column for name, column in other.columns(self.first).items()}
            other.mapping = _mapping(first, other.raw, columns)
        self.first = first

    def problem(self) -> str:
        """Return what keeps the tables from being joined, in one sentence; nothing where all is answered."""
        for other in self.others:
            if other.mapping.twice:
                return several_text.twice(other.name, other.mapping.twice)
            if other.mapping.unanswered:
                return several_text.unanswered(other.name, other.mapping.unanswered)
            if not other.confirmed:
                return several_text.unconfirmed(other.name)
        return ""

    def table(self) -> Raw | None:
        """Return the joined table, the same until something changes; the first while there is no other.

        Raises ValueError with one sentence for names that are none, or tables too large together.
        """
        if self.first is None or not self.others:
            self.joined = None
            return self.first
        names = check_hospitals([self.first_name, *(other.name for other in self.others)])
        mappings = [dict(zip(self.first.columns, self.first.columns, strict=True))]
        mappings += [other.columns(self.first) for other in self.others]
        request = (names, mappings, [other.number for other in self.others])
        if self.joined is None or self.joined[0] != request:
            raws = [self.first, *(other.raw for other in self.others)]
            self.joined = request, join(raws, mappings, names)
        return self.joined[1]


def _mapping(first: Raw, raw: Raw, answers: Mapping[str, str | None] | None = None) -> ColumnMapping:
    """Return the question for those of the first table's columns that another has not under their names.

    answers: that were given before, which stay.
    """
    known, given = set(raw.columns), answers or {}
    names = [name for name in first.columns if name not in known or given.get(name, name) != name]
    same = set(first.columns) - set(names)
    mapping = ColumnMapping(names, [column for column in raw.columns if column not in same])
    if answers is not None:
        mapping.answers = {name: answers[name] for name in names if name in answers}
        mapping.restart()
    return mapping
