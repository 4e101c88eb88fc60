"""One hospital's own files: its agreed plans, its rows, the public constants that scale them.

hospital.json, which only this hospital can write, holds

    {"name": "Hospital 1", "plans": "plans", "rows": "patients.parquet", "constants": "constants.json",
     "keeps": "kept", "limit": {"epsilon": 1.0, "delta": 1e-05}}

with paths seen from its own folder. plans: a folder of agreed plans, RUN.json. rows: CSV or Parquet, a row
for each patient. constants: the data dictionary that the page "Your data" saves, or {"bound": 10.0,
"features": [{"name": COLUMN, "centre": 14, "scale": 3.5}, ...]}, all public, none computed from the rows. A
plan with a fitted bound takes a dictionary, which must encode the columns that the plan states.
keeps: its ledger and what it sent. limit: what all runs together may spend. For simulations only,
"simulation": {"RUN": {"seed": [1, 2]}} or {"RUN": {"silent": true}} replaces the true noise of one run.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dppca_core import tables
from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.federated.plan import PlannedColumn, columns_of, from_dict
from dppca_core.federated.protocol import Noise, ProviderState
from dppca_core.numerics.moments import RowMoment
from dppca_core.privacy import Budget
from dppca_core.tables import Schema
from dppca_core.tables.layout import layout_of

_NEEDED = {"name", "plans", "rows", "constants", "keeps"}
_OPTIONAL = {"limit", "simulation"}


@dataclass(frozen=True)
class OwnFiles:
    """Hold what hospital.json says. Raises ValueError naming the file and what is wrong in it."""

    name: str
    plans: Path
    rows: Path
    constants: Path
    keeps: Path
    limit: Budget | None = None
    simulation: Mapping[str, Noise] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> "OwnFiles":
        plain = read_json(path)
        if not isinstance(plain, dict) or not _NEEDED <= plain.keys() <= _NEEDED | _OPTIONAL:
            needed = ", ".join(sorted(_NEEDED))
            raise ValueError(f"{path.name} must have {needed}, and may have limit and simulation")
        limit = plain.get("limit")
        return OwnFiles(
            name=plain["name"],
            plans=path.parent / plain["plans"],
            rows=path.parent / plain["rows"],
            constants=path.parent / plain["constants"],
            keeps=path.parent / plain["keeps"],
            limit=None if limit is None else Budget(**limit),
            simulation={run: _noise(settings) for run, settings in plain.get("simulation", {}).items()},
        )

    def state(self, run: str) -> ProviderState:
        """Return this hospital at the start of an agreed run."""
        agreed = (from_dict(read_json(path)) for path in sorted(self.plans.glob("*.json")))
        plan = next((plan for plan in agreed if plan.run == run), None)
        if plan is None:
            raise ValueError(f"{self.name} did not agree to run {run!r}")
        if self.name not in plan.names:
            raise ValueError(f"{self.name} is not one of the hospitals of run {run!r}")
        stamp = _modified(self.rows), _modified(self.constants)
        provider = _provider(self.rows, self.constants, stamp, plan.columns, plan.complete)
        noise = self.simulation.get(run, Noise())
        return ProviderState(plan.names.index(self.name), plan, provider, noise, self.limit)


def _noise(simulation: dict[str, Any]) -> Noise:
    if not simulation.keys() <= {"seed", "shared", "silent"}:
        raise ValueError(f"simulation may have seed, shared and silent, got {simulation!r}")
    seed, shared = (
        tuple(numbers) if (numbers := simulation.get(key)) else None for key in ("seed", "shared")
    )
    return Noise(seed, shared, bool(simulation.get("silent")))


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError as reason:
        raise ValueError(f"{path.name} cannot be read: {reason.strerror}") from None


@lru_cache(maxsize=1)
def _provider(
    rows: Path, constants: Path, stamp: tuple[int, int], planned: tuple[PlannedColumn, ...], complete: bool
) -> Provider:
    """Return the patients. The cache reads them anew once `stamp`, both files' times of change, differs.

    planned, complete: of a plan with a fitted bound, for which rows are not shortened; else no columns.
    """
    public = read_json(constants)
    if planned and "fields" not in public:
        raise ValueError(f"{constants.name} must be a data dictionary for a fitted bound")
    if "fields" in public:  # a data dictionary, as the page "Your data" saves it
        schema, raw = Schema.from_json(json.dumps(public)), tables.read(rows, rows.name)
        encoded = tables.encode(schema, raw.table, raw.marks)
        if planned:
            layout = layout_of(schema)
            if (columns_of(layout), layout.complete) != (planned, complete):
                raise ValueError(f"{constants.name} encodes other columns than the plan states")
            return Provider(len(encoded.whole), RowMoment(encoded.whole))
        return Cohort.from_rows([encoded.whole], schema.bound)[0]
    columns = [feature["name"] for feature in public["features"]]
    centre, scale = (np.array([f[key] for f in public["features"]]) for key in ("centre", "scale"))
    standard = (table(rows, columns) - centre) / scale
    return Cohort.from_rows([standard], public["bound"])[0]


def table(path: Path, columns: list[str]) -> Array:
    """Return columns of a CSV or Parquet file, (n, d). Raises ValueError where one or a number is absent."""
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"rows must be a .csv or .parquet file, got {path.name}")
    try:
        frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} cannot be read: it is not in UTF-8") from None
    if absent := [name for name in columns if name not in frame.columns]:
        raise ValueError(f"{path.name} has no column {absent[0]!r}")
    numbers = frame[columns].apply(pd.to_numeric, errors="coerce")
    if empty := [name for name in columns if not np.isfinite(numbers[name]).all()]:
        raise ValueError(f"{path.name} has cells without a number in column {empty[0]!r}")
    values: Array = numbers.to_numpy(dtype=np.float64)
    return values


def read_json(path: Path) -> Any:
    """Return what a JSON file holds. Raises ValueError, naming the file, where it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise ValueError(f"{path.name} cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} cannot be read: it is not in UTF-8") from None
    except ValueError:
        raise ValueError(f"{path.name} is not JSON") from None
