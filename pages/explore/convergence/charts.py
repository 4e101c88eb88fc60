"""A family of trajectories -> a figure as a plain dictionary. No Streamlit: tested without a browser.

Values are ordered, so colours are too, of middling lightness to be seen on white and on black; markers and
dashes differ as well, and the setting's own value is the thick, solid line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pages.explore.convergence.curves import CurveReading, Family
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_title, factor
from pages.shared.charts.traces import Trace, axis, band, line, one_panel, rounded
from pages.shared.settings.catalogue import CHOICES, Settings

COLOURS = ("#5B5BB8", "#3B82C4", "#1B9C9C", "#3F9A58", "#8A8D1F", "#C47712")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star")
_DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot", "12px,3px,3px,3px")
_LEAST = 1e-7  # errors below are an iteration's tolerance, not a measurement
_WIDE, _NARROW = 3, 2  # panels in a row
_PANEL, _GAP = 210, 76  # pixels


def name(key: str, value: Any, plain: bool) -> str:
    """A value as the page names it."""
    shown = CHOICES[key].text(value)
    return shown if plain else f"{text.symbols(key)} = {shown}"


class _Lines:
    """The traces of one reading, on any panel."""

    def __init__(self, family: Family, found: Sequence[CurveReading], settings: Settings) -> None:
        self.family, self.found = family, found
        self.plain = settings["view"] == "board"
        self.log = settings["scale"] == "log"
        self.factor = factor(settings)
        self.title = error_title(settings)
        guess = self.factor * max(reading.guess for reading in found)
        lows = [reading.low.min() for reading in found if reading.low is not None]
        least = max(self.factor * min(lows, default=1e-2), _LEAST)
        self.floor = 10.0 ** min(math.floor(math.log10(least)), -1) if self.log else 0.0
        self.span = [math.log10(self.floor), math.log10(1.5 * guess)] if self.log else [0.0, 1.1 * guess]
        self.rounds = max(
            (len(r.middle) - 1 for r in found if r.middle is not None),
            default=settings["iterations"],
        )

    def drawn(self, errors: Any) -> list[float | None]:
        return rounded(np.maximum(self.factor * np.asarray(errors, dtype=float), self.floor))

    def median(self, i: int, panel: int, **more: Any) -> Trace:
        reading = self.found[i]
        own = reading.value == self.family.here
        label = name(self.family.key, reading.value, self.plain) + (" (this setting)" if own else "")
        y = [] if reading.middle is None else self.drawn(reading.middle)
        made = line(panel, label, COLOURS[i], x=list(range(len(y))), y=y, mode="lines+markers")
        made["line"] = {"color": COLOURS[i], "dash": "solid" if own else _DASHES[i], "width": 4 if own else 2}
        return (
            made | {"marker": {"symbol": _SYMBOLS[i], "size": 10 if own else 7, "color": COLOURS[i]}} | more
        )

    def band(self, i: int, panel: int) -> list[Trace]:
        reading = self.found[i]
        low, high = ([], []) if reading.low is None else (self.drawn(reading.low), self.drawn(reading.high))
        made = band(panel, name(self.family.key, reading.value, self.plain), COLOURS[i], range(len(low)))
        made[0]["y"], made[1]["y"] = low, high
        made[1]["hoverinfo"] = "skip"
        return made

    def fit(self, i: int, panel: int, **more: Any) -> list[Trace]:
        fit = self.found[i].fit
        if self.plain or fit is None or fit.rate is None or fit.phase is None:
            return []
        at = np.linspace(fit.phase[0], self.rounds_of(i), 60)
        made = line(panel, "fit", "#000000", "dot", x=rounded(at), y=self.drawn(fit.curve(at)))
        return [made | {"meta": "text-colour", "hoverinfo": "skip"} | more]

    def rounds_of(self, i: int) -> int:
        middle = self.found[i].middle
        return 0 if middle is None else len(middle) - 1

    def guesses(self, panel: int, found: Sequence[CurveReading], **more: Any) -> list[Trace]:
        levels = sorted({round(self.factor * reading.guess, 3) for reading in found})
        return [
            line(panel, "random guess", style.GUESS, "dot", x=[0, self.rounds], y=[level] * 2)
            | (more if i == 0 else {})
            for i, level in enumerate(levels)
        ]

    def axes(self, panel: int) -> dict[str, Trace]:
        suffix = "" if panel == 1 else str(panel)
        ticks = {"type": "log", "dtick": 1, "exponentformat": "e", "minexponent": 6} if self.log else {}
        return {
            f"xaxis{suffix}": axis("round", range=[-0.3, self.rounds + 0.3], anchor=f"y{suffix}")
            | {"dtick": max(1, math.ceil(self.rounds / 10)), "tick0": 0},
            f"yaxis{suffix}": axis(self.title, range=self.span, anchor=f"x{suffix}") | ticks,
        }


def figure(family: Family, found: Sequence[CurveReading], settings: Settings) -> dict[str, Any]:
    """Median and 10-90 % band of the error by round, for every value; the random guess; the fit."""
    lines = _Lines(family, found, settings)
    return _multiples(lines) if settings["layout"] == "multiples" else _overlay(lines)


def _overlay(lines: _Lines) -> dict[str, Any]:
    count = len(lines.found)
    own = [i for i in range(count) if lines.found[i].value == lines.family.here]
    traces = [trace for i in range(count) for trace in lines.band(i, 1)]
    traces += lines.guesses(1, lines.found, showlegend=True)
    traces += [lines.median(i, 1, showlegend=True) for i in range(count)]
    traces += [trace for i in own for trace in lines.fit(i, 1, showlegend=True)]
    title = CHOICES[lines.family.key].name(lines.plain)
    legend = {
        "font": {"size": 12},
        "title": {"text": f"{title}: " if lines.plain else ""},
        "traceorder": "normal",
    }
    return one_panel(traces, legend_at=-0.15, legend=legend, height=480, **lines.axes(1))


def _multiples(lines: _Lines) -> dict[str, Any]:
    """A panel for each value, all on the same axes, with the setting's own line faint in the others."""
    own = next(i for i, reading in enumerate(lines.found) if reading.value == lines.family.here)
    traces: list[Trace] = []
    for i, reading in enumerate(lines.found):
        panel = i + 1
        traces += lines.band(i, panel)
        traces += lines.guesses(panel, [reading])
        if i != own:
            traces.append(lines.median(own, panel, opacity=0.3, hoverinfo="skip"))
        traces += [lines.median(i, panel), *lines.fit(i, panel)]
    base = {"showlegend": False, "hovermode": "closest"}
    layout = base | _grid(lines, _WIDE)
    layout["meta"] = {"titles": (), "narrow": _grid(lines, _NARROW)}
    return {"data": traces, "layout": layout, "frames": []}


