"""A sweep's table as the curves of a figure: means over repeats, as papers plot them, with intervals."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.experiments.sweeps.recipe import SWEPT

CONFIDENCE = 0.95
_COLUMNS = ["label", "method", "x", "mean", "low", "high", "runs"]


def summary(table: pd.DataFrame, x: str, column: str) -> pd.DataFrame:
    """Columns label, method, x, mean, low, high, runs: one row for each curve and value of `x`.

    x: a swept parameter, or "round" for the error of every iterate. column: a measured column. Curves are
    told apart by label and, where swept too, by the other parameters. low, high: mean -/+ t s / sqrt(runs),
    the 95 % interval of Student's t with runs - 1 degrees of freedom, for one mean at a time; empty for one
    run. Failed cells are left out. Raises ValueError for a column that the table lacks.
    """
    if x == "round" and not table.empty:
        table = by_round(table)
    for name in (x, column):
        if name not in table and not (name == "round" and table.empty):
            raise ValueError(f"table must have the column {name}, it has {', '.join(table.columns)}")
    if table.empty:
        return pd.DataFrame(columns=_COLUMNS)
    others = [name for name in SWEPT if name in table and name != x]
    labels = table["label"].astype(str)
    if others and table["label"].nunique() == 1:
        labels = pd.Series("", index=table.index)
    for name in others:
        values = table[name].map(lambda value, name=name: f"{name} = {value:g}")
        labels = labels.where(labels == "", labels + ", ") + values
    kept = pd.DataFrame(
        {"label": labels, "method": table["method"], "x": table[x].astype("float64"), "y": table[column]}
    ).dropna(subset="y")
    if "failed" in table:
        kept = kept[table.loc[kept.index, "failed"] == ""]
    groups = kept.groupby(["label", "method", "x"], sort=False)["y"]
    found = groups.agg(mean="mean", sd="std", runs="count").reset_index()
    half = stdtrit(found["runs"] - 1, (1 + CONFIDENCE) / 2) * found["sd"] / np.sqrt(found["runs"])
    found["low"], found["high"] = found["mean"] - half, found["mean"] + half
    return found[_COLUMNS]
