"""Draw a message beside what it hides, and two messages together, with a frame for each round.

A message is the matrix that a hospital sends in a round: what it computed from its patients, plus noise. In a
simulated run the matrix without noise is known as well; of a run that took place over a network it is not.
"""

import math
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.transcript import Transcript
from pages.hospitals.who_sees_what.charts import playback
from pages.hospitals.who_sees_what.model import MessagePair
from pages.hospitals.who_sees_what.sentences import messages as sentences
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, band, line, rounded, signs
from pages.shared.settings.catalogue import Settings

_MOST_POINTS = 400  # of a message's entries that are drawn as dots
MOST_ROWS = 24  # of a message that a heat map shows
_RECEIVED_COLOUR, _SHARED_COLOUR = style.BLUE, style.VERMILION  # the latter with shared noise


def _sample(matrix: Array) -> Array:
    """Return at most `_MOST_POINTS` entries, evenly chosen; of a square matrix from its upper triangle.

    Square messages are symmetric, so the lower triangle would repeat them.
    """
    flat = matrix[np.triu_indices(len(matrix))] if matrix.shape[0] == matrix.shape[1] else matrix.ravel()
    return flat[:: max(1, math.ceil(len(flat) / _MOST_POINTS))]


def _dots(panel: int, colour: str, hover: str) -> Trace:
    marker = {"color": colour, "size": 5, "opacity": 0.65}
    dots = line(panel, "entries", colour, mode="markers", marker=marker)
    return dots | {"hovertemplate": f"{hover}<extra></extra>"}


def message(shown: Transcript, hospital: int, settings: Settings, names: tuple[str, ...] = ()) -> Trace:
    """Draw a hospital's message, or the sum of all, by round: with noise against without, and as heat maps.

    Of a run over a network nobody knows what a message hides: then the message is drawn alone.

    hospital: its index, or `ALL` for the sum of all. names: of the features, where a table gives them.
    """
    pairs = [MessagePair(shown, round_.number, hospital) for round_ in shown.record.rounds]
    featured = [pair for pair in pairs if len(pair.features)]
    known = [(p, matrix) for p in featured for matrix in (p.received, p.exact) if matrix is not None]
    matrices = [matrix for _pair, matrix in known]
    # Show the rows of the largest norm in the last message, without noise where that is known.
    norms = np.linalg.norm(matrices[-1], axis=1) if matrices else np.zeros(0)
    heaviest = np.sort(np.argsort(-norms, kind="stable")[:MOST_ROWS])
    last_pair = known[-1][0] if known else None
    rows = heaviest if last_pair is None else last_pair.features[heaviest]

    def cut(pair: MessagePair, matrix: Array) -> Array:
        """Return the matrix's part at the features in `rows`; of a symmetric matrix the same columns too.

        Zeros stand for features that a message does not have.
        """
        there = np.isin(rows, pair.features)
        at = np.searchsorted(pair.features, rows[there])
        if len(matrix) == matrix.shape[1]:
            return matrix[np.ix_(at, at)]
        part = np.zeros((len(rows), matrix.shape[1]))
        part[there] = matrix[at]
        return part

    def cells(pair: MessagePair, matrix: Array | None) -> Trace:
        if matrix is None or pair not in featured:
            return {"z": []}
        # Messages of one stage, which have equally many rows, share a scale: so rounds can be compared.
        same_stage = (cut(p, other) for p, other in known if len(p.features) == len(pair.features))
        peak, part = max(float(np.abs(other).max()) for other in same_stage), cut(pair, matrix)
        return {"z": [rounded(row) for row in part], "text": signs(part, peak), "zmin": -peak, "zmax": peak}

    labels = [names[row] if row < len(names) else f"feature {row + 1}" for row in rows]
    heat: Trace = {"type": "heatmap", "y": labels, "colorscale": style.DIVERGING}
    heat |= {"texttemplate": "%{text}", "showscale": False, "hovertemplate": "%{y}: %{z:.3g}<extra></extra>"}
    received = heat | {"xaxis": "x2", "yaxis": "y2", "name": "received"}
    legend = [
        ("− negative", style.NEGATIVE, "solid", "band"),
        ("+ positive", style.POSITIVE, "solid", "band"),
    ]
    if shown.over_network:
        data, reach = [received], None  # the heat map is the trace 0
        frames = [{0: cells(pair, pair.received)} for pair in pairs]
    else:
        # Both axes end here, a little beyond the largest entry: what is on the diagonal has no noise.
        reach = 1.05 * max(map(_largest, matrices))
        stds = [transcript.noise_std(shown.record.plan, p.number, hospital) for p in pairs]
        bands = [_band(std, reach) for std in stds if std is not None]
        data = list(bands[0]) if bands else []
        data.append(line(1, "no noise", style.GUESS, "dot", x=[-reach, reach], y=[-reach, reach]))
        # The band and the diagonal come first in `data`; a frame's patches count on from there.
        patches = [(_points(p.exact, p.received), cells(p, p.received), cells(p, p.exact)) for p in pairs]
        frames = [dict(enumerate(of_frame, len(data))) for of_frame in patches]
        for frame, lines in zip(frames, bands, strict=False):  # the last rounds' noise may be unknown
            frame |= {i: {"y": edge["y"]} for i, edge in enumerate(lines)}
        dots = _dots(1, _RECEIVED_COLOUR, "received %{y:.3g}<br>without noise %{x:.3g}")
        data += [dots, received, heat | {"xaxis": "x3", "yaxis": "y3", "name": "without noise"}]
        if bands:
            name, shade = "8 of 10 entries, by the noise that is told", style.faded(_RECEIVED_COLOUR, 0.3)
            legend.insert(0, (name, shade, "solid", "band"))
        legend.insert(0, ("no noise: received as it is", style.GUESS, "dot", "line"))
    words = [sentences.message(pair) for pair in pairs]
    wide, narrow = _layouts(len(rows), reach)
    return playback.payload(
        data,
        wide,
        narrow,
        frames=frames,
        words=words,
        tiles=sentences.MESSAGE_TILES,
        legend=legend,
        settings=settings,
    )


