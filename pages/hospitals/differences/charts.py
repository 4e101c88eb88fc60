"""Hospitals that differ -> figures as plain dictionaries. No Streamlit: tested without a browser."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np

from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.populations import heart_disease
from dppca_core.populations.standardisation import KINDS
from pages.hospitals.differences import view
from pages.hospitals.differences.settings import KIND_TITLES
from pages.hospitals.differences.view import SiteMeasure
from pages.shared.charts import style
from pages.shared.charts import traces as charts_traces
from pages.shared.charts.style import Look
from pages.shared.charts.traces import Trace, axis, band, line, rounded
from pages.shared.settings.catalogue import Settings

# Okabe-Ito again: here a colour is a way of standardising, and an outcome below.
KIND_LOOKS = dict(
    zip(
        KINDS,
        (
            Look("#2F9AD0", "square", "dash"),
            Look("#009E73", "diamond", "solid"),
            Look("#D55E00", "triangle-up", "longdash"),
            Look("#CC79A7", "circle", "dashdot"),
        ),
        strict=True,
    )
)
OUTCOMES = {
    "gains": ("#009E73", "solid", "better by joining"),
    "loses": ("#D55E00", "dash", "worse by joining"),
    "same": ("#7A8793", "dot", "about the same"),
    "nothing": ("#7A8793", "dot", "no better than guessing either way"),
}
_LEAST = 1e-4  # errors below stand on the edge
_LINE, _CELL = 46, 38  # pixels of a hospital's line, of a measurement's
_TITLE, _ENTRY = 58, 21  # of an axis title, of a legend's line


def _span(measure: SiteMeasure, settings: Settings, lows: list[float]) -> tuple[list[float], bool, float]:
    """The range of an axis of errors, whether it is logarithmic, and its lower edge."""
    if settings["scale"] != "log":
        return [0.0, 1.12 * measure.guess], False, 0.0
    least = max(min([0.1, *(low for low in lows if low > charts_traces.ZERO)]), _LEAST)
    low = math.floor(math.log10(least))
    return [float(low), math.log10(1.5 * measure.guess)], True, 10.0**low


def _scale(log: bool, span: list[float]) -> Trace:
    """Whole decades where there are several, else also 2 and 5."""
    if not log:
        return {"type": "linear"}
    step = 1 if span[1] - span[0] > 2 else "D2"
    return {"type": "log", "dtick": step, "exponentformat": "e", "minexponent": 6}


def _guess_at(x: float) -> tuple[Trace, dict[str, Any]]:
    """The random guess across all lines of names: its entry in the legend, and the line."""
    look = {"color": style.GUESS, "dash": "longdashdot", "width": 1.5}
    entry = line(1, "random guess", style.GUESS, "longdashdot", x=[None], y=[None], showlegend=True)
    across = {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": look}
    return entry, {"shapes": [across]}


def against_strength(results: SiteResults, settings: Settings) -> dict[str, Any]:
    """Error against the common truth over the site effects, a line for every way of standardising.

    Solid colour with a band is private, thin and dotted the same analysis without privacy.
    """
    recipe, measure = results.of, SiteMeasure(results.of, settings)
    here = view.strength(recipe, settings)
    points = {
        kind: [(at, measure.common(results, at, kind)) for at in results.strengths(here)]
        for kind in recipe.kinds
    }
    curves = {
        kind: [(at, errors) for at, errors in curve if errors is not None] for kind, curve in points.items()
    }
    lows = [float(min(spread[0], plain)) for curve in curves.values() for _, (spread, plain) in curve]
    span, log, floor = _span(measure, settings, lows)
    bands: list[Trace] = []
    lines: list[Trace] = []
    for kind, curve in curves.items():
        look, at = KIND_LOOKS[kind], [place for place, _ in curve]
        low, middle, high = np.array([spread for _, (spread, _) in curve]).reshape(-1, 3).T
        edges = band(1, KIND_TITLES[kind], look.colour, at)
        edges[0]["y"], edges[1]["y"] = (rounded(np.maximum(values, floor)) for values in (low, high))
        bands += [edge | {"legendgroup": kind} for edge in edges]
        mark = {"symbol": look.symbol, "size": 8, "color": look.colour}
        plain = np.maximum([plain for _, (_, plain) in curve], floor)
        lines.append(
            line(1, KIND_TITLES[kind], look.colour, look.dash, x=at, y=rounded(np.maximum(middle, floor)))
            | {"mode": "lines+markers", "marker": mark, "showlegend": True, "legendgroup": kind}
            | {"hovertemplate": "%{x}: %{y:.3~g}"}
        )
        thin = {"color": look.colour, "dash": "dot", "width": 1.2}
        lines.append(
            line(1, f"{KIND_TITLES[kind]}, no privacy", look.colour, x=at, y=rounded(plain))
            | {"line": thin, "legendgroup": kind, "hovertemplate": "%{x}: %{y:.3~g}"}
        )
    lines.append(
        line(1, "dotted, thin: without privacy", style.GUESS, "dot", x=[None], y=[None], showlegend=True)
    )
    ends = [0.0, results.strengths(here)[-1]]
    guess = [measure.guess] * 2
    lines.append(line(1, "random guess", style.GUESS, "longdashdot", x=ends, y=guess, showlegend=True))
    edge = [10**v for v in span] if log else span
    lines.append(
        line(1, "this setting", "#000000", x=[here] * 2, y=edge, meta="text-colour", hoverinfo="skip")
    )
    strength = (
        "how much hospitals differ (synthetic patients)"
        if measure.plain
        else ("site effects, 0 = none (synthetic patients)")
    )
    layout = _layout(
        axis(strength, range=[-0.06, ends[1] + 0.06]),
        axis(f"{measure.error_title}, common directions", range=span) | _scale(log, span),
        320,
        lines,
    )
    return {"data": [*bands, *lines], "layout": layout, "frames": []}


def by_kind(results: SiteResults, settings: Settings) -> dict[str, Any]:
    """The table's hospitals: a dot and its 10-90 % interval for every way of standardising."""
    recipe, measure = results.of, SiteMeasure(results.of, settings)
    measured = {kind: measure.common(results, 0.0, kind) for kind in recipe.kinds}
    shown = {kind: errors[0] for kind, errors in measured.items() if errors is not None}
    span, log, floor = _span(measure, settings, [float(spread[0]) for spread in shown.values()])
    dots = []
    for kind, spread in shown.items():
        look = KIND_LOOKS[kind]
        low, middle, high = np.maximum(spread, floor)
        arms = {"array": rounded([high - middle]), "arrayminus": rounded([middle - low]), "symmetric": False}
        dots.append(
            line(1, KIND_TITLES[kind], look.colour, x=rounded([middle]), y=[_broken(KIND_TITLES[kind])])
            | {"mode": "markers", "marker": {"symbol": look.symbol, "size": 12, "color": look.colour}}
            | {"error_x": arms | {"color": look.colour, "thickness": 2, "width": 6}}
            | {"hovertemplate": "%{y}: %{x:.3~g}"}
        )
    guess, across = _guess_at(measure.guess)
    names = [_broken(KIND_TITLES[kind]) for kind in recipe.kinds]  # also those of which no run has an answer
    layout = _layout(
        axis(measure.error_title, range=span) | _scale(log, span),
        _lines_of(names),
        _LINE * len(names),
        [guess],
    )
    return {"data": [*dots, guess], "layout": layout | across, "frames": []}


