"""Read the file of a dictionary on which hospitals agree: its complete columns, and what names patients."""

import json
from contextlib import suppress
from typing import Any, NamedTuple

from dppca_core.tables.dictionary import Schema
from dppca_core.tables.dictionary_lines import lines_from_csv, to_column
from dppca_core.tables.patients import AVERAGED, MERGED, Counting

PATIENTS = "patients"  # of a saved dictionary: the column that names them, and how their rows count
MOST_ROWS = 10_000  # of one patient


class DictionaryFile(NamedTuple):
    """Hold what a dictionary's file says.

    patients: the column that names them, and how the rows of one count; None where each row is a patient.
    left_out: columns of which the file states no range and no categories.
    """

    schema: Schema
    patients: tuple[str, Counting] | None = None
    left_out: tuple[str, ...] = ()


def read(data: bytes) -> DictionaryFile:
    """Return the dictionary of a file: a Table Schema that was saved, the template, or REDCap's.

    Raises ValueError, one sentence, for a file that is none.
    """
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        plain: Any = None
        with suppress(ValueError, RecursionError):  # `Schema.from_json` says what is wrong
            plain = json.loads(data)
        stated = plain.get(PATIENTS) if isinstance(plain, dict) else None
        return DictionaryFile(Schema.from_json(data), stated_patients(stated))
    lines = lines_from_csv(data)
    left_out = tuple(name for name, line in lines.items() if line.incomplete)
    columns = tuple(to_column(name, line) for name, line in lines.items() if name not in left_out)
    return DictionaryFile(Schema(columns), left_out=left_out)


def stated_patients(stated: object) -> tuple[str, Counting] | None:
    """Return which column names the patients and how their rows count; None where nothing is stated.

    Raises ValueError for an entry that cannot be read.
    """
    if stated is None:
        return None
    if isinstance(stated, dict) and isinstance(column := stated.get("column"), str):
        rows = stated.get("rows")
        at_most = isinstance(rows, int) and not isinstance(rows, bool) and 1 <= rows <= MOST_ROWS
        if isinstance(rows, int | str) and (at_most or rows in (AVERAGED, MERGED)):
            return column, rows
    raise ValueError(
        f'"{PATIENTS}" of the dictionary needs a "column", and "rows": "{AVERAGED}", "{MERGED}" or a '
        f"number up to {MOST_ROWS:,}."
    )
