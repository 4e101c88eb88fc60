"""Draw a run as Figure 1 of Ge, Wang, Wang & Liu (AISTATS 2018): server, hospitals, and their messages.

The hospitals stand on a circle around the server, the ring; beside it a curve shows the error by round. There
is a frame for each round's question and for its answers. Positions are in units of the ring's radius, about
the server. Panel 1 has the ring, panel 2 the curve.
"""

import math
import textwrap

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.federated.exchange import ALL
from pages.hospitals.who_sees_what import model
from pages.hospitals.who_sees_what.charts import playback
from pages.hospitals.who_sees_what.sentences import rounds as sentences
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_axis, error_title, random_guess
from pages.shared.charts.traces import Trace, axis, line, rounded
from pages.shared.settings.catalogue import Settings

_MOST_NAMED, _MOST_WITH_BYTES = 12, 6  # hospitals, up to which each has its name, and its bytes
_INNER_END, _OUTER_END = 0.34, 0.7  # of an arrow, in radii: clear of server and dots on a telephone
_ASIDE = 0.05  # half the distance between an arrow up and the one down, in radii
_UP, _DOWN = style.BLUE, style.LILAC  # colours of arrows to the server, and from it
_HOSPITAL, _FAILED = style.GREEN, style.VERMILION  # colours of hospitals
_RADIUS_PIXELS = 86.0  # on a telephone; other screens have more
_LETTER_WIDTH, _LINE_HEIGHT = 6.4, 14.0  # pixels of small text
_GAP = 3.0  # pixels between what must not touch
_NAME_LETTERS = 12  # in a line of a name


class _Ring:
    """Hold where the N hospitals are around the server, and draw them, their names and the arrows.

    out: the hospitals' positions, unit vectors (N, 2), clockwise from the top. aside: by how much an arrow to
    the server is beside the straight line, (N, 2), at right angles to it; the arrow back is as far on the
    other side. widths: the dots' diameters in pixels, whose areas are as the numbers of patients, but not too
    small. named, weighed: the hospitals whose names are drawn, and beside whose arrows the bytes are.
    """

    def __init__(self, shown: Transcript) -> None:
        self.shown, self.plan = shown, shown.record.plan
        count = self.plan.hospitals
        angles = math.pi / 2 - 2 * math.pi * np.arange(count) / count
        self.out = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        # The more hospitals there are, the closer arrows lie, and the smaller dots and arrows are.
        self.aside = np.stack([-self.out[:, 1], self.out[:, 0]], axis=1) * min(_ASIDE, 0.4 / count)
        widest = min(46.0, 400 / count)
        sizes = np.sqrt(np.array(self.plan.sizes) / max(self.plan.sizes))
        self.widths = np.maximum(widest * sizes, min(9.0, max(widest, 5.0)))
        self.named = range(count) if count <= _MOST_NAMED else range(1)  # else the first as an example
        self.weighed = range(count if count <= _MOST_WITH_BYTES else 0)
        self.thick = max(0.4, min(3.0, 45 / count))

    def arrows(self, up: bool, hospitals: list[int]) -> list[Trace]:
        side, colour = (1, _UP) if up else (-1, _DOWN)
        out, aside = self.out[hospitals], side * self.aside[hospitals]
        radii = (_OUTER_END, _INNER_END) if up else (_INNER_END, _OUTER_END)
        begins, ends = (out * radius + aside for radius in radii)
        gaps = np.full_like(begins, np.nan)  # a line is drawn up to the next gap
        # Heads point along their arrows; Plotly's angles are clockwise from the top.
        angles = np.degrees(np.arctan2(-side * out[:, 0], -side * out[:, 1]))
        dash = "dot" if up and self.shown.sealed else "solid"
        marker = {"symbol": "arrow", "size": 4 + 3 * self.thick, "angle": rounded(angles), "color": colour}
        shafts = np.stack([begins, ends, gaps], axis=1).reshape(-1, 2)
        shaft = {"color": colour, "width": self.thick, "dash": dash}
        return [_placed(shafts) | {"line": shaft}, _placed(ends) | {"marker": marker}]

    def all_arrows(self, hospitals: list[int]) -> list[Trace]:
        """Return four traces: shafts and heads from the server to these hospitals, then those back."""
        return [*self.arrows(up=False, hospitals=hospitals), *self.arrows(up=True, hospitals=hospitals)]

    def labels(self, up: bool, words: str, hospitals: list[int]) -> Trace:
        """Return the words beside the arrows of these hospitals, up or down, if there is room for them."""
        labelled = [i for i in self.weighed if i in hospitals]
        side, out, aside = 1 if up else -1, self.out[labelled], self.aside[labelled]
        normal = aside / np.linalg.norm(aside, axis=1, keepdims=True)
        half_box = np.array([_LETTER_WIDTH * len(words), _LINE_HEIGHT]) / 2  # pixels
        clear = (np.abs(normal) @ half_box + _GAP) / _RADIUS_PIXELS  # of the text's box, across the arrow
        at = out * (_INNER_END + _OUTER_END) / 2 + side * (aside + normal * clear[:, None])
        return _placed(at) | {"text": [words] * len(labelled)}

    def hospitals(self, failed: list[int]) -> Trace:
        lost = [i in failed for i in range(self.plan.hospitals)]
        marker = {
            "size": rounded(self.widths),
            "color": [_FAILED if gone else _HOSPITAL for gone in lost],
            "symbol": ["circle-x-open" if gone else "circle" for gone in lost],
        }
        named = [[model.name(self.shown, i), f"{n:,}"] for i, n in enumerate(self.plan.sizes)]
        return _placed(self.out) | {"marker": marker, "customdata": named}

    def names(self) -> Trace:
        """Return names and sizes outside of the ring: beside a dot, or above it at the top, or below it."""
        right, above = self.out.T
        beside = np.abs(right) > 0.3  # else the hospital is near the top or the bottom
        away = (self.widths / 2 + _GAP) / _RADIUS_PIXELS  # just outside of the dot
        shift = np.where(beside, [np.sign(right), 0 * above], [0 * right, np.sign(above)]).T
        at = self.out + away[:, None] * shift
        words = [""] * self.plan.hospitals
        for i in self.named:
            name_lines = textwrap.wrap(model.name(self.shown, i), _NAME_LETTERS)[:2]
            words[i] = "<br>".join([*name_lines, text.patients(self.plan.sizes[i])])
        sides = np.where(beside, np.where(right > 0, "right", "left"), "center")
        heights = np.where(beside, "middle", np.where(above > 0, "top", "bottom"))
        anchors = [f"{height} {side}" for height, side in zip(heights, sides, strict=True)]
        return _placed(at) | {"text": words, "textposition": anchors}


