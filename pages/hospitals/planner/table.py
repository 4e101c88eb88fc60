"""Make the planner's table: for every method, its answers by closed form and by simulation."""

import pandas as pd

from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner import view
from pages.hospitals.planner.view import Planner
from pages.shared import text


def table(planner: Planner) -> pd.DataFrame:
    """Return a row for every method: its answers by closed form, and the simulated one if there is any.

    For two stages the predicted chance that all features that matter are kept stands beside what is asked.
    """
    at = f"at ε = {text.number(planner.epsilon)}"
    columns: dict[Asked, str] = {
        "patients": f"patients {at}",
        "epsilon": f"ε with {planner.n:,} patients",
        "hospitals": f"hospitals of {planner.size:,} {at}",
    }
    staged = planner.table is None and any(view.method(name).chooses_rows for name in planner.listed)
    rows = []
    for name in planner.listed:
        row = {
            "method": view.title(name),
            "whom it trusts": text.TRUST_TITLES[PLANNED_METHODS[name].trust].lower(),
        }
        for key, column in columns.items():
            answer = planner.answer(name, key)
            most = "≤ " if answer.least and key != "hospitals" else ""
            row[column] = page_text.short_reason(answer, planner)
            if answer.value is not None:
                row[column] = most + page_text.number(answer.value, key) + page_text.doubt(answer)
            if staged and key == planner.asked:
                kept = "" if answer.chance is None else text.chance(answer.chance)
                row["all features that matter kept"] = kept
        if planner.settings["plan.tuned"] == "tuned":
            row["tuned to"] = page_text.tuned_to(planner, name)
        if planner.simulations:
            simulated = page_text.simulated_cell(planner.simulations.get(name), planner.asked)
            row[f"{columns[planner.asked]}, simulated [95 %]"] = simulated
        rows.append(row)
    return pd.DataFrame(rows)
