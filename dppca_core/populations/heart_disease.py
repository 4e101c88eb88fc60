"""UCI's Heart Disease table as four real hospitals: their patients, and what each did not record.

The rows stand in `data/heart_disease.csv` as UCI publishes them (`scripts/heart_disease.py` made it); all
constants stand in `data/heart_disease.json` with their provenance and are never computed from
rows. Numbers are standardised by public ranges; a category becomes indicators, one for each named, so 13
measurements give 22 columns. The diagnosis is left out. What is absent takes the public centre: it states
zero. A blood pressure or cholesterol of 0 is absent too, which is how one hospital recorded all of its
cholesterol.
"""

import csv
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.datasets import Table
from dppca_core.paths import DATA, stored_json

_STORED: dict[str, Any] = stored_json("heart_disease.json")


@dataclass(frozen=True)
class HeartColumn:
    """Hold one column of the standardised rows: a measurement itself, or the indicator of a category.

    measurement: its key in the file. category: the code whose indicator it is; None for the measurement.
    """

    measurement: str
    name: str
    centre: float
    scale: float
    category: float | None = None


def _columns(measurement: dict[str, Any]) -> list[HeartColumn]:
    """Return the columns of one stored measurement, standardised by public numbers alone.

    measurement: its record in the JSON file, with a range, or with the categories' names by their codes.
    A number's range counts as four standard deviations wide. An indicator is standardised by the mean and
    the spread that it has where all categories are as frequent.
    """
    key, title = measurement["name"], measurement["title"]
    if "range" in measurement:
        low, high = measurement["range"]
        return [HeartColumn(key, title, (low + high) / 2, (high - low) / 4)]
    named = measurement["categories"]
    share = 1 / max(len(named), 2)  # a single named category is one of two
    spread = math.sqrt(share * (1 - share))
    return [HeartColumn(key, f"{title}: {word}", share, spread, float(code)) for code, word in named.items()]


MEASUREMENTS: dict[str, str] = {
    measurement["name"]: measurement["title"] for measurement in _STORED["measurements"]
}
COLUMNS: tuple[HeartColumn, ...] = tuple(
    column for measurement in _STORED["measurements"] for column in _columns(measurement)
)
_ZERO_IS_ABSENT = np.array([measurement.get("zero") == "absent" for measurement in _STORED["measurements"]])
TABLE = Table(
    name="heart_disease",
    features=tuple(column.name for column in COLUMNS),
    centre=tuple(column.centre for column in COLUMNS),
    scale=tuple(column.scale for column in COLUMNS),
    **{key: _STORED[key] for key in ("title", "n", "bound", "source", "licence", "provenance")},
)


@lru_cache(maxsize=1)
def recorded() -> dict[str, Array]:
    """Return every hospital's values as published, (n_i, 13), NaN where none is recorded; read-only."""
    with (DATA / "heart_disease.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    by_hospital = {}
    for hospital in dict.fromkeys(line["hospital"] for line in lines):
        patients = [line for line in lines if line["hospital"] == hospital]
        values = np.array([[float(line[key] or "nan") for key in MEASUREMENTS] for line in patients])
        values.flags.writeable = False
        by_hospital[hospital] = values
    return by_hospital


@dataclass(frozen=True)
class Absent:
    """Hold the share of a hospital's patients for whom a measurement is absent.

    zero: the part of that share, of all patients too, where a 0 was written for what was not measured. Both
    are counted from the rows, so they are not private.
    """

    share: float
    zero: float


def absent() -> dict[str, dict[str, Absent]]:
    by_hospital = {}
    for hospital, values in recorded().items():
        zero = (values == 0) & _ZERO_IS_ABSENT
        missing = np.isnan(values) | zero  # (n_i, 13), as the values
        by_hospital[hospital] = {
            key: Absent(float(missing[:, j].mean()), float(zero[:, j].mean()))
            for j, key in enumerate(MEASUREMENTS)
        }
    return by_hospital


@lru_cache(maxsize=1)
def rows() -> dict[str, Array]:
    """Return every hospital's (n_i, 22) standardised rows, absent values zero; not yet clipped. Read-only."""
    positions = {key: j for j, key in enumerate(MEASUREMENTS)}
    by_hospital = {}
    for hospital, values in recorded().items():
        missing = np.isnan(values) | ((values == 0) & _ZERO_IS_ABSENT)
        encoded = np.empty((len(values), len(COLUMNS)))
        for j, column in enumerate(COLUMNS):
            position = positions[column.measurement]
            raw = values[:, position]
            value = raw if column.category is None else (raw == column.category).astype(float)
            encoded[:, j] = np.where(missing[:, position], 0.0, (value - column.centre) / column.scale)
        encoded.flags.writeable = False
        by_hospital[hospital] = encoded
    return by_hospital


def clipped_share() -> float:
    """Return the share of rows longer than the public bound. It reads the rows: show it as not private."""
    lengths = np.concatenate([np.linalg.norm(hospital_rows, axis=1) for hospital_rows in rows().values()])
    return float((lengths > TABLE.bound).mean())
