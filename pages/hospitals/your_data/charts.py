"""Draw a release, as plain dictionaries. No Streamlit here.

A basis is the components of a release, (d, k): a row for each feature, whose entries are its loadings. The
description of each chart is for those who do not see it.
"""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dppca_core.arrays import Array, Indices
from pages.shared import text
from pages.shared.charts import style, traces
from pages.shared.charts.traces import Figure, Trace
from pages.shared.text.numbers import listed

MOST_LISTED = 200  # features of a table of loadings
MOST_ROWS = 30  # of a heat map
SURE = 2  # standard deviations of the noise, within which a loading may be 0
_MOST_NAMED = 3  # features of each component that a description names
_MOST_LETTERS = 28  # of a column's name


def _label(name: str) -> str:
    """Return a column's name, cut, with its HTML escaped: Plotly reads markup in texts."""
    short = name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"
    return html.escape(short, quote=False)


def _heaviest(basis: Array, most: int) -> Indices:
    """Return at most so many features by the norm of their loadings, falling; without those of 0 alone."""
    norms = np.linalg.norm(basis, axis=1)
    return np.argsort(-norms, kind="stable")[: min(most, int(np.count_nonzero(norms)))]


def strongest(basis: Array) -> Indices:
    """Return the indices of the features that a table lists, rising: all up to 200, else the 200 heaviest."""
    return np.sort(_heaviest(basis, MOST_LISTED)) if len(basis) > MOST_LISTED else np.arange(len(basis))


def loadings(
    features: Sequence[str], basis: Array, noise: Array, component: str, loading: str
) -> dict[str, Any]:
    """Draw a heat map of a release's loadings, heaviest features first; those that may be noise are grey.

    features: names, d. basis: (d, k). noise: the std that noise alone adds to each loading, (d, k); a loading
    within two of these stds of 0 may be noise. component, loading: what this view calls them.
    """
    indices = _heaviest(basis, MOST_ROWS)
    may_be_noise = np.abs(basis) < SURE * noise
    names = [_label(features[int(index)]) for index in indices]
    peak = float(np.abs(basis).max())
    trace = traces.heat_map(
        list(range(len(names))),
        np.where(may_be_noise, np.nan, basis)[indices],
        peak,
        x=[f"{j + 1}" for j in range(basis.shape[1])],
        colorbar={"title": {"text": loading}, "thickness": 12},
        hovertemplate=component + " %{x}, %{customdata}<extra></extra>",
        customdata=[
            [
                f"{name}: {text.short(value)} ± {text.short(SURE * std)}"
                for value, std in zip(*rows, strict=True)
            ]
            for name, *rows in zip(names, basis[indices], noise[indices], strict=True)
        ],
    )
    sides = {"r": 10, "t": 10, "b": 48}
    return _greyed(
        trace,
        may_be_noise[indices],
        xaxis=traces.axis(component, type="category"),
        yaxis=traces.axis("", autorange="reversed", tickvals=trace["y"], ticktext=names),
        height=120 + 19 * len(names),
        margin={"l": 190} | sides,
        meta={"titles": (), "narrow": {"margin": {"l": 130} | sides}},
    )


def _greyed(trace: Trace, unknown: NDArray[np.bool_], **layout: Any) -> dict[str, Any]:
    """Return the figure of a heat map, with a grey over the cells that may be noise alone."""
    grey = {"type": "heatmap", "y": trace["y"], "x": trace["x"], "hoverinfo": "skip", "showscale": False}
    grey |= {"z": [[1 if cell else None for cell in row] for row in unknown.tolist()]}
    # A cell of the grey map is 1, or None where the map below is seen; both ends of its colours are the same.
    grey |= {"colorscale": [[end, style.faded(style.GUESS, 0.2)] for end in (0, 1)]}
    return {"data": [trace, *([grey] if unknown.any() else [])], "layout": layout, "frames": []}


def describe_loadings(figure: Figure, component: str) -> str:
    """Return the description of what `loadings` draws: each component's largest that are not grey."""
    trace = figure["data"][0]
    # z, the loadings that are drawn, is NaN where one may be noise alone.
    names, z = figure["layout"]["yaxis"]["ticktext"], np.array(trace["z"], dtype=float)
    title = component.capitalize()
    parts = []
    for j, label in enumerate(trace["x"]):
        order = np.argsort(-np.abs(z[:, j]), kind="stable")[:_MOST_NAMED]  # NaN comes last
        each = [f"{html.unescape(names[i])} {text.short(z[i, j])}" for i in order if np.isfinite(z[i, j])]
        parts.append(f"{title} {label}: {f'mostly {listed(each)}' if each else 'none can be told from 0'}.")
    no_sign = f"The sign of a whole {component} has no meaning."
    return f"Heat map of what was released. {' '.join(parts)} {no_sign}"
