"""Draw how many patients are where on two components, and describe it. No Streamlit here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.traces import axis, rounded

SURE = 2  # stds of the noise, within which a cell may be empty
_WRITTEN = 8  # cells of an axis up to which counts stand in them


def score_map(counts: Array, edges: Sequence[Sequence[float]], std: float, peak: float) -> dict[str, Any]:
    """Draw counts, (cells, cells), up to a peak: 0 for what is negative, grey for what noise may be alone."""
    unsure = np.abs(counts) < SURE * std
    shown = np.maximum(counts, 0.0).T
    middles = [rounded((np.array(ends)[1:] + np.array(ends)[:-1]) / 2) for ends in edges]
    trace = {
        "type": "heatmap",
        "x": middles[0],
        "y": middles[1],
        "z": [rounded(row) for row in shown],
        "zmin": 0,
        "zmax": peak,
        "colorscale": [[0, style.faded(style.NEGATIVE, 0.05)], [1, style.NEGATIVE]],
        "colorbar": {"title": {"text": "count"}, "thickness": 12},
        "hovertemplate": "%{x}, %{y}: %{z:.0f}<extra></extra>",
    }
    if len(counts) <= _WRITTEN:
        trace |= {"text": [[f"{count:,.0f}" for count in row] for row in shown], "texttemplate": "%{text}"}
    grey = {"type": "heatmap", "x": middles[0], "y": middles[1], "hoverinfo": "skip", "showscale": False}
    grey |= {"z": [[1 if cell else None for cell in row] for row in unsure.T.tolist()]}
    grey |= {"colorscale": [[0, style.faded(style.GUESS, 0.35)], [1, style.faded(style.GUESS, 0.35)]]}
    axes = [axis(f"along component {j} (share of B)") for j in (1, 2)]
    layout = {
        "xaxis": axes[0],
        "yaxis": axes[1],
        "height": 380,
        "margin": {"l": 62, "r": 10, "t": 10, "b": 48},
        "meta": {"titles": ()},
    }
    return {"data": [trace, grey] if unsure.any() else [trace], "layout": layout, "frames": []}


def describe(counts: Array, edges: Sequence[Sequence[float]], std: float) -> str:
    """Return where most patients are, and how many cells may be empty."""
    i, j = np.unravel_index(int(np.argmax(counts)), counts.shape)
    first, second = (
        f"{text.short(ends[at])} to {text.short(ends[at + 1])}"
        for ends, at in zip(edges, (i, j), strict=True)
    )
    unsure = int((np.abs(counts) < SURE * std).sum()) if std else 0
    grey = f" {unsure:,} of {counts.size:,} cells cannot be told from 0." if std else ""
    return (
        f"Heat map of {len(counts)} by {counts.shape[1]} cells. The fullest, {first} along the first and "
        f"{second} along the second, counts {max(float(counts[i, j]), 0.0):,.0f}.{grey}"
    )
