"""Describe the charts of a table of one's own for those who do not see them. No Streamlit here."""

from __future__ import annotations

import html

import numpy as np

from pages.hospitals.your_data.text import component
from pages.shared import text
from pages.shared.charts.traces import Figure, drawn_values
from pages.shared.text.numbers import listed

_NAMED = 3  # of each released direction, and arrows


def weights(figure: Figure, plain: bool) -> str:
    """Return the heaviest columns of every released direction, with their signs."""
    trace = figure["data"][0]
    names, z = figure["layout"]["yaxis"]["ticktext"], np.array(trace["z"], dtype=float)
    what = component(plain).capitalize()
    parts = []
    for j, label in enumerate(trace["x"]):
        order = np.argsort(-np.abs(z[:, j]), kind="stable")[:_NAMED]
        each = [f"{html.unescape(names[i])} {text.short(z[i, j])}" for i in order]
        parts.append(f"{what} {label}: mostly {listed(each)}.")
    return f"Heat map of what was released. {' '.join(parts)}"


def scree(figure: Figure, plain: bool) -> str:
    """Return how strength falls from the first direction to the last, without privacy and as released."""
    what = "Strength" if plain else "Eigenvalue"
    ranges = []
    for trace in figure["data"]:
        values = drawn_values(trace)
        ends = f"{text.short(values[0])}" + (f" to {text.short(values[-1])}" if len(values) > 1 else "")
        ranges.append(f"{trace['name']}, {text.count(len(values), 'direction', 'directions')}: {ends}")
    return f"{what} of every direction, largest first: {'; '.join(ranges)}."


def biplot(figure: Figure) -> str:
    """Return how many patients of which label are drawn, and which columns' arrows are longest."""
    crowds = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    arrows = [trace for trace in figure["data"] if trace["mode"] == "lines+text"]
    each = [f"{len(trace['x']):,} {html.unescape(trace['name'])}" for trace in crowds]
    names = [html.unescape(trace["text"][1]) for trace in arrows[:_NAMED]]
    return f"Patients along two released directions: {listed(each)}. The longest arrows: {listed(names)}."
