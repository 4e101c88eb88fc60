"""Draw hospitals that differ, as plain dictionaries. No Streamlit: tested without a browser."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.populations import heart_disease
from pages.hospitals.differences.settings import KIND_TITLES
from pages.hospitals.differences.view import SiteView
from pages.shared.charts import style
from pages.shared.charts.style import Look
from pages.shared.charts.traces import ZERO, Trace, axis, band, line, one_panel, rounded

# The colours of Okabe and Ito: here a colour is a way of standardising, and an outcome below.
KIND_LOOKS = {
    "public": Look("#2F9AD0", "square", "dash"),
    "own-ranges": Look("#009E73", "diamond", "solid"),
    "pooled": Look("#D55E00", "triangle-up", "longdash"),
    "within-site": Look("#CC79A7", "circle", "dashdot"),
}
OUTCOMES = {
    "gains": ("#009E73", "solid", "better by joining"),
    "loses": ("#D55E00", "dash", "worse by joining"),
    "same": ("#7A8793", "dot", "about the same"),
    "nothing": ("#7A8793", "dot", "no better than guessing either way"),
}
_LEAST = 1e-4  # errors below stand on the edge
_LINE, _CELL = 46, 38  # pixels of a hospital's line, of a measurement's
_TITLE, _ENTRY = 58, 21  # of an axis title, of a legend's line


def _span(view: SiteView, lows: list[float]) -> tuple[list[float], float, Trace]:
    """Return the range of an axis of errors, its lower edge, and the axis's scale."""
    if view.settings["scale"] != "log":
        return [0.0, 1.12 * view.guess], 0.0, {"type": "linear"}
    least = max(min([0.1, *(low for low in lows if low > ZERO)]), _LEAST)
    low = math.floor(math.log10(least))
    span = [float(low), math.log10(1.5 * view.guess)]
    step = 1 if span[1] - span[0] > 2 else "D2"  # whole decades where there are several, else also 2 and 5
    return span, 10.0**low, {"type": "log", "dtick": step, "exponentformat": "e", "minexponent": 6}


def _guess_line(guess: float) -> tuple[Trace, dict[str, Any]]:
    """Return the legend entry of the random guess, and the line across all lines of names."""
    look = {"color": style.GUESS, "dash": "longdashdot", "width": 1.5}
    entry = line(1, "random guess", style.GUESS, "longdashdot", x=[None], y=[None], showlegend=True)
    across = {"type": "line", "x0": guess, "x1": guess, "yref": "paper", "y0": 0, "y1": 1, "line": look}
    return entry, {"shapes": [across]}


def against_strength(view: SiteView) -> dict[str, Any]:
    """Draw the error against the common truth over the site effects, a line for every standardisation.

    Solid colour with a band is private, thin and dotted the same analysis without privacy.
    """
    strengths = view.results.strengths(view.strength)
    curves = {
        kind: [(at, *errors) for at in strengths if (errors := view.common(kind, at)) is not None]
        for kind in view.recipe.kinds
    }
    lows = [float(min(spread[0], plain)) for curve in curves.values() for _, spread, plain in curve]
    span, floor, scale = _span(view, lows)
    bands: list[Trace] = []
    lines: list[Trace] = []
    for kind, curve in curves.items():
        look, title, at = KIND_LOOKS[kind], KIND_TITLES[kind], [at for at, _, _ in curve]
        spreads = np.array([spread for _, spread, _ in curve]).reshape(-1, 3).T
        low, middle, high = (rounded(values) for values in np.maximum(spreads, floor))
        plain = rounded(np.maximum([plain for _, _, plain in curve], floor))
        shared = {"legendgroup": kind, "hovertemplate": "%{x}: %{y:.3~g}"}
        edges = zip(band(1, title, look.colour, at), (low, high), strict=True)
        bands += [edge | {"y": values, "legendgroup": kind} for edge, values in edges]
        lines += [
            line(1, title, look.colour, look.dash, x=at, y=middle, showlegend=True)
            | {"mode": "lines+markers", "marker": {"symbol": look.symbol, "size": 8, "color": look.colour}}
            | shared,
            line(1, f"{title}, no privacy", look.colour, x=at, y=plain)
            | {"line": {"color": look.colour, "dash": "dot", "width": 1.2}}
            | shared,
        ]
    edge = [10**v for v in span] if scale["type"] == "log" else span
    ends, guess, here = [0.0, strengths[-1]], [view.guess] * 2, [view.strength] * 2
    lines += [
        line(1, "dotted, thin: without privacy", style.GUESS, "dot", x=[None], y=[None], showlegend=True),
        line(1, "random guess", style.GUESS, "longdashdot", x=ends, y=guess, showlegend=True),
        line(1, "this setting", "#000000", x=here, y=edge, meta="text-colour", hoverinfo="skip"),
    ]
    strength = "how much hospitals differ" if view.plain else "site effects, 0 = none"
    xaxis = axis(f"{strength} (synthetic patients)", range=[-0.06, ends[1] + 0.06])
    yaxis = axis(f"{view.error_title}, common directions", range=span) | scale
    return {"data": [*bands, *lines], "layout": _layout(xaxis, yaxis, 320, lines), "frames": []}


