"""Return the bundled clinical tables as if their owner had uploaded them, with their public dictionaries.

A dictionary (`dppca_core.tables.dictionary`) lists the columns with their ranges or categories.
A dictionary's ranges come from `data/<name>.json`: its range where it states one, else three scales on either
side of the centre. This program takes none from the rows; but the centres and scales of the breast
cancer table are, by the provenance in its file, the rounded means and standard deviations of the published
table itself: its ranges rest on the very rows, which is fit for a public table only. All its measurements are
lengths, areas and ratios, so its ranges begin at zero at the lowest.
"""

import math
from typing import Any

import pandas as pd

from dppca_core import checks
from dppca_core.paths import DATA, stored_json
from dppca_core.tables.dictionary import Column, Schema
from dppca_core.tables.read import Raw, from_frame

_SCALES_EACH_SIDE = 3.0  # of a distribution without tails, nearly everyone
_LABEL = "diagnosis"
OF_ITS_OWN_ROWS = ("breast_cancer",)  # tables whose ranges come from their own published summary
_NOT_NEGATIVE = ("breast_cancer",)


def names() -> tuple[str, ...]:
    """Return the tables' names: one that scikit-learn has, and those with a CSV and a JSON file in `data`."""
    brought = (path.stem for path in sorted(DATA.glob("*.csv")) if path.with_suffix(".json").exists())
    return ("breast_cancer", *brought)


def example(name: str) -> tuple[Raw, Schema]:
    """Return a table and its dictionary, by which missing numbers are filled by the middle of their range.

    Columns of the table that the dictionary lacks are labels, or name the hospital. Raises ValueError for a
    name that is not among `names`.
    """
    checks.one_of(names(), name=name)
    stored = stored_json(f"{name}.json")
    schema = _stored_schema(stored, 0.0 if name in _NOT_NEGATIVE else -math.inf)
    if name == "breast_cancer":
        from sklearn.datasets import load_breast_cancer  # slow to load, and for this table only

        bunch: Any = load_breast_cancer(as_frame=True)
        label = bunch.target.map(lambda code: str(bunch.target_names[code]))
        return from_frame(bunch.data.assign(**{_LABEL: label}), stored["title"]), schema
    frame = pd.read_csv(DATA / f"{name}.csv")
    for column in stored.get("measurements", ()):
        if column.get("zero") == "absent":  # the published file writes 0 where nothing was measured
            frame[column["name"]] = frame[column["name"]].replace(0, float("nan"))
    return from_frame(frame, stored["title"]), schema


def _stored_schema(stored: dict[str, Any], least: float = -math.inf) -> Schema:
    """Return the schema that a bundled JSON file states.

    stored: the file's content. least: where a range would begin below it, it begins there. A missing number
    is filled by the middle of its range, and a missing answer counts as none of the categories. Raises
    ValueError for a file without columns.
    """
    columns = []
    for entry in stored.get("measurements") or stored["features"]:
        if "categories" in entry:
            columns.append(Column(entry["name"], "category", categories=tuple(entry["categories"]), fill=""))
            continue
        # A file states the range, or the centre and the scale of a column.
        half = _SCALES_EACH_SIDE * entry.get("scale", 0.0)
        low, high = entry.get("range") or (entry["centre"] - half, entry["centre"] + half)
        low = max(low, least)
        # With 12 digits the sums come out as a person would write them.
        low, high, fill = (float(f"{value:.12g}") for value in (low, high, low / 2 + high / 2))
        columns.append(Column(entry["name"], "number", low, high, fill=fill))
    return Schema(tuple(columns))
