"""Draw a family of trajectories as a plain dictionary.

The values of a family are ordered, and so are their colours, which can be seen on white and on black.
Markers and dashes differ as well; the value of the current setting has the thick, solid line.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments.studies import ConvergenceStudy
from pages.explore.convergence.model import CurveReading, Family, StudiedFamily
from pages.explore.convergence.settings import TWO_STAGES
from pages.shared.charts import in_notebook, style
from pages.shared.charts.metric_axis import error_title, error_unit, random_guess, span_of
from pages.shared.charts.traces import ZERO, Trace, axis, band, line, one_panel, rounded

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "star")
_DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot", "12px,3px,3px,3px")
_WIDE, _NARROW = 3, 2  # panels in a row, on a screen and on a telephone
_PANEL, _GAP = 210, 76  # pixels
_REACH = 0.4  # rounds that the line of a closed form ends after the last
_LAST_SIZE = 14  # pixels of the marker of stage 2, the last point of a two-stage method
STAGE_TWO = "stage 2, the features kept alone"


class _Lines:
    """Form the traces of one family's readings, for any panel.

    Methods take the index `i` of a value of the family, and the number of a panel, from 1 on.

    Attributes:
        bands: Of each value 10, 50 and 90 % of the error by round, (3, rounds), in the metric on screen.
        floor: The lower end of a logarithmic axis, else 0; smaller values are drawn there.
        span: The range of the vertical axis, in powers of ten where it is logarithmic.
        ends_alike: Whether all trajectories have as many rounds, so that one tick can name the last point.
    """

    def __init__(self, m: Family, readings: Sequence[CurveReading]) -> None:
        settings = m.settings
        self.readings, self.settings = readings, settings
        self.here = m.values.index(m.here)
        self.names = [m.named(value) for value in m.values]
        self.title = error_title(settings)
        guess = max(random_guess(settings, reading.d, reading.k) for reading in readings)
        self.bands = [reading.shown for reading in readings]
        least = max(min((band.min() for band in self.bands if band.size), default=1e-2), ZERO)
        log = settings["scale"] == "log"
        self.span, self.floor = span_of(error_unit(settings), log, least, guess, begins=0.1)
        lengths = [reading.rounds for reading in readings if reading.runs]
        self.rounds = max(lengths, default=settings["iterations"])
        self.two_stages = settings["traced"] in TWO_STAGES
        self.ends_alike = len(set(lengths)) == 1

    def drawn(self, values: Array) -> list[float | None]:
        return rounded(np.maximum(values, self.floor))

    def median(self, i: int, panel: int, **more: Any) -> Trace:
        """Return the median error by round; stage 2 of a two-stage method is its last, larger point."""
        here = i == self.here
        label = self.names[i] + (" (this setting)" if here else "")
        y = self.drawn(self.bands[i][1])
        dash, width = ("solid", 4) if here else (_DASHES[i], 2)
        colour, x = style.ORDERED[i], list(range(len(y)))
        trace = line(panel, label, colour, dash, width, x=x, y=y, mode="lines+markers")
        trace["marker"] = {"symbol": _SYMBOLS[i], "size": 10 if here else 7, "color": colour}
        if self.two_stages and y:
            rounds = len(y) - 1
            sizes = [trace["marker"]["size"]] * rounds + [_LAST_SIZE]
            trace["marker"] |= {"size": sizes, "opacity": 1, "line": {"width": 0}}
            trace["text"] = [f"stage 1, round {t}" if t else "start" for t in range(rounds)] + [STAGE_TWO]
            trace["hovertemplate"] = "%{text}: %{y:.3~g}"
        return trace | more

    def band(self, i: int, panel: int) -> list[Trace]:
        low, _, high = map(self.drawn, self.bands[i])
        return band(panel, self.names[i], style.ORDERED[i], range(len(low)), low, high)

    def fit(self, i: int, panel: int, **more: Any) -> list[Trace]:
        reading = self.readings[i]
        fit = reading.fit
        if fit is None or fit.rate is None or fit.phase is None:
            return []
        x = np.linspace(fit.phase[0], reading.rounds, 60)
        more |= {"meta": "text-colour", "hoverinfo": "skip"}  # browsers draw it in the colour of text
        y = self.drawn(reading.sines_in_unit(fit.curve(x)))
        return [line(panel, "fit", style.INK, "dot", x=rounded(x), y=y, **more)]

    def closed_form(self, i: int, panel: int, **more: Any) -> list[Trace]:
        reading = self.readings[i]
        if reading.predicted is None or not reading.runs:
            return []
        last, y = reading.rounds, self.drawn(reading.sines_in_unit(np.full(2, reading.predicted)))
        more |= {"hovertemplate": "closed form: %{y:.3~g}<extra></extra>"}
        return [line(panel, "closed form", style.ORDERED[i], x=[last + 0.1, last + _REACH], y=y, **more)]

    def guesses(self, panel: int, readings: Sequence[CurveReading], **more: Any) -> list[Trace]:
        # Sizes differ in their guess; `more` is for the first alone, so that the legend has it once.
        levels = sorted({round(random_guess(self.settings, r.d, r.k), 3) for r in readings})
        return [
            line(panel, "random guess", style.GUESS, "dot", x=[0, self.rounds], y=[level] * 2)
            | (more if i == 0 else {})
            for i, level in enumerate(levels)
        ]

    def axes(self, panel: int) -> tuple[Trace, Trace]:
        suffix = "" if panel == 1 else str(panel)
        # At most about ten ticks, and room for the closed form's line beside the last round.
        step, ends = max(1, math.ceil(self.rounds / 10)), [-0.3, self.rounds + _REACH + 0.1]
        across = axis("round", range=ends, anchor=f"y{suffix}", dtick=step, tick0=0)
        if self.two_stages and self.ends_alike:
            rounds = list(range(self.rounds))
            across |= {"tickvals": [*rounds, self.rounds], "ticktext": [*map(str, rounds), "stage 2"]}
        return across, axis(self.title, decades=self.floor > 0, range=self.span, anchor=f"x{suffix}")


def figure(study: ConvergenceStudy, metric: str = "sin", layout: str = "overlay") -> Figure:
    """Draw a study's trajectories as the page does.

    Args:
        study: Of `studies.convergence`, of six values at most.
        metric: The unit of errors: "sin", "projector", "share" or "degrees".
        layout: "overlay" for one chart, "multiples" for a panel for each value.

    Returns:
        A Plotly figure, which a notebook shows.

    Raises:
        ValueError: For another layout or metric, or more values.
    """
    checks.one_of(("overlay", "multiples"), layout=layout)
    checks.whole(1, len(style.ORDERED), **{"number of values": len(study.values)})
    family = StudiedFamily(study, in_notebook.settings(metric) | {"layout": layout})
    return in_notebook.plotly(family_figure(family, family.readings(study.runs)))


def family_figure(m: Family, readings: Sequence[CurveReading]) -> dict[str, Any]:
    lines = _Lines(m, readings)
    return _multiples(lines) if m.settings["layout"] == "multiples" else _overlay(lines)


def _overlay(lines: _Lines) -> dict[str, Any]:
    """Draw all values in one chart; of fits only the current setting's, which else would be too many."""
    count = len(lines.readings)
    # The chart is panel 1, the only one. What is drawn for several values is in the legend once.
    traces = [trace for i in range(count) for trace in lines.band(i, 1)]
    traces += lines.guesses(1, lines.readings, showlegend=True)
    traces += [lines.median(i, 1, showlegend=True) for i in range(count)]
    traces += lines.fit(lines.here, 1, showlegend=True)
    traces += [trace for i in range(count) for trace in lines.closed_form(i, 1, showlegend=i == lines.here)]
    legend = {"font": {"size": 12}, "traceorder": "normal"}
    across, up = lines.axes(1)
    return one_panel(traces, legend_at=-0.15, legend=legend, height=480, xaxis=across, yaxis=up)


