"""Draw bounds beside what was measured, as plain dictionaries."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure
from scipy import ndimage

from dppca_core.auditing import clopper_pearson
from dppca_core.bounds import BOUNDS, ge_figure2
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.closed_forms import count_complete
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS
from dppca_core.experiments.explorer.regime_map import RegimeMap
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.experiments.studies import BoundsStudy
from dppca_core.methods import METHODS
from dppca_core.records import Bound
from pages.explore.bounds.model import THEOREM, Bounds, BoundState
from pages.explore.bounds.sentences import TERMS
from pages.shared import text
from pages.shared.charts import (
    Scale,
    Trace,
    arms,
    axis,
    band,
    in_notebook,
    line,
    marks,
    one_panel,
    rounded,
    style,
    traces,
)
from pages.shared.charts.metric_axis import span_of

KIND_DASH = {"upper": "solid", "lower": "dot", "prediction": "dash"}
_SYMBOLS = (
    *("circle", "square", "diamond", "cross", "triangle-up", "triangle-down", "pentagon", "hexagon"),
    *("star", "triangle-left", "triangle-right", "hourglass", "bowtie", "star-square", "star-diamond", "x"),
    *("hexagram", "star-triangle-up", "star-triangle-down", "diamond-tall", "diamond-wide", "octagon"),
)
_MARKED = 7  # markers on a bound's line: enough to tell it without its colour
_THIN = 1.2  # width in pixels of a line where an assumption fails
_ROOM = 2.0  # steps of the map's grid that its name needs around it in a region


def bound_look(name: str) -> style.Look:
    rank = list(BOUNDS).index(name)
    symbol = _SYMBOLS[rank % len(_SYMBOLS)]  # colours repeat sooner
    return style.Look(style.SERIES[rank % len(style.SERIES)], symbol, KIND_DASH[BOUNDS[name].kind])


def figure(study: BoundsStudy, metric: str = "sin") -> Figure:
    """Draw a study's bounds and measured errors against epsilon, as the page does.

    Args:
        study: Of `studies.bounds`.
        metric: The unit of errors: "sin", "projector", "share" or "degrees".

    Returns:
        A Plotly figure, which a notebook shows.

    Raises:
        ValueError: For another metric.
    """
    settings = in_notebook.settings(metric) | {"of": study.method, "tau": study.tau}
    return in_notebook.plotly(against_epsilon(Bounds(settings, study)))


def against_epsilon(m: Bounds) -> dict[str, Any]:
    """Draw the measured error and the bounds: thin where an assumption fails, without a line where void."""
    scale, runs = m.scale(), m.runs
    spreads = [quantiles([scale.final_error(cell) for cell in cells]) for cells in runs.values()]
    spread = np.array(spreads).reshape(-1, 3).T  # 10, 50 and 90 % in three rows
    values = scale.bound_in_unit([bound.final for bounds in m.evaluated.values() for bound in bounds])
    # A logarithmic axis begins at the power of ten below all that is drawn, and at 0.01 at most.
    smallest = min([v for v in (*spread[0], *values) if 1e-6 < v < math.inf], default=1e-2)
    reach, scale.floor = span_of(scale.metric, True, smallest, float(scale.bound_in_unit(m.most)))
    top = 10.0 ** reach[1] if scale.floor else reach[1]
    curves = _measured(m.method, list(runs), map(scale.drawn, spread), width=3)
    curves.append(_guess(scale, [EPSILONS[0], EPSILONS[-1]]))
    for name, bounds in m.evaluated.items():
        curves += _bound_traces(m, name, bounds, scale)
    here = traces.this_setting(1, [m.epsilon] * 2, [scale.floor, top])
    upward = axis(text.METRIC_TITLES[scale.metric], decades=scale.floor > 0, range=reach)
    across = _privacy_axis(range=[-2.04, 1.04])  # powers of ten: all EPSILONS, 0.01 to 10, with some room
    return one_panel([*curves, here], xaxis=across, yaxis=upward, height=460)


def _privacy_axis(**more: Any) -> Trace:
    return axis("privacy loss ε", type="log", **more) | traces.EPSILON_TICKS


def _guess(scale: Scale, ends: Sequence[float]) -> Trace:
    return line(1, "random guess", style.GUESS, "dot", x=list(ends), y=[scale.guess] * 2)


def _measured(
    method: str, x: Sequence[float], spread: Iterable[list[float | None]], **more: Any
) -> list[Trace]:
    """Return a method's 10-90 % band and median line; spread: 10, 50 and 90 % over the runs at each x."""
    title, shade = METHODS[method].title, style.look(method).colour
    low, middle, high = spread
    measured = line(1, f"{title}, measured", shade, x=x, y=middle, showlegend=True, **more)
    return [*band(1, title, shade, x, low, high), measured]


