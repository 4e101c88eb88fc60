"""A release, and beside it what only the owner may see -> figures as plain dictionaries. No Streamlit."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from pages.hospitals.your_data.owner_only_diagnostics import COVARIANCE, MOMENT
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, one_panel, rounded, signs

MOST_ROWS = 30
_LABELS = ("dps_pca", "analyze_gauss", "analyze_gauss_sparse", "ppca", "cape", "ldp_pca", "sparse_pca", "pca")
_MOST_NAME = 28
RELEASED, PLAIN, UNCENTRED = (style.look(name) for name in ("dps_pca", "pca", "sparse_pca"))


def shown(name: str) -> str:
    """A column's name as a chart shows it: Plotly reads markup in texts."""
    short = name if len(name) <= _MOST_NAME else name[: _MOST_NAME - 1] + "…"
    return html.escape(short, quote=False)


def heaviest(basis: Array, most: int = MOST_ROWS) -> Array:
    """Places of the features with the largest loadings, heaviest first; those with none are left out."""
    weight = np.linalg.norm(basis, axis=1)
    places: Array = np.argsort(-weight, kind="stable")[: int(min(most, np.count_nonzero(weight)))]
    return places


def loadings(features: Sequence[str], basis: Array, plain: bool) -> dict[str, Any]:
    """Heat map of a release's loadings, (d, k), heaviest features first."""
    places = heaviest(basis)
    loading, component = ("weight", "direction") if plain else ("loading", "component")
    peak = float(np.abs(basis).max())
    trace = {
        "type": "heatmap",
        "x": [f"{j + 1}" for j in range(basis.shape[1])],
        "y": list(range(len(places))),
        "z": [rounded(row) for row in basis[places]],
        "colorscale": style.DIVERGING,
        "zmin": -peak,
        "zmax": peak,
        "colorbar": {"title": {"text": loading}, "thickness": 12},
        "hovertemplate": component + " %{x}, %{customdata}: %{z}<extra></extra>",
        "customdata": [[shown(features[int(place)])] * basis.shape[1] for place in places],
        "text": signs(basis[places], peak),
        "texttemplate": "%{text}",
    }
    layout = {
        "xaxis": axis(component, type="category"),
        "yaxis": axis("", autorange="reversed", tickvals=trace["y"])
        | {"ticktext": [shown(features[int(place)]) for place in places]},
        "height": 120 + 19 * len(places),
        "margin": {"l": 190, "r": 10, "t": 10, "b": 48},
        "meta": {"titles": (), "narrow": {"margin": {"l": 130, "r": 10, "t": 10, "b": 48}}},
    }
    return {"data": [trace], "layout": layout, "frames": []}


def _figure(traces: list[Trace], xaxis: Trace, yaxis: Trace, height: int = 400) -> dict[str, Any]:
    layout = {
        "xaxis": xaxis,
        "yaxis": yaxis,
        "height": height,
        "margin": {"l": 66, "r": 12, "t": 10, "b": 50},
    }
    return one_panel(traces, legend_at=-0.2, legend={"font": {}}, **layout)


def scree(
    covariance: Array, moment: Array, released: Array | None, plain: bool, most: int = 30
) -> dict[str, Any]:
    """Eigenvalues of the clipped rows' covariance and second moment, and those that a release paid for."""
    count = min(most, len(covariance))

    def dots(name: str, look: style.Look, drawn: Array) -> Trace:
        return {
            "name": name,
            "type": "scatter",
            "mode": "lines+markers",
            "x": list(range(1, len(drawn) + 1)),
            "y": rounded(drawn),
            "line": {"color": look.colour, "dash": look.dash},
            "marker": {"symbol": look.symbol, "size": 8, "color": look.colour},
        }

    traces = [
        dots(f"not private, {COVARIANCE}", PLAIN, covariance[:count]),
        dots(f"not private, {MOMENT}", UNCENTRED, moment[:count]),
    ]
    if released is not None:
        traces.append(dots("released", RELEASED, released))
    xaxis = axis("direction" if plain else "component", dtick=max(1, count // 10), range=[0.5, count + 0.5])
    strength = "strength (1: the most there can be)" if plain else "eigenvalue (share of B²)"
    return _figure(traces, xaxis, axis(strength, rangemode="tozero"), 340)


def _room(points: Array, tips: Array, room: float) -> list[float]:
    """A range that holds the points, and the tips with a share of room beyond."""
    ends = np.concatenate([points, tips * (1 + room)])
    return [float(ends.min()) * 1.03, float(ends.max()) * 1.03]


def biplot(
    points: Array, labels: Sequence[str], features: Sequence[str], basis: Array, plain: bool, arrows: int = 8
) -> dict[str, Any]:
    """Patients along two released components, (m, 2), coloured by label, and the heaviest loadings as arrows.

    Not private: every dot is a patient.
    """
    order = [str(name) for name in dict.fromkeys(sorted(labels))]
    which = np.array(labels)
    traces: list[Trace] = []
    for i, name in enumerate(order):
        look, mine = style.look(_LABELS[i % len(_LABELS)]), points[which == name]
        traces.append(
            {
                "name": shown(name),
                "type": "scatter",
                "mode": "markers",
                "x": rounded(mine[:, 0]),
                "y": rounded(mine[:, 1]),
                "marker": {"symbol": look.symbol, "size": 6, "color": look.colour, "opacity": 0.6},
                "hoverinfo": "skip",
            }
        )
    reach = 0.8 * float(np.abs(points).max(initial=1e-9)) / float(np.abs(basis).max())
    for place in heaviest(basis, arrows):
        x, y = reach * basis[int(place)]
        side = "right" if x >= 0 else "left"
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+text",
                "x": rounded([0, x]),
                "y": rounded([0, y]),
                "text": ["", shown(features[int(place)])],
                "textposition": f"middle {side}",
                "textfont": {"size": 10},
                "line": {"color": style.GUESS, "width": 1.5},
                "showlegend": False,
                "hoverinfo": "skip",
            }
        )
    tips = reach * basis[heaviest(basis, arrows)]
    what, share = ("direction", "1: the most there can be") if plain else ("component", "share of B")
    xaxis, yaxis = (
        axis(f"along released {what} {j + 1} ({share})", range=_room(points[:, j], tips[:, j], room))
        for j, room in ((0, 0.4), (1, 0.08))  # names of features stand beside the arrows' tips
    )
    return _figure(traces, xaxis, yaxis, 520)
