"""Draw hospitals that differ, as figures that are plain dictionaries.

A *kind* is a way to standardise the hospitals' rows, a key of `KIND_TITLES`. The *strength* of site effects
is how much synthetic hospitals differ. Spreads are the 10, 50 and 90 % quantiles over repeats, (3,) or (3, N)
for N hospitals; "plain" is the same analysis without privacy. The number that `line` and `band` take first
is the panel: all figures here have one.
"""

import math
import textwrap
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.populations import heart_disease
from pages.hospitals.providers.model.differing import SiteView
from pages.hospitals.providers.settings import KIND_TITLES
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_axis
from pages.shared.charts.traces import ZERO, Trace, arms, axis, band, line, marked_line, one_panel, rounded

# The colours of Okabe and Ito: here a colour is a way of standardising.
KIND_LOOKS = {
    "public": style.Look(style.LILAC, "square", "dash"),
    "own-ranges": style.Look(style.GREEN, "diamond", "solid"),
    "pooled": style.Look(style.VERMILION, "triangle-up", "longdash"),
    "within-site": style.Look(style.PINK, "circle", "dashdot"),
}
_NAME_HEIGHT, _CELL_HEIGHT = 46, 38  # pixels of a line with a name, of one with a measurement's cells
_AXIS_TITLE_HEIGHT, _ENTRY_HEIGHT = 58, 21  # pixels; of a line of the legend


def _error_axis(view: SiteView, lows: list[float]) -> tuple[float, Trace]:
    """Return the smallest value that an axis of errors shows, and its properties.

    lows: the smallest errors that are drawn. Those up to `ZERO` are an iteration's tolerance and are ignored.
    """
    least = min((low for low in lows if low > ZERO), default=math.inf)
    return error_axis(view.settings, view.guess, least, begins=0.1)  # log axes reach down to 0.1 or less


def against_strength(view: SiteView) -> Trace:
    """Draw the error against the common truth over the strength of site effects, a line for every kind.

    A thick line with a band of 10 to 90 % is private; a thin one is the same analysis without privacy.
    """
    strengths = view.results.strengths(view.strength)
    errors = {at: view.joint_errors(at) for at in strengths}
    kinds = view.recipe.kinds
    # By kind the points of its lines: strength, spread of the private error, median without privacy.
    curves = {kind: [(at, *errors[at][kind]) for at in strengths if kind in errors[at]] for kind in kinds}
    lows = [min(spread[0], plain) for curve in curves.values() for _at, spread, plain in curve]
    floor, scale = _error_axis(view, lows)  # what is below the axis is drawn on its edge
    bands: list[Trace] = []
    lines: list[Trace] = []
    for kind, curve in curves.items():
        look, title, at = KIND_LOOKS[kind], KIND_TITLES[kind], [at for at, *_ in curve]
        spreads = np.array([spread for _at, spread, _plain in curve]).reshape(-1, 3).T
        low, middle, high = (rounded(values) for values in np.maximum(spreads, floor))
        plain = rounded(np.maximum([plain for *_, plain in curve], floor))
        bands += [edge | {"legendgroup": kind} for edge in band(1, title, look.colour, at, low, high)]
        thin = {"color": style.NOT_PRIVATE, "dash": look.dash, "width": 1.2}
        shared: dict[str, Any] = {"legendgroup": kind, "hovertemplate": "%{x}: %{y:.3~g}"}
        lines += [
            marked_line(title, look, at, middle, 8, **shared),
            line(1, f"{title}, no privacy", style.NOT_PRIVATE, x=at, y=plain, line=thin, **shared),
        ]
    # Plotly gives the range of a logarithmic axis in powers of ten.
    error_range = [10**v for v in scale["range"]] if scale["type"] == "log" else scale["range"]
    ends, now = [0.0, strengths[-1]], [view.strength] * 2
    lines += [
        line(1, "thin: no privacy", style.NOT_PRIVATE, x=[None], y=[None], showlegend=True),
        line(1, "random guess", style.GUESS, "dot", x=ends, y=[view.guess] * 2, showlegend=True),
        # By this "meta" the browser draws the line in the colour of its text, on light or dark ground.
        line(1, "this setting", style.INK, x=now, y=error_range, meta="text-colour", hoverinfo="skip"),
    ]
    xaxis = axis("site effects, 0 = none (synthetic patients)", range=[-0.06, ends[1] + 0.06])
    return _figure([*bands, *lines], xaxis, axis(f"{view.error_title}, common directions") | scale, 320)


def _dots(name: str, spread: Array, colour: str, thick: int, **more: Any) -> Trace:
    low, middle, high = spread
    ends = arms(low, middle, high, colour, thickness=thick, width=2 * thick + 2)
    return line(1, name, colour, x=rounded(middle), mode="markers", error_x=ends, **more)


def by_kind(view: SiteView) -> Trace:
    """Draw the error of the joint answer for every kind: of the real table, which has no strength."""
    spreads = {kind: spread for kind, (spread, _plain) in view.joint_errors(view.strength).items()}
    floor, scale = _error_axis(view, [float(spread[0]) for spread in spreads.values()])
    names = {kind: _broken(KIND_TITLES[kind]) for kind in view.recipe.kinds}  # also those without any answer
    dots = []
    for kind, spread in spreads.items():
        colour, symbol, _dash = KIND_LOOKS[kind]
        marker = {"symbol": symbol, "size": 12, "color": colour}
        as_column = np.maximum(spread, floor).reshape(3, 1)  # as of a single hospital
        drawn = _dots(KIND_TITLES[kind], as_column, colour, thick=2, marker=marker)
        dots.append(drawn | {"y": [names[kind]], "hovertemplate": "%{y}: %{x:.3~g}"})
    return _figure_of_names(dots, axis(view.error_title) | scale, list(names.values()), view.guess)