def _multiples(lines: _Lines) -> dict[str, Any]:
    """Draw a panel for each value; `meta` has their places on a telephone, which the browser picks."""
    traces: list[Trace] = []
    for i, reading in enumerate(lines.readings):
        panel = i + 1
        traces += [*lines.band(i, panel), *lines.guesses(panel, [reading])]
        if i != lines.here:
            traces.append(lines.median(lines.here, panel, opacity=0.3, hoverinfo="skip"))
        traces += [lines.median(i, panel), *lines.fit(i, panel), *lines.closed_form(i, panel)]
    base = {"showlegend": False, "hovermode": "closest"}
    meta = {"titles": (), "narrow": _grid(lines, _NARROW)}
    return {"data": traces, "layout": base | _grid(lines, _WIDE) | {"meta": meta}, "frames": []}


def _grid(lines: _Lines, columns: int) -> dict[str, Any]:
    """Return axes, titles and height of panels; outer panels alone have the titles."""
    count = len(lines.readings)
    rows = math.ceil(count / columns)
    inner = rows * _PANEL + (rows - 1) * _GAP  # pixels of all panels, one above the other
    # Widths are shares of the figure's, heights shares of `inner`.
    gap = 0.05 if columns == _WIDE else 0.08
    width = (1 - gap * (columns - 1)) / columns
    layout: dict[str, Any] = {"height": inner + 90, "margin": {"l": 58, "r": 10, "t": 34, "b": 52}}
    titles = []
    for i in range(count):
        row, column = divmod(i, columns)
        left, top = column * (width + gap), 1 - row * (_PANEL + _GAP) / inner
        across, up = lines.axes(i + 1)
        across |= {"dtick": max(1, math.ceil(lines.rounds / 5)), "domain": [left, left + width]}
        up |= {"domain": [max(top - _PANEL / inner, 0.0), top], "showticklabels": column == 0}
        if column > 0:
            up["title"] = {"text": ""}
        if i + columns < count:
            across["title"] = {"text": ""}
        suffix = "" if i == 0 else str(i + 1)
        layout |= {f"xaxis{suffix}": across, f"yaxis{suffix}": up}
        mark = " (this setting)" if i == lines.here else ""
        titles.append(
            {"text": f"<b>{lines.names[i]}</b>{mark}", "xref": "paper", "yref": "paper", "x": left}
            | {"y": top, "xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"size": 13}}
        )
    return layout | {"annotations": titles}
