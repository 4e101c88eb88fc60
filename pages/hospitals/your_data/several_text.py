"""Form sentences on the tables of several hospitals and on columns of other names. No Streamlit here.

`name` is a hospital's, as the owner typed it.
"""

from collections.abc import Mapping, Sequence

from dppca_core.tables import Raw, limits
from pages.shared import text
from pages.shared.text import literal

UNJOINED = "The tables cannot be joined."
ASKED = (
    "Its rows join those above, under the same columns. Each hospital's number of patients becomes public. "
    "Your name for a hospital is in no release, but another name makes another table for your account."
)
PATIENTS = (
    "A patient in two tables has several rows here. They are one patient only if a column names patients, "
    "alike in both tables. The hospital that is first by name then has all of them. **Where each hospital "
    "counts from 1, equal numbers are different patients:** put the hospital's name before them first."
)
MAP = "Say which column stands for which. Suggestions come from names alone: check them, and the units too."
SUM = "Hospitals are the tables above."
MAP_DICTIONARY = (
    "Say which columns the dictionary's other names are. The release then uses these names. What has no "
    "column is left out."
)
_LISTED = 5  # columns of other names
MOST = f"At most {limits.MOST_HOSPITALS} hospitals can be joined."


def about(raw: Raw) -> str:
    return f"{literal(raw.name)}: {raw.n:,} rows, {len(raw.columns):,} columns."


def mapped(answers: Mapping[str, str | None], units: Mapping[str, str]) -> str:
    named = [
        f"{column} is {name} ({units[name]})" if name in units else f"{column} is {name}"
        for name, column in answers.items()
        if column is not None
    ]
    more = f" and {len(named) - _LISTED:,} more" if len(named) > _LISTED else ""
    listed = f"{literal(', '.join(named[:_LISTED]))}{more}. " if named else ""
    return f"{listed}{text.count(len(answers) - len(named), 'column was', 'columns were')} not measured."


def again(name: str) -> str:
    return f"This is the table of {name} again: its patients would count twice."


def too_many(columns: int) -> str:
    return f"{columns:,} columns of the first table have other names here: rename them by a script."


def twice(name: str, column: str) -> str:
    return f"{name}: '{column}' is chosen twice."


def unanswered(name: str, columns: Sequence[str]) -> str:
    more = f" and {len(columns) - 1:,} more" if len(columns) > 1 else ""
    return f"{name}: choose the column for '{columns[0]}'{more}, or say that it was not measured there."


def unconfirmed(name: str) -> str:
    return f"{name}: check which column stands for which, then confirm it."