def _grid(lines: _Lines, columns: int) -> dict[str, Any]:
    """Axes, titles and height of the panels, so many in a row; only the outer ones carry axis titles."""
    count = len(lines.found)
    rows = math.ceil(count / columns)
    inner = rows * _PANEL + (rows - 1) * _GAP
    gap = 0.05 if columns == _WIDE else 0.08
    width = (1 - gap * (columns - 1)) / columns
    placed: dict[str, Any] = {"height": inner + 90, "margin": {"l": 58, "r": 10, "t": 34, "b": 52}}
    titles = []
    for i, reading in enumerate(lines.found):
        row, column = divmod(i, columns)
        left, top = column * (width + gap), 1 - row * (_PANEL + _GAP) / inner
        axes = lines.axes(i + 1)
        (x, across), (y, up) = axes.items()
        across["dtick"] = max(1, math.ceil(lines.rounds / 5))
        placed[x] = across | {"domain": [left, left + width]}
        placed[y] = up | {"domain": [max(top - _PANEL / inner, 0.0), top], "showticklabels": column == 0}
        if column > 0:
            placed[y]["title"] = {"text": ""}
        if i + columns < count:
            placed[x]["title"] = {"text": ""}
        label = name(lines.family.key, reading.value, lines.plain)
        label = f"{CHOICES[lines.family.key].plain} {label}" if lines.plain and columns == _WIDE else label
        own = " (this setting)" if reading.value == lines.family.here else ""
        titles.append(
            {"text": f"<b>{label}</b>{own}", "xref": "paper", "yref": "paper", "x": left, "y": top}
            | {"xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"size": 13}}
        )
    return placed | {"annotations": titles}
