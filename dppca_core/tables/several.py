"""Join the tables of several hospitals to one, in which a column has one name for all hospitals.

Rows stand in the order of the hospitals' names, so that nothing depends on the order in which tables came:
neither the key of the joined table nor to whom a patient of several hospitals belongs. What changes its key:
another row or cell, another name of a hospital, and which columns are joined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core.tables import cells, limits
from dppca_core.tables.read import Raw

_TEXT = pa.large_string()


@dataclass(frozen=True, eq=False)
class JoinedTable(Raw):
    """Hold the rows of several hospitals as one table.

    hospital_column: the name of its column that holds the hospital of each row.
    """

    hospital_column: str = ""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that hospitals brought: all but the one that names the hospital."""
        return tuple(name for name in self.table.column_names if name != self.hospital_column)


def join(
    tables: Sequence[Raw], mappings: Sequence[Mapping[str, str | None]], names: Sequence[str]
) -> JoinedTable:
    """Return one table of all rows, with a column that names each row's hospital.

    Cells are as in their own tables: where one has numbers and another text, numbers become text that reads
    as the same number. Where only some tables have points for sure, each number of the others gets a point
    instead: how a cell reads depends on that cell and on the form of its own file, never on another cell.

    Args:
        tables: One a hospital.
        mappings: For each table, the name of its own column by the name of the joined one. None: it has no
            such column, and its cells count as missing there.
        names: Of the hospitals, different from each other.

    Raises:
        ValueError: With one sentence without a cell, for names that do not tell hospitals apart, a joined
            column that a table's mapping leaves open, a column that is not there or used twice, decimal
            commas that cannot become points, or tables that are too large together.
    """
    hospitals = check_hospitals(names)
    columns = tuple(dict.fromkeys(chain(*mappings)))
    for hospital, raw, mapping in zip(hospitals, tables, mappings, strict=True):
        _check_mapping(hospital, raw, mapping, columns)
    # The joined table repeats a hospital's name in each of its rows.
    name_bytes = sum(raw.n * len(hospital.encode()) for raw, hospital in zip(tables, hospitals, strict=True))
    _check_size(tables, len(columns) + 1, name_bytes)
    order = sorted(range(len(hospitals)), key=hospitals.__getitem__)
    marks = tables[0].marks if len({raw.marks for raw in tables}) == 1 else cells.POINT
    # Tables whose numbers get points, as those of the others have points.
    rewritten = [tables[i].marks != marks for i in order]
    for i in compress(order, rewritten):
        _check_points(hospitals[i], tables[i], mappings[i])
    joined = {
        column: _concatenated(
            [
                pa.chunked_array([pa.nulls(tables[i].n, pa.float64())])
                if (source := mappings[i][column]) is None
                else tables[i].table[source]
                for i in order
            ],
            rewritten,
        )
        for column in columns
    }
    hospital_column = _free_name(columns)
    joined[hospital_column] = pa.chunked_array(
        [pa.repeat(pa.scalar(hospitals[i], _TEXT), tables[i].n) for i in order]
    )
    name = f"{tables[0].name} and {len(tables) - 1:,} more" if len(tables) > 1 else tables[0].name
    form, unnamed = f"{len(tables):,} hospitals", ()
    blank = np.concatenate([tables[i].blank for i in order])
    return JoinedTable(name, form, pa.table(joined), unnamed, marks, blank, (), hospital_column)


def check_hospitals(names: Sequence[str]) -> list[str]:
    """Return the hospitals' names without blanks around them.

    Raises ValueError for too many, for two that are equal (also as numbers, as 1 and 1.0), and for one that
    is empty, too long, not printable or would read as a missing cell of the column of hospitals.
    """
    if len(names) > limits.MOST_HOSPITALS:
        raise ValueError(f"At most {limits.MOST_HOSPITALS} hospitals can be joined.")
    words = [name.strip() for name in names]
    read = cells.numbers(pa.array(words, _TEXT))
    alike = set[str]()
    for word, missing, unread, number in zip(words, read.missing, read.unread, read.values, strict=True):
        if missing or not word.isprintable() or len(word) > limits.MOST_NAME:
            raise ValueError(
                f"A hospital's name has 1 to {limits.MOST_NAME} letters that can be printed, and does not "
                "stand for a missing cell, as NA does."
            )
        # Names that are the same number, such as 1 and 1.0, are the same name.
        same = word if unread else f"{number:.15g}"
        if same in alike:
            raise ValueError(f"Two hospitals have the same name '{word}': rename one.")
        alike.add(same)
    return words