def joining(results: SiteResults, settings: Settings) -> dict[str, Any]:
    """Every hospital alone (hollow) and joined (filled), 10-90 % thin, the joined one without privacy a "
    "bar."""
    recipe, measure = results.of, SiteMeasure(results.of, settings)
    at, kind = view.strength(recipe, settings), view.kind(recipe, settings)
    alone, joined = (measure.spread(results, what, at, kind) for what in ("alone", "joined"))
    names = [f"{name} ({size:,})" for name, size in zip(recipe.hospitals, recipe.sizes, strict=True)]
    if alone is None or joined is None:
        return {
            "data": [],
            "layout": _layout(axis(measure.title), _lines_of(names), _LINE * len(names), []),
            "frames": [],
        }
    plain = measure.without_privacy(results, at, kind)
    lows = [float(values.min()) for values in (alone, joined, plain)]
    span, log, floor = ([0.0, 1.03], False, 0.0) if measure.energy else _span(measure, settings, lows)
    alone, joined = np.maximum(alone, floor), np.maximum(joined, floor)
    outcomes = view.outcomes(measure, alone, joined)
    traces: list[Trace] = []
    for i, (name, outcome) in enumerate(zip(names, outcomes, strict=True)):
        colour, dash, label = OUTCOMES[outcome]
        first = outcome not in outcomes[:i]
        traces.append(
            line(
                1, label, colour, dash, x=rounded([alone[1, i], joined[1, i]]), y=[name] * 2, hoverinfo="skip"
            )
            | {
                "line": {"color": colour, "dash": dash, "width": 4},
                "showlegend": first,
                "legendgroup": outcome,
            }
        )
    for what, spread, symbol in (("alone", alone, "circle-open"), ("joined", joined, "circle")):
        colours = [OUTCOMES[outcome][0] for outcome in outcomes]
        arms = {"array": rounded(spread[2] - spread[1]), "arrayminus": rounded(spread[1] - spread[0])}
        marker = {"symbol": symbol, "size": 12, "color": colours, "line": {"width": 2, "color": colours}}
        traces.append(
            line(1, what, style.GUESS, x=rounded(spread[1]), y=names, showlegend=True)
            | {"mode": "markers", "marker": marker, "hovertemplate": f"%{{y}}, {what}: %{{x:.3~g}}"}
            | {"error_x": arms | {"symmetric": False, "color": style.GUESS, "thickness": 1, "width": 4}}
        )
    if not view.plain_is_truth(recipe, settings):
        marker = {"symbol": "line-ns", "size": 15, "line": {"width": 2.5, "color": style.GUESS}}
        traces.append(
            line(1, "joined, without privacy", style.GUESS, x=rounded(np.maximum(plain, floor)), y=names)
            | {"mode": "markers", "marker": marker, "showlegend": True}
            | {"hovertemplate": "%{y}, joined without privacy: %{x:.3~g}"}
        )
    guess, across = _guess_at(measure.guess)
    if measure.energy:
        across = {}
    else:
        traces.append(guess)
    note = " (synthetic patients)" if recipe.synthetic else ""
    layout = _layout(
        axis(measure.title + note, range=span) | _scale(log, span),
        _lines_of(names),
        _LINE * len(names),
        traces,
    )
    return {"data": traces, "layout": layout | across, "frames": []}


