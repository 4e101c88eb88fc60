"""A message beside what it hides, and two messages together -> payloads with a frame for each round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration import transcript
from pages.hospitals.providers import message_text
from pages.hospitals.providers.runs import MessagePair, ShownRun
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, line, rounded, signs
from pages.shared.settings.catalogue import Settings

_POINTS = 400  # of a message's entries, evenly
_ROWS = 24  # of its rows, the heaviest without noise
_RECEIVED, _OTHER = "#1F7FC0", "#D55E00"


def _some(matrix: Array) -> Array:
    """At most so many entries, evenly; of a symmetric matrix its upper triangle's."""
    flat = matrix[np.triu_indices(len(matrix))] if matrix.shape[0] == matrix.shape[1] else matrix.ravel()
    return flat[:: max(1, math.ceil(len(flat) / _POINTS))]


def _heavy(pairs: Sequence[MessagePair]) -> Array:
    """The rows to show: the heaviest at the end, without noise where that is known."""
    last = next((p for p in reversed(pairs) if p.received is not None), None)
    if last is None:
        return np.zeros(0, dtype=np.intp)
    matrix = last.received if last.exact is None else last.exact
    assert matrix is not None
    return np.sort(np.argsort(-np.linalg.norm(matrix, axis=1), kind="stable")[:_ROWS])


def _cut(matrix: Array, rows: Array) -> Array:
    return matrix[np.ix_(rows, rows)] if matrix.shape[0] == matrix.shape[1] else matrix[rows]


def message(shown: ShownRun, hospital: int, settings: Settings, names: Sequence[str] = ()) -> dict[str, Any]:
    """A hospital's message, or the sum of all, by round: entry against entry, and as heat maps."""
    plain = settings["view"] == "board"
    numbers = [done.number for done in shown.record.rounds]
    pairs = [MessagePair(shown, number, hospital) for number in numbers]
    rows = _heavy(pairs)
    std = transcript.noise_std(shown.record.plan, hospital)
    parts = [m for p in pairs for m in (p.received, p.exact) if m is not None]
    reach = 1.05 * max((float(np.abs(_some(m)).max()) for m in parts), default=1.0)
    peak = max((float(np.abs(_cut(m, rows)).max()) for m in parts), default=1.0)
    known = shown.seen is not None
    frames = [{"traces": _message_patches(pair, rows, known, peak)} for pair in pairs]
    labels = [
        names[row] if row < len(names) else f"{'measurement' if plain else 'row'} {row + 1}" for row in rows
    ]
    data = [
        *(_band(std, reach) if std is not None and known else []),
        *([line(1, "no noise", style.GUESS, "dot", x=[-reach, reach], y=[-reach, reach])] if known else []),
    ]
    first = len(data)
    dots = {"type": "scatter", "mode": "markers", "showlegend": False, "name": "entries"}
    dots |= {"marker": {"color": _RECEIVED, "size": 5, "opacity": 0.65}}
    dots |= {"hovertemplate": "received %{y:.3g}<br>without noise %{x:.3g}<extra></extra>"}
    heat = {"type": "heatmap", "y": labels, "colorscale": style.DIVERGING, "zmin": -peak, "zmax": peak}
    heat |= {"texttemplate": "%{text}", "showscale": False, "hovertemplate": "%{y}: %{z:.3g}<extra></extra>"}
    data += [dots] if known else []
    data += [heat | {"xaxis": "x2", "yaxis": "y2", "name": "received"}]
    data += [heat | {"xaxis": "x3", "yaxis": "y3", "name": "without noise"}] if known else []
    shift = first if known else 0
    frames = [
        {"traces": {str(int(i) + shift): patch for i, patch in frame["traces"].items()}} for frame in frames
    ]
    words = [
        message_text.message(shown, pair, number, hospital, settings)
        for pair, number in zip(pairs, numbers, strict=True)
    ]
    tiles = message_text.PLAIN_TILES if plain else message_text.MESSAGE_TILES
    layout = _known_layout(reach, len(rows), plain) if known else _open_layout(len(rows))
    return _payload(data, layout, frames, words, settings, tiles, _message_legend(known, std))


def _heat(matrix: Array, peak: float) -> Trace:
    return {"z": [rounded(row) for row in matrix], "text": signs(matrix, peak)}


