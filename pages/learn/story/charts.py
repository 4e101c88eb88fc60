"""The story's figures: few marks, large type, one finding each. Plain dictionaries, no Streamlit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.learn.story.glossary import SERVER_SEES, WAY_TITLES, error, useless
from pages.learn.story.view import (
    OPEN,
    TOO_MUCH,
    Curve,
    Given,
    Hidden,
    Joined,
    Offer,
    Sharing,
    Spread,
    Weights,
)
from pages.learn.story.view import guess as guess_of
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.style import WITH, WITHOUT
from pages.shared.charts.traces import Trace, axis, band, line, rounded
from pages.shared.text import privacy_phrases

_ROUND = tuple(m * 10.0**p for p in range(-4, 1) for m in (1, 1.5, 2, 3, 4, 5, 7.5))
_ERROR = "error (0 is exact)"
_FITS = {"height": 0.62, "type": 0.0107}  # shares of the window's height and width: 20 px type at 1920


def _figure(traces: Sequence[Trace], legend: bool = True, **layout: Any) -> dict[str, Any]:
    below = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
    base = {
        "height": 520,
        "margin": {"l": 20, "r": 20, "t": 20, "b": 20, "autoexpand": True},
        "showlegend": legend,
        "legend": below,
        "hovermode": "closest",
        "bargap": 0.55,
        "meta": {"titles": (), "narrow": {}, "fits": _FITS},
    }
    return {"data": list(traces), "layout": base | layout, "frames": []}


def _axis(title: str, **more: Any) -> Trace:
    return axis(title, automargin=True, fixedrange=True) | more


def _up_to(most: float, guess: float) -> float:
    """The end of an error axis: a round number above all marks, or just beyond the guess."""
    end = next((one for one in _ROUND if one > 1.08 * most), math.inf)
    return end if end < 0.9 * guess else 1.06 * guess


def _guess_beside(guess: float, end: float) -> tuple[list[Trace], list[Trace]]:
    """The random guess as a line across bars; where it is far beyond them, an arrow that says so."""
    if guess < end:
        spot = line(1, "blind guess", style.GUESS, "dot", x=[guess] * 2, y=[-0.5, 9.5], hoverinfo="skip")
        place = {"x": guess, "xanchor": "right", "xshift": -6}
        words = f"a blind guess: {text.short(guess)}"
    else:
        spot = line(1, "blind guess", style.GUESS, "dot", x=[], y=[])
        place = {"x": end, "xanchor": "right"}
        words = f"a blind guess: {text.short(guess)} →"
    note = {"text": words, "showarrow": False, "y": 1.0, "yref": "paper", "yanchor": "bottom"} | place
    return [spot | {"line": {"color": style.GUESS, "dash": "dot", "width": 3}}], [note]


class _Row:
    """A bar: what it is called, its error and its look."""

    def __init__(self, title: str, under: str, spread: Spread, look: str, bold: bool = False) -> None:
        self.title, self.under, self.spread, self.bold = title, under, spread, bold
        self.look = style.look(look)


def _bars(rows: Sequence[_Row], guess: float) -> dict[str, Any]:
    """One bar under each title, the span of 8 of 10 runs across its end, its number beside it."""
    end = _up_to(max(row.spread.high for row in rows), guess)
    traces, notes = _guess_beside(guess, end)
    for at, row in enumerate(reversed(rows)):
        low, middle, high = row.spread
        arms = {"array": rounded([high - middle]), "arrayminus": rounded([middle - low]), "symmetric": False}
        pattern = {"line": {"color": row.look.colour, "width": 3}}
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": row.title,
                "x": rounded([middle]),
                "y": [at],
                "width": 0.34,
                "marker": {"color": style.faded(row.look.colour, 1.0 if row.bold else 0.45)} | pattern,
                "error_x": arms | {"thickness": 3, "width": 9, "color": style.GUESS},
                "hovertemplate": "%{x}<extra></extra>",
                "showlegend": False,
            }
        )
        beside = {"x": min(high, end), "y": at, "showarrow": False, "xshift": 12}
        inside = high > 0.82 * end
        beside |= {"xanchor": "right", "yshift": 26, "xshift": 0} if inside else {"xanchor": "left"}
        if not inside:
            notes.append(beside | {"text": f"<b>{error(middle)}</b>"})
        said = f"<b>{row.title}</b>" if row.bold else row.title
        said += f": <b>{error(middle)}</b>" if inside else ""
        said += f"<br><i>{row.under}</i>" if row.under else ""
        over = {"x": 0, "y": at + 0.2, "xanchor": "left", "yanchor": "bottom", "align": "left"}
        notes.append(over | {"text": said, "showarrow": False})
    return _figure(
        traces,
        legend=False,
        annotations=notes,
        xaxis=_axis(_ERROR, range=[0, end]),
        yaxis={"visible": False, "range": [-0.45, len(rows) - 0.15], "fixedrange": True},
        margin={"l": 20, "r": 20, "t": 44, "b": 20},
    )


def sharing(found: Sharing) -> dict[str, Any]:
    """Step 1: alone and together."""
    most = max(found.of.sizes)
    rows = [_Row("All together", f"{found.of.n:,} patients", found.together, OPEN, True)]
    if len(found.of.sizes) > 1:
        rows.insert(
            0, _Row("The largest hospital alone", f"{most:,} patients", found.alone, "local_pca", True)
        )
    return _bars(rows, guess_of(found.of))


def joined(found: Joined, chosen: str) -> dict[str, Any]:
    """Step 7: the error by whom hospitals trust, and who sees what."""
    rows = []
    for way, spread in found.errors.items():
        under = f"the server sees {SERVER_SEES[way]}; {text.size(_sent(found, way))} from each"
        rows.append(_Row(WAY_TITLES[way], under, spread, way, way == chosen))
    largest = "The hospital" if len(found.of.sizes) == 1 else "The largest hospital alone"
    rows.append(_Row(largest, "with noise, so that it may publish", found.published.error, "local_pca"))
    rows.append(_Row(largest, "without noise, for use in-house only", found.in_house.error, "local_pca"))
    return _bars(rows, guess_of(found.of))


def _sent(found: Joined, way: str) -> int:
    return found.sent[way].up * found.sent[way].rounds


def names(of: CollaborationSetting, rows: Array) -> list[str]:
    """What measurements are called."""
    if isinstance(of.population, str):
        return [TABLES[of.population].features[int(row)] for row in rows]
    return [f"measurement {int(row) + 1}" for row in rows]


def _dots(name: str, colour: str, symbol: str, size: int, **more: Any) -> Trace:
    mark = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 3, "color": colour}}
    return line(1, name, colour, mode="markers", marker=mark, showlegend=True, **more)


def given(found: Given) -> dict[str, Any]:
    """Step 2: a patient's values, and what two exact totals give away."""
    labels = names(found.of, found.rows)
    own, back = (rounded(values[found.rows]) for values in (found.patient, found.rebuilt))
    reach = 1.15 * float(np.abs(found.patient[found.rows]).max())
    traces = [
        _dots("the patient's own values", style.GUESS, "circle-open", 24, x=own, y=labels),
        _dots("worked out from two totals", WITHOUT, "x-thin", 14, x=back, y=labels),
    ]
    units = "value (0 is the usual one)"
    return _figure(
        traces,
        xaxis=_axis(units, range=[-reach, reach], zeroline=True),
        yaxis=_axis("", autorange="reversed", type="category"),
    )


