"""Figure 1 of Ge et al., drawn from a run: server, hospitals, and what travels between them, round by round.

A payload for the live component: one frame for each question and for each round's answers. No Streamlit.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from dppca_core.federated.exchange import ALL
from dppca_core.federated.record import Round
from dppca_core.numerics import subspace_metrics
from pages.hospitals.providers import run_text, runs
from pages.hospitals.providers.runs import ShownRun
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_title, factor
from pages.shared.charts.traces import Trace, axis, line, rounded
from pages.shared.settings.catalogue import Settings

_NAMED, _WEIGHED = 12, 6  # hospitals up to which each has its name, and its bytes
_FROM, _TO = 0.34, 0.7  # an arrow's ends, in radii: clear of the server and the dots on a telephone
_ASIDE = 0.05  # half the distance between an arrow up and the one down
_UP, _DOWN = "#1F7FC0", "#8468B8"
_FAILED = "#B3261E"
_LEAST = 1e-4
_PIXELS = 86.0  # of a radius on a telephone; there are more elsewhere
_LETTER, _LINE = 6.4, 14.0  # pixels of small text
_GAP = 3.0  # pixels between what must not touch
_NAME_LINE = 12  # letters


class _Ring:
    """Where hospitals stand, and the arrows between them and the server."""

    def __init__(self, shown: ShownRun) -> None:
        self.shown, self.plan = shown, shown.record.plan
        count = self.plan.hospitals
        turns = math.pi / 2 - 2 * math.pi * np.arange(count) / count
        self.out = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        self.aside = np.stack([-self.out[:, 1], self.out[:, 0]], axis=1) * min(_ASIDE, 0.4 / count)
        widest = min(46.0, 400 / count)
        sizes = np.sqrt(np.array(self.plan.sizes) / max(self.plan.sizes))
        self.widths = np.maximum(widest * sizes, min(9.0, max(widest, 5.0)))
        self.named = range(count) if count <= _NAMED else range(1)
        self.weighed = range(count if count <= _WEIGHED else 0)  # the figures above say it too
        self.thick = max(0.4, min(3.0, 45 / count))

    def arrows(self, up: bool, hospitals: Sequence[int]) -> list[Trace]:
        """Shafts and heads between the server and these hospitals."""
        ends = (_TO, _FROM) if up else (_FROM, _TO)
        side = 1 if up else -1
        shafts: dict[str, list[float | None]] = {"x": [], "y": []}
        tips: list[Any] = []
        for i in hospitals:
            begin, end = (self.out[i] * r + side * self.aside[i] for r in ends)
            for name, j in (("x", 0), ("y", 1)):
                shafts[name] += [round(float(begin[j]), 4), round(float(end[j]), 4), None]
            tips.append(end)
        heads = np.array(tips).reshape(-1, 2)
        sign = -1 if up else 1
        angles = [math.degrees(math.atan2(sign * self.out[i][0], sign * self.out[i][1])) for i in hospitals]
        colour = _UP if up else _DOWN
        dash = "dot" if up and self.shown.summed else "solid"
        shaft = {**shafts, "line": {"color": colour, "width": self.thick, "dash": dash}}
        marker = {"symbol": "arrow", "size": 4 + 3 * self.thick, "angle": rounded(angles), "color": colour}
        return [shaft, {"x": rounded(heads[:, 0]), "y": rounded(heads[:, 1]), "marker": marker}]

    def labels(self, up: bool, words: dict[int, str]) -> Trace:
        """Bytes beside the arrows."""
        kept = [i for i in self.weighed if i in words]
        side = 1 if up else -1
        away = []
        for i in kept:
            normal = self.aside[i] / np.linalg.norm(self.aside[i])
            half = np.array([_LETTER * len(words[i]), _LINE]) / 2
            clear = (float(half @ np.abs(normal)) + _GAP) / _PIXELS  # the text's box, seen along the arrow
            away.append(self.out[i] * (_FROM + _TO) / 2 + side * (self.aside[i] + normal * clear))
        at = np.array(away).reshape(-1, 2)
        return {"x": rounded(at[:, 0]), "y": rounded(at[:, 1]), "text": [words[i] for i in kept]}

    def hospitals(self, failed: Sequence[int]) -> Trace:
        """Their dots, those that failed in red and hollow."""
        lost = [i in failed for i in range(self.plan.hospitals)]
        return {
            "x": rounded(self.out[:, 0]),
            "y": rounded(self.out[:, 1]),
            "marker": {
                "size": rounded(self.widths),
                "color": [_FAILED if gone else "#009E73" for gone in lost],
                "symbol": ["circle-x-open" if gone else "circle" for gone in lost],
            },
            "customdata": [[self.shown.name(i), f"{n:,}"] for i, n in enumerate(self.plan.sizes)],
        }

    def names(self) -> Trace:
        """Names and sizes beside the dots, away from the middle: right, left, above or below."""
        right, above = self.out.T
        beside = np.abs(right) > 0.3
        away = (self.widths / 2 + _GAP) / _PIXELS
        shift = np.where(beside, [np.sign(right), 0 * above], [0 * right, np.sign(above)]).T
        at = self.out + away[:, None] * shift
        words = [
            "<br>".join([*textwrap.wrap(self.shown.name(i), _NAME_LINE)[:2], text.patients(n)])
            if i in self.named
            else ""
            for i, n in enumerate(self.plan.sizes)
        ]
        sides = np.where(beside, np.where(right > 0, "right", "left"), "center")
        heights = np.where(beside, "middle", np.where(above > 0, "top", "bottom"))
        places = [f"{height} {side}" for height, side in zip(heights, sides, strict=True)]
        return {"x": rounded(at[:, 0]), "y": rounded(at[:, 1]), "text": words, "textposition": places}


def _who(shown: ShownRun, done: Round) -> list[int]:
    """Hospitals whose message is in this round's answers."""
    return list(range(shown.record.plan.hospitals)) if ALL in done.answers else sorted(done.answers)


