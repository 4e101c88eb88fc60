"""The planner's table: a row for every way, with what marks mean below. Plain functions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer
from dppca_core.methods import METHODS
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner import view
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def table(settings: Settings, read: Mapping[str, SimulatedAnswer]) -> pd.DataFrame:
    """A row for every way: the three answers by closed form, and what was simulated of the one asked for."""
    plain, asked = settings["view"] == "board", settings["plan.asked"]
    epsilon, n, size = settings["epsilon"], view.in_total(settings), settings["plan.size"]
    at = f"at privacy {text.number(epsilon)}" if plain else f"at ε = {text.number(epsilon)}"
    columns = {
        "patients": f"patients {at}",
        "epsilon": f"{'privacy' if plain else 'ε'} with {n:,} patients",
        "hospitals": f"hospitals of {size:,} {at}",
    }
    shown = {asked: columns[asked]} if plain else columns
    rows = []
    for name in view.listed(settings):
        way, found = PLANNED_METHODS[name], view.answers(settings, name)
        method = METHODS[way.method]
        row = {"method": way.title + text.GUARANTEE_MARKS.get(method.guarantee_at(settings["k"]), "")}
        row["whom it trusts"] = text.TRUST_TITLES[way.trust].lower()
        for key, column in shown.items():
            one: PlanAnswer = getattr(found, key)
            row[column] = page_text.short_reason(one, settings) if one.value is None else _cell(key, one)
        if read:
            row["simulated [95 %]" if len(shown) == 1 else f"{columns[asked]}, simulated [95 %]"] = (
                _simulated(read.get(name), settings)
            )
        rows.append(row)
    return pd.DataFrame(rows)


def _cell(key: str, one: PlanAnswer) -> str:
    assert one.value is not None
    most = "≤ " if one.least and key != "hospitals" else ""
    return most + (
        page_text.privacy(one.value, up=True) if key == "epsilon" else page_text.amount(one.value, up=True)
    )


def _simulated(found: SimulatedAnswer | None, settings: Settings) -> str:
    if found is None:
        return ""
    if found.state == "measuring":
        return "…"
    if found.state == "none":
        return "none"
    if found.state == "least":
        return f"≤ {page_text.simulated(found.value, settings)}"
    ends = [
        page_text.simulated(end, settings) if math.isfinite(end) else "∞" for end in (found.low, found.high)
    ]
    return f"{page_text.simulated(found.value, settings)} [{ends[0]} – {ends[1]}]"


def notes(settings: Settings) -> str:
    """Under the table: what the marks mean, and for what population."""
    kinds = [
        METHODS[PLANNED_METHODS[name].method].guarantee_at(settings["k"]) for name in view.listed(settings)
    ]
    plain = settings["view"] == "board"
    said = [text.guarantee_notes(kinds, plain)]
    said.append("Closed form to the left, rounded up; simulation, where asked for, with its 95 % interval")
    if settings["data"] in TABLES:
        name = TABLES[settings["data"]].title.split(",")[0]
        said.append(
            f"For a population like {name}: its spectrum, as if its rows were Gaussian. Nobody can simulate "
            "more patients than a table has"
        )
    return ". ".join(words for words in said if words) + "."
