"""Compare a column's cells with its dictionary, also an unfinished one, and suggest what to map by hand.

For the owner's eyes and never for a release: all of it is computed from private cells, and suggestions quote
some. A suggestion changes nothing until the owner makes it a missing code or a synonym of the dictionary.

A number may be a code for "missing" where it is one that code books use (9, 99, -1, ...) and lies outside of
the range, further from all other numbers than these are from each other, or below 0 where nothing else is,
unless it continues a scale such as -1, 0, 1. Any other number is listed where most cells outside of the range
are that number.

The dictionary (`dppca_core.tables.dictionary`) is the public description of the columns. A missing code is a
cell that it takes for missing, a synonym a word that stands for a category or a number, a word any text that
a cell holds. For a word such as "<0.5" half of the limit is suggested, for ">200" or "90+" the limit.
"""

import difflib
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dppca_core.arrays import Array, Indices
from dppca_core.tables import cells

AS_MISSING = ""  # what a word may be taken as, beside one of the categories
_NEARLY_ALL, _FEW = 0.9, 0.5  # of a hospital's cells in a column
_MOST_WORDS = 10  # suggestions for one column
_MOST_SPELLINGS = 200  # that are counted of each portion of a long column
_WIDEST_SCALE = 2  # a scale from 0 to 2, say, is so narrow that a -1 would only continue it
_FEWEST_TIMES = 3  # times that a number that no code book knows is there, before it looks like a code
_CODES = {9, 99, 999, 9999, 99999, 88, 888, 8888, 77, 777, 7777, 99.9, 999.9, -1, -9, -99, -999, -9999}
_CODE_ARRAY = np.array(sorted(_CODES))
_LEAST_RATIO = 0.82  # of difflib, for words that resemble each other; "male" and "female" have 0.8
_MISSING_WORDS = re.compile(
    r"unk|unkn|unknown|not ?known|miss|missing|not ?(done|recorded|available|applicable|tested)|"
    r"no ?data|refused|declined|unbekannt|keine ?angabe|inconnu|desconocido|sconosciuto"
)
_SHORT_WORDS = re.compile(r"u|x|n ?[adk]|k ?a|[<>]=? ?[0-9]+( [0-9]+)?")  # which may be answers as well
_LIMIT = re.compile(
    r"[<≤] ?=? ?(?P<below>[0-9][0-9.,]*)|[>≥] ?=? ?(?P<above>[0-9][0-9.,]*)|(?P<more>[0-9][0-9.,]*) ?\+"
)
_SEPARATORS = re.compile(r"[\s_.,'\"/()\-]+")


@dataclass(frozen=True)
class Expected:
    """State what the dictionary says of a column so far, even if it is unfinished.

    The fields are those of `dictionary.Column`. The default range holds any number.
    """

    kind: str
    low: float = -math.inf
    high: float = math.inf
    categories: tuple[str, ...] = ()
    missing_codes: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, float | str], ...] = ()
    marks: cells.Marks | None = None


class Suggestion(NamedTuple):
    """Hold a word of a column that its dictionary does not know, for the owner to decide about.

    times: how many cells hold it. take_as: what it likely stands for, one of the categories, a number as
    text, or `AS_MISSING`; None where nothing is suggested.
    """

    word: str
    times: int
    take_as: str | None


@dataclass(frozen=True)
class ColumnQuality:
    """Count a column's cells, and list words that may need a place in the dictionary.

    cells: all of them. missing: those that a missing code marks included. unread: text in a column of
    numbers. outside: numbers beyond the range, which are encoded as its nearest end, or texts that are none
    of the categories. by_hospital: of each hospital the cells outside, and all that were read.
    """

    cells: int
    missing: int
    unread: int
    outside: int
    suggestions: tuple[Suggestion, ...] = field(repr=False, default=())
    by_hospital: tuple[tuple[int, int], ...] = field(repr=False, default=())

    def nearly_all_outside(self) -> list[int]:
        """List the hospitals, by position, of whose cells nearly all are outside, as in another unit.

        None where no hospital has few cells outside: then the dictionary is what does not fit.
        """
        shares = [outside / read if read else _FEW for outside, read in self.by_hospital]
        some_fit = any(share < _FEW for share in shares)
        return [number for number, share in enumerate(shares) if some_fit and share >= _NEARLY_ALL]