def steps(shown: ShownRun) -> list[tuple[int, bool]]:
    """(round, whether the hospitals answer) of every frame; nothing is asked in a method of one round."""
    return [
        (done.number, answering)
        for done in shown.record.rounds
        for answering in (False, True)
        if answering or done.question.payload
    ]


class _Curve:
    """The error by round, where the truth is known, else how far a round moved the result."""

    def __init__(self, shown: ShownRun, settings: Settings) -> None:
        self.factor = factor(settings)
        self.at, found = runs.curve(shown)
        self.values = self.factor * found
        self.known = shown.errors is not None
        plan = shown.record.plan
        self.guess = self.factor * subspace_metrics.random_guess(plan.d, plan.k)
        self.title = error_title(settings) if self.known else "moved since the round before"
        self.log = settings["scale"] == "log"
        seen = self.values[np.isfinite(self.values)]
        least = max(float(seen.min()) if len(seen) else 1e-2, _LEAST)
        self.floor = 10.0 ** min(math.floor(math.log10(least)), -2) if self.log else 0.0
        top = 1.6 * self.guess if self.log else 1.12 * self.guess
        self.span = [math.log10(self.floor), math.log10(top)] if self.log else [0.0, top]

    def until(self, number: int) -> Trace:
        """The line up to this round."""
        kept = [i for i, at in enumerate(self.at) if at <= number]
        return {
            "x": [self.at[i] for i in kept],
            "y": rounded(np.maximum(self.values[kept], self.floor)),
        }


def figure(shown: ShownRun, settings: Settings) -> dict[str, Any]:
    """The ring, and beside it the error after each round; frames, and a sentence for each."""
    ring, curve = _Ring(shown), _Curve(shown, settings)
    rounds = shown.record.rounds
    frames, words = [], []
    everyone = list(range(ring.plan.hospitals))
    lost: list[int] = []
    for number, answering in steps(shown):
        done = rounds[number - 1]
        who = _who(shown, done) if answering else [i for i in everyone if i not in lost]
        if answering:
            lost = sorted({*lost, *(i for i in done.faults if i != ALL)})
        strong = {"opacity": 0.95}, {"opacity": 0.18}
        down, up = reversed(strong) if answering else strong
        moved = [{}] * 4 if who == everyone else [*ring.arrows(False, who), *ring.arrows(True, who)]
        arrows = [one | other for one, other in zip(moved, (down, down, up, up), strict=True)]
        labels = ring.labels(answering, run_text.bytes_on(shown, done, who, answering))
        until = curve.until(number if answering else number - 1)
        patches = [*arrows, labels, ring.hospitals(lost) if lost else {}, until]
        frames.append({"traces": {str(i): patch for i, patch in enumerate(patches)}})
        words.append(run_text.step(shown, number, answering, settings))
    moving = [number for number, answering in steps(shown) if answering]
    asked = min(settings["join.round"], moving[-1])
    return {
        "data": _traces(ring, curve),
        "layout": _layout(curve, len(rounds)),
        "frames": frames,
        "words": words,
        "tiles": run_text.tile_titles(shown, settings),
        "legend": _legend(shown, curve),
        "active": steps(shown).index((asked, True)),
        "play": True,
        "scrub": "Round by round",
        "ends": ["start", "end"],
        "plain": settings["view"] == "board",
        "ghost": False,
        "complete": True,
    }


