"""Draw a message beside what it hides, and two messages together, with a frame for each round.

Figures are payloads of the live component. No Streamlit here.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration import transcript
from pages.hospitals.providers import message_text, playback
from pages.hospitals.providers.runs import MessagePair, ShownRun
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, band, line, rounded, signs
from pages.shared.settings.catalogue import Settings

_MOST_POINTS = 400  # of a message's entries
MOST_ROWS = 24  # of a message
_RECEIVED, _OTHER = "#1F7FC0", "#D55E00"


def _sample(matrix: Array) -> Array:
    """Return at most so many entries, evenly; of a symmetric matrix those of its upper triangle."""
    flat = matrix[np.triu_indices(len(matrix))] if matrix.shape[0] == matrix.shape[1] else matrix.ravel()
    return flat[:: max(1, math.ceil(len(flat) / _MOST_POINTS))]


def _heaviest_rows(pairs: Sequence[MessagePair]) -> Array:
    """Return the rows of the largest norm in the last message, without noise where that is known."""
    last = next((p for p in reversed(pairs) if p.received is not None), None)
    if last is None:
        return np.zeros(0, dtype=np.intp)
    matrix = last.received if last.exact is None else last.exact
    assert matrix is not None
    return np.sort(np.argsort(-np.linalg.norm(matrix, axis=1), kind="stable")[:MOST_ROWS])


def _cut(matrix: Array, rows: Array) -> Array:
    return matrix[np.ix_(rows, rows)] if matrix.shape[0] == matrix.shape[1] else matrix[rows]


def _dots(panel: int, colour: str, hover: str) -> Trace:
    marker = {"color": colour, "size": 5, "opacity": 0.65}
    dots = line(panel, "entries", colour, mode="markers", marker=marker)
    return dots | {"hovertemplate": f"{hover}<extra></extra>"}


def message(shown: ShownRun, hospital: int, settings: Settings, names: Sequence[str] = ()) -> dict[str, Any]:
    """Draw a hospital's message, or the sum of all, by round: entry against entry, and as heat maps.

    Of a recorded run nobody knows what a message hides: then it is drawn alone.
    """
    plain = settings["view"] == "board"
    pairs = [MessagePair(shown, done.number, hospital) for done in shown.record.rounds]
    rows = _heaviest_rows(pairs)
    matrices = [matrix for pair in pairs for matrix in (pair.received, pair.exact) if matrix is not None]
    peak = max((float(np.abs(_cut(matrix, rows)).max()) for matrix in matrices), default=1.0)
    labels = [
        names[row] if row < len(names) else f"{'measurement' if plain else 'row'} {row + 1}" for row in rows
    ]
    heat = {"type": "heatmap", "y": labels, "colorscale": style.DIVERGING, "zmin": -peak, "zmax": peak}
    heat |= {"texttemplate": "%{text}", "showscale": False, "hovertemplate": "%{y}: %{z:.3g}<extra></extra>"}
    received = heat | {"xaxis": "x2", "yaxis": "y2", "name": "received"}
    legend = [
        ("− negative", style.NEGATIVE, "solid", "band"),
        ("+ positive", style.POSITIVE, "solid", "band"),
    ]
    if shown.transcript is None:
        data, layouts = [received], _open_layouts(len(rows))
        frames = [{0: _heat(pair.received, rows, peak)} for pair in pairs]
    else:
        reach = 1.05 * max((_largest(matrix) for matrix in matrices), default=1.0)
        layouts = _known_layouts(reach, len(rows), plain)
        std = transcript.noise_std(shown.record.plan, hospital)
        data = _band(std, reach) if std is not None else []
        data.append(line(1, "no noise", style.GUESS, "dot", x=[-reach, reach], y=[-reach, reach]))
        first = len(data)  # the trace of each frame's first patch
        dots = _dots(1, _RECEIVED, "received %{y:.3g}<br>without noise %{x:.3g}")
        data += [dots, received, heat | {"xaxis": "x3", "yaxis": "y3", "name": "without noise"}]
        frames = [
            {
                first: _points(pair.exact, pair.received),
                first + 1: _heat(pair.received, rows, peak),
                first + 2: _heat(pair.exact, rows, peak),
            }
            for pair in pairs
        ]
        if std is not None:
            name, shade = "8 of 10 entries, by the noise that is told", style.faded(_RECEIVED, 0.3)
            legend.insert(0, (name, shade, "solid", "band"))
        legend.insert(0, ("no noise: received as it is", style.GUESS, "dot", "line"))
    words = [message_text.message(pair, settings) for pair in pairs]
    tiles = message_text.PLAIN_TILES if plain else message_text.MESSAGE_TILES
    return playback.payload(data, *layouts, frames, words, tiles, legend, settings)


def _heat(matrix: Array | None, rows: Array, peak: float) -> Trace:
    if matrix is None:
        return {"z": []}
    shown = _cut(matrix, rows)
    return {"z": [rounded(row) for row in shown], "text": signs(shown, peak)}


def _points(across: Array | None, up: Array | None) -> Trace:
    if across is None or up is None:
        return {"x": [], "y": []}
    return {"x": rounded(_sample(across)), "y": rounded(_sample(up))}


def _largest(matrix: Array) -> float:
    return float(np.abs(_sample(matrix)).max())


def _band(std: float, reach: float) -> list[Trace]:
    """Draw where 8 of 10 entries lie: within 1.28 standard deviations of the noise."""
    wide = 1.2816 * std
    low, high = band(1, "entries", _RECEIVED, [-reach, reach])
    return [low | {"y": [-reach - wide, reach - wide]}, high | {"y": [-reach + wide, reach + wide]}]


def _known_layouts(reach: float, rows: int, plain: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Place the entries beside the two heat maps, or above them on a telephone."""
    unit = "" if plain else ", of the scaled moment"
    span = [-reach, reach]
    bare = {"showgrid": False, "ticks": ""}
    names = axis("", autorange="reversed", type="category", anchor="x2", **bare)
    axes = {
        "xaxis": axis(f"without noise{unit}", range=span, anchor="y", nticks=6),
        "yaxis": axis(f"received{unit}", range=span, anchor="x", nticks=8),
        "xaxis2": axis("received", showticklabels=False, anchor="y2", **bare),
        "yaxis2": names,
        "xaxis3": axis("without noise", showticklabels=False, anchor="y3", **bare),
        "yaxis3": names | {"anchor": "x3", "showticklabels": False},
    }
    deep = 16 * rows + 40
    whole, low = [0, 1], [0, 0.5]
    wide = playback.placed(axes, [0, 0.42], whole, [0.62, 0.8], whole, [0.82, 1], whole)
    wide |= {"height": max(420, deep + 60), "margin": {"l": 62, "r": 10, "t": 10, "b": 48}}
    narrow = playback.placed(axes, [0, 1.0], [0.62, 1], [0.3, 0.63], low, [0.67, 1], low)
    return wide, narrow | {"height": 2 * deep + 130}


