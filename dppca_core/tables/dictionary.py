"""Describe in public how a table becomes rows of numbers, before its rows are looked at.

On screen this description is the table's dictionary. Other modules tell how it is applied (`encode`), and
how cells compare with its words (`cells`).

A number x in [low, high] becomes (x - middle) / half, middle = (low + high)/2, half = (high - low)/2, clipped
to [-1, 1]. A column of c public categories becomes c columns, each the indicator of its category less
1/max(c, 2), about 0 on average where the answers are spread; an answer that is none of them is all zeros less
the same. So 0 is "nothing remarkable" everywhere, and the uncentred second moment of the rows is
about what a covariance would be, with a mean that is public instead of private.

A column can have a usual value from the code book, where most patients lie. It takes the middle's place: x
becomes (x - usual)/half, and of categories the usual one's indicator loses 1, the others nothing.

Ranges and categories are known beforehand (physiology, a code book): taken from the rows they would publish
the lowest and the highest patient.

The models are pydantic's, and their JSON is a Frictionless Table Schema (specs.frictionlessdata.io):

    {"fields": [{"name": "crp", "type": "number", "constraints": {"minimum": 0, "maximum": 400},
                 "decimalChar": ",", "missingValues": ["n.d."], "fill": 3, "synonyms": {"<0.5": 0.25},
                 "unit": "mg/l"},
                {"name": "sex", "type": "string", "categories": ["f", "m"], "fill": "",
                 "otherNames": ["Geschlecht"]}],
     "bound": 1.2}

fill, usual, synonyms, otherNames, unit and bound are this program's own; other programs pass over them. A
saved file may also have "patients", which column names them and how their rows count: it is of one table, and
no part of a `Schema`, so that nothing made from a schema can publish it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from dppca_core import checks
from dppca_core.tables import cells, limits

DECIMALS = (".", ",")
GROUPS = ("", ".", ",", " ", "'")
_MOST_BOUND = 1e6  # of the longest row: beyond, rows vanish beside it
_TYPES = {"number": "number", "integer": "number", "string": "category", "boolean": "category"}
_KEYS = {  # of a Frictionless field, and what a column calls them
    "name": "name",
    "type": "kind",
    "categories": "categories",
    "decimalChar": "decimal",
    "groupChar": "group",
    "missingValues": "missing_codes",
    "fill": "fill",
    "usual": "usual",
    "synonyms": "synonyms",
    "otherNames": "other_names",
    "unit": "unit",
}
_TABLE_KEYS = {"fields", "bound", "missingValues", "primaryKey", "foreignKeys", "uniqueKeys", "fieldsMatch"}
_TABLE_KEYS |= {"$schema", "name", "title", "description", "profile", "patients"}
_IGNORED = {"title", "description", "format", "example", "rdfType", "bareNumber"}  # of other programs


class _Model(BaseModel):
    """Refuse with one sentence, which quotes no value: words may have been seen in private cells."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False
    )

    @property
    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}

    def __eq__(self, other: object) -> bool:
        # By fields alone: pydantic compares cached properties too, one of which is the model itself.
        return type(self) is type(other) and isinstance(other, _Model) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(tuple(self._fields.values()))

    def changed(self, **fields: Any) -> Self:
        return type(self)(**self._fields | fields)


def _sentence(reason: ValidationError, what: str) -> str:
    """Return the first of pydantic's reasons as a sentence on `what`."""
    first = reason.errors(include_url=False, include_input=False)[0]
    if "error" in first.get("ctx", {}):  # a check of ours
        return str(first["ctx"]["error"])
    place = " ".join(str(part) for part in first["loc"][:1])
    return f"{place or 'form'} of {what} cannot be read: {first['msg'].lower()}"


