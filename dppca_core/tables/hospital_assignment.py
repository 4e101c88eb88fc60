"""Assign a table's rows to hospitals: by a column, or at random by a public seed."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core import checks
from dppca_core.arrays import Indices
from dppca_core.tables import cells, limits

EMPTY_HOSPITAL = "A hospital has only patients who were in another before: leave it out."


def at_random(n: int, hospitals: int, seed: int) -> tuple[Indices, ...]:
    """Return the numbers 0..n-1 of a table's rows in random groups of nearly equal size, each group sorted.

    The seed may be public, since no privacy noise is drawn from it. Raises ValueError for fewer rows than
    hospitals.
    """
    checks.whole(1, n=n)
    checks.whole(1, min(n, limits.MOST_HOSPITALS), hospitals=hospitals)
    order = np.random.default_rng(seed).permutation(n)
    return tuple(np.sort(part) for part in np.array_split(order, hospitals))


def by_column(
    column: Any, name: str, kept: cells.Mask | None = None, marks: cells.Marks | None = cells.POINT
) -> dict[str, Indices]:
    """Return the rows of each hospital by its name, in the order of the names.

    column: names the hospital of each row. name: of the column, for errors. kept: which rows of the table are
    used, (n,); None uses all. Rows are numbered among the kept ones, from 0. Raises ValueError where a kept
    row names no hospital, or for too many hospitals.
    """
    used = column if kept is None else pc.filter(column, pa.array(kept))
    coded = pc.dictionary_encode(used)
    # Each different name is stored once, with a code for each cell.
    whole = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    read = cells.numbers(whole.dictionary, marks)
    codes = np.asarray(pc.fill_null(whole.indices, -1))
    nameless = int((np.append(read.missing, True)[codes]).sum())  # code -1, a null, takes the last True
    if nameless:
        raise ValueError(f"Column '{name}' names no hospital in {nameless:,} rows.")
    # Two spellings may be one name, as 1 and "1.0" are, so names are gathered once more.
    words = [
        str(value).strip() if unread else f"{number:.15g}"
        for value, number, unread in zip(whole.dictionary.to_pylist(), read.values, read.unread, strict=True)
    ]
    # of_word: the position in `hospitals` of each different name.
    hospitals, of_word = np.unique(words, return_inverse=True)
    if len(hospitals) > limits.MOST_HOSPITALS:
        raise ValueError(too_many_hospitals_message(name))
    return {str(hospital): np.flatnonzero(of_word[codes] == i) for i, hospital in enumerate(hospitals)}


def too_many_hospitals_message(name: str) -> str:
    """Return the sentence that says why this column cannot name the hospitals: it has too many values."""
    return (
        f"Column '{name}' has more than {limits.MOST_HOSPITALS} values: choose one that names hospitals, "
        "not patients."
    )
