"""Read a column's cells as the data dictionary says: codes as missing, synonyms as what they stand for.

The dictionary is the public description of a table's columns (`dppca_core.tables.dictionary`). For one column
it can name missing codes (cells such as "999" or "unknown" that stand for no answer), the categories, and
synonyms (other words, each with the category or the number that it stands for). A "word" is any of these
texts.

Numbers compare as numbers, so that 999, 999.0 and "999" are one code. Other words compare without blanks
around them, and codes and synonyms also without regard to capitals.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dppca_core.tables import cells, limits

Synonyms = Sequence[tuple[str, float | str]]  # a cell's word, and the category or number that it stands for


def numbers(
    column: Any,
    missing_codes: Sequence[str],
    marks: cells.Marks | None = cells.POINT,
    synonyms: Synonyms = (),
) -> cells.NumberColumn:
    """Return the cells as `cells.numbers` does, but codes as missing, and synonyms as their numbers."""
    read = cells.numbers(column, marks)
    if missing_codes:
        coded = _indices(column, read, missing_codes, capitals=False) >= 0  # cells that hold a missing code
        read.values[coded] = np.nan
        read = cells.NumberColumn(read.values, read.missing | coded, read.unread & ~coded)
    if synonyms and read.unread.any():
        indices = _indices(column, read, [word for word, _ in synonyms], capitals=False)
        meant = read.unread & (indices >= 0)
        read.values[meant] = np.array([float(number) for _, number in synonyms])[indices[meant]]
        read = read._replace(unread=read.unread & ~meant)
    return read


def categories(
    column: Any,
    known: Sequence[str],
    synonyms: Synonyms = (),
    missing_codes: Sequence[str] = (),
    marks: cells.Marks | None = cells.POINT,
) -> tuple[NDArray[np.intp], cells.Mask]:
    """Return the position in `known` of each cell's category, (n,), and which cells are missing, (n,).

    The position is -1 where a cell is missing or none of the categories. known: the column's categories. A
    synonym is looked up only where no category agrees.
    """
    read = numbers(column, missing_codes, marks)
    indices = _indices(column, read, known)
    if synonyms:
        synonym = _indices(column, read, [word for word, _ in synonyms], capitals=False)
        # The position in `known` of each synonym's category.
        category = np.array([known.index(str(category)) for _, category in synonyms])
        indices = np.where((indices < 0) & (synonym >= 0), category[synonym], indices)
    return indices, read.missing


def keys(words: Sequence[str], capitals: bool = True) -> list[float | str]:
    """Return a key for each word, the same for words that count as one: its number if it is one, else itself.

    So "1" and "1.0" have one key. A word that counts as missing has NaN, which equals no other: refuse such
    words before. Words come without blanks around them. capitals: whether "Male" and "male" differ.
    """
    read = as_numbers(words)
    return [
        (word if capitals else word.lower()) if unread else float(value)
        for word, value, unread in zip(words, read.values, read.unread, strict=True)
    ]


def is_word(word: object) -> bool:
    """Return whether this can be one word of a list that is typed as "a; b" or "word = category; ...".

    It is a short text without blanks around it, and holds neither of the separators ";" and " = ".
    """
    return (
        isinstance(word, str)
        and 0 < len(word) <= limits.MOST_NAME
        and word.isprintable()
        and word == word.strip()
        and ";" not in word
        and " = " not in f"{word} "  # a word that ends in " =" would form one with what follows it
    )


def as_numbers(words: Sequence[str]) -> cells.NumberColumn:
    """Return the words of a dictionary read as numbers, written with a decimal point or a comma.

    The dictionary does not say how the file writes decimals, so both are read.
    """
    return cells.numbers(pa.array(words, pa.large_string()), cells.EITHER)


def _indices(
    column: Any, read: cells.NumberColumn, words: Sequence[str], capitals: bool = True
) -> NDArray[np.intp]:
    """Return the position in `words` of the word that each cell holds, (n,); -1 for none of them.

    column: the cells as they are. read: the same cells as numbers, which decide wherever both are numbers.
    """
    indices = np.full(len(read.values), -1)
    number = as_numbers(words)
    for i in np.flatnonzero(~number.unread):  # 1, 1.0 and "1" are one answer
        indices[read.values == number.values[i]] = i
    if read.unread.any():
        indices = np.where(read.unread, cells.category_indices(column, words, capitals), indices)
    return indices