class Column(_Model):
    """Hold what the dictionary says of one column that is used.

    kind: "number", with low < high, or "category", with its public categories ("1" is also 1.0).

    fill: what stands for a missing cell, a number in [low, high], one of the categories, or "" for none of
    them; None: the row is dropped. A filled row keeps the number of patients public; with dropped rows, the
    number that is left has to count as public too.

    usual: what is encoded as 0, a number in [low, high] or one of the categories; None: see the module.

    missing_codes: cells that count as missing, such as "999" or "<5". synonyms: other words, each with the
    category or the number in [low, high] that it stands for. How they compare: `dppca_core.tables.cells`.
    Words that were seen in the rows are private: `published` is without either.

    decimal, group: the marks of decimals and thousands in numbers that are text; decimal None: as the file's
    form says, or what is clear. other_names: what files call the column besides `name`. unit: in which it is
    measured, such as "mg/l", for readers alone: nothing is computed from it. "": not stated.

    Raises ValueError that names the column.
    """

    name: str
    kind: Literal["number", "category"]
    low: float = 0.0
    high: float = 0.0
    categories: tuple[str, ...] = ()
    fill: float | str | None = None
    usual: float | str | None = None
    missing_codes: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, float | str], ...] = ()
    decimal: Literal[".", ","] | None = None
    group: Literal["", ".", ",", " ", "'"] = ""
    other_names: tuple[str, ...] = ()
    unit: str = ""

    def __init__(
        self, name: Any, kind: Any, low: Any = 0.0, high: Any = 0.0, categories: Any = (), **fields: Any
    ) -> None:
        given = {"name": name, "kind": kind, "low": low, "high": high, "categories": categories}
        try:
            super().__init__(**given | fields)
        except ValidationError as reason:
            quoted = f"'{name[: limits.MOST_NAME]}'" if isinstance(name, str) else "a column"
            raise ValueError(_sentence(reason, quoted)) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        # The message of a check begins with the keyword under which the value is handed over.
        for name in (self.name, *self.other_names):
            if not name.strip() or not name.isprintable():
                raise ValueError("name of a column must be a word that can be printed")
            if len(name) > limits.MOST_NAME:
                raise ValueError(f"name of a column must have at most {limits.MOST_NAME} letters")
        if len(self.unit) > limits.MOST_NAME or not self.unit.isprintable():
            raise ValueError(f"unit of '{self.name}' must be at most {limits.MOST_NAME} letters, as 'mg/l'")
        if self.kind == "number":
            self._check_range()
        else:
            self._check_categories()
        if self.group and self.group == self.decimal:
            raise ValueError(f"decimals and thousands of '{self.name}' must have different marks")
        if self.group and self.decimal is None:
            raise ValueError(f"'{self.name}' needs its mark of decimals, where it has one of thousands")
        if self.missing_codes or self.synonyms:
            self._check_codes_and_synonyms()
        return self

    def _check_range(self) -> None:
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
        if not 1 <= len(self.categories) <= limits.MOST_CATEGORIES:
            raise ValueError(
                f"categories of '{self.name}' must be between 1 and {limits.MOST_CATEGORIES} words"
            )
        for word in self.categories:
            if not word.isprintable() or word != word.strip():
                raise ValueError(f"categories of '{self.name}' must be words, got {word!r}")
        missing = cells.word_numbers(self.categories).missing
        if missing.any():
            word = self.categories[int(np.argmax(missing))]
            raise ValueError(f"categories of '{self.name}' must not hold {word!r}, which counts as missing")
        if len(set(cells.word_keys(self.categories))) < len(self.categories):
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
            if len(mapped) > limits.MOST_CATEGORIES or not all(map(cells.is_word, mapped)):
                raise ValueError(
                    f"{what} of '{self.name}' must be at most {limits.MOST_CATEGORIES} words without "
                    "';' and ' = '"
                )
        read = cells.word_numbers(words)
        if read.missing.any():
            raise ValueError(f"synonyms of '{self.name}' must not hold a word that counts as missing")
        if self.kind == "category":
            if any(meant not in self.categories for _, meant in self.synonyms):
                raise ValueError(f"synonyms of '{self.name}' must each stand for one of its categories")
        elif not read.unread.all() or not all(
            isinstance(meant, float) and self.low <= meant <= self.high for _, meant in self.synonyms
        ):
            raise ValueError(
                f"synonyms of '{self.name}' must be words, each of which stands for a number of its range"
            )
        # Cells are compared with these words without regard to capitals.
        code_keys, word_keys, category_keys = (
            cells.word_keys(mapped, capitals=False) for mapped in (codes, words, self.categories)
        )
        alike = set(code_keys) & {*word_keys, *category_keys}
        if alike or len(set(word_keys)) < len(words) or set(words) & set(self.categories):
            raise ValueError(
                f"'{self.name}' takes one word in two ways: as missing code, synonym or category"
            )

    @classmethod
    def from_field(cls, field: object) -> Column:
        """Return the column that a field of a Frictionless Table Schema states."""
        if not isinstance(field, Mapping) or not {"name", "type"} <= field.keys():
            raise ValueError('Each column of the dictionary needs a "name" and a "type".')
        name = field["name"]
        if unknown := sorted(set(map(str, field)) - {*_KEYS, *_IGNORED, "constraints"}):
            raise ValueError(f"Column {name!r} of the dictionary has an unknown entry {unknown[0]!r}.")
        kind = "category" if "categories" in field else _TYPES.get(str(field["type"]), field["type"])
        given = {_KEYS[key]: value for key, value in field.items() if key in _KEYS} | {"kind": kind}
        constraints = field.get("constraints", {})
        if not isinstance(constraints, Mapping):
            raise ValueError(f"Column {name!r} of the dictionary needs a record of constraints.")
        if kind == "category" and "enum" in constraints:
            given.setdefault("categories", constraints["enum"])
        if kind == "number":
            if lacking := sorted({"minimum", "maximum"} - constraints.keys()):
                raise ValueError(f"Column {name!r} of the dictionary lacks its {' and '.join(lacking)}.")
            given |= {"low": constraints["minimum"], "high": constraints["maximum"]}
        for key in ("categories", "missing_codes", "other_names"):
            if isinstance(words := given.get(key), list):
                given[key] = tuple(map(_word, words))
        if isinstance(synonyms := given.get("synonyms"), Mapping):
            given["synonyms"] = tuple(synonyms.items())
        # What a text file has for a cell without anything is missing anyway.
        if isinstance(codes := given.get("missing_codes"), tuple):
            given["missing_codes"] = tuple(code for code in codes if code != "")
        return cls(**given)

    @model_serializer(mode="wrap")
    def _to_field(self, _: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the field of a Frictionless Table Schema, without what this column does not use."""
        field: dict[str, Any] = {"name": self.name, "type": "number"}
        if self.kind == "number":
            field["constraints"] = {"minimum": self.low, "maximum": self.high}
        else:
            field |= {"type": "string", "categories": list(self.categories)}
        if self.decimal is not None:
            field |= {"decimalChar": self.decimal} | ({"groupChar": self.group} if self.group else {})
        if self.missing_codes:
            field["missingValues"] = list(self.missing_codes)
        field["fill"] = self.fill
        field |= {} if self.usual is None else {"usual": self.usual}
        field |= {"synonyms": dict(self.synonyms)} if self.synonyms else {}
        field |= {"otherNames": list(self.other_names)} if self.other_names else {}
        return field | ({"unit": self.unit} if self.unit else {})

    @property
    def marks(self) -> cells.Marks | None:
        return None if self.decimal is None else cells.Marks(self.decimal, self.group)

    @property
    def middle(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def origin(self) -> float:
        """Return the number that is encoded as 0."""
        return self.middle if self.usual is None else float(self.usual)

    @property
    def half(self) -> float:
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


class Schema(_Model):
    """Hold the chosen columns, and the public norm that no row exceeds once clipped. It depends on no rows.

    bound: that norm, in units of the encoded rows; `default_bound` where None is given. A feature is an
    encoded column, of which a category column gives several. Raises ValueError for no or too many columns,
    fewer than two features, columns of one name, or a bound that is not positive or far beyond every row.
    """

    columns: tuple[Column, ...]
    bound: float

    def __init__(self, columns: Any, bound: Any = None) -> None:
        if not isinstance(columns, tuple) or not all(isinstance(each, Column) for each in columns):
            raise ValueError("columns must be a tuple of Column")
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("columns must have different names")
        d = sum(len(column.features) for column in columns)
        if not 2 <= d <= limits.MOST_FEATURES:
            raise ValueError(
                f"columns must become between 2 and {limits.MOST_FEATURES:,} features, one for each number "
                f"and each category, got {d:,}"
                + (": choose fewer from the literature or a code book" if d > 1 else "")
            )
        squares = math.fsum(column.even_square for column in columns)
        if bound is None:
            bound = math.sqrt(squares)
        checks.positive(bound=bound)
        longest = math.sqrt(math.fsum(column.most_square for column in columns))
        if bound > _MOST_BOUND * longest:
            raise ValueError(f"bound must be near {longest:.4g}, which no row exceeds, got {bound:g}")
        super().__init__(**{"columns": columns, "bound": bound})  # names that mypy does not know of a model

    @cached_property
    def features(self) -> tuple[str, ...]:
        return tuple(feature for column in self.columns for feature in column.features)

    @property
    def d(self) -> int:
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
        bare = tuple(column.changed(missing_codes=(), synonyms=(), other_names=()) for column in self.columns)
        return self if bare == self.columns else self.changed(columns=bare)

    @model_serializer(mode="wrap")
    def _to_table_schema(self, _: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"fields": [column.model_dump() for column in self.columns], "bound": self.bound}

    def to_json(self) -> str:
        return self._json

    @cached_property
    def _json(self) -> str:
        return json.dumps(self.model_dump(), indent=1, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes) -> Schema:
        """Return the schema that a Frictionless Table Schema states, of this program or another."""
        try:
            plain = json.loads(text)
        except UnicodeDecodeError:
            raise ValueError("The dictionary is not in UTF-8: save it in that encoding.") from None
        except (ValueError, RecursionError):
            plain = None
        if not isinstance(plain, dict) or not isinstance(plain.get("fields"), list):
            raise ValueError('The dictionary must be JSON with "fields", a list with one record a column.')
        if unknown := sorted(plain.keys() - _TABLE_KEYS):
            raise ValueError(f"The dictionary has an unknown entry {unknown[0]!r}.")
        common = plain.get("missingValues", [])  # of all columns, as other programs write them
        fields = plain["fields"]
        if isinstance(common, list) and any(common):
            fields = [
                {"missingValues": common} | field if isinstance(field, dict) else field for field in fields
            ]
        return Schema(tuple(map(Column.from_field, fields)), plain.get("bound"))


def lacks_values(field: object) -> bool:
    """Return whether a field of a Table Schema is a column of which no range and no categories are stated."""
    if not isinstance(field, Mapping) or not isinstance(field.get("name"), str) or "type" not in field:
        return False
    stated = field.get("constraints", {})
    if not isinstance(stated, Mapping) or "categories" in field or "enum" in stated:
        return False
    return _TYPES.get(str(field["type"])) != "number" or not {"minimum", "maximum"} <= stated.keys()


def _word(word: object) -> object:
    """Return a word as text: a person may have written a code such as 999 as a number, or with a label."""
    if isinstance(word, Mapping):
        word = word.get("value")
    return str(word) if isinstance(word, int | float) else word
