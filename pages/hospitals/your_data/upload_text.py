"""Sentences on the table, its dictionary and its hospitals, before any release. No Streamlit here."""

from collections.abc import Sequence

from dppca_core.tables import Schema
from pages.hospitals.your_data.prepared_table import PreparedTable, is_by_column
from pages.hospitals.your_data.text import noun, unit
from pages.shared import text

UNREADABLE = "The file cannot be read as a table."
FORMER_STAYS = " The table that was here before still is."
TOO_LARGE = (
    "This table is too large to hold, so it is read in pieces, of which only sums are kept. That takes a "
    "while, and again after each change of the dictionary."
)
HELP = {  # by the dictionary's column
    "low": "What the code book or physiology allows, not the lowest patient.",
    "high": "What the code book or physiology allows, not the highest patient.",
    "categories": "Of a category, separated by commas: every answer there may be.",
    "missing": "Blank: the row is left out. Else what is filled in; 'none' of them.",
    "codes": "Cells that count as missing, as 999; <5; unknown. Capitals do not matter. Never published.",
    "synonyms": "Other words for categories, as m = male; w = female. Never published.",
    "usual": "Where most patients lie, from the code book: then no mean is paid for. Blank: not known.",
}
BOUND = "Public row bound B, in encoded units"
_LISTED = 3


def incomplete(names: Sequence[str]) -> str:
    """Return of which columns something has still to be typed."""
    listed = _first(names)
    return f"Still to be typed, from a code book, not from these patients: range or categories of {listed}."


def left_out(names: Sequence[str]) -> str:
    """Return which columns of a dictionary the table does not have."""
    return f"Not in this table, so left out: {_first(names)}."


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


COUNTED = "All rows count, as their mean", "At most so many rows count, each the same"


def counted(most: int | None) -> str:
    """Return how rows of one patient count; most: how many of them do at most, None where all do."""
    whole = (
        "Each guarantee and price is for a patient with all their rows. A patient of several hospitals "
        "counts in the first."
    )
    if most is None:
        return f"Rows of one patient count as their mean: who comes ten times counts as one. {whole}"
    return (
        f"Of one patient the first {most:,} rows count, 1/{most:,} each. A row that is left out for a "
        "missing cell is passed over. Who comes more often counts more, up to one. Strengths come out "
        "smaller where patients have fewer rows, and a release errs more than its rehearsal, in which "
        f"every patient has so many. {whole}"
    )


def ready(prepared: PreparedTable, rows: int) -> str:
    """Return of how many patients, hospitals and measurements a release would be."""
    measured = text.count(prepared.d, "measurement", "measurements")
    where = where_patients_are(len(prepared.sizes))
    if len(prepared.sizes) > 1:
        where += f" ({spread(prepared.sizes)} each)"
    return f"**Ready:** {prepared.n:,} {noun(rows)} in {where}, {measured}."


def spread(sizes: Sequence[int]) -> str:
    """Return how many patients the smallest and the largest hospital have."""
    least, most = min(sizes), max(sizes)
    return f"{least:,} to {most:,}" if least < most else f"{least:,}"


def where_patients_are(hospitals: int) -> str:
    """Return "one place" or "3 hospitals", to stand after "patients in"."""
    return "one place" if hospitals == 1 else f"{hospitals:,} hospitals"


def at_random(rows: int) -> str:
    """Return that the hospitals to which the page has assigned the rows are invented."""
    return (
        f"{noun(rows).capitalize()} are assigned to hospitals at random: these hospitals do not "
        "exist. This is to rehearse methods for several hospitals."
    )


def counts_public(assignment: str, schema: Schema, rows: int) -> str:
    """Return which numbers count as public beside the dictionary."""
    many, each = noun(rows), unit(rows)
    sentence = f"The number of {many}, and of each hospital's, counts as public and is part of every release."
    if rows > 1:
        sentence += f" So does your statement that a patient has at most {rows:,} rows."
    if is_by_column(assignment):
        sentence += f" Dealt by a column, it tells how many {many} have each of that column's values."
    if any(column.fill is None for column in schema.columns):
        sentence += (
            f" A {each} with a missing cell is left out of the sums and still counted, so the number says "
            "nothing of which that was; eigenvalues come out smaller by the share that is left out."
        )
    return sentence
