"""Tell which rows of a table are one patient's, how these count, and to which hospital the patient belongs.

A column can name the patients by an id. A code stands for an id: the 64 bits of a number, or SipHash of the
trimmed text under a key drawn for each reading, so that nobody can choose texts that collide. Each id is read
by itself: 017 is 17 also where another id is a word. Else one patient's id could part or join the rows of
others, whom the guarantee takes as given. Two of P ids share a code with a chance below P^2/2^65, 3 in 10^6
for ten million patients, and count as one then.

Hospitals are the values of a column, the tables that were joined, or invented ones by a public seed.
"""

import secrets
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core import checks
from dppca_core.arrays import Array, Indices
from dppca_core.tables import cells, limits
from dppca_core.tables.dictionary import Schema
from dppca_core.tables.read import Raw
from dppca_core.tables.several import JoinedTable

# How a patient's rows count: averaged, merged to one row, or at most so many of them.
AVERAGED, MERGED = "averaged", "merged"
Counting = int | str
EMPTY_HOSPITAL = (
    "A hospital has only patients who were in another before. Leave it out, or make numbers differ that "
    "different patients share."
)
IN_ONE_PLACE = "all in one place"
A_TABLE_EACH = "a table of each hospital"
ASSIGNMENT_SEED = 0  # public: to which hospital a patient is assigned hides nothing
AT_RANDOM = f"at random, seed {ASSIGNMENT_SEED}"
_ROUNDED = 2.0**53  # from here on two whole numbers can be one as a float


def new_key() -> str:
    """Return a random key for the codes of one reading: 16 characters, as pandas' hash takes them."""
    return secrets.token_hex(8)


def patient_codes(column: Any, name: str, marks: cells.Marks | None, key: str) -> Indices:
    """Return the code of the id in each cell, (n,), which depends on no other cell.

    name: of the column, for errors. key: from `new_key`, the same for all cells that are compared. Raises
    ValueError for a missing id, and for a number so large that two ids may be rounded to one.
    """
    plain = cells.as_numbers_or_text(column, name)
    read = cells.numbers(plain, marks)
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


def patient_of_each_row(raw: Raw, column: str | None, schema: Schema) -> Indices:
    """Return the number of each row's patient, (n,), from 0 in the order of first rows.

    column: names the patients; without one each row is a patient of its own. Raises ValueError where the
    column is also a measurement of the dictionary, or names no patient in some row.
    """
    if column is None:
        return np.arange(raw.n)
    if column in {chosen.name for chosen in schema.columns}:
        raise ValueError(f"Column '{column}' names the patients and cannot count as a measurement too.")
    numbers, _ = pd.factorize(patient_codes(raw.table[column], column, raw.marks, new_key()))
    return np.asarray(numbers, dtype=np.intp)


def first_rows(patients: Indices) -> Indices:
    """Return each patient's first row, (n,), in the order of patients; patients: the number of each row's."""
    rows: Indices = np.unique(patients, return_index=True)[1]
    return rows


def are_among_first(patients: Indices, most: int) -> cells.Mask:
    """Return which rows are among the first `most` of their patient, (m,); patients: as for `first_rows`."""
    return pd.Series(patients).groupby(patients).cumcount().to_numpy() < most


def row_weights(counted: Indices, most: int | None = None) -> Array:
    """Return what each row is multiplied by, (m, 1): 1/sqrt(how many rows of its patient count).

    counted: that number for each row, (m,). most: is taken in its place for all rows, if given. Weights are
    less by a factor of 1 + 1e-12, so that in spite of rounding the squares of one patient's weights add up to
    1 at most.
    """
    rows = counted if most is None else np.full(len(counted), most)
    return (1 / (np.sqrt(rows) * (1 + 1e-12)))[:, None]


def means(encoded: Array, missing: cells.Mask, patients: Indices, n: int) -> tuple[Array, cells.Mask]:
    """Return the mean of each patient's own present cells, (n, c), and which patients have none, (n,).

    encoded: the encoded cells of one column of the dictionary, (m, c). missing: which of them are. patients:
    the number of each row's patient, below n. The mean of no cell is 0.
    """
    present = np.flatnonzero(~missing)
    whose = patients[present]
    many = np.bincount(whose, minlength=n)
    # `bincount` adds each cell to the sum of its own patient, in the order of rows, so that the sum of one is
    # the same to the last bit whatever rows others have. Differences of a cumulative sum, or sums over sorted
    # pieces, are not: a rounding error in one patient's part would reach the next.
    sums = [np.bincount(whose, encoded[present, i], minlength=n) for i in range(encoded.shape[1])]
    return np.column_stack(sums) / np.maximum(many, 1)[:, None], many == 0


class Hospitals(NamedTuple):
    """Hold to which hospital each patient belongs, by its number, (n,); how many each has; and why."""

    of_patient: Indices
    sizes: tuple[int, ...]
    assignment: str


