"""Make the planner's table: for every method, its answers by closed form and by simulation."""

import pandas as pd

from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked
from pages.hospitals.planner import own_table, view
from pages.hospitals.planner import text as page_text
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def table(settings: Settings, simulations: view.Simulations) -> pd.DataFrame:
    """Return a row for every method: its answers by closed form, and the simulated one if there is any.

    For two stages the predicted chance that all features that matter are kept stands beside what is asked.
    """
    asked = settings["plan.asked"]
    epsilon, n, size = settings["epsilon"], view.in_total(settings), settings["plan.size"]
    at = f"at ε = {text.number(epsilon)}"
    columns: dict[Asked, str] = {
        "patients": f"patients {at}",
        "epsilon": f"ε with {n:,} patients",
        "hospitals": f"hospitals of {size:,} {at}",
    }
    simulated, kept = f"{columns[asked]}, simulated [95 %]", "all features that matter kept"
    rows, listed, on_table = [], view.listed(settings), own_table.table_of(settings) is not None
    for name in listed:
        planned = PLANNED_METHODS[name]
        row = {
            "method": view.title(name),
            "whom it trusts": text.TRUST_TITLES[planned.trust].lower(),
        }
        for key, column in columns.items():
            answer = view.answer(settings, name, key)
            most = "≤ " if answer.least and key != "hospitals" else ""
            row[column] = page_text.short_reason(answer, settings)
            if answer.value is not None:
                row[column] = most + page_text.number(answer.value, key) + page_text.doubt(answer)
            if key == asked and not on_table and any(view.method(each).chooses_rows for each in listed):
                row[kept] = "" if answer.chance is None else text.chance(answer.chance)
        if settings["plan.tuned"] == "tuned":
            row["tuned to"] = page_text.tuned_to(settings, name)
        if simulations:
            row[simulated] = page_text.simulated_cell(simulations.get(name), settings)
        rows.append(row)
    return pd.DataFrame(rows)