def _message_patches(pair: MessagePair, rows: Array, known: bool, peak: float) -> dict[str, Trace]:
    if pair.received is None:
        return {"0": {"x": [], "y": []}, "1": {"z": []}, "2": {"z": []}} if known else {"0": {"z": []}}
    received = _heat(_cut(pair.received, rows), peak)
    if not known or pair.exact is None:
        return {"0": received}
    exact = _heat(_cut(pair.exact, rows), peak)
    return {
        "0": {"x": rounded(_some(pair.exact)), "y": rounded(_some(pair.received))},
        "1": received,
        "2": exact,
    }


def _band(std: float, reach: float) -> list[Trace]:
    """Where 8 of 10 entries lie: the noiseless one and 1.28 standard deviations of the noise."""
    wide = 1.2816 * std
    edge = {"width": 0, "color": "rgba(0,0,0,0)"}
    ends = [-reach, reach]
    low = line(1, "10 %", style.GUESS, x=ends, y=[-reach - wide, reach - wide], hoverinfo="skip")
    high = line(1, "90 %", style.GUESS, x=ends, y=[-reach + wide, reach + wide], hoverinfo="skip")
    fill = {"fill": "tonexty", "fillcolor": style.faded(_RECEIVED, 0.14)}
    return [low | {"line": edge}, high | {"line": edge} | fill]


def _message_legend(known: bool, std: float | None) -> list[tuple[str, str, str, str]]:
    said = []
    if known:
        said.append(("no noise: received as it is", style.GUESS, "dot", "line"))
    if known and std is not None:
        said.append(
            ("8 of 10 entries, by the noise that is told", style.faded(_RECEIVED, 0.3), "solid", "band")
        )
    return [
        *said,
        ("− negative", style.NEGATIVE, "solid", "band"),
        ("+ positive", style.POSITIVE, "solid", "band"),
    ]


def _known_layout(reach: float, rows: int, plain: bool) -> dict[str, Any]:
    unit = "" if plain else ", of the scaled moment"
    span = [-reach, reach]
    values = {
        "xaxis": axis(f"without noise{unit}", range=span, anchor="y", nticks=6),
        "yaxis": axis(f"received{unit}", range=span, anchor="x", nticks=8),
    }
    bare = {"showgrid": False, "ticks": ""}
    names = axis("", autorange="reversed", type="category", anchor="x2", showgrid=False, ticks="")
    heat = {
        "xaxis2": axis("received", showticklabels=False, anchor="y2", **bare),
        "xaxis3": axis("without noise", showticklabels=False, anchor="y3", **bare),
        "yaxis2": names,
        "yaxis3": names | {"anchor": "x3", "showticklabels": False},
    }

    def placed(x: tuple[float, ...], tops: tuple[list[float], list[float]]) -> dict[str, Any]:
        return {
            "xaxis": values["xaxis"] | {"domain": [0, x[0]]},
            "yaxis": values["yaxis"] | {"domain": tops[0]},
            "xaxis2": heat["xaxis2"] | {"domain": [x[1], x[2]]},
            "xaxis3": heat["xaxis3"] | {"domain": [x[3], 1]},
            "yaxis2": heat["yaxis2"] | {"domain": tops[1]},
            "yaxis3": heat["yaxis3"] | {"domain": tops[1]},
        }

    deep = 16 * rows + 40
    wide = placed((0.42, 0.62, 0.8, 0.82), ([0, 1], [0, 1]))
    narrow = placed((1.0, 0.3, 0.63, 0.67), ([0.62, 1], [0, 0.5]))
    return {
        **wide,
        "height": max(420, deep + 60),
        "margin": {"l": 62, "r": 10, "t": 10, "b": 48},
        "hovermode": "closest",
        "showlegend": False,
        "meta": {"titles": (), "narrow": narrow | {"height": 2 * deep + 130}},
    }


def _open_layout(rows: int) -> dict[str, Any]:
    """The message alone: what it hides is known to nobody but its hospital."""
    return {
        "xaxis2": axis("received", showticklabels=False, anchor="y2", domain=[0.18, 0.6], showgrid=False),
        "yaxis2": axis("", autorange="reversed", type="category", anchor="x2", showgrid=False),
        "height": max(320, 16 * rows + 80),
        "margin": {"l": 62, "r": 10, "t": 10, "b": 40},
        "showlegend": False,
        "meta": {"titles": (), "narrow": {"xaxis2": axis("received", showticklabels=False, domain=[0.3, 1])}},
    }