def _interval(spread: Array, colour: str, **more: Any) -> Trace:
    """Return the arms of dots at the median, to 10 and 90 %, from (3, N)."""
    low, middle, high = spread
    arms = {"array": rounded(high - middle), "arrayminus": rounded(middle - low), "symmetric": False}
    return {"x": rounded(middle), "mode": "markers", "error_x": arms | {"color": colour} | more}


def by_kind(view: SiteView) -> dict[str, Any]:
    """Draw the table's hospitals: a dot and its 10-90 % interval for every way of standardising."""
    spreads = {kind: spread for kind, (spread, _) in view.common_by_kind().items()}
    span, floor, scale = _span(view, [float(spread[0]) for spread in spreads.values()])
    dots = []
    for kind, spread in spreads.items():
        look, spread = KIND_LOOKS[kind], np.maximum(spread, floor).reshape(3, 1)
        dots.append(
            line(1, KIND_TITLES[kind], look.colour, y=[_broken(KIND_TITLES[kind])])
            | {"marker": {"symbol": look.symbol, "size": 12, "color": look.colour}}
            | {"hovertemplate": "%{y}: %{x:.3~g}"}
            | _interval(spread, look.colour, thickness=2, width=6)
        )
    guess, across = _guess_line(view.guess)
    names = [_broken(KIND_TITLES[kind]) for kind in view.recipe.kinds]  # also those without any answer
    layout = _layout_of_names(axis(view.error_title, range=span) | scale, names, [guess])
    return {"data": [*dots, guess], "layout": layout | across, "frames": []}


def joining(view: SiteView) -> dict[str, Any]:
    """Draw every hospital alone (hollow) and joined (filled), with 10-90 % thin.

    A bar marks the joint answer without privacy.
    """
    recipe, alone, joined = view.recipe, view.spread("alone"), view.spread("joined")
    names = [f"{name} ({size:,})" for name, size in zip(recipe.hospitals, recipe.sizes, strict=True)]
    if alone is None or joined is None:
        return {"data": [], "layout": _layout_of_names(axis(view.title), names, []), "frames": []}
    plain = view.without_privacy()
    span, floor, scale = [0.0, 1.03], 0.0, {"type": "linear"}
    if not view.energy:
        span, floor, scale = _span(view, [float(values.min()) for values in (alone, joined, plain)])
    alone, joined = np.maximum(alone, floor), np.maximum(joined, floor)
    outcomes = view.outcomes(alone, joined)
    colours = [OUTCOMES[outcome][0] for outcome in outcomes]
    traces: list[Trace] = []
    for i, (name, outcome) in enumerate(zip(names, outcomes, strict=True)):
        colour, dash, label = OUTCOMES[outcome]
        ends = rounded([alone[1, i], joined[1, i]])
        traces.append(
            line(1, label, colour, dash, x=ends, y=[name] * 2, hoverinfo="skip", legendgroup=outcome)
            | {"line": {"color": colour, "dash": dash, "width": 4}, "showlegend": outcome not in outcomes[:i]}
        )
    for what, spread, symbol in (("alone", alone, "circle-open"), ("joined", joined, "circle")):
        marker = {"symbol": symbol, "size": 12, "color": colours, "line": {"width": 2, "color": colours}}
        traces.append(
            line(1, what, style.GUESS, y=names, showlegend=True, marker=marker)
            | {"hovertemplate": f"%{{y}}, {what}: %{{x:.3~g}}"}
            | _interval(spread, style.GUESS, thickness=1, width=4)
        )
    if not view.plain_is_truth:
        marker = {"symbol": "line-ns", "size": 15, "line": {"width": 2.5, "color": style.GUESS}}
        traces.append(
            line(1, "joined, without privacy", style.GUESS, x=rounded(np.maximum(plain, floor)), y=names)
            | {"mode": "markers", "marker": marker, "showlegend": True}
            | {"hovertemplate": "%{y}, joined without privacy: %{x:.3~g}"}
        )
    guess, across = _guess_line(view.guess)
    if view.energy:
        across = {}
    else:
        traces.append(guess)
    note = " (synthetic patients)" if recipe.synthetic else ""
    layout = _layout_of_names(axis(view.title + note, range=span) | scale, names, traces)
    return {"data": traces, "layout": layout | across, "frames": []}


