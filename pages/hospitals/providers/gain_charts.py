"""Ways of joining, and hospitals alone -> figures as plain dictionaries. No Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.providers import gain_text
from pages.hospitals.providers.view import GainScale, Row
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, line, rounded
from pages.shared.settings.catalogue import Settings

_ROW = 23  # pixels
_LEAST = 1e-4
_HEADING = 1.25  # rows that a heading takes with the gap above it


def look(way: Protocol) -> style.Look:
    """Of its method, or its own where a page shows one method in several ways."""
    return style.look(way.key if way.key in style.LOOKS else way.method)


class _Places:
    """Where each line stands, and what is written beside it."""

    def __init__(self, grouped: Mapping[str, list[Row]], of: CollaborationSetting, plain: bool) -> None:
        self.rows: list[Row] = []
        self.at: list[float] = []
        self.ticks: list[float] = []
        self.words: list[str] = []
        place = 0.0
        for trust, own in grouped.items():
            for hospital in dict.fromkeys(row.hospital for row in own):
                members = [row for row in own if row.hospital == hospital]
                self.ticks.append(place)
                self.words.append(f"<b>{gain_text.heading(trust, hospital, of)}</b>")
                for i, row in enumerate(members, 1):
                    self.rows.append(row)
                    self.at.append(place + i)
                    self.ticks.append(place + i)
                    self.words.append(gain_text.title(row.way, of, plain))
                place += len(members) + _HEADING
        self.bottom = place - _HEADING + 0.6

    @property
    def height(self) -> int:
        """Pixels of the plot's area."""
        return int(_ROW * (self.bottom + 0.6))

    def axis(self, **more: Any) -> dict[str, Any]:
        return axis("", range=[self.bottom, -0.6], ticks="", showgrid=False, **more) | {
            "tickvals": self.ticks,
            "ticktext": self.words,
        }


def _dots(places: _Places, panel: int, spreads: Sequence[Array | None], floor: float, said: str) -> Trace:
    """A dot and its 10-90 % bar for each line, as one trace."""
    looks = [look(row.way) for row in places.rows]
    values = np.array([np.full(3, math.nan) if spread is None else spread for spread in spreads])
    low, middle, high = np.maximum(values.reshape(-1, 3).T, floor)
    suffix = "" if panel == 1 else str(panel)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": said,
        "x": rounded(middle),
        "y": places.at,
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "marker": {
            "size": 11,
            "color": [found.colour for found in looks],
            "symbol": [found.symbol for found in looks],
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": rounded(high - middle),
            "arrayminus": rounded(middle - low),
            "thickness": 2,
            "width": 4,
            "color": style.faded(style.GUESS, 0.9),
        },
        "customdata": [text.JOIN_TITLES[row.way.trust] for row in places.rows],
        "hovertemplate": f"{said} %{{x:.3g}}<br>%{{customdata}}<extra></extra>",
        "showlegend": False,
    }