def _placed(points: Array) -> Trace:
    """Return the part of a trace that holds its points, (m, 2)."""
    return {"x": rounded(points[:, 0]), "y": rounded(points[:, 1])}


def steps(shown: Transcript) -> list[tuple[int, bool]]:
    """Return (round, whether it shows answers) of every frame; a round that asks nothing has one."""
    return [
        (round_.number, answering)
        for round_ in shown.record.rounds
        for answering in (False, True)
        if answering or round_.question.payload
    ]


class _Curve:
    """Hold the error by round where the truth is known, else how far each round moved the result.

    rounds: those that have a value; 0 is the start. floor: the least value that the axis shows.
    """

    def __init__(self, shown: Transcript, settings: Settings) -> None:
        self.rounds, self.values = model.curve_in_unit(shown, settings)
        if shown.errors is None:  # a move is a distance, which no other unit describes
            settings = settings | {"view": "full", "metric": "sin"}
        plan = shown.record.plan
        self.guess = random_guess(settings, plan.d, plan.k)
        self.floor, scale = error_axis(settings, self.guess, np.nanmin(self.values, initial=1.0))
        title = "moved since the round before" if shown.errors is None else error_title(settings)
        self.axis = axis(title, anchor="x2") | scale

    def until(self, number: float = math.inf) -> Trace:
        """Return the points of the line up to this round; of the whole run without a number."""
        x = [at for at in self.rounds if at <= number]
        return {"x": x, "y": rounded(np.maximum(self.values[: len(x)], self.floor))}