def check_column(
    column: Any,
    expected: Expected,
    marks: cells.Marks | None = cells.POINT,
    hospitals: Sequence[Indices] = (),
) -> ColumnQuality:
    """Return the counts and suggestions for a column of numbers or text.

    column: as `cells.as_numbers_or_text` gives it. marks: how its numbers are written (`cells`). hospitals:
    the rows of each; without them nothing is counted by hospital.
    """
    check = _check_numbers if expected.kind == "number" else _check_categories
    return check(column, expected, marks, hospitals)


def _by_hospital(
    outside: cells.Mask, read: cells.Mask, hospitals: Sequence[Indices]
) -> tuple[tuple[int, int], ...]:
    return tuple((int(outside[rows].sum()), int(read[rows].sum())) for rows in hospitals)


def _check_numbers(
    column: Any, expected: Expected, marks: cells.Marks | None, hospitals: Sequence[Indices]
) -> ColumnQuality:
    """Check a column of numbers; suggest its frequent words, and numbers that look like missing codes."""
    read = cells.numbers(column, expected.marks or marks, expected.missing_codes, expected.synonyms)
    is_read = ~np.isnan(read.values)
    is_outside = (read.values < expected.low) | (read.values > expected.high)  # never of a NaN
    values, outside = read.values[is_read], is_outside[is_read]
    words = [
        Suggestion(
            word, count, _number_meant(word, expected) or (AS_MISSING if _looks_missing(word) else None)
        )
        for word, count in _frequent(column, read.unread)[:_MOST_WORDS]
    ]
    return ColumnQuality(
        cells=len(read.values),
        missing=int(read.missing.sum()),
        unread=int(read.unread.sum()),
        outside=int(outside.sum()),
        suggestions=(*words, *_suspected_codes(values, outside)),
        by_hospital=_by_hospital(is_outside, is_read, hospitals),
    )


def _number_meant(word: str, expected: Expected) -> str | None:
    """Return the number of the range that a word beyond a limit likely stands for, as text; else None."""
    limit = _LIMIT.fullmatch(word)
    if limit is None:
        return None
    read = cells.word_numbers([limit["below"] or limit["above"] or limit["more"]])
    number = float(read.values[0]) / (2 if limit["below"] else 1)
    return f"{number:.15g}" if expected.low <= number <= expected.high else None


def _suspected_codes(values: Array, outside: cells.Mask) -> list[Suggestion]:
    """Return the numbers that look like codes for "missing", by the rule in the module's text."""
    known = np.isin(values, _CODE_ARRAY)
    if not known.any() and not outside.any():
        return []
    # From here on an entry stands for one different number, and not for one cell.
    numbers, first_cells, counts = np.unique(values, return_index=True, return_counts=True)
    known, outside, cells_outside = known[first_cells], outside[first_cells], int(outside.sum())
    rest = numbers[~known]  # ascending, so that its first and last are the ends of the ordinary numbers
    apart = np.zeros(len(numbers), dtype=bool)
    if len(rest):
        with np.errstate(over="ignore"):
            # How far each number lies from all ordinary ones, and how far these lie apart.
            gaps = np.maximum(rest[0] - numbers, numbers - rest[-1])
            spread = rest[-1] - rest[0]
        apart = (gaps > spread) | ((numbers < 0) & (rest[0] >= 0) & (spread > _WIDEST_SCALE))
    # A number that no code book knows is suspected where it makes up most of the cells out of range.
    mostly_it = outside & (counts >= _FEWEST_TIMES) & (2 * counts > cells_outside)
    likely = np.flatnonzero((known & (outside | apart)) | mostly_it)
    likely = likely[np.argsort(-counts[likely], kind="stable")][:_MOST_WORDS]
    return [
        Suggestion(f"{numbers[i]:.15g}", int(counts[i]), AS_MISSING if known[i] else None) for i in likely
    ]