def chances(m: Bounds) -> dict[str, Any]:
    """Draw how often all true features are found; error bars are 80 % intervals of Clopper and Pearson."""
    runs = m.runs
    count = np.array([len(cells) for cells in runs.values()], dtype=float)
    complete = np.array([count_complete(cells) for cells in runs.values()], dtype=float)
    share = complete / count
    low, high = clopper_pearson.limits(complete, count, tail=0.1)
    colour = style.look(m.method).colour
    chance = [bound.quantities.get("support_probability", math.nan) for bound in m.predicted]
    measured = marks(1, "share of runs", colour, "circle", size=7, x=list(runs), y=rounded(share))
    curves = [
        line(1, "predicted chance", colour, "dash", x=list(EPSILONS), y=rounded(chance), showlegend=True),
        measured | {"showlegend": True, "error_y": arms(low, share, high, style.faded(colour, 0.5))},
        traces.this_setting(1, [m.epsilon] * 2, [0, 1]),
    ]
    across = _privacy_axis(range=[-2.04, 1.04])  # powers of ten: all EPSILONS, 0.01 to 10, with some room
    upward = axis("all true features found", range=[-0.04, 1.04])
    return one_panel(curves, legend_at=-0.3, xaxis=across, yaxis=upward, height=300)


def table(m: Bounds) -> pd.DataFrame:
    """Return measured runs, then bounds, by epsilon: all are ||sin Theta||_F, whatever the chart shows."""
    runs = [
        {"what": "measured", "name": m.method, "epsilon": e, "repeat": repeat}
        | {"sin_theta": float(cell.sin[-1]), "support_found": cell.support}
        for e, cells in m.runs.items()
        for repeat, cell in enumerate(cells)
    ]
    bounds = [
        {"what": BOUNDS[name].kind, "name": name, "epsilon": e, "sin_theta": bound.final}
        | {"state": m.state(name, bound).value, "chance": bound.quantities.get("support_probability")}
        for name, row in m.evaluated.items()
        for e, bound in zip(EPSILONS, row, strict=True)
    ]
    columns = ["what", "name", "epsilon", "repeat", "sin_theta", "state", "support_found", "chance"]
    return pd.DataFrame([*runs, *bounds], columns=columns).astype({"repeat": "Int64"})


def _bound_traces(m: Bounds, name: str, bounds: Sequence[Bound], scale: Scale) -> list[Trace]:
    """Return a bound's line where it applies, and where an assumption fails; a click switches both."""
    title, (shade, symbol, dash) = BOUNDS[name].title, bound_look(name)
    states = [m.state(name, bound) for bound in bounds]
    drawn = scale.bound_in_unit([bound.final for bound in bounds])

    def drawn_where(state: BoundState) -> list[float | None]:
        values = [v if s == state else math.nan for v, s in zip(drawn, states, strict=True)]
        return rounded(np.maximum(values, scale.floor))

    shared: Trace = {"x": list(EPSILONS), "legendgroup": name, "mode": "lines+markers"}
    shared["marker"] = {"symbol": symbol, "size": 7, "color": shade, "maxdisplayed": _MARKED}
    full = line(1, title, shade, dash, 2, y=drawn_where(BoundState.APPLIES)) | shared
    failing = drawn_where(BoundState.FAILS)
    thin = line(1, f"{title}: an assumption fails", shade, dash, _THIN, y=failing) | shared
    return [full | {"showlegend": any(state != BoundState.VOID for state in states)}, thin]


