"""Packages that can be installed, beside ours, as `make bench-peers` measured them (data/peers.json).

A recipe is a way to compute PCA: one of our methods, one of ours with a part left out ("ablation"), one of a
package ("peer"), or one without privacy. Recipes are measured at several places: a population, d features and
n patients. `neighbours` is the neighbouring relation of the guarantee, "replace-one" or "add-remove".
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

_FILE = Path(__file__).parents[4] / "data" / "peers.json"
OURS = {"Analyze Gauss + sparse step": "analyze_gauss_sparse", "DPS-PCA": "dps_pca"}
NO_PRIVACY = "scikit-learn PCA, no privacy"
BEST_PACKAGE = "OpenDP Gaussian + eigh"


class Measurement(NamedTuple):
    """Hold data/peers.json; `errors` has a row for each place, recipe and relation, NaN without an answer."""

    record: dict[str, Any]
    errors: pd.DataFrame


def measurement(record: dict[str, Any]) -> Measurement:
    """Return the measurement of a record; where that is broken, this may raise any error of a lookup."""
    runs = pd.json_normalize(record["places"], "rows", ["population", "d", "n"])
    runs = runs.rename(columns={"error.median": "error"}).astype({"error": float, "d": int, "n": int})
    return Measurement(record, runs)


@lru_cache(maxsize=1)
def stored() -> Measurement:
    """Return the stored measurement. Raises ValueError if it cannot be read, or lacks what the page needs."""
    try:
        record: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
        for name in ("epsilon", "delta", "k", "s"):
            float(record["settings"][name])  # raises where it is absent or no number
        measured = measurement(record)
        complete = record["date"] and record["limit_seconds"] > 0 and dict(record["versions"])
        complete = complete and record["last_releases"].keys() == record["versions"].keys()
        complete = complete and {"sparse population", "breast_cancer"} <= set(measured.errors["population"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        complete = False
    if not complete:
        raise ValueError("data/peers.json cannot be read: restore it, or run make bench-peers")
    return measured


def rows(population: str, neighbours: str) -> pd.DataFrame:
    errors = stored().errors
    return errors[(errors["population"] == population) & errors["neighbours"].isin(["", neighbours])]
