"""The patients of a file that is read in pieces: who they are as codes, how many rows each has, and where.

code: the 64 bits of a number, or SipHash of the trimmed text under a key drawn for each reading, so that
nobody can choose texts that collide. Two of P texts share a code with a chance below P^2/2^65, 3 in 10^6 for
ten million patients. They would count as one patient: both count less, and the guarantee holds.

Codes are sorted, and merged with those of the next rows once these are as many: 13 bytes a patient stay.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.arrays import Array, Indices
from dppca_core.numerics.moments import clip_rows
from dppca_core.tables import cells, dealing, files, pieces
from dppca_core.tables.encoding import OwnerOnly
from dppca_core.tables.schema import Schema

BYTES = 80  # an entry at most while they are merged: 63 measured, all of them different
_FEWEST_MERGED = 2**18

Progress = Callable[[int, int | None], None]


class _TextError(Exception):
    """Say that a column that began with numbers holds texts: whoever reads it begins anew."""


@dataclass(frozen=True, eq=False)
class Patients:
    """Hold the patients in the order of their codes. Private, all but their number and that of each hospital.

    usable: their rows without a missing cell that the dictionary does not fill in. hospital: that of their
    first row, by its place in `hospitals`, names in order.
    """

    column: str
    by: str | None
    hospitals: tuple[str, ...]
    codes: Indices = field(repr=False)
    usable: Indices = field(repr=False)
    hospital: Indices = field(repr=False)
    key: str | None = field(repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return how many patients each hospital has."""
        return tuple(np.bincount(self.hospital, minlength=len(self.hospitals)).tolist())


def no_measurement(column: str, schema: Schema) -> None:
    """Raise ValueError for a column that names the patients and is among the measurements."""
    if column in {chosen.name for chosen in schema.columns}:
        raise ValueError(f"Column '{column}' names the patients and cannot count as a measurement too.")


def nameless(column: str) -> ValueError:
    """Return why a column with missing cells cannot name the patients."""
    return ValueError(f"Column '{column}' names no patient in some rows: fill it in, or leave them out.")


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

    A column of numbers, all of it, compares numbers, and another texts. check(entries): is asked before so
    many are merged, of `BYTES` each; what it raises stops the reading. Else as `pieces.read_pieces`.
    """
    no_measurement(column, schema)
    try:
        return _count(source, schema, column, by, encoding, progress, check, None)
    except _TextError:
        key = secrets.token_hex(8)
        return _count(source, schema, column, by, encoding, progress, check, key)


def _count(
    source: files.Source,
    schema: Schema,
    column: str,
    by: str | None,
    encoding: str,
    progress: Progress | None,
    check: Callable[[int], None],
    key: str | None,
) -> Patients:
    number = {} if by is not None else {"": 0}  # hospitals, in the order of first rows
    merged = [_entries(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), np.empty(0, dtype=np.intp))]
    waiting = 0
    columns = (column,) if by is None else (column, by)
    for piece in pieces.pieces(source, schema, columns, encoding, progress):
        codes = _codes(piece.batch.column(column), column, piece.decimal_comma, key)
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
    return Patients(column, by, tuple(names), entries["code"].copy(), entries["usable"].copy(), hospital, key)


def _codes(column: Any, name: str, decimal_comma: bool, key: str | None) -> Indices:
    """Return the code of each cell, (n,). Raises ValueError for a missing one."""
    plain = cells.plain(column, name)
    read = cells.numbers(plain, decimal_comma)
    if read.missing.any():
        raise nameless(name)
    if key is None:
        if read.unread.any():
            raise _TextError
        codes: Indices = (read.values + 0.0).view(np.int64)  # -0 is 0
        return codes
    texts = cells.texts(plain).to_numpy(zero_copy_only=False)
    hashed: Indices = pd.util.hash_array(texts, hash_key=key, categorize=False).view(np.int64)
    return hashed


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
        codes = _codes(column, patients.column, piece.decimal_comma, patients.key)
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
