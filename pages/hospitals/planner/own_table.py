"""Plan for a visitor's own table, of which only public numbers are known. No Streamlit here."""

from functools import lru_cache

from dppca_core.bounds.stated_spectra import Pattern
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.experiments.planning.table_plan import PREDICTED_AS, PublicTable, TablePlan
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

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
        "plan.tuned": "published",
        "plan.simulate": False,
        "accounting": "exact",
    }


def table_of(settings: Settings) -> PublicTable | None:
    """Return the table that is planned for, or None where it is the sliders' population."""
    table: PublicTable | None = settings.get(_TABLE)
    return table


def names() -> list[str]:
    """List the planned methods of which an error is predicted for a table."""
    return [name for name in PLANNED_METHODS if name in PREDICTED_AS]


def plan(settings: Settings, name: str, table: PublicTable) -> TablePlan:
    """Return the plan of a method for a table."""
    experiment = table.experiment(
        settings["k"], settings["delta"], settings["neighbours"], settings["providers"]
    )
    return TablePlan(experiment, name, settings["plan.target"] / factor(settings), table=table)


@lru_cache(maxsize=1024)
def worst(study: TablePlan, epsilon: float) -> tuple[float, Pattern]:
    """Return the largest error that is predicted at the table's own size, and on which population."""
    return study.worst(study.table.n, epsilon)
