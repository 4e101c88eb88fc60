"""Plan for a visitor's own table, of which only public numbers are known.

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
_TABLE_KEY = "public table"  # beside the controls' settings, and in no link


def with_table(settings: catalogue.Settings, table: PublicTable) -> catalogue.Settings:
    """Return the page's settings with those that the table fixes, and with the table itself."""
    return settings | {
        _TABLE_KEY: table,
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
    return settings.get(_TABLE_KEY)


def plan(settings: catalogue.Settings, name: str) -> TablePlan:
    """Return the plan of a method, a key of `PLANNED_METHODS`, for the table that is in the settings."""
    experiment_arguments = (settings[key] for key in ("k", "delta", "neighbours", "providers"))
    # A plan's target is sin Theta, which the error on screen may be a multiple of.
    target = settings["plan.target"] / factor(settings)
    return _plan(settings[_TABLE_KEY], name, target, *experiment_arguments)


@lru_cache(maxsize=256)
def _plan(table: PublicTable, name: str, target: float, *experiment_arguments: Any) -> TablePlan:
    """Return the plan; equal plans are the same object, which keeps what it has computed.

    experiment_arguments: those of `PublicTable.experiment`, which are k, delta, neighbours and providers.
    """
    return TablePlan(table.experiment(*experiment_arguments), name, target, table=table)


@lru_cache(maxsize=1024)
def predicted_errors(study: TablePlan, epsilon: float) -> tuple[float, ...]:
    """Return the predicted ‖sin Θ‖ at the table's own size, one for each population that it may be of."""
    return study.errors(study.table.n, epsilon)


def method_erring_least(settings: catalogue.Settings, names: Sequence[str]) -> str:
    """Return which method is predicted to err least on the table: its worst error over populations counts.

    Only methods with the trust of the first name are compared, and of these only methods that can run on so
    many features and have a prediction.
    """
    trust = PLANNED_METHODS[names[0]].trust
    plans = {name: plan(settings, name) for name in names if PLANNED_METHODS[name].trust == trust}
    usable = [name for name in plans if most_features(name) >= settings["d"] and not plans[name].no_formula]
    return min(usable, key=lambda name: worst_then_all(predicted_errors(plans[name], settings["epsilon"])))


def simulated(simulation: TableSearch) -> tuple[SimulatedAnswer, list[Evaluation]]:
    """Return what a simulation has answered so far, and the evaluations of runs that it needs next.

    The bisection is gone through from its beginning, with results that are kept, up to where one is missing.
    """
    values, results = simulation.first_values(), EVALUATIONS.cells
    while True:
        # A cell is a function and its arguments. At each value the method runs on every population that the
        # table may be of.
        cells_at = {
            value: [(TableSearch.errors, simulation, value, pattern) for pattern in simulation.plan.patterns]
            for value in values
        }
        known = {
            value: [results[cell] for cell in cells]
            for value, cells in cells_at.items()
            if all(cell in results for cell in cells)
        }
        missing = [cell for cells in cells_at.values() for cell in cells if cell not in results]
        if missing:
            runs = simulation.repeats * len(known)  # on each of the populations
            return SimulatedAnswer("measuring", values=len(known), runs=runs), missing
        before, values = values, simulation.values_to_run(known)
        if values == before:  # no further value: the bisection is over
            return simulation.simulated_answer(known), []
