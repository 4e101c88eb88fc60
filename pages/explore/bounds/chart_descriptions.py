"""Describe charts of the bounds page for those who do not see them. No Streamlit here."""

from __future__ import annotations

import math

import numpy as np

from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.regime_map import RegimeMap
from pages.shared import text
from pages.shared.charts.traces import Figure, drawn_values
from pages.shared.text.numbers import listed


def terms(figure: Figure, applies: bool) -> str:
    """The theorem's terms and the measured error in the last round. applies: every assumption holds."""
    last = {trace["name"]: float(drawn_values(trace)[-1]) for trace in figure["data"] if len(trace["y"])}
    stack = [(name, value) for name, value in last.items() if "ξ" in name]
    measured = [value for name, value in last.items() if name.endswith(", measured")]
    if stack:
        parts, below = [], 0.0
        for name, value in stack:
            parts.append(f"{name.removeprefix('+ ').partition(' ')[0]} {text.error(value - below)}")
            below = value
        but = "" if applies else ", of which an assumption fails here,"
        said = f"Theorem 4.3{but} in the last round: {listed(parts)}, together {text.error(below)}."
    else:
        said = "Theorem 4.3 says nothing here."
    if measured:
        said += f" Measured: {text.error(measured[0])}."
    return f"{said} A random guess has {text.short(last['random guess'])}."


def regimes(found: RegimeMap, n: int, epsilon: float, plain: bool) -> str:
    """How much of the map each region takes, and which one this setting is in."""
    counts = [int((found.codes == code).sum()) for code in range(len(REGIONS))]
    parts = [
        f"{name} in {text.percent(count / found.codes.size)} of it"
        for name, count in zip(REGIONS, counts, strict=True)
        if count
    ]
    i, j = (
        int(np.abs(np.log(values) - math.log(here)).argmin())
        for values, here in ((found.epsilons, epsilon), (found.patients, n))
    )
    at = f"{'privacy setting' if plain else 'ε ='} {text.number(epsilon)}"
    return (
        f"Map of patients and privacy: {'; '.join(parts)}. This setting, {n:,} patients at {at}: "
        f"{REGIONS[found.codes[i, j]]}."
    )


def figure_2(figure: Figure) -> str:
    """The overall bound at both ends of the range, beside the largest error there is; its largest term."""
    *curves, most = figure["data"]
    whole, *parts = curves
    ends = [text.short(value) for value in drawn_values(whole)[[0, -1]]]
    largest = [max(parts, key=lambda trace, at=at: float(drawn_values(trace)[at]))["name"] for at in (0, -1)]
    at = [text.number(value) for value in (whole["x"][0], whole["x"][-1])]
    return (
        f"The overall bound falls from {ends[0]} at ε = {at[0]}, mostly {largest[0]}, to {ends[1]} at ε = "
        f"{at[1]}, mostly {largest[1]}. The largest possible error is {text.short(drawn_values(most)[0])}."
    )
