"""Tell which rows of a table belong to one patient, where a column names the patients by an id.

Of a file that is read in pieces, `count_patients` reads it once and returns how many rows each patient has
and in which hospital they are; `read_patients` reads it again and hands over the rows.

A code stands for an id: the 64 bits of a number, or SipHash of the trimmed text under a key drawn for each
reading, so that nobody can choose texts that collide. Each id is read by itself: 017 is 17 also where another
id is a word.
Else one patient's id could part or join the rows of others, whom the guarantee takes as given. Two of P
ids share a code with a chance below P^2/2^65, 3 in 10^6 for ten million patients, and count as one then.

Codes are sorted, and merged with those of the next rows once these are as many. One entry of 13 bytes stays
for each patient: code, number of usable rows, hospital.
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
from dppca_core.tables import cells, files, hospital_assignment, pieces
from dppca_core.tables.encoding import OwnerCounts
from dppca_core.tables.schema import Schema

BYTES_PER_ENTRY = (
    80  # of memory for an entry, at most, while entries are merged: 63 were measured where all differ
)
_FEWEST_MERGED = 2**18  # entries that wait, before a first merge is worth its time
_ROUNDED = 2.0**53  # from here on two whole numbers can be one as a float

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False)
class Patients:
    """Hold the P patients in the order of their codes. Private, but for how many each hospital has.

    column: names the patients. hospitals: their names in order, ("",) where all patients are in one place.
    codes: of the patients, (P,), ascending. usable: how many rows each has that are encoded, (P,), which are
    those without a missing cell that the dictionary does not fill in. hospital: that of each one's first row,
    (P,), as a position in `hospitals`. key: of the codes, to compute them again in a second reading.
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


def check_not_a_measurement(column: str, schema: Schema) -> None:
    """Raise ValueError if the column that names the patients is also among the measurements of the schema."""
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
    """Return the patients that a column of a file names, reading it in pieces. It reads private rows.

    by: the column that names the hospitals; None is one hospital. check(entries) is called before so many
    entries of `BYTES_PER_ENTRY` each are merged in memory; what it raises stops the reading. The other
    arguments and errors are those of `pieces.read_pieces`.
    """
    check_not_a_measurement(column, schema)
    key = new_key()
    number_by_name = {} if by is not None else {"": 0}  # of each hospital, by first rows
    # First what was merged so far, then the entries of later rows, `waiting` in all.
    merged = [_entries(np.empty(0, dtype=np.int64), np.empty(0, dtype=bool), np.empty(0, dtype=np.intp))]
    waiting = 0
    columns = (column,) if by is None else (column, by)
    for piece in pieces.pieces(source, schema, columns, encoding, progress):
        codes = patient_codes(piece.batch.column(column), column, piece.decimal_comma, key)
        hospital = np.zeros(len(codes), dtype=np.intp)
        if by is not None:
            rows_by_name = hospital_assignment.by_column(
                piece.batch.column(by), by, None, piece.decimal_comma
            )
            for name, indices in rows_by_name.items():
                hospital[indices] = number_by_name.setdefault(name, len(number_by_name))
            pieces.check_room(len(number_by_name), schema.d, by)
        merged.append(_entries(codes, piece.encoded.kept, hospital))
        waiting += len(codes)
        # Merging only once as many wait as are merged keeps the time for n rows at the order of n log n.
        if waiting > max(len(merged[0]), _FEWEST_MERGED):
            merged, waiting = [_merge(merged, check)], 0
    entries = _merge(merged, check)
    names = sorted(number_by_name)
    # Hospitals were numbered as they came; number them in the order of their names.
    places = np.array([names.index(name) for name in number_by_name], dtype=np.uint8)
    hospital = places[entries["hospital"]]
    if by is not None and len(np.unique(hospital)) < len(names):  # some hospital has no patient's first row
        raise ValueError(hospital_assignment.EMPTY_HOSPITAL)
    # Copies, since views would keep all the merged entries in memory.
    return Patients(column, tuple(names), entries["code"].copy(), entries["usable"].copy(), hospital, key)


def new_key() -> str:
    """Return a random key for the codes of one reading: 16 characters, as pandas' hash takes them."""
    return secrets.token_hex(8)


