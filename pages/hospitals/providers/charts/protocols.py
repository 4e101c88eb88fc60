"""Draw protocols, and hospitals alone, as figures that are plain dictionaries. No Streamlit here.

A chart has one line for each protocol at one hospital (a `Row`), under headings that name whom the hospitals
trust. A protocol is either one by which all hospitals join, or one by which a hospital works alone.
"""

import math
from itertools import groupby
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import Protocol
from dppca_core.experiments.no_privacy import NO_PRIVACY
from pages.hospitals.providers.model.compared import Row
from pages.hospitals.providers.sentences import compared
from pages.hospitals.providers.settings import JOIN_TITLES
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import error_axis, error_title, random_guess
from pages.shared.charts.traces import Trace, arms, axis, line, one_panel, rounded
from pages.shared.settings.catalogue import Settings

_ROW_HEIGHT = 23  # pixels
_HEADING_ROWS = 1.25  # how many rows a heading takes with the gap above it


def look(protocol: Protocol) -> style.Look:
    """Return the protocol's look, or its method's if only one protocol on the page uses that method."""
    name = NO_PRIVACY if protocol.free else protocol.key
    return style.look(name if name in style.LOOKS else protocol.method)


def _stacked(
    grouped: dict[str, list[Row]], recipe: CollaborationExperiment
) -> tuple[list[Row], list[float], Trace, int]:
    """Stack the rows below each other, with a heading over those of each trust and hospital.

    Returns all rows in order, the vertical position of each (downwards, one for each line), the axis with
    their names and the headings as ticks, and its height in pixels.
    """
    rows, positions, position = [], [], 0.0
    labels: dict[float, str] = {}
    for trust, group in grouped.items():
        for hospital, members in groupby(group, key=lambda row: row.hospital):
            labels[position] = f"<b>{compared.heading(trust, hospital, recipe)}</b>"
            for row in members:
                position += 1
                rows.append(row)
                positions.append(position)
                labels[position] = compared.title(row.protocol, recipe)
            position += _HEADING_ROWS
    ends = [position - _HEADING_ROWS + 0.6, -0.6]  # of the axis, from the lower end to the upper
    ticks = {"tickvals": list(labels), "ticktext": list(labels.values()), "ticks": ""}
    names_axis = axis("", range=ends, showgrid=False) | ticks
    return rows, positions, names_axis, int(_ROW_HEIGHT * (ends[0] - ends[1]))


def gains(results: CollaborationResults, grouped: dict[str, list[Row]], settings: Settings) -> Trace:
    """Draw each protocol's error and that of a random guess: dots are medians, arms reach to 10 and 90 %."""
    recipe = results.recipe
    rows, positions, names_axis, pixels = _stacked(grouped, recipe)
    low, middle, high = np.reshape([row.error for row in rows], (-1, 3)).T
    guess = random_guess(settings, recipe.d, recipe.k)
    floor, scale = error_axis(settings, guess, np.nanmin([1.0, *low]))
    # What is below the axis is drawn on its edge.
    low, middle, high = (np.maximum(values, floor) for values in (low, middle, high))
    looks = [look(row.protocol) for row in rows]
    marker = {"size": 11, "color": [look.colour for look in looks], "symbol": [look.symbol for look in looks]}
    dots: dict[str, Any] = {
        "mode": "markers",
        "marker": marker,
        "x": rounded(middle),
        "y": positions,
        "error_x": arms(low, middle, high, style.faded(style.GUESS, 0.9), thickness=2, width=4),
        "customdata": [JOIN_TITLES[row.protocol.trust] for row in rows],
        "hovertemplate": "error %{x:.3g}<br>%{customdata}<extra></extra>",
    }
    data = [
        line(1, "random guess", style.GUESS, "dot", x=[guess] * 2, y=names_axis["range"], showlegend=True),
        line(1, "error", style.GUESS, **dots),
    ]
    axes = {
        "xaxis": axis(error_title(settings)) | {"side": "top"} | scale,
        "yaxis": names_axis,
        "height": pixels + 90,
        "margin": {"l": 245, "r": 12, "t": 70, "b": 10},
    }
    narrow = {"margin": {"l": 222, "r": 8, "t": 70, "b": 8}}
    meta = {"titles": (), "narrow": narrow, "least": axes["height"]}  # least: never drawn lower than this
    at_left = {"x": -0.3, "yanchor": "bottom"}
    above = 1 + 44 / max(pixels, 1)  # about 44 pixels above the panel, over the axis and its title
    return one_panel(data, legend_at=above, legend=at_left, meta=meta, **axes)


def sent(results: CollaborationResults, grouped: dict[str, list[Row]], settings: Settings) -> Trace:
    """Draw what a hospital that joins sends in a round, and the bytes of all rounds in both directions."""
    joined = {trust: rows for trust, rows in grouped.items() if not rows[0].protocol.alone}
    rows, positions, names_axis, pixels = _stacked(joined, results.recipe)
    traffic = [results.recipe.traffic(row.protocol) for row in rows]
    per_round, totals = np.array([(volume.most_sent, volume.total) for volume in traffic]).reshape(-1, 2).T
    colours = [look(row.protocol).colour for row in rows]

    def dots(name: str, values: Array, hover: str, **marker: object) -> Trace:
        return line(1, name, style.GUESS, mode="markers", x=values.tolist(), y=positions, showlegend=True) | {
            "customdata": [text.size(value) for value in values],
            "marker": {"size": 11, "color": colours} | marker,
            "hovertemplate": f"%{{customdata}} {hover}<extra></extra>",
        }

    # A line from the bytes of one round to those of all.
    links = arms(per_round, per_round, totals, style.faded(style.GUESS, 0.5), thickness=2, width=0)
    whole = "both ways, all rounds and the result"
    data = [
        dots("sent in one round", per_round, "sent a round", symbol="circle") | {"error_x": links},
        dots(whole, totals, "in all", symbol="diamond-open", line={"width": 2}),
    ]
    values = [*per_round, *totals] or [1, 10]  # without a row the axis needs some numbers as well
    span = [math.log10(min(values) / 1.6), math.log10(max(values) * 1.6)]
    return one_panel(
        data,
        legend_at=1 + 50 / max(pixels, 1),  # about 50 pixels above the panel, over the axis and its title
        legend={"yanchor": "bottom"},
        xaxis=axis("bytes of one hospital", type="log", range=span, dtick=1, exponentformat="SI", side="top"),
        yaxis=names_axis,
        height=pixels + 96,
        margin={"l": 245, "r": 12, "t": 74, "b": 10},
        meta={
            "titles": (),
            "narrow": {"margin": {"l": 190, "r": 8, "t": 96, "b": 8}},
            "least": pixels + 96,
        },
    )