def weights(found: Weights, look: str) -> dict[str, Any]:
    """Steps 3 and 8: found beside true weights."""
    labels, own = names(found.of, found.rows), style.look(look)
    bar = {
        "type": "bar",
        "orientation": "h",
        "name": "found" if look == OPEN else "with noise",
        "x": rounded(found.found[found.rows]),
        "y": labels,
        "marker": {"color": style.faded(own.colour, 0.75), "line": {"color": own.colour, "width": 2}},
        "hovertemplate": "%{y}: %{x}<extra></extra>",
    }
    true = _dots("true", "#000000", "line-ns", 22, x=rounded(found.true[found.rows]), y=labels)
    true["marker"] = {"symbol": "line-ns", "size": 24, "line": {"width": 5, "color": WITHOUT}}
    return _figure(
        [bar, true],
        xaxis=_axis("weight (0 is none, 1 is full)", range=[0, 1.02]),
        yaxis=_axis("", autorange="reversed", type="category"),
        bargap=0.35,
    )


def hidden(found: Hidden) -> dict[str, Any]:
    """Step 4: the two bells, and twenty readings under each."""
    mu, drawn = found.picture.mu, found.picture
    replaced = drawn.instead is not None
    left, right = -4.0, max(mu + 4.0, 4.0)
    x = np.linspace(left, right, 201)
    sides = privacy_phrases.sides(replaced)
    traces: list[Trace] = []
    looks = (
        (sides[0], WITH, "circle", mu, drawn.here),
        (sides[1], WITHOUT, "diamond-open", 0.0, drawn.there),
    )
    for place, (name, colour, symbol, centre, reads) in enumerate(looks):
        fill = {"fill": "tozeroy", "fillcolor": style.faded(colour, 0.16)}
        fill |= {"line": {"color": colour, "width": 4, "dash": "solid" if place == 0 else "dash"}}
        traces.append(
            line(1, name, colour, x=rounded(x), y=rounded(norm.pdf(x, centre)), hoverinfo="skip") | fill
        )
        spots = [-0.06 - 0.1 * place - 0.025 * (i % 3) for i in range(len(reads))]
        seen = rounded([one.read for one in reads])
        traces.append(_dots(f"{name.lower()}, read", colour, symbol, 13, x=seen, y=spots))
        traces[-1] |= {"name": name, "hovertemplate": "%{x}<extra></extra>"}
    spot = line(1, "guess “with” to the right", style.GUESS, x=[found.limit] * 2, y=[-0.26, 0.43])
    traces.append(spot | {"hoverinfo": "skip", "line": {"color": style.GUESS, "width": 3, "dash": "dot"}})
    note = {"x": found.limit, "y": 0.435, "text": "guess “with” →", "showarrow": False}
    return _figure(
        traces,
        annotations=[note | {"xanchor": "left", "yanchor": "bottom", "xshift": 6}],
        xaxis=_axis("number the spy reads (1 is the width of the noise)", range=[left, right]),
        yaxis={"visible": False, "range": [-0.27, 0.5], "fixedrange": True},
    )


