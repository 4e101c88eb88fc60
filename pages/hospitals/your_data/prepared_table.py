"""Prepare a table for release: encode it by its public dictionary, clip it, assign patients to hospitals.

Encoding makes d numbers of a row of the table, about 0 and in units of the public ranges. Clipping shortens
rows to the dictionary's bound; then they are divided by it, so that no row is longer than 1. Where no column
names the patients each row counts as a patient of its own.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core import tables
from dppca_core.arrays import Array, Indices
from dppca_core.numerics import moments
from dppca_core.release.stages import Part, PatientRows
from dppca_core.tables import JoinedTable, OwnerCounts, Raw, Schema, cells, hospital_assignment
from dppca_core.tables.cells import Mask
from dppca_core.tables.patients import check_not_a_measurement, new_key, patient_codes

_BY_COLUMN = "by the column "
IN_ONE_PLACE = "all in one place"
A_TABLE_EACH = "a table of each hospital"
TOO_FEW = "Fewer than two patients are left: every other row has a missing cell. Fill them in."
ASSIGNMENT_SEED = 0  # public: to which hospital a patient is assigned hides nothing


Table = Raw


@dataclass(frozen=True, eq=False)
class Rows:
    """Hold the encoded rows, (m, d), clipped to the bound and divided by it.

    `kept` marks, among all rows of the table, those that are here; `by_hospital` has each hospital's indices
    into `rows`. Where a column names the patients, a row is multiplied by its weight, so that all rows of one
    together count as one at most: `weights` and `of_mean`, (m, 1), are those of `PatientRows`.
    """

    rows: Array
    kept: Mask
    by_hospital: tuple[Indices, ...]
    weights: Array | None = None
    of_mean: Array | None = None


class TableIdentity(NamedTuple):
    """Hold what tells a prepared table from another, without a row in it.

    key: the digest of its content. assignment, sizes: how patients were assigned to hospitals, and how many
    each has. most_kept: how many rows of one patient count at most; None where all do.
    """

    key: str
    schema: Schema
    assignment: str
    sizes: tuple[int, ...]
    most_kept: int | None = None


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """Hold the patients of each hospital, ready for a release.

    A patient who is left out, for a missing cell, counts as a row of zeros: so the number of patients does
    not tell of any cell, and replacing a row by one that is left out moves a sum by at most the row's own
    length. `owner` counts rows and cells for the owner's eyes. `row_sum`, (d,), is the sum of all clipped
    rows times their squared weights (1 without patients), and `used` the sum of these: their ratio is the
    mean about which the owner's covariance is taken, and centres no release.

    All of it is private except the schema, the sizes and how patients were assigned (`assignment`).
    """

    raw: Raw = field(repr=False)
    schema: Schema
    owner: OwnerCounts = field(repr=False)
    sizes: tuple[int, ...]
    assignment: str
    held: Rows = field(repr=False)
    row_sum: Array = field(repr=False)
    used: float = field(repr=False)
    most_kept: int | None = None  # rows of one patient; None where all count

    @property
    def identity(self) -> TableIdentity:
        """Return what tells this table from another, without a row in it."""
        return TableIdentity(self.raw.key, self.schema, self.assignment, self.sizes, self.most_kept)

    @property
    def n(self) -> int:
        """Return the number of patients, including those without a usable row."""
        return sum(self.sizes)

    @property
    def usable(self) -> int:
        """Return how many patients the rows that are used make up, which is private."""
        return int(
            self.used + 0.5 + 1e-6
        )  # rounded: weights are less by a factor of 1 + 1e-12 (`row_weights`)

    @property
    def d(self) -> int:
        """Return the number of features of an encoded row."""
        return self.schema.d

    @property
    def parts(self) -> list[Part]:
        """Return the rows that each hospital hands in for a release.

        Patients who are left out are rows of zeros at the end or, where patients are named, only counted.
        """
        rows, groups, weights = self.held.rows, self.held.by_hospital, self.held.weights
        if weights is not None:
            means = self.held.of_mean
            return [
                PatientRows(rows[group], weights[group], size, None if means is None else means[group])
                for group, size in zip(groups, self.sizes, strict=True)
            ]
        return [
            np.concatenate([rows[group], np.zeros((size - len(group), self.d))])
            for group, size in zip(groups, self.sizes, strict=True)
        ]

    @property
    def averaged(self) -> bool:
        """Return whether rows of one patient count as one."""
        return self.held.weights is not None

    @property
    def public(self) -> dict[str, Any]:
        """Return what a release publishes of the table beside its sizes.

        The dictionary without words that the owner mapped, and how patients were assigned to hospitals.
        """
        return {
            "dictionary": json.loads(self.schema.published.to_json()),
            "dealt": self.assignment,
        } | ({} if self.most_kept is None else {"rows kept of a patient": self.most_kept})


def prepare(
    raw: Raw,
    schema: Schema,
    hospital_column: str | None,
    hospitals: int,
    patient_column: str | None = None,
    most_kept: int | None = None,
) -> PreparedTable:
    """Prepare a table in memory. Raises ValueError with one sentence where it does not fit the dictionary.

    hospital_column: names each row's hospital. hospitals: how many invented ones patients are assigned to at
    random without such a column. In a table that was joined, hospitals are the tables that it was joined of,
    whatever these say. patient_column: names the patients, who count once; all rows of one go to the hospital
    of the first. most_kept: only so many of a patient's usable rows count, the first of the table; None
    averages all.
    """
    joined = isinstance(raw, JoinedTable)
    if joined:
        hospital_column = raw.hospital_column
    encoded = tables.encode(schema, raw.table, raw.marks, blank=raw.blank)
    most_kept = None if patient_column is None else most_kept
    patients = _patient_of_each_row(raw, patient_column, schema)
    n = int(patients.max()) + 1  # they are numbered from 0
    if len(encoded.rows) < 2:
        raise ValueError(TOO_FEW)
    if hospital_column is None:
        assignment = IN_ONE_PLACE if hospitals == 1 else f"at random, seed {ASSIGNMENT_SEED}"
        hospitals = min(hospitals, n)
        hospital_of_patient = _hospital_of_each(tables.at_random(n, hospitals, ASSIGNMENT_SEED), n)
    else:
        # A joined table's name was typed, and is in no file.
        marks = cells.POINT if joined else raw.marks
        rows_by_hospital = tables.by_column(raw.table[hospital_column], hospital_column, marks=marks)
        first_rows = np.unique(patients, return_index=True)[1]  # of each patient, in the order of patients
        hospital_of_row = _hospital_of_each(rows_by_hospital.values(), raw.n)
        hospital_of_patient, hospitals = hospital_of_row[first_rows], len(rows_by_hospital)
        assignment = A_TABLE_EACH if joined else by_column(hospital_column)
    # Sizes count all patients, also those without a usable row: so the public sizes tell of no cell.
    sizes = tuple(np.bincount(hospital_of_patient, minlength=hospitals).tolist())
    if 0 in sizes:
        raise ValueError(hospital_assignment.EMPTY_HOSPITAL)
    kept_rows, rows, kept_patients = encoded.kept, encoded.rows, patients[encoded.kept]
    if most_kept is not None:
        # A row's place among the usable rows of its patient, from 0, decides.
        is_kept = pd.Series(kept_patients).groupby(kept_patients).cumcount().to_numpy() < most_kept
        rows, kept_patients = rows[is_kept], kept_patients[is_kept]
        kept_rows = kept_rows.copy()  # the mask is that of `encoded`
        kept_rows[np.flatnonzero(kept_rows)[~is_kept]] = False
    groups = tuple(np.flatnonzero(hospital_of_patient[kept_patients] == i) for i in range(len(sizes)))
    weights = of_mean = None
    if patient_column is not None:
        # For each row, how many rows of its patient count.
        counted = np.bincount(kept_patients)[kept_patients]
        weights = row_weights(counted, most_kept)
        # With most_kept in place of their number of rows, patients with fewer would pull a mean to 0.
        of_mean = None if most_kept is None else row_weights(counted)
    held = Rows(moments.clip_rows(rows, schema.bound), kept_rows, groups, weights, of_mean)
    row_sum = (held.rows if weights is None else held.rows * weights**2).sum(axis=0)
    squared_weights = float(len(rows) if weights is None else np.square(weights).sum())
    return PreparedTable(
        raw, schema, encoded.owner, sizes, assignment, held, row_sum, squared_weights, most_kept=most_kept
    )


def _hospital_of_each(groups: Iterable[Indices], n: int) -> Indices:
    """Return, for each of n rows or patients, the number of its hospital, (n,).

    groups: the indices of the rows or patients of each hospital.
    """
    of_each = np.empty(n, dtype=np.intp)
    for hospital, group in enumerate(groups):
        of_each[group] = hospital
    return of_each


def row_weights(counted: Indices, most_kept: int | None = None) -> Array:
    """Return what each row is multiplied by, (m, 1): 1/sqrt(how many rows of its patient count).

    counted: that number for each row, (m,). most_kept: is taken in its place for all rows, if given. Weights
    are less by a factor of 1 + 1e-12, so that in spite of rounding the squares of one patient's weights add
    up to 1 at most.
    """
    rows = counted if most_kept is None else np.full(len(counted), most_kept)
    return (1 / (np.sqrt(rows) * (1 + 1e-12)))[:, None]


def _patient_of_each_row(raw: Raw, column: str | None, schema: Schema) -> Indices:
    """Return the number of each row's patient, (n,), from 0 in the order of first rows.

    column: names the patients; without one each row is a patient of its own. Raises ValueError where the
    column is also a measurement of the dictionary, or names no patient in some row.
    """
    if column is None:
        return np.arange(raw.n)
    check_not_a_measurement(column, schema)  # refuses a column that is a measurement too
    codes = patient_codes(raw.table[column], column, raw.marks, new_key())
    numbers, _ = pd.factorize(codes)
    return np.asarray(numbers, dtype=np.intp)


def is_by_column(assignment: str) -> bool:
    """Return whether hospitals are the values of a column, so that a patient's row states its own."""
    return assignment.startswith(_BY_COLUMN)


def is_by_hospital(assignment: str) -> bool:
    """Return whether patients belong to hospitals that exist, by a column or by their table.

    Their numbers are public then, so that a patient can be replaced by one of the same hospital only: who
    knows where all others are could tell from the numbers where this one is.
    """
    return is_by_column(assignment) or assignment == A_TABLE_EACH


def is_at_random(assignment: str) -> bool:
    """Return whether the page has assigned patients at random to hospitals that do not exist."""
    return not is_by_hospital(assignment) and assignment != IN_ONE_PLACE


def by_column(name: str) -> str:
    """Return the assignment of patients by a column of this name, as a release states it."""
    return f"{_BY_COLUMN}'{name}'"
