"""The patients of a table: who they are as codes; of a file read in pieces how many rows each has, and where.

code: the 64 bits of a number, or SipHash of the trimmed text under a key drawn for each reading, so that
nobody can choose texts that collide. Each id is read by itself: 017 is 17 also where another id is a word.
Else one patient's id could part or join the rows of others, whom the guarantee takes as given. Two of P
ids share a code with a chance below P^2/2^65, 3 in 10^6 for ten million patients, and count as one then.

Codes are sorted, and merged with those of the next rows once these are as many: 13 bytes a patient stay.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dppca_core.arrays import Array, Indices
from dppca_core.numerics.moments import clip_rows
from dppca_core.tables import cells, dealing, files, pieces
from dppca_core.tables.encoding import OwnerOnly
from dppca_core.tables.schema import Schema

BYTES = 80  # an entry at most while they are merged: 63 measured, all of them different
_FEWEST_MERGED = 2**18
_ROUNDED = 2.0**53  # from here on two whole numbers can be one as a float

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False)
class Patients:
    """Hold the patients in the order of their codes. Private, all but their number and that of each hospital.

    usable: their rows without a missing cell that the dictionary does not fill in. hospital: that of their
    first row, by its place in `hospitals`, names in order.
    """

    column: str
    hospitals: tuple[str, ...]
    codes: Indices = field(repr=False)
    usable: Indices = field(repr=False)
    hospital: Indices = field(repr=False)
    key: str = field(repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many patients each hospital has."""
        return tuple(np.bincount(self.hospital, minlength=len(self.hospitals)).tolist())


def no_measurement(column: str, schema: Schema) -> None:
    """Raise ValueError for a column that names the patients and is among the measurements."""
    if column in {chosen.name for chosen in schema.columns}:
        raise ValueError(f"Column '{column}' names the patients and cannot count as a measurement too.")


def count_patients(
    source: files.Source,
    schema: Schema,
    column: str,
    *,
    by: str | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    check: Callable[[int], None] = lambda entries: None,
) -> Patients:
    """Return the patients that a column names, as a table in memory has them. Reads private rows.

    check(entries): is asked before so many are merged, of `BYTES` each; what it raises stops the reading.
    Else as `pieces.read_pieces`.
    """
    no_measurement(column, schema)
    key = new_key()
    number = {} if by is not None else {"": 0}  # hospitals, in the order of first rows
    merged = [_entries(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), np.empty(0, dtype=np.intp))]
    waiting = 0
    columns = (column,) if by is None else (column, by)
    for piece in pieces.pieces(source, schema, columns, encoding, progress):
        codes = patient_codes(piece.batch.column(column), column, piece.decimal_comma, key)
        hospital = np.zeros(len(codes), dtype=np.intp)
        if by is not None:
            dealt = dealing.by_column(piece.batch.column(by), by, None, piece.decimal_comma)
            for name, indices in dealt.items():
                hospital[indices] = number.setdefault(name, len(number))
            pieces.check_room(len(number), schema.d, by)
        merged.append(_entries(codes, piece.encoded.kept, hospital))
        waiting += len(codes)
        if waiting > max(len(merged[0]), _FEWEST_MERGED):
            merged, waiting = [_merge(merged, check)], 0
    entries = _merge(merged, check)
    names = sorted(number)
    places = np.array([names.index(name) for name in number], dtype=np.uint8)
    hospital = places[entries["hospital"]]
    if by is not None and len(np.unique(hospital)) < len(names):
        raise ValueError(dealing.EMPTY)
    return Patients(column, tuple(names), entries["code"].copy(), entries["usable"].copy(), hospital, key)


def new_key() -> str:
    """Return a key for the codes of one reading."""
    return secrets.token_hex(8)


def patient_codes(column: Any, name: str, decimal_comma: bool, key: str) -> Indices:
    """Return the code of each cell, (n,), which depends on no other cell.

    Raises ValueError for a missing one, and for a number so large that two ids may be rounded to one.
    """
    plain = cells.plain(column, name)
    read = cells.numbers(plain, decimal_comma)
    if read.missing.any():
        raise ValueError(f"Column '{name}' names no patient in some rows: fill it in, or leave them out.")
    if (np.abs(read.values) >= _ROUNDED).any():
        raise ValueError(
            f"Column '{name}' names patients by numbers of more than 15 digits, which are rounded here: "
            "write a letter before each."
        )
    codes: Indices = (read.values + 0.0).view(np.int64)  # -0 is 0
    if read.unread.any():
        words = cells.texts(plain.filter(pa.array(read.unread))).to_numpy(zero_copy_only=False)
        codes[read.unread] = pd.util.hash_array(words, hash_key=key, categorize=False).view(np.int64)
    return codes


_ENTRY = np.dtype([("code", np.int64), ("usable", np.int32), ("hospital", np.uint8)])


def _entries(codes: Indices, usable: cells.Mask, hospital: Indices) -> Any:
    entries = np.empty(len(codes), dtype=_ENTRY)
    entries["code"], entries["usable"], entries["hospital"] = codes, usable, hospital
    return entries


def _merge(parts: list[Any], check: Callable[[int], None]) -> Any:
    """Return one entry a patient, by code: their usable rows, and the hospital of the first."""
    check(sum(map(len, parts)))
    entries = np.concatenate(parts)
    entries = entries[np.argsort(entries["code"], kind="stable")]
    begins = np.flatnonzero(np.append(True, np.diff(entries["code"]) != 0)[: len(entries)])
    merged = entries[begins]
    if len(entries):
        merged["usable"] = np.add.reduceat(entries["usable"], begins)
    return merged


def read_patients(
    source: files.Source,
    schema: Schema,
    patients: Patients,
    each: Callable[[int, Array, Indices], None],
    *,
    most_kept: int | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> OwnerOnly:
    """Hand over clipped rows, a batch at a time: each(hospital, rows, how many count of each's patient).

    most_kept: of a patient's usable rows only so many are handed over, the first; None is all. Else as
    `pieces.read_pieces`, of the file whose patients were counted.
    """
    seen = np.zeros(len(patients.codes) if most_kept is not None else 0, dtype=np.int32)
    owner = OwnerOnly.none(schema)
    for piece in pieces.pieces(source, schema, (patients.column,), encoding, progress):
        owner += piece.encoded.owner
        column, rows = piece.batch.column(patients.column), piece.encoded.rows
        codes = patient_codes(column, patients.column, piece.decimal_comma, patients.key)
        who = np.searchsorted(patients.codes, codes[piece.encoded.kept])
        counted = patients.usable[who]
        if most_kept is not None:
            first = seen[who] + pd.Series(who).groupby(who).cumcount().to_numpy() < most_kept
            np.add.at(seen, who, 1)
            rows, who, counted = rows[first], who[first], np.minimum(counted[first], most_kept)
        of_row = patients.hospital[who]
        for hospital in np.unique(of_row):
            there = of_row == hospital
            each(int(hospital), clip_rows(rows[there], schema.bound), counted[there])
    return owner
