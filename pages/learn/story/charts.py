"""Draw the story's figures: few marks, large type, one finding each. Plain dictionaries, no Streamlit."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.learn.story import view
from pages.learn.story.glossary import PROTOCOL_TITLES, SERVER_SEES, error, useless
from pages.learn.story.view import OPEN, TOO_MUCH, Curve, Spread
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
    """Return the end of an error axis: a round number above all marks, or just beyond the guess."""
    end = next((number for number in _ROUND if number > 1.08 * most), math.inf)
    return end if end < 0.9 * guess else 1.06 * guess


def _guess_beside(guess: float, end: float) -> tuple[Trace, Trace]:
    """Return the random guess as a line across bars, and a note; an arrow where it is far beyond them."""
    near = guess < end
    x, y = ([guess] * 2, [-0.5, 9.5]) if near else ([], [])
    spot = line(1, "blind guess", style.GUESS, "dot", x=x, y=y)
    if near:
        spot["hoverinfo"] = "skip"
    note = {"text": f"a blind guess: {text.short(guess)}{'' if near else ' →'}", "showarrow": False}
    note |= {"x": guess if near else end, "xanchor": "right"} | ({"xshift": -6} if near else {})
    spot["line"] = {"color": style.GUESS, "dash": "dot", "width": 3}
    return spot, note | {"y": 1.0, "yref": "paper", "yanchor": "bottom"}


class _Bar(NamedTuple):
    title: str
    under: str
    spread: Spread
    method: str  # whose look it has
    bold: bool = False


def _bars(bars: Sequence[_Bar], guess: float) -> dict[str, Any]:
    """Draw one bar under each title, the span of 8 of 10 runs across its end, its number beside it."""
    end = _up_to(max(bar.spread.high for bar in bars), guess)
    spot, note = _guess_beside(guess, end)
    traces, notes = [spot], [note]
    for y, bar in enumerate(reversed(bars)):
        low, middle, high = bar.spread
        colour = style.look(bar.method).colour
        arms = {"array": rounded([high - middle]), "arrayminus": rounded([middle - low]), "symmetric": False}
        pattern = {"line": {"color": colour, "width": 3}}
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": bar.title,
                "x": rounded([middle]),
                "y": [y],
                "width": 0.34,
                "marker": {"color": style.faded(colour, 1.0 if bar.bold else 0.45)} | pattern,
                "error_x": arms | {"thickness": 3, "width": 9, "color": style.GUESS},
                "hovertemplate": "%{x}<extra></extra>",
                "showlegend": False,
            }
        )
        number, title = f"<b>{error(middle)}</b>", f"<b>{bar.title}</b>" if bar.bold else bar.title
        if high > 0.82 * end:  # no room beside the bar
            title += f": {number}"
        else:
            beside = {"x": min(high, end), "y": y, "showarrow": False, "xshift": 12, "xanchor": "left"}
            notes.append(beside | {"text": number})
        title += f"<br><i>{bar.under}</i>" if bar.under else ""
        over = {"x": 0, "y": y + 0.2, "xanchor": "left", "yanchor": "bottom", "align": "left"}
        notes.append(over | {"text": title, "showarrow": False})
    return _figure(
        traces,
        legend=False,
        annotations=notes,
        xaxis=_axis(_ERROR, range=[0, end]),
        yaxis={"visible": False, "range": [-0.45, len(bars) - 0.15], "fixedrange": True},
        margin={"l": 20, "r": 20, "t": 44, "b": 20},
    )


def sharing(sharing: view.Sharing) -> dict[str, Any]:
    """Draw step 1: alone and together."""
    setting, most = sharing.setting, max(sharing.setting.sizes)
    bars = [_Bar("All together", f"{setting.n:,} patients", sharing.together, OPEN, True)]
    if len(setting.sizes) > 1:
        alone = _Bar("The largest hospital alone", f"{most:,} patients", sharing.alone, "local_pca", True)
        bars.insert(0, alone)
    return _bars(bars, view.guess(setting))


def joined(joined: view.Joined) -> dict[str, Any]:
    """Draw step 7: the error by whom hospitals trust, and who sees what."""
    bars = []
    for protocol, spread in joined.errors.items():
        under = f"the server sees {SERVER_SEES[protocol]}; {text.size(joined.sent[protocol])} from each"
        bars.append(_Bar(PROTOCOL_TITLES[protocol], under, spread, protocol, protocol == joined.protocol))
    largest = "The hospital" if len(joined.setting.sizes) == 1 else "The largest hospital alone"
    bars += [
        _Bar(largest, "with noise, so that it may publish", joined.published.error, "local_pca"),
        _Bar(largest, "without noise, for use in-house only", joined.in_house.error, "local_pca"),
    ]
    return _bars(bars, view.guess(joined.setting))


def names(setting: CollaborationSetting, rows: Array) -> list[str]:
    """Return the names of measurements."""
    if isinstance(setting.population, str):
        return [TABLES[setting.population].features[int(row)] for row in rows]
    return [f"measurement {int(row) + 1}" for row in rows]


def _dots(name: str, colour: str, symbol: str, size: int, **more: Any) -> Trace:
    mark = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 3, "color": colour}}
    return line(1, name, colour, mode="markers", marker=mark, showlegend=True, **more)


def rebuilt(record: view.RebuiltRecord) -> dict[str, Any]:
    """Draw step 2: a patient's values, and what two exact totals give away."""
    labels = names(record.setting, record.rows)
    true, rebuilt = (rounded(values[record.rows]) for values in (record.patient, record.rebuilt))
    reach = 1.15 * float(np.abs(record.patient[record.rows]).max())
    traces = [
        _dots("the patient's own values", style.GUESS, "circle-open", 24, x=true, y=labels),
        _dots("worked out from two totals", WITHOUT, "x-thin", 14, x=rebuilt, y=labels),
    ]
    return _figure(
        traces,
        xaxis=_axis("value (0 is the usual one)", range=[-reach, reach], zeroline=True),
        yaxis=_axis("", autorange="reversed", type="category"),
    )