def missing() -> dict[str, Any]:
    """Share of each hospital's patients of whom a measurement is absent. Not private: counted from rows."""
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
    layout = _layout(
        axis("", side="top") | axes,
        axis("", autorange="reversed", automargin=True, ticksuffix=" ") | axes,
        _CELL * len(keys),
        [],
    )
    layout["margin"] |= {"t": 40, "b": 8}
    layout["meta"] = {"titles": ()}
    layout |= {"height": _CELL * len(keys) + 48, "showlegend": False}
    return {"data": [grid, line(1, "absent", style.GUESS) | words], "layout": layout, "frames": []}


def _absent(absent: heart_disease.Absent) -> str:
    if absent.share == 0:
        return ""
    label = f"{absent.share:.0%}" if absent.share >= 0.01 else "< 1%"
    if absent.zero >= 0.01:
        label += "<br>all as 0" if absent.zero == absent.share else f"<br>{absent.zero:.0%} as 0"
    return label.replace("%", " %")


def _broken(name: str, width: int = 17) -> str:
    """A name on several lines of at most so many letters: a narrow screen has little room beside a chart."""
    return "<br>".join(textwrap.wrap(name.replace("/", "/ "), width, break_long_words=False))


def _lines_of(names: list[str]) -> Trace:
    """A line for each name, the first on top."""
    order = {"categoryorder": "array", "categoryarray": names, "range": [len(names) - 0.4, -0.6]}
    return axis("", type="category", automargin=True, ticksuffix=" ") | order


def _layout(xaxis: Trace, yaxis: Trace, inner: int, traces: list[Trace]) -> dict[str, Any]:
    """`inner` pixels of plot, an axis title, and the traces' legend, in a column on narrow screens.

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
