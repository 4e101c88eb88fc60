"""Plan for a visitor's own table, of which only public numbers are known. No Streamlit here.

The spectrum of such a table is not known. So several populations that it may be of are stated, called
*patterns*, and of the predictions for them the worst counts.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.bounds.stated_spectra import worst_then_all
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.experiments.planning.table_plan import PublicTable, TablePlan
from dppca_core.experiments.planning.table_search import TableSearch
from dppca_core.release.request import most_features
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import catalogue

DECIDED = ("plan.of", "plan.tuned", "plan.size")  # settings that a table decides
_TABLE = "public table"  # beside the controls' settings, and in no link


def chosen(settings: catalogue.Settings, table: PublicTable) -> catalogue.Settings:
    """Return the page's settings with those that the table fixes, and with the table itself."""
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


def table_of(settings: catalogue.Settings) -> PublicTable | None:
    """Return the table that is planned for, or None where it is the sliders' population."""
    return settings.get(_TABLE)


def plan(settings: catalogue.Settings, name: str) -> TablePlan:
    """Return the plan of a method, a key of `PLANNED_METHODS`, for the table that is in the settings."""
    held = (settings[key] for key in ("k", "delta", "neighbours", "providers"))
    # A plan's target is sin Theta, which the error on screen may be a multiple of.
    return _plan(settings[_TABLE], name, settings["plan.target"] / factor(settings), *held)


@lru_cache(maxsize=256)
def _plan(table: PublicTable, name: str, target: float, *held: Any) -> TablePlan:
    """Return one object for equal plans, which keeps what it has computed; held: k, delta, ..., providers."""
    return TablePlan(table.experiment(*held), name, target, table=table)


@lru_cache(maxsize=1024)
def errors(study: TablePlan, epsilon: float) -> tuple[float, ...]:
    """Return the predicted ‖sin Θ‖ at the table's own size, one for each population that it may be of."""
    return study.errors(study.table.n, epsilon)


def least(settings: catalogue.Settings, names: Sequence[str]) -> str:
    """Return which method is predicted to err least on the table: its worst error over populations counts.

    Only methods with the trust of the first name are compared.
    """
    trust = PLANNED_METHODS[names[0]].trust
    plans = {name: plan(settings, name) for name in names if PLANNED_METHODS[name].trust == trust}
    able = [name for name in plans if most_features(name) >= settings["d"] and not plans[name].no_formula]
    return min(able, key=lambda name: worst_then_all(errors(plans[name], settings["epsilon"])))


def simulated(simulation: TableSearch) -> tuple[SimulatedAnswer, list[Evaluation]]:
    """Return what a simulation has answered so far, and the evaluations of runs that it needs next.

    The bisection is gone through from its beginning, with results that are kept, up to where one is missing.
    """
    values, results = simulation.first(), EVALUATIONS.cells
    while True:
        cells = {
            value: [(TableSearch.errors, simulation, value, pattern) for pattern in simulation.plan.patterns]
            for value in values
        }
        known = {
            value: [results[cell] for cell in each]
            for value, each in cells.items()
            if all(cell in results for cell in each)
        }
        missing = [cell for each in cells.values() for cell in each if cell not in results]
        if missing:
            return SimulatedAnswer("measuring", len(known), simulation.repeats * len(known)), missing
        if (more := simulation.more(known)) == values:
            return simulation.reading(known), []
        values = more
