"""Form sentences on how a table's cells fit its dictionary, for the owner alone. No Streamlit here."""

from collections.abc import Sequence

from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import MERGED
from pages.hospitals.your_data.text import left_out_as_blank
from pages.shared import text
from pages.shared.text import literal

UNCOUNTED = "The cells of this table could not be counted."
MAP = "**Words to map by hand.** See the code book. Nothing is mapped before you press the button."
UNDO_BY_HAND = "Mapped words stand in the dictionary above, under *missing codes* and *other words*."
_LISTED = 5  # columns


def lines(prepared: PreparedTable) -> list[str]:
    owner = prepared.owner
    read = "patients were merged" if prepared.counting == MERGED else "rows of the table were read"
    lines = [
        f"{owner.rows:,} {read}, {owner.dropped:,} left out for a missing cell, "
        f"{owner.kept:,} are usable, {owner.filled:,} missing cells filled in.",
        f"{text.percent(owner.clipped_share)} of the rows used are longer than the bound and shortened.",
    ]
    if owner.blank:
        lines.append(left_out_as_blank(owner.blank))
    names = {column.name for column in prepared.schema.columns}
    constant = [literal(name) for name in prepared.raw.constant if name in names]
    if constant:
        lines.append(f"The same in every row, so it says nothing: {', '.join(constant[:_LISTED])}.")
    return lines


def listed(shown: int, many: int, columns: int) -> str:
    """Return how many of the `many` columns with counts are shown, and what "outside" means."""
    first = f"The {shown:,} worst of {many:,} columns are listed. " if shown < many else ""
    rest = text.count(columns - many, "other column has", "other columns have")
    without_counts = f"{rest} nothing to say. " if many < columns else ""
    outside = "Outside: beyond the range, so taken as its nearest end, or none of the categories."
    return f"{first}{without_counts}{outside}"


def fine(columns: int) -> str:
    return f"All cells of {text.count(columns, 'column', 'columns')} are there, and fit the dictionary."


def nearly_all_outside(column: str, hospitals: Sequence[str], kind: str) -> str:
    """Ask whether these hospitals, and not the others, write a column in another way; kind: of the column."""
    whose = " and ".join(f"{literal(name)}'s" for name in hospitals)
    fit = "outside the range: another unit?" if kind == "number" else "in no category: other words?"
    return f"Nearly all of {whose} {literal(column)} is {fit}"


def not_a_category(column: str, take_as: str) -> str:
    return f"'{take_as}' is no category of '{column}'"
