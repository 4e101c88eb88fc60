"""Make the planner's table: for every method, its answers by closed form and by simulation."""

import pandas as pd

from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer
from dppca_core.methods import METHODS
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner import view
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def table(settings: Settings, simulations: view.Simulations) -> pd.DataFrame:
    """Return a row for every method: its answers by closed form, and the simulated one if there is any."""
    plain, asked = settings["view"] == "board", settings["plan.asked"]
    epsilon, n, size = settings["epsilon"], view.in_total(settings), settings["plan.size"]
    at = f"at privacy {text.number(epsilon)}" if plain else f"at ε = {text.number(epsilon)}"
    columns: dict[view.Asked, str] = {
        "patients": f"patients {at}",
        "epsilon": f"{'privacy' if plain else 'ε'} with {n:,} patients",
        "hospitals": f"hospitals of {size:,} {at}",
    }
    shown = {asked: columns[asked]} if plain else columns
    simulated = "simulated [95 %]" if plain else f"{columns[asked]}, simulated [95 %]"
    rows = []
    for name in view.listed(settings):
        planned = PLANNED_METHODS[name]
        mark = text.GUARANTEE_MARKS.get(METHODS[planned.method].guarantee_at(settings["k"]), "")
        row = {"method": planned.title + mark, "whom it trusts": text.TRUST_TITLES[planned.trust].lower()}
        for key, column in shown.items():
            row[column] = _cell(key, view.answer(settings, name, key), settings)
        if simulations:
            row[simulated] = page_text.simulated_cell(simulations.get(name), settings)
        rows.append(row)
    return pd.DataFrame(rows)


def _cell(asked: view.Asked, answer: PlanAnswer, settings: Settings) -> str:
    if answer.value is None:
        return page_text.short_reason(answer, settings)
    most = "≤ " if answer.least and asked != "hospitals" else ""
    number = page_text.privacy if asked == "epsilon" else page_text.amount
    return most + number(answer.value, up=True)
