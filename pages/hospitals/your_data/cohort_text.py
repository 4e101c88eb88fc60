"""Form sentences on cohorts: which tables pay into one account, and why one is asked about.

A cohort is the tables of the same patients, its extracts, as one owner sees them. No Streamlit here.
"""

from dppca_core.release.cohorts import Extract, PatientCohort
from dppca_core.tables.sketches import Likeness
from pages.hospitals.your_data.text import literal
from pages.shared import text

OTHERS = "These are other patients"
NOTHING_UNTIL = "Nothing can be released until you answer."
FOR_GOOD = "To join an account cannot be undone: from then on both pay into it."
NAME_HELP = "Other extracts of these patients are asked about under it. It is on no release and in no link."
NOT_JOINED = "The table did not join that account."
NOT_NAMED = "The name was not changed."
OF_OTHERS = "others pay into the account of this table, and it cannot join yours"
WHILE_DRAWING = "A release is being drawn: wait for it first."
_LISTED = 5  # extracts


def _size(extract: Extract) -> str:
    """Return how many rows and columns a table has."""
    return f"{extract.rows:,} rows and {text.count(extract.columns, 'column', 'columns')}"


def title(cohort: PatientCohort) -> str:
    """Return a cohort's name or, without one, its first table's size and day; Markdown is not escaped."""
    first = cohort.extracts[0]
    return cohort.name or f"table of {_size(first)}, {first.at[:10]}"


def question(cohort: PatientCohort, likeness: Likeness) -> str:
    """Return the question whether a table is of this cohort's patients, and by what the two are alike."""
    share = text.percent(likeness.share)
    reason = {
        "patients": f"about {share} of the patients' names are in both",
        "rows": f"about {share} of the rows agree, in all or most columns",
        "columns": f"{share} of the columns hold the same cells",
        "shape": f"it has about as many rows, and {share} of the column names",
    }[likeness.kind]
    return f"This table looks like **{literal(title(cohort))}**: {reason}. Are these patients of that cohort?"


def join(cohort: PatientCohort) -> str:
    """Return the label of the button by which a table joins an account."""
    return f"Yes: pay into the account of {literal(title(cohort))}"


def extracts(cohort: PatientCohort) -> str:
    """Return the name of a cohort's account, how many tables pay into it, and the sizes of the first."""
    sizes = "; ".join(map(_size, cohort.extracts[:_LISTED]))
    more = f" and {len(cohort.extracts) - _LISTED:,} more" if len(cohort.extracts) > _LISTED else ""
    many = text.count(len(cohort.extracts), "table pays", "tables pay")
    return f"Account of **{literal(title(cohort))}**. {many} into it: {sizes}{more}."