def assign(raw: Raw, patients: Indices, hospital_column: str | None, hospitals: int) -> Hospitals:
    """Assign patients to hospitals; all rows of one go to the hospital of the first.

    patients: the number of each row's patient, from 0 in the order of first rows. hospital_column: names each
    row's hospital. hospitals: how many invented ones patients are assigned to without such a column. In a
    joined table hospitals are its tables, whatever these say. Raises ValueError for a row that names no
    hospital, too many hospitals, and one without patients.
    """
    n = int(patients.max()) + 1
    if joined := isinstance(raw, JoinedTable):
        hospital_column = raw.hospital_column
    if hospital_column is None:
        assignment = IN_ONE_PLACE if hospitals == 1 else AT_RANDOM
        hospitals = min(hospitals, n)
        of_patient = _number_of_each(at_random(n, hospitals, ASSIGNMENT_SEED), n)
    else:
        # A joined table's name was typed, and is in no file.
        marks = cells.POINT if joined else raw.marks
        rows_by_hospital = by_column(raw.table[hospital_column], hospital_column, marks=marks)
        of_patient = _number_of_each(rows_by_hospital.values(), raw.n)[first_rows(patients)]
        hospitals = len(rows_by_hospital)
        assignment = A_TABLE_EACH if joined else f"by the column '{hospital_column}'"
    # Sizes count all patients, also those without a usable row: so the public sizes tell of no cell.
    sizes = tuple(np.bincount(of_patient, minlength=hospitals).tolist())
    if 0 in sizes:
        raise ValueError(EMPTY_HOSPITAL)
    return Hospitals(of_patient, sizes, assignment)


def _number_of_each(groups: Iterable[Indices], n: int) -> Indices:
    """Return, for each of n rows or patients, the number of its group, (n,); groups: their indices."""
    of_each = np.empty(n, dtype=np.intp)
    for hospital, group in enumerate(groups):
        of_each[group] = hospital
    return of_each


def is_by_column(assignment: str) -> bool:
    """Return whether hospitals are the values of a column, so that a patient's row states its own."""
    return assignment not in (IN_ONE_PLACE, A_TABLE_EACH, AT_RANDOM)


def is_by_hospital(assignment: str) -> bool:
    """Return whether patients belong to hospitals that exist, by a column or by their table.

    Their numbers are public then, so that a patient can be replaced by one of the same hospital only: who
    knows where all others are could tell from the numbers where this one is.
    """
    return assignment not in (IN_ONE_PLACE, AT_RANDOM)


def is_at_random(assignment: str) -> bool:
    return assignment == AT_RANDOM


def at_random(n: int, hospitals: int, seed: int) -> tuple[Indices, ...]:
    """Return the numbers 0..n-1 of a table's rows in random groups of nearly equal size, each group sorted.

    The seed may be public, since no privacy noise is drawn from it. Raises ValueError for fewer rows than
    hospitals.
    """
    checks.whole(1, n=n)
    checks.whole(1, min(n, limits.MOST_HOSPITALS), hospitals=hospitals)
    order = np.random.default_rng(seed).permutation(n)
    return tuple(np.sort(part) for part in np.array_split(order, hospitals))


def by_column(
    column: Any, name: str, kept: cells.Mask | None = None, marks: cells.Marks | None = cells.POINT
) -> dict[str, Indices]:
    """Return the rows of each hospital by its name, in the order of the names.

    column: names the hospital of each row. name: of the column, for errors. kept: which rows of the table are
    used, (n,); None uses all. Rows are numbered among the kept ones, from 0. Raises ValueError where a kept
    row names no hospital, or for too many hospitals.
    """
    used = column if kept is None else pc.filter(column, pa.array(kept))
    coded = pc.dictionary_encode(used)
    # Each different name is stored once, with a code for each cell.
    whole = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    read = cells.numbers(whole.dictionary, marks)
    codes = np.asarray(pc.fill_null(whole.indices, -1))
    nameless = int((np.append(read.missing, True)[codes]).sum())  # code -1, a null, takes the last True
    if nameless:
        raise ValueError(f"Column '{name}' names no hospital in {nameless:,} rows.")
    # Two spellings may be one name, as 1 and "1.0" are, so names are gathered once more.
    words = [
        str(value).strip() if unread else f"{number:.15g}"
        for value, number, unread in zip(whole.dictionary.to_pylist(), read.values, read.unread, strict=True)
    ]
    # of_word: the position in `hospitals` of each different name.
    hospitals, of_word = np.unique(words, return_inverse=True)
    if len(hospitals) > limits.MOST_HOSPITALS:
        raise ValueError(
            f"Column '{name}' has more than {limits.MOST_HOSPITALS} values: choose one that names hospitals, "
            "not patients."
        )
    return {str(hospital): np.flatnonzero(of_word[codes] == i) for i, hospital in enumerate(hospitals)}
