"""Build figures from plain dictionaries. No Streamlit here, so that tests need no browser.

A figure is {"data", "layout", "frames"}; frames hold the parts of the traces that differ, so that the browser
can scrub through them without asking the server.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from pages.shared.charts import style

Trace = dict[str, Any]
EPSILON_TICKS: Trace = {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"]}


def rounded(values: Sequence[float] | Array) -> list[float | None]:
    """Return four significant digits, None for what is not finite: small messages, valid JSON."""
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in np.asarray(values, float)]


def signs(matrix: Array, peak: float) -> list[list[str]]:
    """Return + or − for each entry whose size is at least a third of `peak`, else "": read without colour."""
    marks = np.where(np.abs(matrix) >= peak / 3, np.where(matrix > 0, "+", "−"), "")
    return [[str(mark) for mark in row] for row in marks]


def line(panel: int, name: str, colour: str, dash: str = "solid", width: float = 2, **more: Any) -> Trace:
    suffix = "" if panel == 1 else str(panel)
    line = {"color": colour, "dash": dash, "width": width}
    base = {"type": "scatter", "mode": "lines", "name": name, "line": line}
    return base | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "showlegend": False} | more


def marked_line(
    name: str, look: style.Look, x: Sequence[Any], y: Sequence[Any], size: int = 7, **more: Any
) -> Trace:
    marker = {"symbol": look.symbol, "size": size, "color": look.colour}
    line_only = line(1, name, look.colour, look.dash, x=x, y=y, showlegend=True)
    return line_only | {"mode": "lines+markers", "marker": marker} | more


def this_setting(panel: int, x: Sequence[float], y: Sequence[float]) -> Trace:
    """Return a line at the current setting; its meta makes browsers draw it in the colour of text."""
    return line(panel, "this setting", style.INK, x=x, y=y, meta="text-colour", hoverinfo="skip")


def band(
    panel: int, name: str, colour: str, x: Sequence[float], low: Sequence[Any] = (), high: Sequence[Any] = ()
) -> list[Trace]:
    """Return the traces of a band's edges: the lower, and the upper, filled down to it; frames may set y."""
    edge = {"x": list(x), "hoverinfo": "skip", "line": {"color": "rgba(0,0,0,0)", "width": 0}}
    fill = {"fill": "tonexty", "fillcolor": style.faded(colour, 0.18)}
    lower = line(panel, f"{name}, 10 %", colour, y=low) | edge
    return [lower, line(panel, f"{name}, 10-90 %", colour, y=high) | edge | fill]


def arms(low: Array, middle: Array, high: Array, colour: str, **more: Any) -> Trace:
    """Return the error bars of dots at `middle`, down to `low` and up to `high`; more: other properties."""
    ends = {"array": rounded(high - middle), "arrayminus": rounded(middle - low)}
    return {"type": "data", "symmetric": False, "color": colour} | ends | more


def heat_map(names: Sequence[Any], matrix: Array, peak: float, **more: Any) -> Trace:
    """Return a heat map of numbers from -peak to peak, named by row, with signs to read without colour."""
    cells = {"z": [rounded(row) for row in matrix], "text": signs(matrix, peak), "texttemplate": "%{text}"}
    colours = {"colorscale": style.DIVERGING, "zmin": -peak, "zmax": peak}
    return {"type": "heatmap", "y": names} | cells | colours | more


def axis(title: str, *, decades: bool = False, **more: Any) -> dict[str, Any]:
    ticks = {"type": "log", "dtick": 1, "exponentformat": "e", "minexponent": 6} if decades else {}
    return {"title": {"text": title, "standoff": 8}, "zeroline": False, "tickangle": 0} | ticks | more


def one_panel(
    traces: Sequence[Trace], *, legend_at: float = -0.16, legend: Trace | None = None, **layout: Any
) -> dict[str, Any]:
    below = {"orientation": "h", "y": legend_at, "yanchor": "top", "x": 0, "font": {"size": 11}}
    base = {
        "margin": {"l": 62, "r": 12, "t": 8, "b": 48},
        "legend": below | (legend or {}),
        "showlegend": True,
        "hovermode": "closest",
        "meta": {"titles": ()},
    }
    return {"data": list(traces), "layout": base | layout, "frames": []}


def marks(
    panel: int, name: str, colour: str, symbol: str, size: float, edge: float = 2, **more: Any
) -> Trace:
    marker = {"symbol": symbol, "size": size, "color": colour, "line": {"width": edge, "color": colour}}
    return line(panel, name, colour, mode="markers", marker=marker, **more)


def bar(name: str, colour: str, fill: float, edge: float, **more: Any) -> Trace:
    marker = {"color": style.faded(colour, fill), "line": {"color": colour, "width": edge}}
    return {"type": "bar", "orientation": "h", "name": name, "marker": marker} | more


ZERO = 1e-7  # errors below are an iteration's tolerance, not a measurement


def plain_figure(traces: list[Trace], xaxis: Trace, yaxis: Trace) -> dict[str, Any]:
    groups = {"groupclick": "toggleitem", "traceorder": "grouped"}
    return one_panel(traces, legend_at=-0.14, legend=groups, height=520, xaxis=xaxis, yaxis=yaxis)


Figure = Mapping[str, Any]


def drawn_values(trace: Trace) -> Array:
    return np.array([math.nan if value is None else value for value in trace["y"]], dtype=float)


def _still(trace: Trace, base: Sequence[Sequence[float]]) -> Trace:
    """Return a trace without "meta", its points made of that and `base`, (m, n), as picture.js makes them."""
    meta = trace.get("meta")
    still = {name: value for name, value in trace.items() if name != "meta"}
    if isinstance(meta, dict) and "map" in meta:
        points = np.array(meta["map"]) @ base + np.reshape(meta.get("at", [0, 0]), (2, 1))
        if "dot" in meta:  # draw each point as a square of this half width
            corners = meta["dot"] * np.array([[-1, 1, 1, -1, math.nan], [-1, -1, 1, 1, math.nan]])
            points = (points[:, :, None] + corners[:, None]).reshape(2, -1)
        still |= dict(zip("xy", map(rounded, points), strict=True))
    return still


def as_shown(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure with its active frame alone, applied; layout.js places the panels in a browser."""
    frame = figure["frames"][figure["active"]] if figure["frames"] else {"traces": {}}
    base = figure.get("base", ())
    data = [_still(trace | frame["traces"].get(str(i), {}), base) for i, trace in enumerate(figure["data"])]
    layout = {name: value for name, value in figure["layout"].items() if name != "uirevision"}
    if "methods" in frame:  # the explorer's three panels
        layout["yaxis3"] = layout["yaxis3"] | {"ticktext": frame["methods"]}
    return {"data": data, "layout": layout}
