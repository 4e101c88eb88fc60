"""What one cell says: a number, a text or nothing, decided cell by cell and never from its neighbours.

A cell is missing if it is empty, one of `MISSING`, NaN or infinite. "true" and "false" are the numbers 1 and
0. Whether a column is of numbers or of text (`canonical`) is a summary of its cells, for the owner's screen.

Texts of Arrow's own errors quote cells: `quietly` keeps them from everyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dppca_core.tables import limits
from dppca_core.types import Array

Mask = NDArray[np.bool_]
Result = TypeVar("Result")
_REFUSALS = (pa.ArrowException, OSError, OverflowError, UnicodeError)

# In small letters. Not "none" and not "-", which are answers in many a clinical table.
MISSING = (
    *("", "na", "n/a", "<na>", "nan", "nat", "null", "?", ".", "#n/a", "#na", "#div/0!", "#value!", "#num!"),
    *("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"),
)
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA = r"^[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = (
    r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2}))([ T].*)?$"
)


def quietly(call: Callable[[], Result]) -> Result | None:
    """What `call` returns, or None where Arrow refuses. Its reason quotes cells and goes no further."""
    try:
        return call()
    except _REFUSALS:
        return None


def each(batches: Iterable[Result]) -> Iterator[Result | None]:
    """Batches in turn; None, and no more, where Arrow refuses one."""
    steps = iter(batches)
    while True:
        try:
            batch = next(steps)
        except StopIteration:
            return
        except _REFUSALS:
            break
        yield batch
    yield None


class Numbers(NamedTuple):
    """Cells as numbers: values (n,), NaN where there is none; which are missing, which are other text."""

    values: Array
    missing: Mask
    unread: Mask


def texts(column: Any) -> pa.Array:
    """A text column without blanks around its cells, as one array of strings."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.utf8_trim_whitespace(whole.cast(pa.large_string()))


def numbers(column: Any, decimal_comma: bool = False) -> Numbers:
    """The cells of a column of numbers or of text (as `plain` gives them), each as a number if it is one.

    decimal_comma: 1,5 is one and a half, as in files whose columns are not separated by commas.
    """
    if pa.types.is_floating(column.type):
        values = np.array(column.to_numpy(zero_copy_only=False))
        missing = ~np.isfinite(values)
        values[missing] = np.nan
        return Numbers(values, missing, np.zeros(len(values), dtype=bool))
    text = texts(column)
    looks = pc.fill_null(pc.match_substring_regex(text, _COMMA if decimal_comma else _NUMBER), False)
    digits = pc.if_else(looks, text, pa.scalar(None, text.type))
    if decimal_comma:
        digits = pc.replace_substring(digits, ",", ".")
    values = np.array(digits.cast(pa.float64()).to_numpy(zero_copy_only=False))
    missing = np.isinf(values) | np.asarray(text.is_null())
    values[missing] = np.nan
    others = np.flatnonzero(~np.asarray(looks) & ~missing)
    words = pc.utf8_lower(text.take(pa.array(others)))
    missing[others] = pc.is_in(words, value_set=pa.array(MISSING, words.type))
    for word, value in (("true", 1.0), ("false", 0.0)):
        values[others[np.asarray(pc.equal(words, word), dtype=bool)]] = value
    return Numbers(values, missing, np.isnan(values) & ~missing)


def canonical(column: Any, decimal_comma: bool = False) -> pa.Array:
    """float64 where every cell is a number or missing, else trimmed text; null where missing."""
    found = numbers(column, decimal_comma)
    if not found.unread.any():
        return pa.array(found.values, from_pandas=True)
    return pc.if_else(pa.array(found.missing), pa.scalar(None, pa.large_string()), texts(column))


def dates(column: Any) -> bool:
    """Whether a text column holds dates in every cell that is not missing."""
    if pa.types.is_floating(column.type):
        return False
    return bool(pc.all(pc.match_substring_regex(texts(column), _DATE)).as_py())


def plain(column: Any, name: str) -> Any:
    """A column of any flat type as float64 or text. Raises ValueError for lists, records and bytes."""
    kind = column.type
    types = pa.types
    if types.is_dictionary(kind):
        check_text(unpacked(column), name)
        return plain(column.cast(kind.value_type), name)
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind):
        whole = column.cast(pa.uint8()) if types.is_boolean(kind) else column
        return whole.cast(pa.float64(), safe=False)
    if types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return column.cast(pa.large_string())
    if types.is_temporal(kind) and not types.is_interval(kind):
        text = column.cast(pa.int64() if types.is_duration(kind) else pa.string())
        # A day without a time reads as the day, as a CSV of the same table has it.
        return pc.replace_substring_regex(text.cast(pa.large_string()), r"( 00:00:00)?(\.0+)?$", "")
    raise ValueError(f"Column '{name}' holds {_what(kind)} in its cells: keep one number or word in each.")


def check_text(size: int, name: str, most: int = limits.MOST_TEXT) -> None:
    """Raise ValueError for a column whose texts have more bytes: a small file may unpack to any size."""
    if size > most:
        raise ValueError(
            f"Column '{name}' holds more text than can be opened here: leave it out, or shorten its texts."
        )


def unpacked(column: Any) -> int:
    """Return the bytes of a dictionary column's texts, each as often as it occurs; 0 for other cells."""
    total = 0
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else (column,):
        kind = chunk.dictionary.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
            each = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
            total += pc.sum(each.cast(pa.int64())).as_py() or 0
    return total


def _what(kind: Any) -> str:
    if pa.types.is_nested(kind):
        return "lists or records"
    return (
        "bytes" if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) else "values of a special type"
    )


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """A data frame's columns as float64 or text, under their names. Raises ValueError for other cells."""
    columns = {}
    for position, name in enumerate(frame.columns):
        series = frame.iloc[:, position]
        column = quietly(partial(pa.array, series, from_pandas=True))
        if column is None:  # cells of several types
            column = pa.array([None if value is None else str(value) for value in series])
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        columns[str(name)] = plain(column, str(name))
    if len(columns) < frame.shape[1]:
        raise ValueError("Two columns have the same name: rename one.")
    return pa.table(columns)