def figure(shown: Transcript, settings: Settings) -> Trace:
    ring, curve = _Ring(shown), _Curve(shown, settings)
    rounds, shown_steps = shown.record.rounds, steps(shown)
    frames, words = [], []
    everyone = list(range(ring.plan.hospitals))
    lost: list[int] = []
    for number, answering in shown_steps:
        round_ = rounds[number - 1]
        active = [i for i in everyone if i not in lost]
        if answering:
            # The answers tell who takes part; a sum arrives without telling from whom.
            active = everyone if ALL in round_.answers else sorted(round_.answers)
            lost = sorted({*lost, *(i for i in round_.faults if i != ALL)})
        # Arrows of what does not happen in this step are faint.
        strong, faint = {"opacity": 0.95}, {"opacity": 0.18}
        down, up = (faint, strong) if answering else (strong, faint)
        # The figure's own traces have all hospitals' arrows, so only those of fewer are sent with a frame.
        changed = [{}] * 4 if active == everyone else ring.all_arrows(active)
        arrows = [arrow | opacity for arrow, opacity in zip(changed, (down, down, up, up), strict=True)]
        size = text.size(sentences.answer_bytes(round_) if answering else round_.question.payload)
        labels = ring.labels(answering, size, active)
        points = curve.until(number if answering else number - 1)
        # In the order of `_traces`; an empty patch leaves its trace as it is there.
        patches = [*arrows, labels, ring.hospitals(lost) if lost else {}, points]
        frames.append(dict(enumerate(patches)))
        words.append(sentences.step(shown, number, answering, settings))
    # The figure opens at the answers of the link's round, or of the last.
    active_step = shown_steps.index((min(settings["join.round"], len(rounds)), True))
    masked = ", masked" if shown.sealed else ""
    legend = [
        ("asked by the server", _DOWN, "solid", "line"),
        (f"sent by a hospital{masked}", _UP, "dot" if shown.sealed else "solid", "line"),
        ("a hospital, its area by patients", _HOSPITAL, "solid", "band"),
        ("random guess", style.GUESS, "dot", "line"),
    ]
    wide, narrow = _layouts(curve, len(rounds))
    return playback.payload(
        _traces(ring, curve),
        wide,
        narrow,
        frames=frames,
        words=words,
        tiles=sentences.tile_titles(shown),
        legend=legend,
        settings=settings,
        active=active_step,
    )


def _traces(ring: _Ring, curve: _Curve) -> list[Trace]:
    """Return the traces: first those that frames change, in the order of the patches, then all others.

    The first seven are the shafts and heads of arrows down, those of arrows up, the bytes beside arrows, the
    hospitals and the curve.
    """
    base = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}
    small = {"textfont": {"size": 11}, "mode": "text"}
    spot = {"mode": "markers"}
    hospital = {"hovertemplate": "%{customdata[0]}: %{customdata[1]} patients<extra></extra>"}
    dots = line(2, "error", style.PRIVATE, width=3, mode="lines+markers")
    dots |= {"marker": {"size": 8}, "hovertemplate": "round %{x}: %{y:.3g}<extra></extra>"}
    server = {"x": [0], "y": [0], "text": ["server"], "textposition": "middle center"}
    server |= {"marker": {"symbol": "square", "size": 44, "color": style.SERVER}, "mode": "markers+text"}
    server |= {"textfont": {"size": 11, "color": style.PAPER}}
    ends = [min([0, *curve.rounds]), max([1, *curve.rounds])]
    arrows = ring.all_arrows(list(range(ring.plan.hospitals)))
    return [
        *(base | ({"mode": "lines"} if "line" in arrow else spot) | arrow for arrow in arrows),
        base | small,
        base | spot | hospital | {"hoverinfo": "all"} | ring.hospitals([]),
        dots,
        base | small | ring.names(),
        base | server,
        line(2, "whole run", style.faded(style.PRIVATE, 0.3), hoverinfo="skip") | curve.until(),
        line(2, "random guess", style.GUESS, "dot", x=ends, y=[curve.guess] * 2, hoverinfo="skip"),
    ]


def _layouts(curve: _Curve, rounds: int) -> tuple[Trace, Trace]:
    """Return the layout, the ring beside the curve, and what is different on a telephone: the ring above."""
    # Ranges of the ring are in radii, with room for names outside of it.
    hidden = {"visible": False, "fixedrange": True, "range": [-1.95, 1.95]}
    across = axis("round", range=[-0.3, rounds + 0.3], anchor="y2", dtick=max(1, math.ceil(rounds / 10)))
    # Two lines stand above the first hospital, which a low window would cut off at 1.45.
    upright = hidden | {"scaleanchor": "x", "scaleratio": 1, "range": [-1.45, 1.75]}
    axes = {"xaxis": hidden, "yaxis": upright, "xaxis2": across, "yaxis2": curve.axis}
    wide = playback.with_domains(axes, [0, 0.5], [0, 1], [0.6, 1], [0.04, 0.96])
    narrow = playback.with_domains(axes, [0, 1], [0.48, 1], [0.12, 1], [0, 0.42])
    return wide | {"height": 440, "margin": {"l": 8, "r": 12, "t": 8, "b": 46}}, narrow | {"height": 640}