def _points(across: Array | None, up: Array | None) -> Trace:
    if across is None or up is None:
        return {"x": [], "y": []}
    return {"x": rounded(_sample(across)), "y": rounded(_sample(up))}


def _largest(matrix: Array) -> float:
    """Return the largest absolute value of the entries that are drawn as dots."""
    return float(np.abs(_sample(matrix)).max())


def _band(std: float, reach: float) -> list[Trace]:
    """Draw where 8 of 10 entries lie: within 1.28 standard deviations of the noise around the diagonal.

    std: of the noise in an entry. reach: where the axes end.
    """
    half_width = 1.2816 * std
    low, high = [-reach - half_width, reach - half_width], [-reach + half_width, reach + half_width]
    return band(1, "entries", _RECEIVED_COLOUR, [-reach, reach], low, high)


def _layouts(rows: int, reach: float | None) -> tuple[Trace, Trace]:
    """Return the layout, dots beside two heat maps, and what is different on a telephone: dots above them.

    reach: where the axes of the dots end; None for a single heat map and no dots.
    """
    bare: Trace = {"showgrid": False, "ticks": ""}
    names = axis("", autorange="reversed", type="category", anchor="x2", **bare)
    axes = {"xaxis2": axis("received", showticklabels=False, anchor="y2", **bare), "yaxis2": names}
    # A row of a heat map takes 16 pixels. The domains of `with_domains` are in the order of `axes`.
    map_height, whole, low = 16 * rows + 40, [0, 1], [0, 0.5]
    margin = {"l": 62, "r": 10, "t": 10, "b": 48}
    if reach is None:
        wide = playback.with_domains(axes, [0.18, 0.6], whole)
        wide |= {"height": max(320, map_height + 40), "margin": margin}
        return wide, playback.with_domains(axes, [0.3, 1], whole)
    unit, span = ", of the scaled moment", [-reach, reach]
    axes |= {
        "xaxis3": axis("without noise", showticklabels=False, anchor="y3", **bare),
        "yaxis3": names | {"anchor": "x3", "showticklabels": False},
        "xaxis": axis(f"without noise{unit}", range=span, anchor="y", nticks=6),
        "yaxis": axis(f"received{unit}", range=span, anchor="x", nticks=8),
    }
    wide = playback.with_domains(axes, [0.62, 0.8], whole, [0.82, 1], whole, [0, 0.42], whole)
    wide |= {"height": max(420, map_height + 60), "margin": margin}
    narrow = playback.with_domains(axes, [0.3, 0.63], low, [0.67, 1], low, [0, 1.0], [0.62, 1])
    return wide, narrow | {"height": 2 * map_height + 130}


