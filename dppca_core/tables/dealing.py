"""Assign a table's rows to hospitals: by a column, or at random by a public seed."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core import checks
from dppca_core.arrays import Indices
from dppca_core.tables import cells, limits

EMPTY = "A hospital has only patients who were in another before: leave it out."


def at_random(n: int, hospitals: int, seed: int) -> tuple[Indices, ...]:
    """Return rows 0..n-1 in random groups of nearly equal size. The seed is public: no noise comes of it.

    Raises ValueError for fewer rows than hospitals.
    """
    checks.whole(1, n=n)
    checks.whole(1, min(n, limits.MOST_HOSPITALS), hospitals=hospitals)
    order = np.random.default_rng(seed).permutation(n)
    return tuple(np.sort(part) for part in np.array_split(order, hospitals))


def by_column(
    column: Any, name: str, kept: cells.Mask | None = None, decimal_comma: bool = False
) -> dict[str, Indices]:
    """Return the rows of each value of a column, in the order of the values, counted among the kept ones.

    The values are the hospitals' names. Raises ValueError where a kept row has none, or for too many.
    """
    used = column if kept is None else pc.filter(column, pa.array(kept))
    coded = pc.dictionary_encode(used)
    whole = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    read = cells.numbers(whole.dictionary, decimal_comma)
    codes = np.asarray(pc.fill_null(whole.indices, -1))
    nameless = int((np.append(read.missing, True)[codes]).sum())
    if nameless:
        raise ValueError(f"Column '{name}' names no hospital in {nameless:,} rows.")
    words = [
        str(value).strip() if unread else f"{number:.15g}"
        for value, number, unread in zip(whole.dictionary.to_pylist(), read.values, read.unread, strict=True)
    ]
    hospitals, of_word = np.unique(words, return_inverse=True)
    if len(hospitals) > limits.MOST_HOSPITALS:
        raise ValueError(too_many(name))
    return {str(hospital): np.flatnonzero(of_word[codes] == i) for i, hospital in enumerate(hospitals)}


def too_many(name: str) -> str:
    """Return the sentence that says why a column cannot name the hospitals."""
    return (
        f"Column '{name}' has more than {limits.MOST_HOSPITALS} values: choose one that names hospitals, "
        "not patients."
    )