def _check_categories(
    column: Any, expected: Expected, marks: cells.Marks | None, hospitals: Sequence[Indices]
) -> ColumnQuality:
    """Check a column of categories; suggest a category, or "missing", for its frequent other words."""
    indices, missing = cells.categories(
        column, expected.categories, expected.synonyms, expected.missing_codes, expected.marks or marks
    )
    others = (indices < 0) & ~missing  # cells with a word that is none of the categories
    suggestions = [
        Suggestion(word, count, _proposal(word, expected.categories))
        for word, count in _frequent(column, others)
    ]
    # Without categories yet, any word may become one. A single category is a question of yes or no, and any
    # other word is a "no". So of either only those words are listed that resemble something known.
    if len(expected.categories) < 2:
        suggestions = [each for each in suggestions if each.take_as is not None]
        others[:] = False
    return ColumnQuality(
        cells=len(indices),
        missing=int(missing.sum()),
        unread=0,
        outside=int(others.sum()),
        suggestions=tuple(suggestions[:_MOST_WORDS]),
        by_hospital=_by_hospital(others, ~missing, hospitals),
    )


def _frequent(column: Any, chosen: cells.Mask) -> list[tuple[str, int]]:
    """Return the words of the chosen cells and how many cells hold each, the most frequent first.

    chosen: which cells count, (n,). Spellings that are one word to the dictionary are counted together, under
    the first of them. Of each portion of a long column only the most frequent spellings count, so that a
    column of a million different texts takes little time.
    """
    if not chosen.any():
        return []
    totals: dict[float | str, tuple[str, int]] = {}  # by the key of a word: its first spelling, and its count
    begin = 0
    for part in cells.portions(cells.chunks_of(column)):
        chosen_part = part.filter(pa.array(chosen[begin : (begin := begin + len(part))]))
        texts = pa.types.is_large_string(part.type)
        entries = pc.value_counts(cells.texts(chosen_part) if texts else chosen_part)
        # The positions of the most frequent spellings, most cells first.
        order = np.argsort(-entries.field("counts").to_numpy(), kind="stable")[:_MOST_SPELLINGS]
        words = entries.field("values").take(pa.array(order)).to_pylist()
        counts = entries.field("counts").to_numpy()[order].tolist()
        spelled = words if texts else [f"{word:.15g}" for word in words]
        for word, key, count in zip(spelled, cells.word_keys(spelled, capitals=False), counts, strict=True):
            if cells.is_word(word):
                spelling, before = totals.get(key, (word, 0))
                totals[key] = spelling, before + count
    return sorted(totals.values(), key=lambda entry: -entry[1])


def _proposal(word: str, categories: Sequence[str]) -> str | None:
    """Return what a word likely stands for: the one category that it resembles, `AS_MISSING`, or None.

    It resembles a category that differs in writing only, or else that begins like it, or else of nearly the
    same letters. None where several do.
    """
    if not categories:  # any other word may be one of them
        return AS_MISSING if _says_missing(word) else None
    folded = _folded(word)
    names = {category: _folded(category) for category in categories}
    alike = [category for category, name in names.items() if name == folded]
    if not alike and _looks_missing(word):
        return next(filter(_says_missing, categories), AS_MISSING)
    if not alike and folded[:1].isalpha():  # a 1 is no short form of 10
        alike = [
            category
            for category, name in names.items()
            if name and (name.startswith(folded) or folded.startswith(name))
        ]
    if not alike:
        close = difflib.get_close_matches(folded, names.values(), 2, _LEAST_RATIO)
        alike = [category for category, name in names.items() if name in close]
    return alike[0] if len(alike) == 1 else None


def _says_missing(word: str) -> bool:
    """Return whether a word can hardly mean anything but a missing cell, such as "unknown" or "-"."""
    text = _SEPARATORS.sub(" ", word.casefold()).strip()
    return not text or bool(_MISSING_WORDS.fullmatch(text))


def _looks_missing(word: str) -> bool:
    """Return whether a word may mean a missing cell: it says so, or is short for it, or a code such as 99."""
    text = _SEPARATORS.sub(" ", word.casefold()).strip()
    return _says_missing(word) or bool(_SHORT_WORDS.fullmatch(text)) or cells.word_keys([word])[0] in _CODES


def _folded(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.casefold())
    return _SEPARATORS.sub("", "".join(each for each in letters if not unicodedata.combining(each)))
