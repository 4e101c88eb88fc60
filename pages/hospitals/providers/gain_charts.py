"""Draw protocols, and hospitals alone, as figures that are plain dictionaries. No Streamlit here."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.providers import gain_text, playback
from pages.hospitals.providers.view import ErrorAxis, GainScale, Row
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_title
from pages.shared.charts.traces import Trace, axis, line, rounded
from pages.shared.settings.catalogue import Settings

_ROW = 23  # pixels
_HEADING = 1.25  # rows that a heading takes with the gap above it


def look(protocol: Protocol) -> style.Look:
    """Return the protocol's look, or its method's if only one protocol on the page uses that method."""
    return style.look(protocol.key if protocol.key in style.LOOKS else protocol.method)


class _Positions:
    """Hold the height of each line of a chart, and what is written beside it, heading by heading."""

    def __init__(self, grouped: Mapping[str, list[Row]], recipe: CollaborationSetting, plain: bool) -> None:
        self.rows: list[Row] = []
        self.heights: list[float] = []
        self.ticks: list[float] = []
        self.labels: list[str] = []
        height = 0.0
        for trust, rows in grouped.items():
            for hospital in dict.fromkeys(row.hospital for row in rows):
                members = [row for row in rows if row.hospital == hospital]
                heights = [height + i for i in range(1, len(members) + 1)]
                self.rows += members
                self.heights += heights
                self.ticks += [height, *heights]
                self.labels.append(f"<b>{gain_text.heading(trust, hospital, recipe)}</b>")
                self.labels += [gain_text.title(row.protocol, recipe, plain) for row in members]
                height += len(members) + _HEADING
        self.bottom = height - _HEADING + 0.6
        self.pixels = int(_ROW * (self.bottom + 0.6))

    def axis(self, **more: Any) -> dict[str, Any]:
        ticks = {"tickvals": self.ticks, "ticktext": self.labels}
        return axis("", range=[self.bottom, -0.6], ticks="", showgrid=False, **more) | ticks


def _dots(
    positions: _Positions, panel: int, spreads: Sequence[Array | None], floor: float, name: str
) -> Trace:
    """Return one trace with a dot and its 10-90 % bar for each line."""
    looks = [look(row.protocol) for row in positions.rows]
    values = np.array([np.full(3, math.nan) if spread is None else spread for spread in spreads])
    low, middle, high = np.maximum(values.reshape(-1, 3).T, floor)
    dots = line(panel, name, style.GUESS, mode="markers", x=rounded(middle), y=positions.heights)
    return dots | {
        "marker": {
            "size": 11,
            "color": [look.colour for look in looks],
            "symbol": [look.symbol for look in looks],
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
        "customdata": [text.JOIN_TITLES[row.protocol.trust] for row in positions.rows],
        "hovertemplate": f"{name} %{{x:.3g}}<br>%{{customdata}}<extra></extra>",
    }


def gains(
    results: CollaborationResults, grouped: Mapping[str, list[Row]], settings: Settings
) -> dict[str, Any]:
    """Draw the error and the captured energy of every protocol, and a random guess in both panels."""
    scale = GainScale(results, settings)
    positions = _Positions(grouped, results.recipe, scale.plain)
    errors = [row.error for row in positions.rows]
    least = min((float(error[0]) for error in errors if error is not None), default=1e-2)
    across = ErrorAxis(settings, scale.guess, least)
    ends = [-0.6, positions.bottom]
    captured = "share of the pattern" if scale.plain else "captured energy"
    data = [
        line(1, "random guess", style.GUESS, "dot", x=[scale.guess] * 2, y=ends) | {"showlegend": True},
        line(2, "random guess", style.GUESS, "dot", x=[scale.energy_guess] * 2, y=ends),
        _dots(positions, 1, errors, across.floor, "error"),
        _dots(positions, 2, [row.energy for row in positions.rows], 0.0, captured),
    ]
    axes = {
        "xaxis": axis(error_title(settings), anchor="y") | across.properties,
        "xaxis2": axis(captured if scale.plain else f"{captured} (share)", range=[0, 1.03], anchor="y2"),
        "yaxis": positions.axis(anchor="x"),
        "yaxis2": positions.axis(anchor="x2"),
    }
    whole, tall = [0, 1], positions.pixels * 2 + 70
    deep = positions.pixels / tall
    wide = playback.placed(axes, [0, 0.62], [0.65, 1], whole, whole)
    wide["yaxis2"]["showticklabels"] = False
    wide |= {"height": positions.pixels + 90, "margin": {"l": 245, "r": 12, "t": 30, "b": 50}}
    narrow = playback.placed(axes, whole, whole, [1 - deep, 1], [0, deep])
    narrow |= {"height": tall + 84, "margin": {"l": 222, "r": 8, "t": 30, "b": 48}}
    legend = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.0, "yanchor": "bottom"}
    base = {"showlegend": True, "hovermode": "closest", "legend": legend}
    return {"data": data, "layout": base | wide | {"meta": {"titles": (), "narrow": narrow}}, "frames": []}


def sent(
    results: CollaborationResults, grouped: Mapping[str, list[Row]], settings: Settings
) -> dict[str, Any]:
    """Draw what one hospital sends in a round, and both ways in all rounds, for each protocol that joins."""
    joined = {trust: rows for trust, rows in grouped.items() if rows and not rows[0].protocol.alone}
    positions = _Positions(joined, results.recipe, settings["view"] == "board")
    traffic = [results.recipe.traffic(row.protocol) for row in positions.rows]
    rounds, totals = [volume.up for volume in traffic], [volume.total for volume in traffic]
    links: dict[str, list[float | None]] = {"x": [], "y": []}
    for up, total, height in zip(rounds, totals, positions.heights, strict=True):
        links["x"] += [up, total, None]
        links["y"] += [height, height, None]
    colours = [look(row.protocol).colour for row in positions.rows]

    def dots(name: str, values: list[int], hover: str, **marker: Any) -> Trace:
        return line(1, name, style.GUESS, mode="markers", x=values, y=positions.heights, showlegend=True) | {
            "customdata": [text.size(value) for value in values],
            "marker": {"size": 11, "color": colours} | marker,
            "hovertemplate": f"%{{customdata}} {hover}<extra></extra>",
        }

    whole = "both ways, all rounds and the result"
    data = [
        line(1, "", style.GUESS, **links) | {"hoverinfo": "skip", "opacity": 0.5},
        dots("sent in one round", rounds, "sent a round", symbol="circle"),
        dots(whole, totals, "in all", symbol="diamond-open", line={"width": 2}),
    ]
    values = [*rounds, *totals] or [1, 10]
    span = [math.log10(min(values) / 1.6), math.log10(max(values) * 1.6)]
    layout = {
        "xaxis": axis("bytes of one hospital", type="log", range=span, dtick=1, exponentformat="SI"),
        "yaxis": positions.axis(),
        "height": positions.pixels + 96,
        "margin": {"l": 245, "r": 12, "t": 34, "b": 50},
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        "showlegend": True,
        "hovermode": "closest",
        "meta": {"titles": (), "narrow": {"margin": {"l": 190, "r": 8, "t": 56, "b": 48}}},
    }
    return {"data": data, "layout": layout, "frames": []}