def terms(m: Bounds) -> dict[str, Any]:
    bound, scale, iterations = m.here[THEOREM], m.scale(), m.experiment.iterations
    steps = list(range(iterations + 1))
    curves: list[Trace] = []
    # Reach up to the metric's own upper end where more is better, else a little beyond a guess.
    top = scale.span(smallest=0.01)[1] if scale.more_is_better else 1.6 * scale.guess
    if bound.terms and m.state(THEOREM, bound) != BoundState.VOID:
        # Only "opt" differs from iteration to iteration.
        each = [np.broadcast_to(bound.terms[term], iterations) for term in ("stat", "priv", "opt")]
        stacked = scale.bound_in_unit(np.cumsum(each, axis=0))
        top = max(top, 1.1 * float(np.nan_to_num(stacked).max()))
        opacity = 0.6 if bound.applies else 0.25
        for row, name, shade, dash in zip(stacked, TERMS, style.THEOREM, style.THEOREM_DASHES, strict=True):
            fill = {"fill": "tonexty" if curves else "tozeroy", "fillcolor": style.faded(shade, opacity)}
            curve = line(1, name, style.THEOREM[0], dash, x=steps[1:], y=rounded(row), showlegend=True)
            curves.append(curve | fill)
    if cells := m.results.measured(DPS_PCA, m.epsilon):
        spread = quantiles([scale.values(cell) for cell in cells])
        curves += _measured(DPS_PCA, steps, map(rounded, spread), mode="lines+markers")
    across = axis("iteration t", range=[-0.3, iterations + 0.3], dtick=max(1, iterations // 5))
    upward = axis(text.METRIC_TITLES[scale.metric], range=[0, top])
    return one_panel([*curves, _guess(scale, [0, iterations])], xaxis=across, yaxis=upward, height=380)


def regimes(regime_map: RegimeMap, n: int, epsilon: float) -> dict[str, Any]:
    """Draw the (n, epsilon) plane coloured by its `REGIONS`, with a cross at the page's setting."""
    count = len(REGIONS)
    # Each region has one colour: a scale of plain steps, with the codes 0, 1, ... in the middle of theirs.
    steps = [[edge, shade] for i, shade in enumerate(style.REGIONS) for edge in (i / count, (i + 1) / count)]
    heat = {
        "type": "heatmap",
        "x": [float(v) for v in regime_map.patients],
        "y": [float(v) for v in regime_map.epsilons],
        "z": regime_map.codes.tolist(),
        "text": [[REGIONS[code] for code in row] for row in regime_map.codes],
        "hovertemplate": "%{x:,.3s} patients, privacy loss ε %{y:.3g}: %{text}<extra></extra>",
        "colorscale": steps,
        "zmin": -0.5,
        "zmax": count - 0.5,
        "showscale": False,
    }
    here = marks(1, "this setting", style.INK, "x", size=13, x=[n], y=[epsilon])
    here["marker"]["line"]["color"] = style.PAPER
    # Points that are nowhere put the regions' names and colours into the legend.
    keys = [
        marks(1, name, shade, "square", size=11, x=[None], y=[None], showlegend=True)
        for name, shade in zip(REGIONS, style.REGIONS, strict=True)
    ]
    powers: Trace = {"exponentformat": "power", "minexponent": 6}
    return one_panel(
        [heat, *keys, *_region_names(regime_map), here],
        xaxis=axis("patients n", type="log", dtick=1, **powers),
        yaxis=_privacy_axis(),
        height=420,
    )


def _region_names(regime_map: RegimeMap) -> list[Trace]:
    """Write each region's name, if it has room, at the point that is furthest from the region's edge."""
    labels = []
    for code, (name, ink) in enumerate(zip(REGIONS, style.ON_REGIONS, strict=True)):
        # Padding makes the map's own border count as an edge.
        room = ndimage.distance_transform_edt(np.pad(regime_map.codes == code, 1))[1:-1, 1:-1]
        i, j = np.unravel_index(int(room.argmax()), room.shape)  # of an epsilon, and of a number of patients
        if room[i, j] >= _ROOM:
            at: Trace = {"x": [float(regime_map.patients[j])], "y": [float(regime_map.epsilons[i])]}
            words = {"mode": "text", "text": [name.replace(" is ", "<br>is ")], "hoverinfo": "skip"}
            labels.append(line(1, name, ink, **at) | words | {"textfont": {"color": ink, "size": 12}})
    return labels


def figure_2() -> dict[str, Any]:
    """Draw Figure 2 of Ge et al. by parameters that we fitted to its curve, as the paper reports none."""
    epsilons = np.linspace(*ge_figure2.EPSILONS, 60)
    terms = ge_figure2.curves(epsilons)
    lines = {  # by term: name, colour and dash
        "total": ("overall", style.BLUE, "solid"),
        "stat": ("sampling", style.OCHRE, "dash"),
        "priv": ("privacy", style.VERMILION, "longdash"),
        "opt": ("optimisation", style.GREEN, "dashdot"),
    }
    curves = [
        line(1, *look, x=rounded(epsilons), y=rounded(terms[term]), showlegend=True)
        for term, look in lines.items()
    ]
    ends: Trace = {"x": list(ge_figure2.EPSILONS), "y": [math.sqrt(5)] * 2}  # of 5 directions, all off by 90°
    curves.append(line(1, "largest possible error, √5", style.GUESS, "dot", showlegend=True, **ends))
    upward = axis("bound on ‖sin Θ‖<sub>F</sub>", rangemode="tozero")
    return one_panel(curves, xaxis=axis("privacy loss ε"), yaxis=upward, height=360)