def _traces(ring: _Ring, curve: _Curve) -> list[Trace]:
    """What every frame fills, in the order of its patches, then what stays."""
    free = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}
    small = {"textfont": {"size": 11}, "mode": "text"}
    spot = {"mode": "markers"}
    hospital = {"hovertemplate": "%{customdata[0]}: %{customdata[1]} patients<extra></extra>"}
    dots = line(2, "error", _UP, mode="lines+markers") | {"line": {"color": _UP, "width": 3}}
    dots |= {"marker": {"size": 8}, "hovertemplate": "round %{x}: %{y:.3g}<extra></extra>"}
    server = {"x": [0], "y": [0], "text": ["server"], "textposition": "middle center"}
    server |= {"marker": {"symbol": "square", "size": 44, "color": "#5B6670"}, "mode": "markers+text"}
    server |= {"textfont": {"size": 11, "color": "#FFFFFF"}}
    ends = [min([0, *curve.at]), max([1, *curve.at])]
    whole = line(2, "whole run", style.faded(_UP, 0.3), x=curve.at, hoverinfo="skip")
    whole["y"] = rounded(np.maximum(curve.values, curve.floor))
    guess = line(2, "random guess", style.GUESS, "dot", x=ends, y=[curve.guess] * 2, hoverinfo="skip")
    everyone = range(ring.plan.hospitals)
    kinds = ({"mode": "lines"}, spot)
    arrows = [
        free | kind | arrow
        for up in (False, True)
        for kind, arrow in zip(kinds, ring.arrows(up, everyone), strict=True)
    ]
    return [
        *arrows,
        free | small,
        free | spot | hospital | {"hoverinfo": "all"} | ring.hospitals([]),
        dots,
        free | small | ring.names(),
        free | server,
        whole,
        guess,
    ]


def _layout(curve: _Curve, rounds: int) -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True, "range": [-1.95, 1.95]}
    log = {"type": "log", "dtick": 1, "exponentformat": "e", "minexponent": 6} if curve.log else {}
    across = axis("round", range=[-0.3, rounds + 0.3], anchor="y2", dtick=max(1, math.ceil(rounds / 10)))
    up = axis(curve.title, range=curve.span, anchor="x2") | log
    upright = hidden | {"scaleanchor": "x", "scaleratio": 1, "range": [-1.45, 1.45]}
    return {
        "xaxis": hidden | {"domain": [0, 0.5]},
        "yaxis": upright | {"domain": [0, 1]},
        "xaxis2": across | {"domain": [0.6, 1]},
        "yaxis2": up | {"domain": [0.04, 0.96]},
        "height": 440,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 46},
        "hovermode": "closest",
        "showlegend": False,
        "meta": {
            "titles": (),
            "narrow": {
                "xaxis": hidden | {"domain": [0, 1]},
                "yaxis": upright | {"domain": [0.48, 1]},
                "xaxis2": across | {"domain": [0.12, 1]},
                "yaxis2": up | {"domain": [0, 0.42]},
                "height": 640,
            },
        },
    }


def _legend(shown: ShownRun, curve: _Curve) -> list[tuple[str, str, str, str]]:
    """(label, colour, dash, kind) of what is drawn."""
    masked = ", masked" if shown.summed else ""
    return [
        ("asked by the server", _DOWN, "solid", "line"),
        (f"sent by a hospital{masked}", _UP, "dot" if shown.summed else "solid", "line"),
        ("a hospital, its area by patients", "#009E73", "solid", "band"),
        ("random guess", style.GUESS, "dot", "line"),
    ]
