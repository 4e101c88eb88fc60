"""Form the planner's sentences on a table of one's own, from public numbers alone. No Streamlit here.

The spectrum is that of the population's covariance. A visitor may have *paid for* it, that is, spent some of
the privacy budget on noisy eigenvalues. Else it is *stated*: several *patterns* are tried, the worst counts.
"""

from collections.abc import Sequence

from dppca_core.bounds.stated_spectra import Pattern
from dppca_core.experiments.planning.table_plan import PublicTable
from pages.shared import text

NO_TABLE = (
    "This link plans for a table of your own, and none is ready here: load one on Your data. "
    "The plan below is for the sliders' population."
)
INVENTED = (
    "Invented patients follow your dictionary, as in the rehearsal. No patient of yours has a part in them."
)
FOLLOW = "Predictions are for Gaussian rows; those that follow your dictionary can err more."
NO_SIMULATION = "so wide or so large a table is not rehearsed by runs"
SOURCE = (
    "**Predicted** by the closed forms by which *Your data* judges and recommends a release: in half of the "
    "runs, on the worst of these populations. They are derived for this tool and checked by simulation in "
    "its tests. Nothing enters but public numbers and what was paid for."
)


def facts(table: PublicTable) -> str:
    hospitals = "" if table.providers == 1 else f" in {table.providers} hospitals"
    unknown = "" if table.usable_share is not None else ", all patients counted as usable"
    return f"{patients(table)}{hospitals}, {table.d:,} measurements{unknown}"


def patients(table: PublicTable) -> str:
    """Return how many patients a plan counts, and that others are not usable where that is stated."""
    return f"{table.n:,} {'usable ' if (table.usable_share or 1) < 1 else ''}patients"


def spectrum(table: PublicTable, patterns: Sequence[Pattern]) -> str:
    """Return whether the spectrum was paid for or is stated, and which patterns are tried."""
    titles = "; ".join(each.title for each in patterns)
    # Either all patterns follow from paid eigenvalues or none does. Spikes fall, so the last is the weakest.
    if patterns[0].paid and table.paid is not None:
        times = text.short(patterns[0].spikes[-1])
        price = f" at ε = {text.number(table.paid.epsilon)}"
        return (
            f"The spectrum was paid for{price}: its weakest pattern is {times} times the background. Nobody "
            "knows how many measurements carry it, so few and all are tried, and the worse counts."
        )
    begin = "The spectrum is stated and not measured"
    if table.paid is not None:
        begin = "What was paid for the spectrum tells no pattern here, so it is stated"
    return f"{begin}: the worst of {len(patterns)} patterns counts ({titles})."


def at_table(title: str, error: float, pattern: Pattern, table: PublicTable, epsilon: float) -> str:
    """Return the error that a method is predicted to have on the table itself, and its worst pattern.

    title: the method's. error: ‖sin Θ‖.
    """
    return (
        f"On your {patients(table)} at ε = {text.number(epsilon)}, {title} is predicted to err by "
        f"{text.short(error)}, where the pattern is {pattern.title}."
    )


def prior(mean_share: float, scale_share: float) -> str:
    """Return which shares of the budget a mean and column scales take before the PCA; empty where none."""
    parts = {"mean": mean_share, "scales": scale_share}
    listed = [f"{text.percent(share)} of it for the {name}" for name, share in parts.items() if share]
    return f" The budget pays for all of a release, {text.listed(listed)}." if listed else ""


def assumptions(
    table: PublicTable, patterns: Sequence[Pattern], shares: tuple[float, float], unit: bool
) -> str:
    """Return the assumptions about patients that the prediction rests on.

    shares: of the budget, for the mean and for scales. unit: whether the method scales rows to length 1.
    """
    rows = "scaled to length 1" if unit else "taken to be as long as the bound"
    used = "Nothing else" if patterns[0].paid else "Nothing"
    return (
        "Patients are independent draws from a population like that of a table with "
        f"{table.d:,} measurements, rows shortened to the public bound {table.bound:.4g}; in this "
        f"prediction they are {rows}. "
        f"{spectrum(table, patterns)}{prior(*shares)} {used} was computed from the table's rows."
    )
