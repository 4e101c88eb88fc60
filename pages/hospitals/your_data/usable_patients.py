"""Say how many patients a rehearsal counts: those with a usable row, by a share that the owner states.

A row with a missing cell that nothing fills in is a row of zeros in a release (`tables.encode`). It still
counts in n, so that n tells of no cell. The noise does not depend on n. So a release of n patients of whom m
are usable errs as one of m patients does, and m is private. What all may see therefore counts the share that
the owner states, from how the data were collected or from an earlier study; it is public. Without a share the
rehearsal counts everybody, and the stop sign says that it cannot know. Only the owner's part counts m itself.
No Streamlit here.
"""

from dppca_core.tables import Schema
from pages.hospitals.your_data.settings import UNKNOWN
from pages.hospitals.your_data.text import noun
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def stated_share(schema: Schema, settings: Settings) -> float | None:
    """Return the share of patients that count as usable: 1 where all cells are filled in; None: not stated.

    It follows from public choices alone, the dictionary and the setting, and not from the rows.
    """
    if not schema.leaves_rows_out:
        return 1.0
    share = settings["own.usable"]
    return None if share == UNKNOWN else float(share)


def sizes(schema: Schema, sizes: tuple[int, ...], settings: Settings) -> tuple[int, ...]:
    """Return how many patients of each hospital a rehearsal counts, one at least; sizes: of all patients."""
    share = stated_share(schema, settings)
    return sizes if share is None else tuple(max(1, round(share * size)) for size in sizes)


def in_words(share: float | None) -> str:
    return "not stated" if share is None else f"{text.percent(share)}, as stated"


def counted(n: int, usable: int, share: float | None, rows: int) -> str:
    units = noun(rows)
    if share is None:
        return (
            f"A release leaves {units} with a missing cell out of its sums. How many is not stated, so the "
            f"rehearsal counts all {n:,}."
        )
    return f"The rehearsal counts {usable:,} of {n:,} {units}: the share that you state as usable."


def counted_by_stop_sign(share: float | None, rows: int) -> str:
    """Return which patients the numbers of a stop sign count, where these are not simply all."""
    if share is None:
        return f"All {noun(rows)} are counted as usable."
    return "" if share == 1 else f"Only usable {noun(rows)} are counted."
