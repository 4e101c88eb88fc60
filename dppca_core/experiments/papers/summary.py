"""The curves of a figure from a sweep's table: means over repeats, as papers plot them, with intervals."""

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.experiments.sweeps.recipe import SWEPT

CONFIDENCE = 0.95
COLUMNS = ["label", "method", "x", "mean", "low", "high", "runs"]


def summary(table: pd.DataFrame, x: str, column: str) -> pd.DataFrame:
    """Return the means of a sweep's table, a row for each curve and value of `x`.

    Curves are distinguished by label and, where swept too, by the other parameters. Failed cells are left
    out.

    Args:
        table: The table of a sweep.
        x: A swept parameter, or "round" for the error of every iterate.
        column: The measured column whose means are taken.

    Returns:
        The columns label, method, x, mean, low, high and runs. low and high are mean -/+ t s / sqrt(runs),
        the 95 % interval of Student's t with runs - 1 degrees of freedom; empty for a single run.
    """
    if table.empty:
        return pd.DataFrame(columns=COLUMNS)
    if x == "round":
        table = by_round(table)
    others = [name for name in SWEPT if name in table and name != x]
    labels = table["label"].astype(str)
    if others and table["label"].nunique() == 1:  # then the other parameters tell curves apart
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
    means = groups.agg(mean="mean", sd="std", runs="count").reset_index()
    t = stdtrit(means["runs"] - 1, (1 + CONFIDENCE) / 2)  # the quantile of Student's t
    half_width = t * means["sd"] / np.sqrt(means["runs"])
    means["low"], means["high"] = means["mean"] - half_width, means["mean"] + half_width
    return means[COLUMNS]
