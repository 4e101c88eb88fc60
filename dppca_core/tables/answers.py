"""Cells as a column of the dictionary takes them: missing codes count as missing, synonyms as categories.

Numbers compare as numbers, so that 999, 999.0 and "999" are one code. Other words compare without blanks
around them, and codes and synonyms also without regard to capitals.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dppca_core.tables import cells, limits

Synonyms = Sequence[tuple[str, str]]  # a cell's word, and the category that it stands for


def numbers(column: Any, missing_codes: Sequence[str], decimal_comma: bool = False) -> cells.NumberColumn:
    """Return `cells.numbers` in which these codes are missing."""
    read = cells.numbers(column, decimal_comma)
    if not missing_codes:
        return read
    coded = _indices(column, read, missing_codes, capitals=False) >= 0
    read.values[coded] = np.nan
    return cells.NumberColumn(read.values, read.missing | coded, read.unread & ~coded)


def categories(
    column: Any,
    known: Sequence[str],
    synonyms: Synonyms = (),
    missing_codes: Sequence[str] = (),
    decimal_comma: bool = False,
) -> tuple[NDArray[np.intp], cells.Mask]:
    """Return which category each cell is, (n,), -1 for none of them, and which cells are missing."""
    read = numbers(column, missing_codes, decimal_comma)
    indices = _indices(column, read, known)
    if synonyms:
        synonym = _indices(column, read, [word for word, _ in synonyms], capitals=False)
        category = np.array([known.index(category) for _, category in synonyms])
        indices = np.where((indices < 0) & (synonym >= 0), category[synonym], indices)
    return indices, read.missing


def keys(words: Sequence[str], capitals: bool = True) -> list[float | str]:
    """Return what makes each word equal to another: its number if it is one, else the word."""
    read = as_numbers(words)
    return [
        (word if capitals else word.lower()) if unread else float(value)
        for word, value, unread in zip(words, read.values, read.unread, strict=True)
    ]


def is_word(word: object) -> bool:
    """Return whether a person can type this among others: it is not empty, and nothing in it separates."""
    return (
        isinstance(word, str)
        and 0 < len(word) <= limits.MOST_NAME
        and word.isprintable()
        and word == word.strip()
        and ";" not in word
        and " = " not in f"{word} "
    )


def as_numbers(words: Sequence[str]) -> cells.NumberColumn:
    """Return the words of a dictionary as cells of numbers, with a point or a comma."""
    return cells.numbers(pa.array(words, pa.large_string()), decimal_comma=True)


def _indices(
    column: Any, read: cells.NumberColumn, words: Sequence[str], capitals: bool = True
) -> NDArray[np.intp]:
    """Return which of these words each cell is, (n,); -1 for none of them."""
    indices = np.full(len(read.values), -1)
    number = as_numbers(words)
    for i in np.flatnonzero(~number.unread):  # 1, 1.0 and "1" are one answer
        indices[read.values == number.values[i]] = i
    if read.unread.any():
        indices = np.where(read.unread, cells.category_indices(column, words, capitals), indices)
    return indices