def joining(view: SiteView) -> Trace:
    """Draw for every hospital what it gets alone (hollow dot) and joined (filled), with 10-90 % arms.

    A small upright bar marks the joint answer without privacy, unless errors are measured against that.
    """
    recipe, alone, joined = view.recipe, view.spread("alone"), view.spread("joined")
    names = [f"{name} ({size:,})" for name, size in zip(recipe.hospitals, recipe.sizes, strict=True)]
    if alone is None or joined is None:
        return _figure_of_names([], axis(view.error_title), names)
    plain = view.without_privacy()
    floor, scale = _error_axis(view, [float(values.min()) for values in (alone, joined, plain)])
    traces: list[Trace] = []
    shared: dict[str, Any] = {"y": names, "showlegend": True}
    for what, spread, symbol in (("alone", alone, "circle-open"), ("joined", joined, "circle")):
        marker = {"symbol": symbol, "size": 12, "line": {"width": 2}}
        dots = _dots(what, np.maximum(spread, floor), style.PRIVATE, thick=1, marker=marker, **shared)
        traces.append(dots | {"hovertemplate": f"%{{y}}, {what}: %{{x:.3~g}}"})
    if not view.plain_is_truth:
        bars: dict[str, Any] = {
            "symbol": "line-ns",
            "size": 15,
            "line": {"width": 2.5, "color": style.NOT_PRIVATE},
        }
        shared |= {"mode": "markers", "hovertemplate": "%{y}, joined without privacy: %{x:.3~g}"}
        at, name = rounded(np.maximum(plain, floor)), "joined, no privacy"
        traces.append(line(1, name, style.NOT_PRIVATE, x=at, marker=bars, **shared))
    note = " (synthetic patients)" if recipe.synthetic else ""
    return _figure_of_names(traces, axis(view.error_title + note) | scale, names, view.guess)


def missing() -> Trace:
    """Draw the share of each hospital's patients without a measurement. Not private: counted from rows."""
    absent = heart_disease.absent()
    hospitals, keys = list(absent), list(heart_disease.MEASUREMENTS)
    across = [_broken(hospital, width=9) for hospital in hospitals]
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
    }
    words: dict[str, Any] = {
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
        height=_CELL_HEIGHT * len(keys) + 48,
        margin={"l": 62, "r": 12, "t": 40, "b": 8},
        showlegend=False,
    )


def _absent(absent: heart_disease.Absent) -> str:
    """Return a cell's text: the share of patients without a value, and of those with 0 recorded instead."""
    if absent.share == 0:
        return ""
    label = f"{absent.share:.0%}" if absent.share >= 0.01 else "< 1%"
    if absent.zero >= 0.01:
        label += "<br>all as 0" if absent.zero == absent.share else f"<br>{absent.zero:.0%} as 0"
    return label.replace("%", " %")


def _broken(name: str, width: int = 17) -> str:
    """Return a name in lines of at most `width` letters: a narrow screen has little room beside a chart."""
    return "<br>".join(textwrap.wrap(name.replace("/", "/ "), width, break_long_words=False))


def _figure_of_names(
    traces: list[Trace], xaxis: Trace, names: list[str], guess: float | None = None
) -> Trace:
    order = {"categoryorder": "array", "categoryarray": names, "range": [len(names) - 0.4, -0.6]}
    yaxis = axis("", type="category", automargin=True, ticksuffix=" ") | order
    if guess is None:
        return _figure(traces, xaxis, yaxis, _NAME_HEIGHT * len(names))
    ends: dict[str, Any] = {"x": [guess] * 2, "y": [names[0], names[-1]], "showlegend": True}
    across = line(1, "random guess", style.GUESS, "dot", **ends)
    return _figure([*traces, across], xaxis, yaxis, _NAME_HEIGHT * len(names))


def _figure(traces: list[Trace], xaxis: Trace, yaxis: Trace, inner: int) -> Trace:
    """Return a figure whose plot is `inner` pixels high, with room below for an axis title and the legend.

    The legend has four entries a line, and on narrow screens one. Without that room the plot would shrink and
    the legend rise into the title.
    """
    entries = sum(bool(trace["showlegend"]) for trace in traces)
    height = inner + 8 + _AXIS_TITLE_HEIGHT
    layout = {"xaxis": xaxis, "yaxis": yaxis, "height": height + _ENTRY_HEIGHT * math.ceil(entries / 4)}
    legend = {"tracegroupgap": 0, "font": {"size": 12}}
    figure = one_panel(traces, legend_at=-_AXIS_TITLE_HEIGHT / inner, legend=legend, **layout)
    column = figure["layout"]["legend"] | {"orientation": "v"}
    figure["layout"]["meta"]["narrow"] = {"height": height + _ENTRY_HEIGHT * entries + 10, "legend": column}
    return figure