def weights(weights: view.Weights) -> dict[str, Any]:
    """Draw steps 3 and 8: released beside true weights."""
    labels, rows = names(weights.setting, weights.rows), weights.rows
    colour = style.look(weights.protocol).colour
    bar = {
        "type": "bar",
        "orientation": "h",
        "name": "found" if weights.protocol == OPEN else "with noise",
        "x": rounded(weights.released[rows]),
        "y": labels,
        "marker": {"color": style.faded(colour, 0.75), "line": {"color": colour, "width": 2}},
        "hovertemplate": "%{y}: %{x}<extra></extra>",
    }
    true = _dots("true", "#000000", "line-ns", 22, x=rounded(weights.true[rows]), y=labels)
    true["marker"] = {"symbol": "line-ns", "size": 24, "line": {"width": 5, "color": WITHOUT}}
    return _figure(
        [bar, true],
        xaxis=_axis("weight (0 is none, 1 is full)", range=[0, 1.02]),
        yaxis=_axis("", autorange="reversed", type="category"),
        bargap=0.35,
    )


def attack(attack: view.SpyAttack) -> dict[str, Any]:
    """Draw step 4: two normal laws, and twenty readings under each."""
    picture, limit = attack.picture, attack.limit
    left, right = -4.0, max(picture.mu + 4.0, 4.0)
    x = np.linspace(left, right, 201)
    present, absent = privacy_phrases.sides(picture.instead is not None)
    traces: list[Trace] = []
    for row, (name, colour, symbol, dash, centre, releases) in enumerate(
        (
            (present, WITH, "circle", "solid", picture.mu, picture.here),
            (absent, WITHOUT, "diamond-open", "dash", 0.0, picture.there),
        )
    ):
        law = line(1, name, colour, x=rounded(x), y=rounded(norm.pdf(x, centre)), hoverinfo="skip")
        fill = {"fill": "tozeroy", "fillcolor": style.faded(colour, 0.16)}
        traces.append(law | fill | {"line": {"color": colour, "width": 4, "dash": dash}})
        y = [-0.06 - 0.1 * row - 0.025 * (i % 3) for i in range(len(releases))]
        reads = rounded([release.read for release in releases])
        hover = "%{x}<extra></extra>"
        traces.append(_dots(name, colour, symbol, 13, x=reads, y=y, hovertemplate=hover))
    edge = line(1, "guess “with” to the right", style.GUESS, x=[limit] * 2, y=[-0.26, 0.43])
    traces.append(edge | {"hoverinfo": "skip", "line": {"color": style.GUESS, "width": 3, "dash": "dot"}})
    note = {"x": limit, "y": 0.435, "text": "guess “with” →", "showarrow": False}
    return _figure(
        traces,
        annotations=[note | {"xanchor": "left", "yanchor": "bottom", "xshift": 6}],
        xaxis=_axis("number the spy reads (1 is the width of the noise)", range=[left, right]),
        yaxis={"visible": False, "range": [-0.27, 0.5], "fixedrange": True},
    )


