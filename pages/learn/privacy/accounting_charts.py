"""What delta lets happen, and what rounds cost, as figures. Plain dictionaries, no Streamlit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dppca_core.auditing import outright_publication
from pages.learn.privacy import accounting_text
from pages.learn.privacy.view import ROUNDS, Accounted
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, band, line, plain_figure, rounded
from pages.shared.settings import catalogue

LOOKS = {
    "printed": style.Look("#CC79A7", "triangle-up", "longdash"),
    "basic": style.Look("#D55E00", "square", "dash"),
    "advanced": style.Look("#C58300", "diamond", "dashdot"),
    "zcdp": style.Look("#009E73", "cross", "dot"),
    "exact": style.Look("#1F7FC0", "circle", "solid"),
}


def published(n: int, delta: float, plain: bool) -> dict[str, Any]:
    """Patients whom the worst mechanism publishes, against delta; the current delta marked."""
    options = [float(value) for value in catalogue.CHOICES["delta"].options]
    deltas = np.geomspace(options[0], options[-1], 160).tolist()
    told = [outright_publication.published(n, value) for value in deltas]
    floor = 0.01
    reach = [math.log10(floor), math.log10(2 * max(n * deltas[-1], 10.0))]
    colour = "#D55E00"
    edges = band(1, "8 of 10 times", colour, deltas)
    for edge, values in zip(edges, ([one.low for one in told], [one.high for one in told]), strict=True):
        edge["y"] = rounded(np.maximum(values, floor))
    traces = [
        *edges,
        line(1, "expected", colour, x=deltas, y=rounded([one.expected for one in told]), showlegend=True),
        line(1, "one patient", style.GUESS, "dot", x=[deltas[0], deltas[-1]], y=[1, 1], showlegend=True),
        line(1, "this setting", "#000000", x=[delta] * 2, y=[10**v for v in reach], meta="text-colour"),
    ]
    for trace in (traces[3], traces[4]):
        trace["hoverinfo"] = "skip"
    traces[2]["hovertemplate"] = "%{x:.1~g}: %{y:.3~g} patients<extra></extra>"
    power = {"type": "log", "dtick": 1, "exponentformat": "power", "minexponent": 4}
    title = "chance that privacy fails" if plain else "failure chance δ"
    edges[1]["showlegend"] = True
    across = axis(title, range=[-10.2, 0]) | power | {"dtick": 2}
    return _shorter(plain_figure(traces, across, axis("patients published", range=reach) | power))


def noise(found: Accounted, plain: bool) -> dict[str, Any]:
    """Noise of every round, for the whole budget, against the number of rounds."""
    return _against_rounds(
        found, found.noise, "noise in each round" if plain else "noise σ in each round", plain
    )


def charged(found: Accounted, plain: bool) -> dict[str, Any]:
    """What rounds with one noise are said to cost, against the number of rounds."""
    title = "privacy setting that is charged" if plain else "ε charged for this σ"
    return _against_rounds(found, found.charged, title, plain)


def _against_rounds(found: Accounted, table: Any, title: str, plain: bool) -> dict[str, Any]:
    values = table.to_numpy()
    high = float(values.max())
    low = max(float(values[values > 0].min()), 1e-6 * high)  # where delta covers all, nothing is charged
    reach = [math.log10(low / 1.3), math.log10(high * 1.3)]
    traces: list[Trace] = []
    for name, look in LOOKS.items():
        values = table[name].where(table[name] > 10 ** reach[0])
        marker = {"symbol": look.symbol, "size": 6, "color": look.colour}
        drawn = line(1, accounting_text.accounting(name, plain), look.colour, look.dash)
        drawn |= {
            "x": list(ROUNDS),
            "y": rounded(values.to_numpy()),
            "mode": "lines+markers",
            "marker": marker,
        }
        traces.append(drawn | {"showlegend": True, "hovertemplate": "%{x} rounds: %{y:.3~g}"})
    edge = [10**value for value in reach]
    spot = line(
        1, "this setting", "#000000", x=[found.steps] * 2, y=edge, meta="text-colour", hoverinfo="skip"
    )
    up = axis(title, range=reach, type="log") | {"exponentformat": "power", "minexponent": 4, "dtick": 1}
    if reach[1] - reach[0] < 1.5:
        up |= {"dtick": "D2"}
    across = axis("rounds" if plain else "rounds T", type="log", range=[-0.03, math.log10(56)])
    across |= {"tickvals": [1, 2, 5, 10, 20, 50], "ticktext": ["1", "2", "5", "10", "20", "50"]}
    return _shorter(plain_figure([*traces, spot], across, up))


def _shorter(figure: dict[str, Any]) -> dict[str, Any]:
    figure["layout"] |= {"height": 430}
    figure["layout"]["legend"] |= {"y": -0.18, "traceorder": "normal"}
    return figure
