"""Plan for a visitor's own table, of which only public numbers are known. No Streamlit here."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.bounds.stated_spectra import Pattern, worst_then_all
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.planning import MOST_EPSILON, PLANNED_METHODS, Asked, PlanAnswer
from dppca_core.experiments.planning.table_plan import PREDICTED_AS, PublicTable, TablePlan
from dppca_core.experiments.planning.table_search import TableSearch, can_search
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.release.request import most_features
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

DECIDED = ("plan.of", "plan.tuned", "plan.size")  # settings that a table decides
RUNS = 10  # at each value of a simulation
_TABLE = "public table"  # beside the controls' settings, and in no link


def chosen(settings: Settings, table: PublicTable) -> Settings:
    """Return the settings of a plan for this table: what it fixes is as the table has it."""
    return settings | {
        _TABLE: table,
        "data": catalogue.SYNTHETIC,
        "n": table.n,
        "d": table.d,
        "k": min(settings["k"], table.d - 1),
        "plan.size": max(table.n // table.providers, 1),
        "plan.of": "error",
        # Of local methods nothing is predicted for a table: all others are compared then.
        "plan.trust": settings["plan.trust"] if settings["plan.trust"] in TRUSTS else "any",
        "plan.tuned": "published",
        "accounting": "exact",
    }


def table_of(settings: Settings) -> PublicTable | None:
    """Return the table that is planned for, or None where it is the sliders' population."""
    return settings.get(_TABLE)


def names() -> list[str]:
    """List the planned methods of which an error is predicted for a table."""
    return [name for name in PLANNED_METHODS if name in PREDICTED_AS]


def plan(settings: Settings, name: str) -> TablePlan:
    """Return the plan of a method for the table."""
    held = (settings[key] for key in ("k", "delta", "neighbours", "providers"))
    return _plan(settings[_TABLE], name, settings["plan.target"] / factor(settings), *held)


@lru_cache(maxsize=256)
def _plan(table: PublicTable, name: str, target: float, *held: Any) -> TablePlan:
    return TablePlan(table.experiment(*held), name, target, table=table)


@lru_cache(maxsize=1024)
def errors(study: TablePlan, epsilon: float) -> tuple[float, ...]:
    """Return the errors that are predicted at the table's own size, one for each population."""
    return study.errors(study.table.n, epsilon)


def least(settings: Settings, names: Sequence[str]) -> str:
    """Return the method, among some of the first one's trust, that errs least on the table."""
    trust = PLANNED_METHODS[names[0]].trust
    plans = {name: plan(settings, name) for name in names if PLANNED_METHODS[name].trust == trust}
    able = [name for name in plans if most_features(name) >= settings["d"] and not plans[name].no_formula]
    return min(able, key=lambda name: worst_then_all(errors(plans[name], settings["epsilon"])))


class OnTable(NamedTuple):
    """Hold the method that errs least on the table under a trust, and where that is worst.

    name: the planned method. error, pattern: predicted at the table's size and this epsilon. answer: to what
    is asked, of the method that needs least, `needs_least`.
    """

    trust: str
    name: str
    error: float
    pattern: Pattern
    needs_least: str
    answer: PlanAnswer


def on_table(settings: Settings, answers: Mapping[str, PlanAnswer]) -> list[OnTable]:
    """Return what holds under each trust, from the answers of all listed methods."""
    result = []
    for trust in TRUSTS:
        names = [name for name in answers if PLANNED_METHODS[name].trust == trust]
        if names:
            best = least(settings, names)
            study = plan(settings, best)
            error, pattern = max(
                zip(errors(study, settings["epsilon"]), study.patterns, strict=True), key=itemgetter(0)
            )
            needs = min(names, key=lambda name: (answers[name].value or math.inf, name != best))
            result.append(OnTable(trust, best, error, pattern, needs, answers[needs]))
    return result


def search(settings: Settings, study: TablePlan, answer: PlanAnswer) -> TableSearch | None:
    """Return the simulation of what is asked, on rows that the table's dictionary allows, or None."""
    asked: Asked = settings["plan.asked"]
    size, start = settings["plan.size"], answer.start
    if answer.kind in ("epsilon", "sampling"):
        start = MOST_EPSILON
    if start is None:
        return None
    patients = {"patients": start, "epsilon": settings["n"], "hospitals": start * size}[asked]
    if not can_search(study, patients):
        return None
    at = float(settings["n"] if asked == "epsilon" else settings["epsilon"])
    return TableSearch(study, asked, at, start, size, repeats=RUNS)


def _cells(simulation: TableSearch, value: Value) -> list[Evaluation]:
    return [(TableSearch.errors, simulation, value, pattern) for pattern in simulation.plan.patterns]


def _measured(simulation: TableSearch) -> tuple[dict[Value, list[Array]], list[Evaluation]]:
    """Return the complete values with their runs, and what is to be measured next, if anything."""
    values, results = simulation.first(), EVALUATIONS.cells
    while True:
        cells = {value: _cells(simulation, value) for value in values}
        missing = [cell for each in cells.values() for cell in each if cell not in results]
        known = {
            value: [results[cell] for cell in each]
            for value, each in cells.items()
            if not set(missing) & set(each)
        }
        more = values if missing else simulation.more(simulation.frame(known))
        if more == values:
            return known, missing
        values = more


def wanted(simulation: TableSearch) -> Iterator[Evaluation]:
    """Return what a simulation has still to measure, as far as it is known."""
    yield from _measured(simulation)[1]


def simulated(simulation: TableSearch) -> SimulatedAnswer:
    """Return what a simulation has answered so far."""
    known, missing = _measured(simulation)
    runs = RUNS * len(known)
    if missing:
        return SimulatedAnswer("measuring", *(float("nan"),) * 3, len(known), runs)
    return simulation.reading(simulation.frame(known))
