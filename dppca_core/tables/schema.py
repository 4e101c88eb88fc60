"""Describe in public how a table becomes rows of numbers, before its rows are looked at.

On screen this description is the table's dictionary. Other modules tell how it is applied (`encoding`), and
how cells compare with its words (`answers`).

A number x in [low, high] becomes (x - middle) / half, middle = (low + high)/2, half = (high - low)/2, clipped
to [-1, 1]. A column of c public categories becomes c columns, each the indicator of its category less
1/max(c, 2), about 0 on average where the answers are spread; an answer that is none of them is all zeros less
the same. So 0 is "nothing remarkable" everywhere, and the uncentred second moment of the rows is
about what a covariance would be, with a mean that is public instead of private.

A column can have a usual value from the code book, where most patients lie. It takes the middle's place: x
becomes (x - usual)/half, and of categories the usual one's indicator loses 1, the others nothing.

Ranges and categories are known beforehand (physiology, a code book): taken from the rows they would publish
the lowest and the highest patient.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.tables import answers, limits

KINDS = ("number", "category")
_MOST_BOUND = 1e6  # of the longest row: beyond, rows vanish beside it


@dataclass(frozen=True)
class Column:
    """Hold what the dictionary says of one column that is used.

    kind: "number", with low < high, or "category", with its public categories ("1" is also 1.0).

    fill: what stands for a missing cell, a number in [low, high], one of the categories, or "" for none of
    them; None: the row is dropped. A filled row keeps the number of patients public; with dropped rows, the
    number that is left has to count as public too.

    usual: what is encoded as 0, a number in [low, high] or one of the categories; None: see the module.

    missing_codes: cells that count as missing, such as "999" or "<5". synonyms: other words for categories,
    each with its category. How they compare: `dppca_core.tables.answers`. Words that were seen in the rows
    are private: `published` is without either.

    Raises ValueError that names the column.
    """

    name: str
    kind: str
    low: float = 0.0
    high: float = 0.0
    categories: tuple[str, ...] = ()
    fill: float | str | None = None
    usual: float | str | None = None
    missing_codes: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        # The message of a check begins with the keyword under which the value is handed over.
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise ValueError(f"name of a column must be a word, got {self.name!r}")
        if len(self.name) > limits.MOST_NAME:
            raise ValueError(f"name of a column must have at most {limits.MOST_NAME} letters")
        checks.one_of(KINDS, **{f"kind of '{self.name}'": self.kind})
        if self.kind == "number":
            self._check_range()
        else:
            self._check_categories()
        if self.missing_codes or self.synonyms:
            self._check_codes_and_synonyms()

    def _check_range(self) -> None:
        """Raise ValueError for a number column's fields that cannot be: range, fill, usual value."""
        for end in ("low", "high"):
            checks.within(-1e300, 1e300, **{f"{end} of '{self.name}'": getattr(self, end)})
        if not self.low < self.high or not self.half > 0:  # half of a tiny range rounds to 0
            raise ValueError(
                f"low of '{self.name}' must be below its high, got {self.low:g} and {self.high:g}"
            )
        if self.categories:
            raise ValueError(f"'{self.name}' is a number and has no categories")
        if self.fill is not None:
            checks.within(self.low, self.high, **{f"fill of '{self.name}'": self.fill})
        if self.usual is not None:
            checks.within(self.low, self.high, **{f"usual value of '{self.name}'": self.usual})

    def _check_categories(self) -> None:
        """Raise ValueError for a category column's fields that cannot be: words, fill, usual category."""
        if not isinstance(self.categories, tuple) or not 1 <= len(self.categories) <= limits.MOST_CATEGORIES:
            raise ValueError(
                f"categories of '{self.name}' must be between 1 and {limits.MOST_CATEGORIES} words"
            )
        for word in self.categories:
            if not isinstance(word, str) or not word.isprintable() or word != word.strip():
                raise ValueError(f"categories of '{self.name}' must be words, got {word!r}")
        missing = answers.as_numbers(self.categories).missing
        if missing.any():
            word = self.categories[int(np.argmax(missing))]
            raise ValueError(f"categories of '{self.name}' must not hold {word!r}, which counts as missing")
        if len(set(answers.keys(self.categories))) < len(self.categories):
            raise ValueError(f"categories of '{self.name}' must differ from each other")
        if self.fill is not None:
            checks.one_of(("", *self.categories), **{f"fill of '{self.name}'": self.fill})
        if self.usual is not None:
            checks.one_of(self.categories, **{f"usual value of '{self.name}'": self.usual})

    def _check_codes_and_synonyms(self) -> None:
        """Raise ValueError for missing codes and synonyms that cannot be.

        They may have been seen in private cells, so none of them is quoted.
        """
        codes, words = self.missing_codes, tuple(word for word, _ in self.synonyms)
        for what, mapped in (("missing codes", codes), ("synonyms", words)):
            if len(mapped) > limits.MOST_CATEGORIES or not all(map(answers.is_word, mapped)):
                raise ValueError(
                    f"{what} of '{self.name}' must be at most {limits.MOST_CATEGORIES} words without "
                    "';' and ' = '"
                )
        if any(category not in self.categories for _, category in self.synonyms):
            raise ValueError(f"synonyms of '{self.name}' must each stand for one of its categories")
        if answers.as_numbers(words).missing.any():
            raise ValueError(f"synonyms of '{self.name}' must not hold a word that counts as missing")
        # Cells are compared with these words without regard to capitals.
        code_keys, word_keys, category_keys = (
            answers.keys(mapped, capitals=False) for mapped in (codes, words, self.categories)
        )
        alike = set(code_keys) & {*word_keys, *category_keys}
        if alike or len(set(word_keys)) < len(words) or set(words) & set(self.categories):
            raise ValueError(
                f"'{self.name}' takes one word in two ways: as missing code, synonym or category"
            )

    @property
    def middle(self) -> float:
        """Return the middle of the range."""
        return self.low / 2 + self.high / 2

    @property
    def origin(self) -> float:
        """Return the number that is encoded as 0."""
        return self.middle if self.usual is None else float(self.usual)

    @property
    def half(self) -> float:
        """Return half the width of the range."""
        return self.high / 2 - self.low / 2  # halved first: the difference of two large ends may overflow

    @property
    def centres(self) -> tuple[float, ...]:
        """Return what is taken from each category's indicator, (c,).

        It is 1/max(c, 2), or with a usual category 1 for that one and 0 for the others.
        """
        if self.usual is not None:
            return tuple(float(word == self.usual) for word in self.categories)
        return (1 / max(len(self.categories), 2),) * len(self.categories)

    @property
    def most_square(self) -> float:
        """Return the most that this column's encoded entries add to the squared length of a row."""
        if self.kind == "number":
            return (max(self.origin - self.low, self.high - self.origin) / self.half) ** 2
        # An answer that is none of the categories leaves -a in every entry; category j adds 1 to entry j,
        # whose square becomes (1 - a_j)^2 = a_j^2 + 1 - 2 a_j.
        no_category = math.fsum(a**2 for a in self.centres)
        return max(no_category, *(no_category + 1 - 2 * a for a in self.centres))

    @property
    def even_square(self) -> float:
        """Return what this column adds to the squared length of a row on average, if answers spread evenly.

        A number spreads evenly over its range, encoded about the middle, and an answer over the categories.
        A usual value is left aside.
        """
        if self.kind == "number":
            return 1 / 3  # the variance of a uniform number in [-1, 1]
        c, a = len(self.categories), 1 / max(len(self.categories), 2)
        # The entry of the answer is 1 - a, and each of the c - 1 others is -a.
        return (1 - a) ** 2 + (c - 1) * a**2

    @property
    def features(self) -> tuple[str, ...]:
        """Return the names of the encoded columns that it becomes: "age", or "sex = female", "sex = male"."""
        if self.kind == "number":
            return (self.name,)
        return tuple(f"{self.name} = {word}" for word in self.categories)


