"""Read table cells as numbers, texts or missing: each cell by itself, and never from its neighbours.

So no patient's cell can change how another patient's is read. A cell is missing if it is empty, one of
`MISSING`, NaN or infinite. "true" and "false" are the numbers 1 and 0. Whether a column is of numbers or of
text (`canonical`, `kind_of`) is a summary of its cells, for the screen of the table's owner.

A column is an Arrow array or chunked array; "portions" and "chunks" are consecutive pieces of one. Arrow's
error messages quote cells, which are private: `none_if_refused` and `until_refused` drop them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dppca_core.arrays import Array
from dppca_core.tables import limits

Mask = NDArray[np.bool_]
Result = TypeVar("Result")
_REFUSALS = (pa.ArrowException, OSError, OverflowError, UnicodeError)

# In small letters. Not "none" and not "-", which are answers in many a clinical table.
MISSING = (
    *("", "na", "n/a", "<na>", "nan", "nat", "null", "?", ".", "#n/a", "#na", "#div/0!", "#value!", "#num!"),
    *("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"),
)
_NOT_UTF8 = "Column '{}' holds text that is not in UTF-8: convert it before you save the table."
_FIRST_CELLS = 10_000  # cells that tell whether a column with some words is of numbers
_PORTION = 2**24  # bytes of text that are worked on at a time
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA_NUMBER = r"^[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+(,[0-9]*)?$"  # 1.012 may be 1012; 0.012 and 1012.345 may not
_DATE = (
    r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2}))([ T].*)?$"
)


def none_if_refused(call: Callable[[], Result]) -> Result | None:
    """Return what `call` returns, or None where Arrow raises an error.

    The error is swallowed because its message quotes private cells; callers say in their own words what
    failed.
    """
    try:
        return call()
    except _REFUSALS:
        return None


def until_refused(read: Callable[[], Iterable[Result]]) -> Iterator[Result | None]:
    """Yield the batches that `read` returns, and a last None where Arrow raises an error before their end.

    The error is swallowed for the same reason as in `none_if_refused`.
    """
    try:
        yield from read()
    except _REFUSALS:
        yield None


class NumberColumn(NamedTuple):
    """Hold a column's cells as numbers, (n,) each.

    values: NaN where a cell is missing or holds no number. missing: which cells are missing. unread: which
    hold a text that is neither a number nor missing.
    """

    values: Array
    missing: Mask
    unread: Mask


def texts(column: pa.Array) -> pa.Array:
    """Return the strings of an array of text, without blanks around them."""
    return pc.utf8_trim_whitespace(column.cast(pa.large_string()))


def portions(chunks: Iterable[Any]) -> Iterator[pa.Array]:
    """Yield the arrays of a column, cut or put together to about `_PORTION` bytes of text each.

    Each step on a text makes another copy of it, so that a whole column at once would need several times
    its size.
    """
    waiting: list[pa.Array] = []  # small arrays, to be yielded as one once they fill a portion
    size = 0
    for chunk in chunks:
        chunk_bytes = chunk.nbytes
        # Cut evenly into as few pieces as stay within a portion; -(-a // b) rounds up.
        step = max(1, -(-len(chunk) // max(1, -(-chunk_bytes // _PORTION))))
        for begin in range(0, len(chunk), step):
            part = chunk.slice(begin, step)
            part_bytes = chunk_bytes if step >= len(chunk) else part.nbytes
            if waiting and size + part_bytes > _PORTION:
                yield _joined(waiting)
                waiting, size = [], 0
            waiting.append(part)
            size += part_bytes
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[pa.Array]) -> pa.Array:
    """Return consecutive arrays as one; a single one is not copied."""
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def chunks_of(column: Any) -> list[Any]:
    """Return the arrays that a column consists of."""
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def numbers(column: Any, decimal_comma: bool = False, points_too: bool = False) -> NumberColumn:
    """Return the cells of a column of numbers or text, each as a number if it is one.

    column: as `as_numbers_or_text` gives it. decimal_comma: whether 1,5 is one and a half; then 1.5 is too,
    but 1.012 is no number, as it may be 1012 (`may_be_thousands`). points_too: there it is 1.012, for words
    of which no file says how they are written. The arrays are fresh, so that a caller may write to them.
    """
    if pa.types.is_floating(column.type):
        values = np.array(column.to_numpy(zero_copy_only=False))  # a copy: Arrow's memory is read-only
        missing = ~np.isfinite(values)
        values[missing] = np.nan
        return NumberColumn(values, missing, np.zeros(len(values), dtype=bool))
    # Stands before the portions, so that a column without any can be put together too.
    none = NumberColumn(np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=bool))
    parts = (_numbers(part, decimal_comma, points_too) for part in portions(chunks_of(column)))
    return NumberColumn(*map(np.concatenate, zip(none, *parts, strict=True)))


def _numbers(column: pa.Array, decimal_comma: bool, points_too: bool) -> NumberColumn:
    """Read a portion of a text column as `numbers` does."""
    text = texts(column)
    # Arrow fails as a whole on a text that is no number, so only those that look like one are handed to it.
    pattern = _COMMA_NUMBER if decimal_comma else _NUMBER
    looks_numeric = pc.fill_null(pc.match_substring_regex(text, pattern), False)
    if decimal_comma and not points_too:
        looks_numeric = pc.and_(looks_numeric, pa.array(~may_be_thousands(text)))
    digits = pc.if_else(looks_numeric, text, pa.scalar(None, text.type))
    if decimal_comma:
        digits = pc.replace_substring(digits, ",", ".")
    values = np.array(digits.cast(pa.float64()).to_numpy(zero_copy_only=False))
    missing = np.isinf(values) | np.asarray(text.is_null())  # 1e999 reads as infinite
    values[missing] = np.nan
    others = np.flatnonzero(~np.asarray(looks_numeric) & ~missing)  # positions of cells that hold words
    words = pc.utf8_lower(text.take(pa.array(others)))
    missing[others] = pc.is_in(words, value_set=pa.array(MISSING, words.type))
    for word, value in (("true", 1.0), ("false", 0.0)):
        values[others[np.asarray(pc.equal(words, word), dtype=bool)]] = value
    return NumberColumn(values, missing, np.isnan(values) & ~missing)


def blank_rows(columns: Sequence[Any], decimal_comma: bool = False) -> Mask:
    """Return which rows have no cell in any of these columns, (n,): each of their cells is missing.

    columns: at least one, of any Arrow type.
    """
    blank = np.ones(len(columns[0]), dtype=bool)
    for column in columns:
        # Of most tables the first column leaves no row to look at.
        still = np.flatnonzero(blank)
        if not len(still):
            break
        part = column if len(still) == len(blank) else column.take(pa.array(still))
        blank[still] = _missing(part, decimal_comma)
    return blank


def _missing(column: Any, decimal_comma: bool) -> Mask:
    """Return which cells of a column of any Arrow type are missing, (n,); codes are not unpacked for it."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        codes = pc.fill_null(column.indices.cast(pa.int64()), -1)  # a null takes the last True
        coded: Mask = np.append(_missing(column.dictionary, decimal_comma), True)[np.asarray(codes)]
        return coded
    if pa.types.is_floating(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return numbers(column, decimal_comma).missing
    return np.array(column.is_null())


def may_be_thousands(text: pa.Array) -> Mask:
    """Return which texts have a point with exactly three digits behind it that may mark thousands, (n,)."""
    matched: Mask = np.asarray(pc.fill_null(pc.match_substring_regex(text, _THOUSANDS), False))
    return matched


def canonical(chunks: list[Any], decimal_comma: bool = False) -> Any:
    """Return a column as float64 if every cell is a number or missing, else as trimmed text; null if missing.

    chunks: the arrays of the column. The list is emptied on the way, so that the memory of each is free once
    its text has been copied.
    """
    values: list[Array] = [np.empty(0)]
    # First try it as numbers; `else` is reached only where no cell of any portion holds another text.
    for part in portions(chunks):
        read = numbers(part, decimal_comma)
        if read.unread.any():
            break
        values.append(read.values)
    else:
        chunks.clear()
        return pa.array(np.concatenate(values), from_pandas=True)
    del part, values  # free what the first try took before the second takes memory
    none = pa.scalar(None, pa.large_string())
    chunks.reverse()  # so that pop() takes the first
    in_turn = (chunks.pop() for _ in range(len(chunks)))
    return pa.chunked_array(
        [
            pc.if_else(pa.array(numbers(part, decimal_comma).missing), none, texts(part))
            for part in portions(in_turn)
        ]
    )


def canonical_columns(columns: list[list[Any]], rows: int, decimal_comma: bool = False) -> list[Any]:
    """Return each of several columns as `canonical` does, which may empty their lists of arrays.

    columns: the arrays of each column. rows: how many cells each column has. Columns of one type are read as
    one long column first: a call of Arrow takes longer than reading a hundred cells.
    """
    if len(columns) > 1 and len({chunk.type for chunks in columns for chunk in chunks}) == 1:
        read = numbers(pa.chunked_array([chunk for chunks in columns for chunk in chunks]), decimal_comma)
        # Positions of columns with a text that is no number: these alone are read again, one by one.
        with_texts = set(np.flatnonzero(read.unread.reshape(len(columns), rows).any(axis=1)).tolist())
        values = read.values.reshape(len(columns), rows)
        return [
            canonical(chunks, decimal_comma) if i in with_texts else pa.array(row, from_pandas=True)
            for i, (chunks, row) in enumerate(zip(columns, values, strict=True))
        ]
    return [canonical(chunks, decimal_comma) for chunks in columns]


def category_indices(column: Any, known: Iterable[str], capitals: bool = True) -> NDArray[np.intp]:
    """Return the position in `known` of each cell's text, (n,); -1 for none.

    capitals: whether "Male" and "male" differ.
    """

    def comparable(text: pa.Array) -> pa.Array:
        """Return texts so that those which count as one are equal."""
        return text if capitals else pc.utf8_lower(text)

    words = comparable(pa.array(known, pa.large_string()))
    indices = [
        np.asarray(pc.fill_null(pc.index_in(comparable(texts(part)), words), -1))
        for part in portions(chunks_of(column))
    ]
    return np.concatenate([np.empty(0, dtype=np.intp), *indices])


def kind_of(column: Any, decimal_comma: bool = False) -> str:
    """Return what a column seems to hold, to suggest it to the owner: "number", "date" or "text".

    A column of numbers may have some words, such as "<5" or "unknown", so it is one if among its first cells
    numbers outnumber words. A column of dates holds a date in every cell that is not null.
    """
    if pa.types.is_floating(column.type):
        return "number"
    # Enough to tell, and quick. A column of numbers is one also while a mark of thousands is unclear.
    first = numbers(column.slice(0, _FIRST_CELLS), decimal_comma, points_too=True)
    if np.isfinite(first.values).sum() > first.unread.sum():
        return "number"
    kind = "text"
    for part in portions(chunks_of(column)):
        all_dates = pc.all(pc.match_substring_regex(texts(part), _DATE)).as_py()  # None where all are missing
        if all_dates is False:
            return "text"
        # A portion of missing cells only leaves the kind as it is.
        kind = "date" if all_dates else kind
    return kind


def as_numbers_or_text(column: Any, name: str) -> Any:
    """Return a column of any flat Arrow type as float64 or text.

    name: of the column, for the error. Raises ValueError for lists, records, bytes, and text not in UTF-8.
    """
    kind = column.type
    types = pa.types
    if types.is_dictionary(kind):  # codes, each of which stands for a text that is stored once
        check_text(unpacked_bytes(column), name)
        return as_numbers_or_text(column.cast(kind.value_type), name)
    if types.is_boolean(kind):
        return column.cast(pa.uint8()).cast(pa.float64())
    if types.is_floating(kind) or types.is_integer(kind) or types.is_null(kind) or types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        text = column.cast(pa.large_string())
        # Parquet files and frames may hold any bytes as text, and most functions of Arrow fail on them.
        if none_if_refused(lambda: text.validate(full=True) is None) is None:
            raise ValueError(_NOT_UTF8.format(name))
        return text
    if types.is_temporal(kind) and not types.is_interval(kind):
        text = column.cast(pa.int64() if types.is_duration(kind) else pa.string())
        # A day without a time reads as the day, as a CSV of the same table has it.
        return pc.replace_substring_regex(text.cast(pa.large_string()), r"( 00:00:00)?(\.0+)?$", "")
    binary = types.is_binary(kind) or types.is_large_binary(kind)
    others = "bytes" if binary else "values of a special type"
    what = "lists or records" if types.is_nested(kind) else others
    raise ValueError(f"Column '{name}' holds {what} in its cells: keep one number or word in each.")


def check_text(size: int, name: str, most: int = limits.MOST_BATCH_TEXT_BYTES) -> None:
    """Raise ValueError where the `size` bytes of a column's unpacked texts are more than `most`.

    A small file may unpack to any size. name: of the column, for the error.
    """
    if size > most:
        raise ValueError(
            f"Column '{name}' holds more text than can be opened here: leave it out, or shorten its texts."
        )


def text_bytes(column: Any) -> int:
    """Return the bytes of a text column's texts; 0 for numbers."""
    if pa.types.is_floating(column.type):
        return 0
    return sum(_text_bytes(chunk) for chunk in chunks_of(column))


def _text_bytes(chunk: Any) -> int:
    """Return the bytes of the texts of one array, from the offsets at which Arrow stores them.

    Arrow keeps all texts one after the other, so that the end of the last less the begin of the first is
    enough, and no call of Arrow has to go through the cells.
    """
    offsets = chunk.buffers()[1]  # the first buffer marks which cells are null
    if offsets is None or not len(chunk):
        return 0
    width = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    ends = np.frombuffer(offsets, width)[[chunk.offset, chunk.offset + len(chunk)]]
    return int(ends[1] - ends[0])


def unpacked_bytes(column: Any) -> int:
    """Return the bytes of a coded column's texts once each code is replaced by its text; 0 for other cells.

    column: of Arrow's dictionary type, which stores every different text once, and a code for each cell.
    """
    total = 0
    for chunk in chunks_of(column):
        kind = chunk.dictionary.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
            lengths = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
            total += pc.sum(lengths.cast(pa.int64())).as_py() or 0
    return total


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Return a data frame as a table whose columns are float64 or text.

    Raises ValueError for cells that `as_numbers_or_text` refuses, and for two columns of one name.
    """
    columns = {}
    for position, name in enumerate(frame.columns):
        series = frame.iloc[:, position]
        column = none_if_refused(partial(pa.array, series, from_pandas=True))
        if column is None:  # cells of several types
            words = [None if value is None else str(value) for value in series]
            column = none_if_refused(partial(pa.array, words))
            if column is None:
                raise ValueError(_NOT_UTF8.format(name))
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        columns[str(name)] = as_numbers_or_text(column, str(name))
    if len(columns) < frame.shape[1]:
        raise ValueError("Two columns have the same name: rename one.")
    return pa.table(columns)
