"""Form sentences on the table, its dictionary and its hospitals, before any release. No Streamlit here.

`rows` is how many rows one patient can have at most, as the owner stated.
"""

from collections.abc import Sequence

from dppca_core.tables import Raw, Schema, limits
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import AVERAGED, MERGED, Counting, is_by_column
from pages.hospitals.your_data.planned_table import PlannedTable, Study
from pages.hospitals.your_data.text import left_out_as_blank, noun, unit
from pages.shared import text
from pages.shared.background import sessions
from pages.shared.text import literal

UNREADABLE = "The file cannot be read as a table."
FORMER_STAYS = " The table that was here before still is."
RANGES_OF_EXAMPLE = (
    "This example's ranges are rounded from the table's own published summary, which a hospital must not do "
    "with its own."
)
HELP = {  # by the dictionary's column
    "low": "What the code book or physiology allows, not the lowest patient: 14.5 or 14,5 or 2000.",
    "high": "What the code book or physiology allows, not the highest patient: 14.5 or 14,5 or 2000.",
    "categories": "Of a category, separated by commas: every answer there may be.",
    "missing": "Blank: the row is left out. Else what is filled in; 'none' of them ('none of them', where "
    "'none' is a category).",
    "codes": "Cells that count as missing, as 999; <5; unknown. Capitals do not matter. Never published.",
    "synonyms": "Other words, as m = male; w = female, or <0.5 = 0.25 for a number. Never published.",
    "marks": "How the file writes numbers. Blank: as its form says, or what is clear.",
    "other_names": "What other files call this column.",
    "unit": "Such as mg/l, for readers. A release publishes it.",
    "usual": "Where most patients lie, from the code book: then no mean is paid for. Blank: not known.",
}
BOUND = "Public row bound B, in encoded units"
WITH_CELLS = (
    "The saved dictionary holds the words that you mapped, which may be cells of your patients. A release "
    "publishes the dictionary without them."
)
HELD = (
    f"Your table is forgotten when you say so, or {sessions.KEPT_SECONDS / 60:.0f} minutes after the page is "
    "closed."
)
DICTIONARY = "Before the table, after it, or alone: then you can rehearse. Of REDCap, export raw data."
LOST = "The connection was lost for too long, and with it your table and what you typed: load it again."
LARGEST = (
    f"Up to {limits.MOST_BYTES / 2**20:,.0f} MB, unpacked. Of a larger table, save the columns that you "
    "need, as Parquet."
)
_LISTED = 3  # columns


def uploaded(raw: Raw) -> str:
    line = f"**{literal(raw.name)}** ({raw.form}): {raw.n:,} rows, {len(raw.columns):,} named columns."
    if raw.unnamed:
        line += f" Column {', '.join(map(str, raw.unnamed[:_LISTED]))} has no name and is left out."
    if raw.blank.any():
        line += f" {left_out_as_blank(int(raw.blank.sum()))}"
    return " ".join((line, *map(literal, raw.notes)))


# Whether a patient can have several rows: the answers to that question.
ONE, NAMED, UNNAMED = "one", "named", "unnamed"
ROWS = {
    ONE: "No, one row each",
    NAMED: "Yes, and a column names the patient",
    UNNAMED: "Yes, and no column does",
}
NO_PATIENT_COLUMN = "Choose which column that is."
ONLY_PLANNED = "Nothing can be released without a table: this is to rehearse one."


def ask_rows(joined: bool) -> str:
    return f"Can one patient have more than one row{', in one table or in several' if joined else ''}?"


def patients_stated(column: str) -> str:
    return f"Your dictionary says that {literal(column)} names the patient."


def opened(name: str, lines: int) -> str:
    return f"**{literal(name)}**: {text.count(lines, 'column', 'columns')} with a range or categories."


def without_range(names: Sequence[str]) -> str:
    return f"Left out, as no range is stated: {_first_names(names)}."


def planned(table: PlannedTable, rows: int) -> str:
    return f"**Planned:** {_numbers(table, rows)} {ONLY_PLANNED}"


def chosen(many: int, columns: int) -> str:
    return f"{many:,} of {columns:,} columns count. A data dictionary chooses its own."


def incomplete(names: Sequence[str]) -> str:
    listed = _first_names(names)
    return f"Still to be typed, from a code book, not from these patients: range or categories of {listed}."


def left_out(names: Sequence[str]) -> str:
    return f"Not in this table: {_first_names(names)}."


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


# How rows of one patient can count: the answers to that question. At most so many: the number is asked.
AT_MOST = "At most so many rows count, each the same"
COUNTED = {
    AVERAGED: "All rows count, as their mean",
    AT_MOST: AT_MOST,
    MERGED: "All rows are merged to one, cell by cell",
}


def counted(counting: Counting) -> str:
    whole = (
        "Each guarantee and price is for a patient with all their rows. A patient of several hospitals "
        "counts in the first."
    )
    if counting == AVERAGED:
        return f"Rows of one patient count as their mean: who comes ten times counts as one. {whole}"
    if counting == MERGED:
        return (
            "Each measurement of a patient is the mean of the patient's own cells that are there, so that "
            f"a row may lack what another row has. {whole}"
        )
    return (
        f"Of one patient the first {counting:,} rows count, 1/{counting:,} each. A row that is left out for "
        "a missing cell is passed over. Who comes more often counts more, up to one. Strengths come out "
        "smaller where patients have fewer rows, and a release errs more than its rehearsal, in which "
        f"every patient has so many. {whole}"
    )


def ready(prepared: PreparedTable, rows: int) -> str:
    return f"**Ready:** {_numbers(prepared, rows)}"


def _numbers(table: Study, rows: int) -> str:
    measured = text.count(table.d, "measurement", "measurements")
    where = where_patients_are(len(table.sizes))
    if len(table.sizes) > 1:
        where += f" ({spread(table.sizes)} each)"
    return f"{table.n:,} {noun(rows)} in {where}, {measured}."


def spread(sizes: Sequence[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{least:,} to {most:,}" if least < most else f"{least:,}"


def where_patients_are(hospitals: int) -> str:
    """Return "one place" or "3 hospitals", to stand after "patients in"."""
    return "one place" if hospitals == 1 else f"{hospitals:,} hospitals"


def at_random(rows: int) -> str:
    return (
        f"{noun(rows).capitalize()} are assigned to hospitals at random: these hospitals do not "
        "exist. This is to rehearse methods for several hospitals."
    )


def counts_public(assignment: str, schema: Schema, rows: int) -> str:
    many, each = noun(rows), unit(rows)
    sentence = f"The number of {many}, and of each hospital's, counts as public and is part of every release."
    if rows > 1:
        sentence += f" So does your statement that a patient has at most {rows:,} rows."
    if is_by_column(assignment):
        sentence += f" Assigned by a column, it tells how many {many} have each of that column's values."
    if schema.leaves_rows_out:
        sentence += (
            f" A {each} with a missing cell is left out of the sums and still counted, so the number says "
            "nothing of which that was; eigenvalues come out smaller by the share that is left out."
        )
    return sentence


def bound(schema: Schema, rows: int) -> str:
    return (
        f"Cap per {unit(rows)}: a row longer than {schema.bound:.4g} is shortened to that length, so that no "
        f"{unit(rows)} dominates. A lower cap needs less noise but distorts more. Unless you set it, the cap "
        "is the root mean square length of rows spread evenly over the ranges. No row is longer than "
        f"{schema.longest:.4g}. The recommended release has a fitted bound in its place."
    )
