"""Describe charts of the bounds page for those who do not see them. No Streamlit here."""

from __future__ import annotations

import math

import numpy as np

from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.regime_map import RegimeMap
from pages.shared import text
from pages.shared.charts.traces import Figure, drawn_values


def terms(figure: Figure, applies: bool) -> str:
    """Return the theorem's terms and the measured error in the last round.

    applies: every assumption holds.
    """
    last = {trace["name"]: float(drawn_values(trace)[-1]) for trace in figure["data"] if len(trace["y"])}
    stack = [(name, value) for name, value in last.items() if "ξ" in name]
    sentences = ["Theorem 4.3 says nothing here."]
    if stack:
        parts, below = [], 0.0
        for name, value in stack:
            parts.append(f"{name.removeprefix('+ ').partition(' ')[0]} {text.error(value - below)}")
            below = value
        but = "" if applies else ", of which an assumption fails here,"
        sentences = [
            f"Theorem 4.3{but} in the last round: {text.listed(parts)}, together {text.error(below)}."
        ]
    sentences += [f"Measured: {text.error(v)}." for name, v in last.items() if name.endswith(", measured")]
    return " ".join([*sentences, f"A random guess has {text.short(last['random guess'])}."])


def regimes(regime_map: RegimeMap, n: int, epsilon: float, plain: bool) -> str:
    """Return how much of the map each region takes, and which one this setting is in."""
    shares = [float((regime_map.codes == code).mean()) for code in range(len(REGIONS))]
    parts = [
        f"{name} in {text.percent(share)} of it" for name, share in zip(REGIONS, shares, strict=True) if share
    ]
    i, j = (
        int(np.abs(np.log(values) - math.log(here)).argmin())
        for values, here in ((regime_map.epsilons, epsilon), (regime_map.patients, n))
    )
    at = f"{'privacy setting' if plain else 'ε ='} {text.number(epsilon)}"
    return (
        f"Map of patients and privacy: {'; '.join(parts)}. This setting, {n:,} patients at {at}: "
        f"{REGIONS[regime_map.codes[i, j]]}."
    )


def figure_2(figure: Figure) -> str:
    """Return the overall bound and its largest term at both ends, beside the largest possible error."""
    *curves, most = figure["data"]
    whole, *parts = curves
    ends = []
    for i in (0, -1):
        values = {trace["name"]: float(drawn_values(trace)[i]) for trace in parts}
        bound, epsilon = text.short(drawn_values(whole)[i]), text.number(whole["x"][i])
        ends.append(f"{bound} at ε = {epsilon}, mostly {max(values, key=lambda name: values[name])}")
    return (
        f"The overall bound falls from {ends[0]}, to {ends[1]}. "
        f"The largest possible error is {text.short(drawn_values(most)[0])}."
    )