def _curve(
    curve: Curve, title: str, ticks: Sequence[float], marks: Sequence[str], here: str
) -> dict[str, Any]:
    look, free, guess = style.look(curve.protocol), style.look(OPEN), view.guess(curve.setting)
    x, ends = list(curve.at), [curve.at[0], curve.at[-1]]
    low, middle, high = (rounded(values) for values in zip(*curve.private, strict=True))
    edges = band(1, PROTOCOL_TITLES[curve.protocol], look.colour, x)
    edges[0]["y"], edges[1]["y"] = low, high
    marker = {"symbol": look.symbol, "size": 11, "color": look.colour}
    without = rounded([spread.middle for spread in curve.free])
    shown = [
        line(1, "with noise", look.colour, x=x, y=middle, mode="lines+markers", marker=marker),
        line(1, "without noise", free.colour, free.dash, x=x, y=without),
        line(1, "blind guess", style.GUESS, "dot", x=ends, y=rounded([guess] * 2)),
        line(1, "of little use above", WITHOUT, "longdash", x=ends, y=rounded([TOO_MUCH * guess] * 2)),
    ]
    for i, trace in enumerate(shown):
        trace |= {"showlegend": True, "hovertemplate": "%{y}<extra></extra>"}
        trace["line"]["width"] = 5 if i == 0 else 3
    ring = _dots(here, look.colour, "circle-open", 30, x=[x[curve.here]], y=rounded([curve.now]))
    ring["marker"]["line"] = {"width": 5, "color": look.colour}
    left, right = (math.log10(end) for end in ends)
    rim = 0.03 * (right - left) or 0.1
    reach = [left - rim, right + rim]
    return _figure(
        [*edges, *shown, ring],
        xaxis=_axis(title, type="log", tickvals=list(ticks), ticktext=list(marks), range=reach),
        yaxis=_axis(_ERROR, range=[0, 1.08 * guess]),
    )


def over_privacy(curve: Curve) -> dict[str, Any]:
    """Draw step 5."""
    ticks = (0.01, 0.1, 1.0, 10.0)
    marks = [text.number(tick) for tick in ticks]
    return _curve(curve, "← more private · privacy setting · more accurate →", ticks, marks, "this setting")


def over_patients(curve: Curve) -> dict[str, Any]:
    """Draw step 6."""
    table = curve.setting.population in TABLES
    ticks = list(curve.at) if table else [10.0**p for p in range(2, 10)]
    ticks = [tick for tick in ticks if curve.at[0] <= tick <= curve.at[-1]]
    marks = [text.patients(tick).replace(" million", " m").replace(" billion", " bn") for tick in ticks]
    title = "patients in total" if table else "patients in total (m: million)"
    figure = _curve(curve, title, ticks, marks, "these patients")
    if not table:  # with all of a table's patients the error without noise is zero, and has no logarithm
        figure["layout"]["yaxis"] = _by_ratio(curve)
    if curve.relaxed is not None and not useless(curve.free[-1].middle, curve.setting):
        at = math.log10(max(curve.relaxed, curve.at[0]))
        mark = {"type": "line", "x0": 10**at, "x1": 10**at, "yref": "paper", "y0": 0, "y1": 0.86}
        figure["layout"]["shapes"] = [mark | {"line": {"color": style.GUESS, "width": 3, "dash": "dot"}}]
        note = {"x": at, "y": 0.03, "yref": "paper", "yanchor": "bottom", "xanchor": "right", "xshift": -8}
        figure["layout"]["annotations"] = [note | {"text": "almost free →", "showarrow": False}]
    return figure


def _by_ratio(curve: Curve) -> Trace:
    """Return a logarithmic error axis: on a linear one, lines would seem to meet too early."""
    least = min(spread.low for spread in (*curve.private, *curve.free))
    ticks = [10.0**p for p in range(-8, 1)]
    ends = [0.8 * max(min(least, 0.1), ticks[0]), 1.3 * view.guess(curve.setting)]  # all lines are on it
    marks = [f"{tick:.8f}".rstrip("0").rstrip(".") for tick in ticks]
    reach = [math.log10(end) for end in ends]
    title = "error (less is better; a tenth per line)"
    return _axis(title, type="log", tickvals=ticks, ticktext=marks, range=reach)


def table(figure: dict[str, Any]) -> pd.DataFrame:
    """Return every mark of a figure: its series, x and y."""
    marks = [
        (trace["name"], x, y) for trace in figure["data"] for x, y in zip(trace["x"], trace["y"], strict=True)
    ]
    return pd.DataFrame(marks, columns=["series", "x", "y"])