def _open_layouts(rows: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Place the message alone."""
    across = axis("received", showticklabels=False, anchor="y2", showgrid=False)
    wide = {
        "xaxis2": across | {"domain": [0.18, 0.6]},
        "yaxis2": axis("", autorange="reversed", type="category", anchor="x2", showgrid=False),
        "height": max(320, 16 * rows + 80),
        "margin": {"l": 62, "r": 10, "t": 10, "b": 40},
    }
    return wide, {"xaxis2": across | {"domain": [0.3, 1]}}


def pair(
    shared: ShownRun, independent: ShownRun, first: int, second: int, settings: Settings
) -> dict[str, Any]:
    """Draw n_i H_i - n_j H_j against n_i S_i Q - n_j S_j Q by round, for shared and for independent noise."""
    plain = settings["view"] == "board"
    numbers = [done.number for done in shared.record.rounds]
    by_round = [
        [transcript.difference(run.transcript, number, first, second) for run in (shared, independent)]
        for number in numbers
    ]
    by_run = list(zip(*by_round, strict=True))
    reach = [1.05 * max(_largest(result.observed) for result in results) for results in by_run]
    across = 1.05 * max(_largest(result.exact) for results in by_run for result in results)
    span = [-across, across]
    data: list[Trace] = []
    for panel, colour in ((1, _OTHER), (2, _RECEIVED)):
        data.append(line(panel, "exact", style.GUESS, "dot", x=span, y=span, hoverinfo="skip"))
        data.append(_dots(panel, colour, "recovered %{y:.3g}<br>true %{x:.3g}"))
    frames = [
        {1 + 2 * i: _points(r.exact, r.observed) for i, r in enumerate(results)} for results in by_round
    ]
    words = [
        message_text.pair(*results, number, len(numbers), settings)
        for number, results in zip(numbers, by_round, strict=True)
    ]
    right = "true difference of their sums" if plain else "nᵢSᵢQ − nⱼSⱼQ"
    up = "recovered" if plain else "nᵢHᵢ − nⱼHⱼ"
    titles = ("Shared noise, as printed", "Noise of their own")

    def axes(*domains: tuple[list[float], list[float]]) -> dict[str, Any]:
        placed: dict[str, Any] = {"annotations": []}
        for suffix, (wide, tall), title, observed in zip(("", "2"), domains, titles, reach, strict=True):
            ends = [-max(observed, across), max(observed, across)]
            placed |= {
                f"xaxis{suffix}": axis(right, range=span, domain=wide, anchor=f"y{suffix}", nticks=6),
                f"yaxis{suffix}": axis(up, range=ends, domain=tall, anchor=f"x{suffix}", nticks=6),
            }
            placed["annotations"].append(
                {"text": f"<b>{title}</b>", "xref": "paper", "yref": "paper", "x": wide[0], "y": tall[1]}
                | {"xanchor": "left", "yanchor": "bottom", "showarrow": False}
            )
        return placed

    wide = axes(([0, 0.44], [0, 1]), ([0.56, 1], [0, 1]))
    wide |= {"height": 420, "margin": {"l": 66, "r": 12, "t": 30, "b": 50}}
    narrow = axes(([0, 1], [0.58, 1]), ([0, 1], [0, 0.42])) | {"height": 760}
    legend = [
        ("recovered exactly", style.GUESS, "dot", "line"),
        ("shared noise", _OTHER, "solid", "band"),
        ("noise of their own", _RECEIVED, "solid", "band"),
    ]
    return playback.payload(data, wide, narrow, frames, words, message_text.PAIR_TILES, legend, settings)
