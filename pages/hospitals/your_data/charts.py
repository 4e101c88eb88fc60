"""Draw a release and its predicted errors, as plain dictionaries. No Streamlit here.

A basis is the components of a release, (d, k): a row for each feature, whose entries are its loadings. The
description of each chart is for those who do not see it.
"""

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.numerics import subspace_metrics
from pages.shared import text
from pages.shared.charts import metric_axis, style, traces
from pages.shared.charts.traces import Figure, Trace
from pages.shared.settings.catalogue import Settings
from pages.shared.text.numbers import listed

MOST_LISTED = 200  # features of a table of loadings
MOST_ROWS = 30  # of a heat map
SURE = 2  # standard deviations of the noise, within which a loading may be 0
_MOST_NAMED = 3  # features of each component that a description names
# Lines for populations have the looks that these methods have elsewhere.
_LOOKS = ("dps_pca", "analyze_gauss", "analyze_gauss_sparse")
_MOST_LETTERS = 28  # of a column's name


def _label(name: str) -> str:
    """Return a column's name, cut, with its HTML escaped: Plotly reads markup in texts."""
    short = name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"
    return html.escape(short, quote=False)


def _heaviest(basis: Array, most: int) -> Array:
    """Return the indices of the heaviest features, by the norm of their rows of the basis, falling.

    most: how many at most. Features whose loadings are all 0 are left out.
    """
    norms = np.linalg.norm(basis, axis=1)
    return np.argsort(-norms, kind="stable")[: int(min(most, np.count_nonzero(norms)))]


def strongest(basis: Array) -> Array:
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
            [f"{name}: {text.short(value)}" for value in row]
            for name, row in zip(names, basis[indices], strict=True)
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


def _greyed(trace: Trace, unknown: Array, **layout: Any) -> dict[str, Any]:
    """Return the figure of a heat map, with a grey over the cells that may be noise alone.

    trace: the map. unknown: whether a cell may be noise, in the shape of the map. layout: the properties of
    the figure's layout.
    """
    grey = {"type": "heatmap", "y": trace["y"], "x": trace["x"], "hoverinfo": "skip", "showscale": False}
    grey |= {"z": [[1 if cell else None for cell in row] for row in unknown.tolist()]}
    # A cell of the grey map is 1, or None where the map below is seen; both ends of its colours are the same.
    grey |= {"colorscale": [[end, style.faded(style.GUESS, 0.2)] for end in (0, 1)]}
    return {"data": [trace, *([grey] if unknown.any() else [])], "layout": layout, "frames": []}


def describe_loadings(figure: Figure, component: str) -> str:
    """Return the description of what `loadings` draws: each component's largest loadings that are not grey.

    component: what this view calls one.
    """
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


def _figure(lines: list[Trace], xaxis: Trace, yaxis: Trace, height: int) -> dict[str, Any]:
    """Return the figure of one panel with these lines, with its legend below."""
    margin = {"l": 66, "r": 12, "t": 10, "b": 50}
    layout = {"xaxis": xaxis, "yaxis": yaxis, "height": height, "margin": margin}
    return traces.one_panel(lines, legend_at=-0.2, legend={"font": {}}, **layout)


def predicted(
    curves: Sequence[tuple[str, Sequence[float]]], settings: Settings, d: int, k: int
) -> dict[str, Any]:
    """Draw the predicted errors of a release against epsilon, on several populations, and a guess's error.

    curves: each population's title, and ||sin Theta|| at every one of EPSILONS. settings: the page's, with
    the unit of errors. d, k: features and components.
    """
    metric = metric_axis.error_unit(settings)
    metric = "sin" if metric == "degrees" and k > 1 else metric  # an error gives no angle there
    settings = settings | {"metric": metric}
    guess, most = metric_axis.random_guess(settings, d, k), subspace_metrics.random_guess(d, k)
    lines = []
    for i, (title, sines) in enumerate(curves):
        # A prediction can exceed the error of a guess, which is the most that is drawn.
        values = traces.rounded(metric_axis.in_unit(metric, np.minimum(sines, most), k))
        lines.append(traces.marked_line(title, style.look(_LOOKS[i]), list(EPSILONS), values, size=5))
    # A guess errs as much at every epsilon, so that its line, in panel 1, is level.
    ends = {"x": [EPSILONS[0], EPSILONS[-1]], "y": traces.rounded([guess] * 2), "showlegend": True}
    lines.append(traces.line(1, "a random guess", style.GUESS, "dot", **ends))
    least = min(min(traces.drawn_values(trace)) for trace in lines)
    _, scale = metric_axis.error_axis(settings, guess, least)  # Plotly's properties of the axis
    title = metric_axis.error_title(settings)
    return _figure(lines, traces.axis("privacy loss ε", type="log"), traces.axis(title, **scale), height=320)


def describe_predicted(figure: Figure) -> str:
    """Return the description of what `predicted` draws: each curve's errors at the ends of epsilon."""
    each = [(trace["name"], traces.drawn_values(trace)) for trace in figure["data"]]
    ends = [f"{name}: {text.short(values[0])} to {text.short(values[-1])}" for name, values in each]
    return f"Predicted, from the smallest ε to the largest. {'; '.join(ends)}."