def pair(shared: Transcript, independent: Transcript, first: int, second: int, settings: Settings) -> Trace:
    """Draw by round how well the difference of two messages gives that of two hospitals, in two panels.

    A message of DPS-PCA is H = S Q + G/n: S is the second moment of a hospital's n patients, Q are the
    server's directions, G is noise. So n_i H_i - n_j H_j is drawn against n_i S_i Q - n_j S_j Q. If both
    hospitals drew the same G, it cancels, and the dots lie on the line.

    shared, independent: runs with one noise for all hospitals, and one for each. first, second: i and j.
    """
    numbers = [round_.number for round_ in shared.record.rounds]
    runs = {"Shared noise, as printed": shared, "Noise of their own": independent}
    by_round = [
        [transcript.difference(run, number, first, second) for run in runs.values()] for number in numbers
    ]
    # The horizontal axes of both panels are alike, and end a little beyond the largest exact entry.
    across = 1.05 * max(_largest(result.exact) for results in by_round for result in results)
    span = [-across, across]
    data: list[Trace] = []
    axes: dict[str, Trace] = {}
    colours, results_by_run = (_SHARED_COLOUR, _RECEIVED_COLOUR), zip(*by_round, strict=True)
    # Plotly calls the axes of the first panel "xaxis" and "yaxis", those of the second "xaxis2" and "yaxis2".
    for suffix, colour, results in zip(("", "2"), colours, results_by_run, strict=True):
        panel = int(suffix or 1)
        data.append(line(panel, "exact", style.GUESS, "dot", x=span, y=span, hoverinfo="skip"))
        data.append(_dots(panel, colour, "recovered %{y:.3g}<br>true %{x:.3g}"))
        reach = max(across, *(1.05 * _largest(result.observed) for result in results))
        axes[f"xaxis{suffix}"] = axis("nᵢSᵢQ − nⱼSⱼQ", range=span, anchor=f"y{suffix}", nticks=6)
        axes[f"yaxis{suffix}"] = axis("nᵢHᵢ − nⱼHⱼ", range=[-reach, reach], anchor=f"x{suffix}", nticks=6)
    # The traces are a line and dots for each panel, of which the dots change: the traces 1 and 3.
    frames = [
        {1 + 2 * i: _points(r.exact, r.observed) for i, r in enumerate(results)} for results in by_round
    ]
    words = [
        sentences.pair(results[0], results[1], number, len(numbers))
        for number, results in zip(numbers, by_round, strict=True)
    ]

    def placed(*domains: Sequence[float]) -> Trace:
        at = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        corners = zip(runs, domains[::2], domains[1::2], strict=True)
        titles = [at | {"text": f"<b>{run}</b>", "x": x[0], "y": y[1]} for run, x, y in corners]
        return playback.with_domains(axes, *domains) | {"annotations": titles}

    wide = placed([0, 0.44], [0, 1], [0.56, 1], [0, 1])
    wide |= {"height": 420, "margin": {"l": 66, "r": 12, "t": 30, "b": 50}}
    narrow = placed([0, 1], [0.58, 1], [0, 1], [0, 0.42]) | {"height": 760}
    legend = [
        ("recovered exactly", style.GUESS, "dot", "line"),
        ("shared noise", _SHARED_COLOUR, "solid", "band"),
        ("noise of their own", _RECEIVED_COLOUR, "solid", "band"),
    ]
    return playback.payload(
        data,
        wide,
        narrow,
        frames=frames,
        words=words,
        tiles=sentences.PAIR_TILES,
        legend=legend,
        settings=settings,
    )
