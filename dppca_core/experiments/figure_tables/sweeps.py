"""Tables of the figures that sweep a parameter: errors by round, by method, and patients needed.

`metric` is the unit of errors, one of those of `subspace_metrics.in_unit`, and k the number of directions,
which it needs, where k is not swept. 10, 50 and 90 % are quantiles over runs.
"""

import json

import pandas as pd

from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.experiments.sweeps.recipe import Recipe
from dppca_core.experiments.sweeps.spread_table import spread_table
from dppca_core.experiments.sweeps.sweep import sweep
from dppca_core.paths import DATA


def trajectories(recipe: Recipe, key: str, k: int, metric: str) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the error by round for every value of the swept parameter, `key`."""
    return spread_table(by_round(sweep(recipe)), [key, "round"], k, metric)


def against(recipes: tuple[Recipe, ...], over: str, column: str, k: int, metric: str) -> pd.DataFrame:
    """Return 10, 50 and 90 % of a column, errors in the unit `metric`, by label and value of `over`."""
    runs = pd.concat([sweep(recipe) for recipe in recipes])
    return spread_table(runs, ["label", over], k, metric, column)


def needed(recipes: tuple[Recipe, ...], target: float, seed: int) -> pd.DataFrame:
    """Return the patients that each method needs for an error of at most `target`, in sin Theta."""
    runs = pd.concat([sweep(recipe) for recipe in recipes])
    return patients_needed(runs, target, seed=seed)


def packages(neighbours: str) -> pd.DataFrame:
    """Return the stored median errors of other packages and ours (`make bench-peers` measures anew)."""
    record = json.loads((DATA / "peers.json").read_text(encoding="utf-8"))
    rows = pd.json_normalize(record["places"], "rows", ["population", "d", "n"])
    rows = rows[rows["neighbours"].isin(["", neighbours]) & (rows["population"] == "sparse population")]
    return rows.pivot_table("error.median", ["n", "d"], "recipe")
