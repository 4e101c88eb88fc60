"""Read table cells as numbers, texts or missing: each cell by itself, and never from its neighbours.

So no patient's cell can change how another patient's is read. A cell is missing if it is empty, one of
`MISSING`, NaN or infinite. "true" and "false" are the numbers 1 and 0. What a column seems to hold
(`kind_of`) is a summary of its cells, for the screen of the table's owner.

The dictionary (`dppca_core.tables.dictionary`) can name missing codes (cells such as "999" or "unknown" that
stand for no answer), categories, and synonyms (other words, each with the category or the number that it
stands for). A "word" is any of these texts. Numbers compare as numbers, so that 999, 999.0 and "999" are one
code. Other words compare without blanks around them, and codes and synonyms also without regard to capitals.

A column is an Arrow array or chunked array; "portions" and "chunks" are consecutive pieces of one. Arrow's
error messages quote cells, which are private: `none_if_refused` and `until_refused` drop them.
"""

import re
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
Synonyms = Sequence[tuple[str, float | str]]  # a cell's word, and the category or number that it stands for
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
_MACHINE_NUMBER = r"[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+"  # 1.012e0 has one reading only, whatever the marks
_UNCLEAR = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")
_SPELLINGS = {" ": "[\u00a0\u2009\u202f]", "'": "\u2019"}  # of a mark of thousands, beside the mark itself
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
    """Yield the batches that `read` returns, and a last None where Arrow raises an error before their end."""
    try:
        yield from read()
    except _REFUSALS:
        yield None


def without_missing(column: Any) -> Any:
    """Return a column of text trimmed, with null where a word counts as missing; numbers as they are."""
    if pa.types.is_floating(column.type):
        return column
    parts = []
    for part in portions(chunks_of(column)):
        text = texts(part)
        missing = pc.is_in(pc.utf8_lower(text), value_set=pa.array(MISSING, text.type))
        parts.append(pc.if_else(missing, pa.scalar(None, text.type), text))
    return pa.chunked_array(parts, pa.large_string())


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
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


class Marks(NamedTuple):
    """Say how numbers are written.

    decimal: the characters that mark decimals. group: the one between thousands, "" for none.
    """

    decimal: str
    group: str = ""


POINT = Marks(".")
EITHER = Marks(".,")  # for words of which no file says how they are written


def numbers(
    column: Any, marks: Marks | None = POINT, missing_codes: Sequence[str] = (), synonyms: Synonyms = ()
) -> NumberColumn:
    """Return the cells of a column of numbers or text, each as a number if it is one.

    column: as `as_numbers_or_text` gives it. marks: how its numbers are written; None reads those which have
    one reading only: 14,5 and 1.012,5 and 0.012, but not 1.012, which may be 1012. A cell that holds one of
    the missing codes is missing, and one that holds a synonym is its number. The arrays are fresh, so that a
    caller may write to them.
    """
    read = _plain(column, marks)
    if missing_codes:
        coded = _word_indices(column, read, missing_codes, capitals=False) >= 0
        read.values[coded] = np.nan
        read = NumberColumn(read.values, read.missing | coded, read.unread & ~coded)
    if synonyms and read.unread.any():
        indices = _word_indices(column, read, [word for word, _ in synonyms], capitals=False)
        meant = read.unread & (indices >= 0)
        read.values[meant] = np.array([float(number) for _, number in synonyms])[indices[meant]]
        read = read._replace(unread=read.unread & ~meant)
    return read


def _plain(column: Any, marks: Marks | None) -> NumberColumn:
    """Return the cells as `numbers` does where the dictionary names no words."""
    if pa.types.is_floating(column.type):
        values = np.array(column.to_numpy(zero_copy_only=False))  # a copy: Arrow's memory is read-only
        missing = ~np.isfinite(values)
        values[missing] = np.nan
        return NumberColumn(values, missing, np.zeros(len(values), dtype=bool))
    # Stands before the portions, so that a column without any can be put together too.
    none = NumberColumn(np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=bool))
    parts = (_numbers(part, marks) for part in portions(chunks_of(column)))
    return NumberColumn(*map(np.concatenate, zip(none, *parts, strict=True)))