def missing() -> dict[str, Any]:
    """Draw the share of each hospital's patients without a measurement. Not private: counted from rows."""
    absent = heart_disease.absent()
    hospitals, keys = list(absent), list(heart_disease.MEASUREMENTS)
    across = [_broken(hospital, 9) for hospital in hospitals]
    down = [heart_disease.MEASUREMENTS[key] for key in keys]
    grid = {
        "type": "heatmap",
        "x": across,
        "y": down,
        "z": [rounded([absent[hospital][key].share for hospital in hospitals]) for key in keys],
        # Faint enough for the page's own text colour, on white and on black.
        "colorscale": [[0, "rgba(128,140,150,0.08)"], [1, "rgba(33,102,172,0.55)"]],
        "zmin": 0,
        "zmax": 1,
        "xgap": 2,
        "ygap": 2,
        "showscale": False,
        "hoverinfo": "skip",
        "xaxis": "x",
        "yaxis": "y",
    }
    words = {
        "x": [name for _ in keys for name in across],
        "y": [name for name in down for _ in hospitals],
        "text": [_absent(absent[hospital][key]) for key in keys for hospital in hospitals],
        "mode": "text",
        "textfont": {"size": 11},
        "hoverinfo": "skip",
    }
    axes = {"type": "category", "showgrid": False}
    return one_panel(
        [grid, line(1, "absent", style.GUESS) | words],
        legend_at=0,
        xaxis=axis("", side="top") | axes,
        yaxis=axis("", autorange="reversed", automargin=True, ticksuffix=" ") | axes,
        height=_CELL * len(keys) + 48,
        margin={"l": 62, "r": 12, "t": 40, "b": 8},
        showlegend=False,
    )


def _absent(absent: heart_disease.Absent) -> str:
    if absent.share == 0:
        return ""
    label = f"{absent.share:.0%}" if absent.share >= 0.01 else "< 1%"
    if absent.zero >= 0.01:
        label += "<br>all as 0" if absent.zero == absent.share else f"<br>{absent.zero:.0%} as 0"
    return label.replace("%", " %")


def _broken(name: str, width: int = 17) -> str:
    # A narrow screen has little room beside a chart.
    return "<br>".join(textwrap.wrap(name.replace("/", "/ "), width, break_long_words=False))


def _layout_of_names(xaxis: Trace, names: list[str], traces: list[Trace]) -> dict[str, Any]:
    """Return the layout of a chart with a line for each name, the first on top."""
    order = {"categoryorder": "array", "categoryarray": names, "range": [len(names) - 0.4, -0.6]}
    yaxis = axis("", type="category", automargin=True, ticksuffix=" ") | order
    return _layout(xaxis, yaxis, _LINE * len(names), traces)


def _layout(xaxis: Trace, yaxis: Trace, inner: int, traces: list[Trace]) -> dict[str, Any]:
    """Return a layout of `inner` pixels of plot, an axis title, and the legend, a column on narrow screens.

    Were there less room than the legend takes, the plot would shrink and the legend rise into the title.
    """
    entries = sum(bool(trace["showlegend"]) for trace in traces)
    legend = {"orientation": "h", "y": -_TITLE / inner, "yanchor": "top", "x": 0, "font": {"size": 12}}
    legend |= {"tracegroupgap": 0}
    column = legend | {"orientation": "v"}
    height = inner + 8 + _TITLE
    return {
        "xaxis": xaxis,
        "yaxis": yaxis,
        "height": height + _ENTRY * math.ceil(entries / 4),
        "margin": {"l": 62, "r": 12, "t": 8, "b": 48},
        "legend": legend,
        "showlegend": True,
        "hovermode": "closest",
        "meta": {"titles": (), "narrow": {"height": height + _ENTRY * entries + 10, "legend": column}},
    }
