"""Draw a release's loadings beside the true ones, as a heat map. No Streamlit here."""

from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.picture import aligned_with
from dppca_core.experiments.explorer.results import Results
from pages.shared import text
from pages.shared.charts import Figure, Trace, axis, heat_map

_HEAVIEST = 5  # rows of a heat map that are named


def loadings(results: Results, basis: Array, limit: int = 40) -> dict[str, Any]:
    """Return a heat map of a release's loadings, (d, k), and the true ones, for the `limit` heaviest rows.

    The estimate is turned onto the truth (orthogonal Procrustes), since only the subspace is estimated.
    """
    truth = results.truth.basis
    estimate = aligned_with(basis, truth)
    norms = np.maximum(np.linalg.norm(truth, axis=1), np.linalg.norm(estimate, axis=1))
    count = min(limit, int(np.count_nonzero(norms)))
    rows = np.argsort(-norms)[:count]
    table = results.experiment.table
    names = [table.features[row] if table else f"feature {row + 1}" for row in rows.tolist()]
    peak = float(max(np.abs(truth[rows]).max(), np.abs(estimate[rows]).max()))
    columns = [f"{j + 1}" for j in range(truth.shape[1])]
    data = []
    for matrix, x_axis, name in ((truth, "x", "true"), (estimate, "x2", "found")):
        hover = f"{name}, component %{{x}}<br>%{{y}}: %{{z}}<extra></extra>"
        more = {"xaxis": x_axis, "yaxis": "y", "showscale": name == "found", "hovertemplate": hover}
        data.append(heat_map(names, matrix[rows], peak, name=name, x=columns, **more))
    layout = {
        "xaxis": axis("true", domain=[0, 0.48], type="category"),
        "xaxis2": axis("found", domain=[0.52, 1], type="category"),
        "yaxis": axis("", autorange="reversed", type="category"),
        "height": 140 + 18 * count,
        "meta": {"titles": ()},
    }
    return {"data": data, "layout": layout, "frames": []}


def _heaviest(trace: Trace, most: int) -> list[str]:
    """Return the names of a heat map's `most` heaviest features, by the norm of their rows, if not 0."""
    norms = np.linalg.norm(np.array(trace["z"], dtype=float), axis=1)
    order = np.argsort(-norms, kind="stable")[: min(most, np.count_nonzero(norms))]
    return [str(trace["y"][row]) for row in order]


def description(figure: Figure) -> str:
    true, estimated = figure["data"]  # the traces of `loadings`
    in_truth = _heaviest(true, _HEAVIEST)
    in_release = _heaviest(estimated, len(in_truth))
    agreeing = len(set(in_truth) & set(in_release))
    return (
        f"Heat map of {text.count(len(true['y']), 'feature', 'features')}, true beside found. "
        f"Heaviest in truth: {text.listed(in_truth)}. Heaviest found: {text.listed(in_release)}. {agreeing} "
        f"of {len(in_truth)} agree."
    )