def _numbers(column: pa.Array, marks: Marks | None) -> NumberColumn:
    text = texts(column)
    if marks in (POINT, EITHER) and (plain := _plain_numbers(text)) is not None:
        missing = np.isnan(plain)
        return NumberColumn(plain, missing, np.zeros(len(plain), dtype=bool))
    digits = _clear_digits(text) if marks is None else _digits(text, marks)
    values = np.array(digits.cast(pa.float64()).to_numpy(zero_copy_only=False))
    missing = np.isinf(values) | np.asarray(text.is_null())  # 1e999 reads as infinite
    values[missing] = np.nan
    others = np.flatnonzero(~np.asarray(digits.is_valid()) & ~missing)  # positions of cells that hold words
    words = pc.utf8_lower(text.take(pa.array(others)))
    missing[others] = pc.is_in(words, value_set=pa.array(MISSING, words.type))
    for word, value in (("true", 1.0), ("false", 0.0)):
        values[others[np.asarray(pc.equal(words, word), dtype=bool)]] = value
    return NumberColumn(values, missing, np.isnan(values) & ~missing)


def _plain_numbers(text: pa.Array) -> Array | None:
    """Return the texts as numbers, NaN for null, if each is a finite number with a point or none, else None.

    It is most columns, and ten times faster than `_digits`, of which it is a part.
    """
    if not len(text):
        return None
    first = text[0].as_py()
    if first is not None and not first[-1:].isdigit():  # quickly, for most columns of words
        return None
    cast = none_if_refused(lambda: text.cast(pa.float64()))
    if cast is None:
        return None
    values: Array = np.array(cast.to_numpy(zero_copy_only=False))
    return values if np.isfinite(values).sum() == len(text) - text.null_count else None


def written(number: float) -> str:
    """Return a number as the shortest text that has one reading only: 1.012 as 1.012e0, and 7.0 as 7."""
    shortest = repr(float(number)).removesuffix(".0")
    return f"{shortest}e0" if _UNCLEAR.fullmatch(shortest) else shortest


def _digits(text: pa.Array, marks: Marks) -> pa.Array:
    """Return the texts that are numbers as a program writes them, and null for the others."""
    text = pc.replace_substring(text, "\u2212", "-")  # the minus of typesetting
    decimal = f"[{marks.decimal}]"
    whole, form = "[0-9]+", f"{decimal}[0-9]+"
    if marks.group:
        if marks.group in _SPELLINGS:
            text = pc.replace_substring_regex(text, _SPELLINGS[marks.group], marks.group)
        whole += f"|[1-9][0-9]{{0,2}}([{marks.group}][0-9]{{3}})+"
    exponent = "([eE][+-]?[0-9]+)?"
    form = f"^[+-]?((({whole})({decimal}[0-9]*)?|{form}){exponent}|{_MACHINE_NUMBER})$"
    # Arrow fails as a whole on a text that is no number, so only those that look like one are handed to it.
    none = pa.scalar(None, text.type)
    machine = pc.match_substring_regex(text, f"^[+-]?{_MACHINE_NUMBER}$")
    written = text
    for mark, instead in ((marks.group, ""), (",", ".")):
        if mark and (not instead or mark in marks.decimal):
            written = pc.if_else(machine, written, pc.replace_substring(written, mark, instead))
    return pc.if_else(pc.match_substring_regex(text, form), written, none)


def _clear_digits(text: pa.Array) -> pa.Array:
    """Return as `_digits` does the texts that are one number only, whichever mark is the decimal one."""
    commas, points = _digits(text, Marks(",", ".")), _digits(text, Marks(".", ","))
    unclear = pc.fill_null(pc.not_equal(commas, points), False)
    return pc.if_else(unclear, pa.scalar(None, text.type), pc.coalesce(commas, points))


def blank_rows(columns: Sequence[Any]) -> Mask:
    """Return which rows have no cell in any of these columns, (n,): each of their cells is missing."""
    blank = np.ones(len(columns[0]), dtype=bool)
    for column in columns:
        # Of most tables the first column leaves no row to look at.
        still = np.flatnonzero(blank)
        if not len(still):
            break
        part = column if len(still) == len(blank) else column.take(pa.array(still))
        blank[still] = _missing(part)
    return blank


def _missing(column: Any) -> Mask:
    """Return which cells of a column of any Arrow type are missing, (n,); codes are not unpacked for it."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        codes = pc.fill_null(column.indices.cast(pa.int64()), -1)  # a null takes the last True
        coded: Mask = np.append(_missing(column.dictionary), True)[np.asarray(codes)]
        return coded
    if pa.types.is_floating(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return numbers(column, EITHER).missing
    return np.array(column.is_null())


def unclear(text: pa.Array) -> Mask:
    """Return which texts are one number with a decimal point and another with a decimal comma, (n,)."""
    trimmed = texts(text)
    commas, points = (numbers(trimmed, Marks(*pair)).values for pair in (",.", ".,"))
    result: Mask = np.isfinite(commas) & np.isfinite(points) & (commas != points)
    return result


def category_indices(column: Any, known: Iterable[str], capitals: bool = True) -> NDArray[np.intp]:
    """Return the position in `known` of each cell's text, (n,); -1 for none."""

    def comparable(text: pa.Array) -> pa.Array:
        return text if capitals else pc.utf8_lower(text)

    words = comparable(pa.array(known, pa.large_string()))
    indices = [
        np.asarray(pc.fill_null(pc.index_in(comparable(texts(part)), words), -1))
        for part in portions(chunks_of(column))
    ]
    return np.concatenate([np.empty(0, dtype=np.intp), *indices])


