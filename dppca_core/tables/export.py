"""Write tables as CSV in which no cell is a formula: a spreadsheet runs a cell that begins with = + - or @.

An apostrophe before it makes the spreadsheet show the cell as text.
"""

import csv
import unicodedata
from typing import Any

import pandas as pd

_FORMULA_STARTS = "=+-@"  # of a formula, also as full-width letters, which NFKC turns into these
_BREAKS = ("\t", "\r", "\n")  # at the start of a cell, they may hide a formula
_SEPARATORS = {";", "|", *_BREAKS}  # a spreadsheet with another country's settings may cut a cell here


def neutral(text: str) -> str:
    """Return a text, with an apostrophe before it if a spreadsheet would run it as a formula."""
    first = next((letter for letter in text if not _is_invisible(letter)), "")
    if text[:1] in _BREAKS or (first and unicodedata.normalize("NFKC", first) in _FORMULA_STARTS):
        return "'" + text
    return text


def _is_invisible(letter: str) -> bool:
    """Return True for a character that a spreadsheet may skip before it looks for a formula.

    These are blanks, controls and format characters: the Unicode categories Z* and C*.
    """
    return unicodedata.category(letter)[0] in "ZC"


def _neutral_pieces(text: str) -> str:
    """Return a text with an apostrophe before each formula that would begin if the text were cut.

    Quotes do not prevent the cut: a reader that splits at semicolons ignores quotes within a line.
    """
    if _SEPARATORS.isdisjoint(text):
        return text
    result, may_begin = [], False
    for letter in text:
        if may_begin and unicodedata.normalize("NFKC", letter) in _FORMULA_STARTS:
            result.append("'")
        # A cell begins behind a separator; quotes and invisible letters do not end its beginning.
        may_begin = letter in _SEPARATORS or (may_begin and (letter == '"' or _is_invisible(letter)))
        result.append(letter)
    return "".join(result)


def safe_cell(cell: Any) -> Any:
    """Return a text with an apostrophe before each formula that a spreadsheet would find in it."""
    return _neutral_pieces(neutral(cell)) if isinstance(cell, str) else cell


def safe_csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV without its index: numbers as they are, texts quoted and harmless.

    No text or name begins with a formula, for a reader that splits at commas, semicolons, tabs or bars.
    """
    safe = frame.astype(object).map(safe_cell)
    safe.columns = pd.Index([safe_cell(str(name)) for name in frame.columns])
    return safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