def gains(
    found: CollaborationResults, grouped: Mapping[str, list[Row]], settings: Settings
) -> dict[str, Any]:
    """Error and captured energy of every way, by whom it trusts; the random guess in both."""
    scale = GainScale(found, settings)
    places = _Places(grouped, found.recipe, scale.plain)
    errors = [row.error for row in places.rows]
    least = max(min((float(error[0]) for error in errors if error is not None), default=1e-2), _LEAST)
    floor = 10.0 ** min(math.floor(math.log10(least)), -2) if scale.log else 0.0
    span = [math.log10(floor), math.log10(1.6 * scale.guess)] if scale.log else [0.0, 1.12 * scale.guess]
    log = {"type": "log", "dtick": 1, "exponentformat": "e", "minexponent": 6} if scale.log else {}
    ends = [-0.6, places.bottom]
    captured = "share of the pattern" if scale.plain else "captured energy"
    data = [
        line(1, "random guess", style.GUESS, "dot", x=[scale.guess] * 2, y=ends) | {"showlegend": True},
        line(2, "random guess", style.GUESS, "dot", x=[scale.energy_guess] * 2, y=ends),
        _dots(places, 1, errors, floor, "error"),
        _dots(places, 2, [row.energy for row in places.rows], 0.0, captured),
    ]
    error_axis = axis(scale.title, range=span, anchor="y") | log
    energy_axis = axis(f"{captured} (share)" if not scale.plain else captured, range=[0, 1.03], anchor="y2")
    base = {"showlegend": True, "hovermode": "closest"}
    legend = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom"}
    wide = {
        "xaxis": error_axis | {"domain": [0, 0.62]},
        "xaxis2": energy_axis | {"domain": [0.65, 1]},
        "yaxis": places.axis(anchor="x"),
        "yaxis2": places.axis(anchor="x2", showticklabels=False),
        "height": places.height + 90,
        "margin": {"l": 245, "r": 12, "t": 30, "b": 50},
        "legend": legend,
    }
    tall = places.height * 2 + 70
    deep = places.height / tall
    narrow = {
        "xaxis": error_axis | {"domain": [0, 1]},
        "xaxis2": energy_axis | {"domain": [0, 1]},
        "yaxis": places.axis(anchor="x", domain=[1 - deep, 1]),
        "yaxis2": places.axis(anchor="x2", domain=[0, deep]),
        "height": tall + 84,
        "margin": {"l": 222, "r": 8, "t": 30, "b": 48},
    }
    return {"data": data, "layout": base | wide | {"meta": {"titles": (), "narrow": narrow}}, "frames": []}


def sent(found: CollaborationResults, grouped: Mapping[str, list[Row]], settings: Settings) -> dict[str, Any]:
    """What one hospital sends in a round, and both ways in all rounds, of those who join."""
    of, plain = found.recipe, settings["view"] == "board"
    joined = {trust: own for trust, own in grouped.items() if own and not own[0].way.alone}
    places = _Places(joined, of, plain)
    traffic = [of.traffic(row.way) for row in places.rows]
    looks = [look(row.way) for row in places.rows]
    colours = [found.colour for found in looks]
    base = {"type": "scatter", "mode": "markers", "y": places.at, "showlegend": True}
    said = [text.size(each.up) for each in traffic]
    whole = [text.size(each.total) for each in traffic]
    joins: dict[str, list[float | None]] = {"x": [], "y": []}
    for each, at in zip(traffic, places.at, strict=True):
        joins["x"] += [each.up, each.total, None]
        joins["y"] += [at, at, None]
    data = [
        line(1, "", style.GUESS, **joins) | {"hoverinfo": "skip", "opacity": 0.5},
        base
        | {"name": "sent in one round", "x": [each.up for each in traffic], "customdata": said}
        | {"marker": {"size": 11, "color": colours, "symbol": "circle"}}
        | {"hovertemplate": "%{customdata} sent a round<extra></extra>"},
        base
        | {"name": "both ways, all rounds and the result", "x": [each.total for each in traffic]}
        | {"customdata": whole, "hovertemplate": "%{customdata} in all<extra></extra>"}
        | {"marker": {"size": 11, "color": colours, "symbol": "diamond-open", "line": {"width": 2}}},
    ]
    values = [value for each in traffic for value in (each.up, each.total)] or [1, 10]
    span = [math.log10(min(values) / 1.6), math.log10(max(values) * 1.6)]
    layout = {
        "xaxis": axis("bytes of one hospital", type="log", range=span, dtick=1, exponentformat="SI"),
        "yaxis": places.axis(),
        "height": places.height + 96,
        "margin": {"l": 245, "r": 12, "t": 34, "b": 50},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        "showlegend": True,
        "hovermode": "closest",
        "meta": {"titles": (), "narrow": {"margin": {"l": 190, "r": 8, "t": 56, "b": 48}}},
    }
    return {"data": data, "layout": layout, "frames": []}
