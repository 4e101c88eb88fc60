"""Form what the chart and the table say of all methods, and which are recommended."""

import pandas as pd

from dppca_core.bounds.recommendation import chosen_rows
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked
from pages.hospitals.planner.model.evaluated import has_unit_rows, method, title
from pages.hospitals.planner.model.planner import PlanChart, Planner
from pages.hospitals.planner.model.plans import Plans
from pages.hospitals.planner.sentences.answer import (
    nothing_predicts,
    short_reason,
    simulated_cell,
    uncertainty_mark,
)
from pages.hospitals.planner.sentences.numbers import goal, number, value
from pages.shared import text


def table(planner: Planner) -> pd.DataFrame:
    """Return a row for every method: three answers by closed form, and the simulated one if any."""
    at = f"at ε = {text.number(planner.epsilon)}"
    columns: dict[Asked, str] = {
        "patients": f"patients {at}",
        "epsilon": f"ε with {planner.n:,} patients",
        "hospitals": f"hospitals of {planner.size:,} {at}",
    }
    two_stages = any(method(name).chooses_rows for name in planner.listed)
    rows = []
    for name in planner.listed:
        row = {
            "method": title(name),
            "whom it trusts": text.TRUST_TITLES[PLANNED_METHODS[name].trust].lower(),
        }
        for key, column in columns.items():
            answer = planner.answer(name, key)
            # No smaller number was tried, so less may do; there is no less than a single hospital.
            at_most = "≤ " if answer.at_lower_limit and key != "hospitals" else ""
            if answer.value is None:
                row[column] = short_reason(answer, planner)
            else:
                row[column] = at_most + number(answer.value, key) + uncertainty_mark(answer)
            if two_stages and key == planner.asked:
                chance = "" if answer.chance is None else text.chance(answer.chance)
                row["all features that matter kept"] = chance
        if planner.settings["plan.tuned"] == "tuned":
            row["tuned to"] = tuned_to(planner, name)
        if planner.simulations:
            simulated = simulated_cell(planner.simulations.get(name), planner.asked)
            row[f"{columns[planner.asked]}, simulated [95 %]"] = simulated
        rows.append(row)
    return pd.DataFrame(rows)


def tuned_to(planner: Planner, name: str) -> str:
    study = planner.plan(name)
    words = ["rows of length 1" if has_unit_rows(study) else "rows within the bound"]
    if study.method.tuned is not None:
        words.append(f"{study.experiment.iterations} rounds")
    return ", ".join(words)


def below_chart(planner: Planner, drawn: PlanChart) -> str:
    study, focus, answer = planner.plan(), title(planner.focus), planner.answer()
    if study.no_formula and not study.predicted:
        return f"Lines: {goal(planner)}, by methods with a formula. Diamond: this method, simulated."
    bold = f"Bold line: {focus} reaches {goal(planner)}."
    if planner.focus not in drawn.reaching:
        why = "its answer is off the chart" if planner.focus in drawn.curves else "it is being worked out"
        why = why if answer.value is not None else short_reason(answer, planner)
        bold = f"{focus} has no bold line here: {why}."
    shades = (
        ""
        if study.predicted
        else (
            f" Dotted: its lines of equal {'share captured' if planner.energetic else 'error'}. Hatched: no "
            "answer by formula. Grey: too few patients at any ε."
        )
    )
    return f"{bold}{shades} Thin lines: other methods."


def below_table(planner: Planner) -> str:
    kinds = {title(name): method(name).guarantee_at(planner.settings["k"]) for name in planner.listed}
    notes = [
        "Closed form to the left, rounded up; simulation, where asked for, with its 95 % interval.",
        text.guarantee_notes(kinds),
        "Methods without a formula are simulated one at a time: choose one as *Method*.",
    ]
    if any(method(name).chooses_rows for name in planner.listed):
        notes.append(
            "Two stages, and methods without a formula, are judged by the median error, others by the root "
            "mean square error."
        )
    if planner.bundled is not None:
        name = planner.bundled.title.split(",")[0]  # "Breast cancer", without "Wisconsin"
        notes.append(
            f"For a population like {name}: its spectrum, as if its rows were Gaussian. Nobody can simulate "
            "more patients than a table has."
        )
    return " ".join(filter(None, notes))


def recommended(plans: Plans) -> str:
    recommendations = plans.recommended()
    if not recommendations:
        return ""
    lines = [f"Recommended under each trust. {_basis(plans.untuned_plan().experiment)}"]
    for (trust, name, answer), recommendation in recommendations:
        at = value(plans.current_value if answer.value is None else answer.value, plans.asked)
        line = f"- {text.trust_heading(trust)}, at {at}: {recommendation.reason}"
        if answer.value is not None and recommendation.method != name:
            why = "It misses the target"
            if nothing_predicts(plans, name, recommendation.method):
                why = "No formula says what it needs"
            line += f" {why}; {title(name)} is planned instead."
        lines.append(line)
    return "\n".join(lines)


def _basis(experiment: ExplorerExperiment) -> str:
    if experiment.table is None:
        return (
            "Simulated patients are public: their eigenvalues and the number of features that matter are "
            "known."
        )
    kept = chosen_rows(experiment.d, experiment.k) if experiment.choose_rows else experiment.s_hat
    half = "Half" if kept // 2 >= experiment.k else str(experiment.k)
    matter = "All features" if kept == experiment.d else f"{half} of the features kept"
    declared = text.declared_signal(trusts.signal(experiment))
    return f"It rests on public numbers and {declared}. {matter} are assumed to matter."
