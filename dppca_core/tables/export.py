"""Tables that leave as CSV, without cells that a spreadsheet would run."""

from __future__ import annotations

from typing import Any

import pandas as pd

# What spreadsheets take for the start of a formula, also in full width. Tabs and line ends hide one.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def neutral(cell: Any) -> Any:
    """A text that a spreadsheet would run, with an apostrophe before it; anything else as it is."""
    if not isinstance(cell, str):
        return cell
    if cell.lstrip(" ").startswith(_STARTS):
        return "'" + cell
    return cell


def safe_csv(frame: pd.DataFrame) -> str:
    """A data frame as CSV, without its index; texts and names made `neutral`, numbers as they are."""
    safe = frame.astype(object).map(neutral)
    safe.columns = pd.Index([neutral(str(name)) for name in frame.columns])
    return safe.to_csv(index=False)
