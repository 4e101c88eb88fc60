"""Sentences on the unit of privacy: the guarantee is for one row, and a patient can have several.

`rows` is how many rows one patient can have at most, as the table's owner stated. No Streamlit here.
"""

from collections.abc import Sequence

from dppca_core.auditing import tradeoff_curves
from dppca_core.privacy import Budget, Event
from dppca_core.release import private_release
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import Released
from pages.shared import text

ONE, SEVERAL = "Each patient has one row", "A patient can have several rows"
UNANSWERED = (
    "Answer this first. Noise hides one row of the table. If a patient has several, the guarantee for the "
    "patient is weaker, and this page says by how much."
)
EVADES = (
    "A table with another row, column, unit or changed cell counts as a new table, with a full limit. "
    "If you release such a table too, add up the costs by hand."
)
OF_EXAMPLE = "Known of this example: each patient has one row."


def weaker(rows: int) -> str:
    """Return that the guarantee is weaker for a patient with several rows."""
    return (
        f"The guarantee is for one row. It is weaker for a patient with {rows:,} rows, and each "
        "price below says by how much. Nothing checks that no patient has more."
    )


def unit(rows: int) -> str:
    """Return what is counted: rows are patients only where each patient has one."""
    return "patient" if rows == 1 else "row"


def noun(rows: int) -> str:
    """Return the plural of `unit`."""
    return f"{unit(rows)}s"


def stated(rows: int) -> str:
    """Return the owner's statement as it stands in reports."""
    return "1" if rows == 1 else f"up to {rows:,}"


def epsilon(value: float, plain: bool) -> str:
    """Return an epsilon as the reader knows it, a large one without meaningless decimals."""
    shown = text.short(value) if value < 100 else f"{value:,.0f}"
    return f"privacy loss {shown}" if plain else f"ε = {shown}"


def price(events: Sequence[Event], budget: Budget, rows: int, plain: bool) -> str:
    """Return what a release costs a patient with several rows; nothing where each has one."""
    if rows == 1:
        return ""
    cost = private_release.patient_epsilon(events, budget, rows)
    return (
        " These numbers are for one row. "
        f"For a patient with {rows:,} rows the release has {epsilon(cost, plain)}."
    )


def odds(budget: Budget, rows: int, patient_epsilon: float) -> str:
    """Return the guarantee as an attacker's odds, for a row and for a patient with all their rows."""
    if rows == 1:
        return text.odds(budget.epsilon, budget.delta, budget.neighbours)
    question = "one row or another" if budget.neighbours == "replace-one" else "one row"
    ends = text.even_odds(tradeoff_curves.best_guess(budget.epsilon, budget.delta))
    far = text.even_odds(tradeoff_curves.best_guess(patient_epsilon, budget.delta))
    return (
        f"An attacker who starts at 50:50 on whether {question} was used ends at most at {ends}. "
        f"On all {rows:,} rows of one patient the attacker can end at {far}."
    )


def total(account: Account, rows: int, plain: bool) -> str:
    """Return what all releases so far cost a patient with several rows; nothing where each has one."""
    if rows == 1 or account.limit is None or not account.entries:
        return ""
    spent = account.spent_by_patient(rows)
    return (
        f"The limit counts per row. For a patient with {rows:,} rows, all releases so far have "
        f"{epsilon(spent, plain)} together."
    )


def restated(released: Released, rows: int, plain: bool) -> str:
    """Return what an earlier release costs by the owner's answer now, where it was another then."""
    then = int(released.document["rows per patient"])
    if then == rows:
        return ""
    budget = Budget(**released.document["parameters"]["budget"])
    cost = private_release.patient_epsilon(released.entry.events, budget, rows)
    return (
        f"This release states {stated(then)} row{'' if then == 1 else 's'} per patient. By your answer now, "
        f"{stated(rows)}, it has {epsilon(cost, plain)} for a patient."
    )