def _curve(
    found: Curve, title: str, ticks: Sequence[float], here: str, marks: Sequence[str]
) -> dict[str, Any]:
    look, free, guess = style.look(found.way), style.look(OPEN), guess_of(found.of)
    x, ends = list(found.at), [found.at[0], found.at[-1]]
    heights = [(one.low, one.middle, one.high) for one in found.private]
    low, middle, high = (rounded(values) for values in zip(*heights, strict=True))
    edges = band(1, WAY_TITLES[found.way], look.colour, x)
    edges[0]["y"], edges[1]["y"] = low, high
    marker = {"symbol": look.symbol, "size": 11, "color": look.colour}
    private = line(1, "with noise", look.colour, x=x, y=middle, mode="lines+markers", marker=marker)
    open_ = line(
        1, "without noise", free.colour, free.dash, x=x, y=rounded([one.middle for one in found.free])
    )
    blind = line(1, "blind guess", style.GUESS, "dot", x=ends, y=rounded([guess] * 2))
    limit = TOO_MUCH * guess
    blurred = line(1, "of little use above", WITHOUT, "longdash", x=ends, y=rounded([limit] * 2))
    spot = _dots(here, look.colour, "circle-open", 30, x=[found.at[found.here]], y=rounded([found.now]))
    spot["marker"]["line"] = {"width": 5, "color": look.colour}
    shown = [private, open_, blind, blurred]
    for trace in shown:
        trace |= {"showlegend": True, "hovertemplate": "%{y}<extra></extra>"}
        trace["line"] = trace["line"] | {"width": 5 if trace is private else 3}
    return _figure(
        [*edges, *shown, spot],
        xaxis=_axis(title, type="log", tickvals=list(ticks), ticktext=list(marks), range=_logs(ends)),
        yaxis=_axis(_ERROR, range=[0, 1.08 * guess]),
    )


def _logs(ends: Sequence[float]) -> list[float]:
    low, high = (math.log10(end) for end in ends)
    rim = 0.03 * (high - low) or 0.1
    return [low - rim, high + rim]


def against_privacy(found: Curve) -> dict[str, Any]:
    """Step 5."""
    ticks = (0.01, 0.1, 1.0, 10.0)
    words = [text.number(tick) for tick in ticks]
    return _curve(found, "← more private · privacy setting · more accurate →", ticks, "this setting", words)


def against_patients(found: Curve) -> dict[str, Any]:
    """Step 6."""
    ticks = [10.0**p for p in range(2, 10)] if found.of.population not in TABLES else list(found.at)
    ticks = [tick for tick in ticks if found.at[0] <= tick <= found.at[-1]]
    words = [text.patients(tick).replace(" million", " m").replace(" billion", " bn") for tick in ticks]
    title = "patients in total" if found.of.population in TABLES else "patients in total (m: million)"
    figure = _curve(found, title, ticks, "these patients", words)
    if found.of.population not in TABLES:  # of all of a table's patients, the error without noise is none
        figure["layout"]["yaxis"] = _by_ratio(found)
    if found.relaxed is not None and not useless(found.free[-1].middle, found.of):
        at = math.log10(max(found.relaxed, found.at[0]))
        mark = {"type": "line", "x0": 10**at, "x1": 10**at, "yref": "paper", "y0": 0, "y1": 0.86}
        figure["layout"]["shapes"] = [mark | {"line": {"color": style.GUESS, "width": 3, "dash": "dot"}}]
        note = {"x": at, "y": 0.03, "yref": "paper", "yanchor": "bottom", "xanchor": "right", "xshift": -8}
        said = {"text": "almost free →", "showarrow": False}
        figure["layout"]["annotations"] = [note | said]
    return figure


def _by_ratio(found: Curve) -> Trace:
    """An error axis of equal steps for equal ratios: a linear one would let lines meet by eye too early."""
    least = min(one.low for one in (*found.private, *found.free))
    ticks = [10.0**p for p in range(-8, 1)]
    ends = [0.8 * max(min(least, 0.1), ticks[0]), 1.3 * guess_of(found.of)]  # all lines are on it
    words = [f"{tick:.8f}".rstrip("0").rstrip(".") for tick in ticks]
    how = {"type": "log", "tickvals": ticks, "ticktext": words, "range": [math.log10(end) for end in ends]}
    return _axis("error (less is better; a tenth per line)", **how)


def offer(found: Offer) -> dict[str, Any]:
    """Step 8."""
    return weights(found.weights, found.way)


def table(figure: dict[str, Any]) -> pd.DataFrame:
    """Every mark of a figure: its series, x and y."""
    return pd.DataFrame(
        [
            {"series": trace["name"], "x": x, "y": y}
            for trace in figure["data"]
            for x, y in zip(trace["x"], trace["y"], strict=True)
        ],
        columns=["series", "x", "y"],
    )