@dataclass(frozen=True)
class Schema:
    """Hold the chosen columns, and the public norm that no row exceeds once clipped. It depends on no rows.

    bound: that norm, in units of the encoded rows; `default_bound` where None is given. A feature is an
    encoded column, of which a category column gives several. Raises ValueError for no or too many columns,
    fewer than two features, columns of one name, or a bound that is not positive or far beyond every row.
    """

    columns: tuple[Column, ...]
    bound: float = None  # type: ignore[assignment]  # becomes the default

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple) or not all(isinstance(c, Column) for c in self.columns):
            raise ValueError("columns must be a tuple of Column")
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError("columns must have different names")
        if not 2 <= self.d <= limits.MOST_FEATURES:
            raise ValueError(
                f"columns must become between 2 and {limits.MOST_FEATURES:,} features, one for each number "
                f"and each category, got {self.d:,}"
                + (": choose fewer from the literature or a code book" if self.d > 1 else "")
            )
        if self.bound is None:  # a frozen dataclass is set this way
            object.__setattr__(self, "bound", self.default_bound)
        checks.positive(bound=self.bound)
        if self.bound > _MOST_BOUND * self.longest:
            raise ValueError(
                f"bound must be near {self.longest:.4g}, which no row exceeds, got {self.bound:g}"
            )

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Return the names of the encoded columns, (d,): "age", "sex = female"."""
        return tuple(feature for column in self.columns for feature in column.features)

    @property
    def d(self) -> int:
        """Return the number of features, encoded columns."""
        return len(self.features)

    @cached_property
    def longest(self) -> float:
        """Return the norm that no encoded row exceeds: clipping at it changes nothing."""
        return math.sqrt(math.fsum(column.most_square for column in self.columns))

    @cached_property
    def default_bound(self) -> float:
        """Return the bound where none is given: the root mean square norm of rows that spread evenly.

        Evenly means over ranges and categories; for numbers it is sqrt(d/3). The noise grows with bound^2, so
        that against `longest`, where no row is ever clipped, this bound saves a factor of up to three.
        Measured values crowd about the middle of ranges that are wide enough for everyone, or about their
        usual values, so few rows are longer, and those are shortened, not lost: their direction stays.
        """
        return math.sqrt(math.fsum(column.even_square for column in self.columns))

    @cached_property
    def has_usual_values(self) -> bool:
        """Return whether every column has a usual value, so that rows lie about 0.

        Then no privacy budget needs to be spent on a mean at which to centre them.
        """
        return all(column.usual is not None for column in self.columns)

    @property
    def leaves_rows_out(self) -> bool:
        """Return whether a row can be left out: some column has nothing to stand for a missing cell."""
        return any(column.fill is None for column in self.columns)

    @cached_property
    def published(self) -> Schema:
        """Return the schema as it may be published, without missing codes and synonyms.

        These may have been seen in private cells.
        """
        bare = tuple(replace(column, missing_codes=(), synonyms=()) for column in self.columns)
        return self if bare == self.columns else replace(self, columns=bare)

    def to_json(self) -> str:
        """Return the schema as text, which `from_json` reads."""
        return self._json

    @cached_property
    def _json(self) -> str:
        """Return the text of `to_json`, made once: a schema cannot change."""
        plain = {"columns": [_plain(column) for column in self.columns], "bound": self.bound}
        return json.dumps(plain, indent=1, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes) -> Schema:
        """Return the schema that a JSON text states, as `to_json` writes it or a person did.

        Raises ValueError with one sentence for a text that states none.
        """
        try:
            plain = json.loads(text)
        except UnicodeDecodeError:
            raise ValueError("The dictionary is not in UTF-8: save it in that encoding.") from None
        except (ValueError, RecursionError):
            plain = None
        if not isinstance(plain, dict) or not isinstance(plain.get("columns"), list):
            raise ValueError('The dictionary must be JSON with "columns", a list with one record a column.')
        if unknown := sorted(set(plain) - {"columns", "bound"}):
            raise ValueError(f"The dictionary has an unknown entry {unknown[0]!r}.")
        bound: Any = plain.get("bound")
        return Schema(tuple(_column(entry) for entry in plain["columns"]), bound)


def _plain(column: Column) -> dict[str, Any]:
    """Return a column as a record for JSON, without the fields that its kind does not use."""
    omitted = {"missing_codes", "synonyms"}  # they are added below, in another form
    omitted |= {"low", "high"} if column.kind == "category" else {"categories"}
    # Fields that later versions added are left out where they are unused: the text is then the same as an
    # earlier version's, by which ledgers know the schema again.
    omitted |= {"usual"} if column.usual is None else set()
    plain = {key: value for key, value in asdict(column).items() if key not in omitted}
    plain |= {"missing codes": list(column.missing_codes)} if column.missing_codes else {}
    return plain | ({"synonyms": dict(column.synonyms)} if column.synonyms else {})


def _column(entry: object) -> Column:
    """Return the column that a record of JSON states. Raises ValueError for an unknown or missing entry."""
    if not isinstance(entry, dict) or not {"name", "kind"} <= entry.keys():
        raise ValueError('Each column of the dictionary needs a "name" and a "kind".')
    needed = {"low", "high"} if entry["kind"] == "number" else {"categories"}
    allowed = {"name", "kind", "fill", "usual", "missing codes", "synonyms"} | needed
    if unknown := sorted(set(entry) - allowed):
        raise ValueError(f"Column {entry['name']!r} of the dictionary has an unknown entry {unknown[0]!r}.")
    if lacking := sorted(needed - entry.keys()):
        raise ValueError(f"Column {entry['name']!r} of the dictionary lacks {' and '.join(lacking)}.")
    given = dict(entry)
    codes, synonyms = given.pop("missing codes", []), given.pop("synonyms", {})
    if not isinstance(codes, list) or not isinstance(synonyms, dict):
        raise ValueError(
            f"Column {entry['name']!r} of the dictionary needs a list of missing codes, and synonyms as "
            '{"word": "category"}.'
        )
    if isinstance(words := given.get("categories"), list):  # `Column` refuses anything but a tuple
        given["categories"] = tuple(words)
    # A person may have written a code such as 999 as a number.
    code_words = tuple(str(code) if isinstance(code, int | float) else code for code in codes)
    return Column(**given, missing_codes=code_words, synonyms=tuple(synonyms.items()))