def patient_codes(column: Any, name: str, decimal_comma: bool, key: str) -> Indices:
    """Return the code of the id in each cell, (n,), which depends on no other cell.

    name: of the column, for errors. key: from `new_key`, the same for all cells that are compared. Raises
    ValueError for a missing id, and for a number so large that two ids may be rounded to one.
    """
    plain = cells.as_numbers_or_text(column, name)
    read = cells.numbers(plain, decimal_comma)
    if read.missing.any():
        raise ValueError(f"Column '{name}' names no patient in some rows: fill it in, or leave them out.")
    if (np.abs(read.values) >= _ROUNDED).any():
        raise ValueError(
            f"Column '{name}' names patients by numbers of more than 15 digits, which are rounded here: "
            "write a letter before each."
        )
    codes: Indices = (read.values + 0.0).view(np.int64)  # adding 0.0 turns -0 into 0
    if read.unread.any():
        words = cells.texts(plain.filter(pa.array(read.unread))).to_numpy(zero_copy_only=False)
        codes[read.unread] = pd.util.hash_array(words, hash_key=key, categorize=False).view(np.int64)
    return codes


_ENTRY = np.dtype([("code", np.int64), ("usable", np.int32), ("hospital", np.uint8)])


def _entries(codes: Indices, usable: cells.Mask, hospital: Indices) -> Any:
    """Return an entry for each row, (n,): its patient's code, whether it is usable (0 or 1), its hospital."""
    entries = np.empty(len(codes), dtype=_ENTRY)
    entries["code"], entries["usable"], entries["hospital"] = codes, usable, hospital
    return entries


def _merge(parts: list[Any], check: Callable[[int], None]) -> Any:
    """Return one entry a patient, sorted by code: how many usable rows, and the hospital of the first row.

    parts: entries in the order of the file's rows, of rows or merged before.
    """
    check(sum(map(len, parts)))
    entries = np.concatenate(parts)
    entries = entries[np.argsort(entries["code"], kind="stable")]  # stable: a patient's first row stays first
    # Where a new code begins; of no entries, none does.
    begins = np.flatnonzero(np.append(True, np.diff(entries["code"]) != 0)[: len(entries)])
    merged = entries[begins]
    if len(entries):
        merged["usable"] = np.add.reduceat(entries["usable"], begins)
    return merged


def read_patients(
    source: files.Source,
    schema: Schema,
    patients: Patients,
    handle_rows: Callable[[int, Array, Indices], None],
    *,
    most_kept: int | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> OwnerCounts:
    """Read the file again whose patients were counted, and hand its clipped rows over, a batch at a time.

    handle_rows(hospital, rows, counted) is called with the position of one hospital in `patients.hospitals`,
    with rows of it, (m, d), and with how many rows count of each row's patient, (m,), by which the caller
    weights them. most_kept: of a patient's usable rows only the first so many count and are handed over; None
    takes all. The other arguments and errors, and the result, are those of `pieces.read_pieces`.
    """
    # By patient, how many usable rows earlier batches had.
    seen = np.zeros(len(patients.codes) if most_kept is not None else 0, dtype=np.int32)
    owner = OwnerCounts.none(schema)
    for piece in pieces.pieces(source, schema, (patients.column,), encoding, progress):
        owner += piece.encoded.owner
        ids, rows = piece.batch.column(patients.column), piece.encoded.rows
        codes = patient_codes(ids, patients.column, piece.decimal_comma, patients.key)
        # The position of each usable row's patient: all codes are among those that were counted.
        patient = np.searchsorted(patients.codes, codes[piece.encoded.kept])
        counted = patients.usable[patient]
        if most_kept is not None:
            # A row's place among its patient's: those of earlier batches, and those before it in this one.
            kept = seen[patient] + pd.Series(patient).groupby(patient).cumcount().to_numpy() < most_kept
            np.add.at(seen, patient, 1)
            rows, patient, counted = rows[kept], patient[kept], np.minimum(counted[kept], most_kept)
        hospital_of_row = patients.hospital[patient]
        for hospital in np.unique(hospital_of_row):
            in_hospital = hospital_of_row == hospital
            handle_rows(int(hospital), clip_rows(rows[in_hospital], schema.bound), counted[in_hospital])
    return owner
