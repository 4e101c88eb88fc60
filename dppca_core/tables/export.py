"""Tables that leave as CSV, without cells that a spreadsheet would run."""

from __future__ import annotations

import unicodedata
from typing import Any

import pandas as pd

_STARTS = "=+-@"  # of a formula, in every width
_BREAKS = ("\t", "\r", "\n")  # at the start of a cell, they may hide one


def neutral(cell: Any) -> Any:
    """A text that a spreadsheet would run, with an apostrophe before it; anything else as it is."""
    if not isinstance(cell, str):
        return cell
    seen = next((letter for letter in cell if not _unseen(letter)), "")
    if cell[:1] in _BREAKS or (seen and unicodedata.normalize("NFKC", seen) in _STARTS):
        return "'" + cell
    return cell


def _unseen(letter: str) -> bool:
    """Blanks, controls and format characters (Unicode Z*, C*), before which a spreadsheet may look."""
    return unicodedata.category(letter)[0] in "ZC"


def safe_csv(frame: pd.DataFrame) -> str:
    """A data frame as CSV, without its index; texts and names made `neutral`, numbers as they are."""
    safe = frame.astype(object).map(neutral)
    safe.columns = pd.Index([neutral(str(name)) for name in frame.columns])
    return safe.to_csv(index=False)