def categories(
    column: Any,
    known: Sequence[str],
    synonyms: Synonyms = (),
    missing_codes: Sequence[str] = (),
    marks: Marks | None = POINT,
) -> tuple[NDArray[np.intp], Mask]:
    """Return the position in `known` of each cell's category, (n,), and which cells are missing, (n,).

    The position is -1 where a cell is missing or none of the categories. known: the column's categories. A
    synonym is looked up only where no category agrees.
    """
    read = numbers(column, marks, missing_codes)
    indices = _word_indices(column, read, known)
    if synonyms:
        synonym = _word_indices(column, read, [word for word, _ in synonyms], capitals=False)
        # The position in `known` of each synonym's category.
        category = np.array([known.index(str(category)) for _, category in synonyms])
        indices = np.where((indices < 0) & (synonym >= 0), category[synonym], indices)
    return indices, read.missing


def word_keys(words: Sequence[str], capitals: bool = True) -> list[float | str]:
    """Return a key for each word, the same for words that count as one: its number if it is one, else itself.

    So "1" and "1.0" have one key. A word that counts as missing has NaN, which equals no other: refuse such
    words before. Words come without blanks around them. capitals: whether "Male" and "male" differ.
    """
    read = word_numbers(words)
    return [
        (word if capitals else word.lower()) if unread else float(value)
        for word, value, unread in zip(words, read.values, read.unread, strict=True)
    ]


def is_word(word: object) -> bool:
    """Return whether this can be one word of a list that is typed as "a; b" or "word = category; ..."."""
    return (
        isinstance(word, str)
        and 0 < len(word) <= limits.MOST_NAME
        and word.isprintable()
        and word == word.strip()
        and ";" not in word
        and " = " not in f"{word} "  # a word that ends in " =" would form one with what follows it
    )


def word_numbers(words: Sequence[str]) -> NumberColumn:
    """Return the words of a dictionary read as numbers, written with a decimal point or a comma.

    The dictionary does not say how the file writes decimals, so both are read.
    """
    return numbers(pa.array(words, pa.large_string()), EITHER)


def _word_indices(
    column: Any, read: NumberColumn, words: Sequence[str], capitals: bool = True
) -> NDArray[np.intp]:
    """Return the position in `words` of the word that each cell holds, (n,); -1 for none of them.

    column: the cells as they are. read: the same cells as numbers, which decide wherever both are numbers.
    """
    indices = np.full(len(read.values), -1)
    number = word_numbers(words)
    for i in np.flatnonzero(~number.unread):  # 1, 1.0 and "1" are one answer
        indices[read.values == number.values[i]] = i
    if read.unread.any():
        indices = np.where(read.unread, category_indices(column, words, capitals), indices)
    return indices


def kind_of(column: Any) -> str:
    """Return what a column seems to hold, to suggest it to the owner: "number", "date" or "text".

    A column of numbers may have some words, such as "<5" or "unknown", so it is one if among its first cells
    numbers outnumber words. A column of dates holds a date in every cell that is not missing.
    """
    if pa.types.is_floating(column.type):
        return "number"
    # Enough to tell, and quick. A column of numbers is one also while a mark of thousands is unclear.
    first = numbers(column.slice(0, _FIRST_CELLS), EITHER)
    if np.isfinite(first.values).sum() > first.unread.sum():
        return "number"
    kind = "text"
    for part in portions(chunks_of(column)):
        filled = part.filter(pa.array(~numbers(part, EITHER).missing))
        all_dates = pc.all(pc.match_substring_regex(texts(filled), _DATE)).as_py()  # None where none is left
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


def check_text(size: int, name: str) -> None:
    """Raise ValueError where the `size` bytes of a table's unpacked texts are too many."""
    if size > limits.MOST_BYTES:
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
    """Return the bytes of a coded column's texts once codes are replaced by texts; 0 for other cells."""
    total = 0
    for chunk in chunks_of(column):
        kind = chunk.dictionary.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
            lengths = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
            total += pc.sum(lengths.cast(pa.int64())).as_py() or 0
    return total


def from_frame(frame: pd.DataFrame) -> pa.Table:
    """Return a data frame as a table whose columns are float64 or text."""
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
