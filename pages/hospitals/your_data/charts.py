"""Draw a release, and beside it what only the owner may see, as plain dictionaries. No Streamlit here."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from pages.hospitals.your_data.owner_only_diagnostics import COVARIANCE, MOMENT
from pages.hospitals.your_data.text import component
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, one_panel, rounded, signs

MOST_ROWS = 30  # of a heat map, and points of a scree plot
_ARROWS = 8
_LABELS = ("dps_pca", "analyze_gauss", "analyze_gauss_sparse", "ppca", "cape", "ldp_pca", "sparse_pca", "pca")
_MOST_NAME = 28
RELEASED, PLAIN, UNCENTRED = (style.look(name) for name in ("dps_pca", "pca", "sparse_pca"))


def _label(name: str) -> str:
    # A column's name is cut, and escaped: Plotly reads markup in texts.
    short = name if len(name) <= _MOST_NAME else name[: _MOST_NAME - 1] + "…"
    return html.escape(short, quote=False)


def heaviest(basis: Array, most: int = MOST_ROWS) -> Array:
    """Return the indices of the features with the largest loadings, heaviest first, without those of zero."""
    weight = np.linalg.norm(basis, axis=1)
    indices: Array = np.argsort(-weight, kind="stable")[: int(min(most, np.count_nonzero(weight)))]
    return indices


def loadings(features: Sequence[str], basis: Array, plain: bool) -> dict[str, Any]:
    """Draw a heat map of a release's loadings, (d, k), heaviest features first."""
    indices = heaviest(basis)
    names = [_label(features[int(index)]) for index in indices]
    peak = float(np.abs(basis).max())
    trace = {
        "type": "heatmap",
        "x": [f"{j + 1}" for j in range(basis.shape[1])],
        "y": list(range(len(names))),
        "z": [rounded(row) for row in basis[indices]],
        "colorscale": style.DIVERGING,
        "zmin": -peak,
        "zmax": peak,
        "colorbar": {"title": {"text": "weight" if plain else "loading"}, "thickness": 12},
        "hovertemplate": component(plain) + " %{x}, %{customdata}: %{z}<extra></extra>",
        "customdata": [[name] * basis.shape[1] for name in names],
        "text": signs(basis[indices], peak),
        "texttemplate": "%{text}",
    }
    layout = {
        "xaxis": axis(component(plain), type="category"),
        "yaxis": axis("", autorange="reversed", tickvals=trace["y"], ticktext=names),
        "height": 120 + 19 * len(names),
        "margin": {"l": 190, "r": 10, "t": 10, "b": 48},
        "meta": {"titles": (), "narrow": {"margin": {"l": 130, "r": 10, "t": 10, "b": 48}}},
    }
    return {"data": [trace], "layout": layout, "frames": []}


def _figure(traces: list[Trace], xaxis: Trace, yaxis: Trace, height: int) -> dict[str, Any]:
    margin = {"l": 66, "r": 12, "t": 10, "b": 50}
    layout = {"xaxis": xaxis, "yaxis": yaxis, "height": height, "margin": margin}
    return one_panel(traces, legend_at=-0.2, legend={"font": {}}, **layout)


def scree(covariance: Array, moment: Array, released: Array | None, plain: bool) -> dict[str, Any]:
    """Draw the eigenvalues of the clipped rows' covariance and second moment, and the released ones."""
    count = min(MOST_ROWS, len(covariance))
    spectra = [
        (f"not private, {COVARIANCE}", PLAIN, covariance[:count]),
        (f"not private, {MOMENT}", UNCENTRED, moment[:count]),
    ]
    if released is not None:
        spectra.append(("released", RELEASED, released))
    traces = [
        {
            "name": name,
            "type": "scatter",
            "mode": "lines+markers",
            "x": list(range(1, len(values) + 1)),
            "y": rounded(values),
            "line": {"color": look.colour, "dash": look.dash},
            "marker": {"symbol": look.symbol, "size": 8, "color": look.colour},
        }
        for name, look, values in spectra
    ]
    xaxis = axis(component(plain), dtick=max(1, count // 10), range=[0.5, count + 0.5])
    strength = "strength (1: the most there can be)" if plain else "eigenvalue (share of B²)"
    return _figure(traces, xaxis, axis(strength, rangemode="tozero"), 340)


def biplot(
    points: Array, labels: Sequence[str], features: Sequence[str], basis: Array, plain: bool
) -> dict[str, Any]:
    """Draw patients along two released components, (m, 2), coloured by label, and the heaviest loadings.

    Not private: every dot is a patient.
    """
    traces: list[Trace] = []
    for i, name in enumerate(sorted(set(labels))):
        look, crowd = style.look(_LABELS[i % len(_LABELS)]), points[np.array(labels) == name]
        traces.append(
            {
                "name": _label(name),
                "type": "scatter",
                "mode": "markers",
                "x": rounded(crowd[:, 0]),
                "y": rounded(crowd[:, 1]),
                "marker": {"symbol": look.symbol, "size": 6, "color": look.colour, "opacity": 0.6},
                "hoverinfo": "skip",
            }
        )
    heavy = heaviest(basis, _ARROWS)
    tips = basis[heavy] * 0.8 * float(np.abs(points).max(initial=1e-9)) / float(np.abs(basis).max())
    for index, (x, y) in zip(heavy, tips, strict=True):
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+text",
                "x": rounded([0, x]),
                "y": rounded([0, y]),
                "text": ["", _label(features[int(index)])],
                "textposition": f"middle {'right' if x >= 0 else 'left'}",
                "textfont": {"size": 10},
                "line": {"color": style.GUESS, "width": 1.5},
                "showlegend": False,
                "hoverinfo": "skip",
            }
        )
    share = "1: the most there can be" if plain else "share of B"
    axes = []
    for j, room in ((0, 0.4), (1, 0.08)):  # names of features stand beside the arrows' tips
        ends = np.concatenate([points[:, j], tips[:, j] * (1 + room)])
        limits = [float(ends.min()) * 1.03, float(ends.max()) * 1.03]
        axes.append(axis(f"along released {component(plain)} {j + 1} ({share})", range=limits))
    return _figure(traces, *axes, 520)