def pair(shared: ShownRun, own: ShownRun, one: int, other: int, settings: Settings) -> dict[str, Any]:
    """n_i H_i - n_j H_j against n_i S_i Q - n_j S_j Q by round, for shared noise and for their own."""
    plain = settings["view"] == "board"
    numbers = [done.number for done in shared.record.rounds]
    found = []
    for number in numbers:
        assert shared.seen is not None and own.seen is not None
        found.append([transcript.difference(run.seen, number, one, other) for run in (shared, own)])
    runs_apart = list(zip(*found, strict=True))

    def largest(name: str) -> list[float]:
        """Of each run, the largest entry drawn in any round, and a little more."""
        return [1.05 * max(float(np.abs(_some(getattr(d, name))).max()) for d in each) for each in runs_apart]

    reach, across = largest("observed"), max(largest("exact"))
    frames = [
        {
            "traces": {
                str(2 * i + 1): {"x": rounded(_some(d.exact)), "y": rounded(_some(d.observed))}
                for i, d in enumerate(each)
            }
        }
        for each in found
    ]
    data: list[Trace] = []
    for panel, colour in ((1, _OTHER), (2, _RECEIVED)):
        suffix = "" if panel == 1 else "2"
        ends = [-across, across]
        data.append(line(panel, "exact", style.GUESS, "dot", x=ends, y=ends, hoverinfo="skip"))
        dots = {"type": "scatter", "mode": "markers", "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        dots |= {"marker": {"color": colour, "size": 5, "opacity": 0.65}, "showlegend": False}
        data.append(dots | {"hovertemplate": "recovered %{y:.3g}<br>true %{x:.3g}<extra></extra>"})
    words = [
        message_text.pair(each[0], each[1], number, len(numbers), settings)
        for number, each in zip(numbers, found, strict=True)
    ]
    up = "recovered" if plain else "nᵢHᵢ − nⱼHⱼ"
    right = "true difference of their sums" if plain else "nᵢSᵢQ − nⱼSⱼQ"
    titles = ("Shared noise, as printed", "Noise of their own")
    span = [-across, across]

    def axes(
        domains: tuple[list[float], list[float]], tops: tuple[list[float], list[float]]
    ) -> dict[str, Any]:
        placed: dict[str, Any] = {}
        notes = []
        for i, suffix in enumerate(("", "2")):
            placed[f"xaxis{suffix}"] = axis(
                right, range=span, domain=domains[i], anchor=f"y{suffix}", nticks=6
            )
            tall = max(reach[i], across)
            placed[f"yaxis{suffix}"] = axis(
                up, range=[-tall, tall], domain=tops[i], anchor=f"x{suffix}", nticks=6
            )
            notes.append(
                {"text": f"<b>{titles[i]}</b>", "xref": "paper", "yref": "paper", "x": domains[i][0]}
                | {"y": tops[i][1], "xanchor": "left", "yanchor": "bottom", "showarrow": False}
            )
        return placed | {"annotations": notes}

    layout = axes(([0, 0.44], [0.56, 1]), ([0, 1], [0, 1])) | {
        "height": 420,
        "margin": {"l": 66, "r": 12, "t": 30, "b": 50},
        "hovermode": "closest",
        "showlegend": False,
        "meta": {
            "titles": (),
            "narrow": axes(([0, 1], [0, 1]), ([0.58, 1], [0, 0.42])) | {"height": 760},
        },
    }
    legend = [
        ("recovered exactly", style.GUESS, "dot", "line"),
        ("shared noise", _OTHER, "solid", "band"),
        ("noise of their own", _RECEIVED, "solid", "band"),
    ]
    return _payload(data, layout, frames, words, settings, message_text.PAIR_TILES, legend)


def _payload(
    data: list[Trace],
    layout: dict[str, Any],
    frames: list[dict[str, Any]],
    words: list[dict[str, Any]],
    settings: Settings,
    tiles: Sequence[str],
    legend: list[tuple[str, str, str, str]],
) -> dict[str, Any]:
    return {
        "data": data,
        "layout": layout,
        "frames": frames,
        "words": words,
        "tiles": list(tiles),
        "legend": legend,
        "active": min(settings["join.round"], len(frames)) - 1,
        "play": len(frames) > 1,
        "scrub": "Round by round",
        "ends": ["start", "end"],
        "plain": settings["view"] == "board",
        "ghost": False,
        "complete": True,
    }