def _check_mapping(
    hospital: str, raw: Raw, mapping: Mapping[str, str | None], columns: Sequence[str]
) -> None:
    """Raise ValueError unless a hospital's mapping names its own column, or None, for every joined column."""
    used, known = set[str](), set(raw.columns)
    for column in columns:
        if column not in mapping:
            raise ValueError(
                f"{hospital} has no column for '{column}': choose one, or say that it was not measured there."
            )
        source = mapping[column]
        if source is None:
            continue
        if source not in known:
            raise ValueError(f"{hospital} has no column '{source}'.")
        if source in used:
            raise ValueError(f"{hospital}'s column '{source}' is chosen twice.")
        used.add(source)


def _check_points(hospital: str, raw: Raw, mapping: Mapping[str, str | None]) -> None:
    """Raise ValueError where a hospital's numbers cannot get points: a cell has a mark that is not clear."""
    for name in filter(None, mapping.values()):
        column = raw.table[name]
        if column.type == _TEXT and any(cells.unclear(chunk).any() for chunk in column.chunks):
            raise ValueError(
                f"{hospital}'s column '{name}' has a mark of thousands or of decimals, and the tables write "
                "numbers in two ways: write thousands without a mark there."
            )


def _check_size(tables: Sequence[Raw], columns: int, text_bytes: int) -> None:
    """Raise ValueError where the tables' rows, one after another, would be too much for this server."""
    rows = sum(raw.n for raw in tables)
    text_bytes += sum(cells.text_bytes(raw.table[name]) for raw in tables for name in raw.columns)
    for size, most, what in (
        (rows, limits.MOST_ROWS, "rows"),
        (rows * columns, limits.MOST_CELLS, "cells"),
        (text_bytes, limits.MOST_BYTES, "bytes of text"),
    ):
        if size > most:
            raise ValueError(
                f"Together the tables have more than {most:,} {what}, more than can be joined here: keep the "
                "columns that matter, or join them by a script."
            )


def _free_name(columns: Sequence[str]) -> str:
    name, number = "hospital", 1
    while name in columns:
        number += 1
        name = f"hospital {number}"
    return name


def _concatenated(parts: list[Any], rewritten: list[bool]) -> Any:
    """Return the tables' columns of numbers or text, one after the other, as one column of one type.

    parts: one column of each table. rewritten: for each, whether its numbers get points. Parts of
    one type are not copied. A part without any cell, of a hospital that did not measure it, has no say in
    the type.
    """
    # The types of those parts that have a cell.
    filled = {part.type for part in parts if part.null_count < len(part)}
    if filled == {_TEXT} and not any(rewritten):
        parts = [part if part.type == _TEXT else part.cast(_TEXT) for part in parts]
    elif _TEXT in filled:
        parts = [_as_text(part, comma) for part, comma in zip(parts, rewritten, strict=True)]
    else:
        parts = [part.cast(pa.float64()) for part in parts]
    return pa.chunked_array(list(chain.from_iterable(part.chunks for part in parts)), parts[0].type)


def _as_text(column: Any, clear: bool = False) -> Any:
    """Return a column's cells as text, and each number in the digits that it would have as a number.

    So 017 becomes 17, as it reads in a table where the whole column is of numbers. clear: whether numbers
    are read by what is clear, so that 1,5 becomes 1.5.
    """
    coded = pc.dictionary_encode(column).combine_chunks()  # each different cell is rewritten once
    numbers = cells.numbers(coded.dictionary, None if clear else cells.POINT)
    words = [
        str(value) if unread else cells.written(number)
        for value, number, unread in zip(
            coded.dictionary.to_pylist(), numbers.values, numbers.unread, strict=True
        )
    ]
    return pa.chunked_array([pa.array(words, _TEXT).take(coded.indices)])
