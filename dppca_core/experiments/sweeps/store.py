"""The CSV file of a sweep, which grows while it runs and from which the sweep can continue.

Every row is a line with the fingerprint of what it depends on; numbers are written so that reading them
returns the same double. A last line without its end was cut off: it is dropped and its cell run again.
"""

import csv
import fcntl
import io
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from dppca_core.experiments.sweeps.recipe import BY_ROUND, METRICS, WHOLE, Key, Recipe
from dppca_core.experiments.sweeps.recipe_file import fingerprint
from dppca_core.experiments.sweeps.run_cells import Row

_WORDS = ("recipe", "label", "method", "notes", "failed", *(METRICS[name] for name in BY_ROUND))  # of text
_ERRORS = frozenset(METRICS.values())  # columns that are never negative
_COUNTS = ("repeat", "bytes_sent_per_hospital", *WHOLE)  # columns of whole numbers


def columns(recipe: Recipe) -> list[str]:
    errors = [METRICS[name] for name in recipe.metrics]
    costs = ["noise_std", "bytes_sent_per_hospital", "seconds", "notes", "failed"]
    return ["label", "method", *recipe.swept_names, "repeat", *errors, *costs, "recipe"]


def key_of(recipe: Recipe, row: Row) -> Key:
    return Key(row["label"], tuple(row[name] for name in recipe.swept_names), row["repeat"])


def table(recipe: Recipe, rows: dict[Key, Row]) -> pd.DataFrame:
    finished = [rows[key] for key in recipe.cells() if key in rows]
    frame = pd.DataFrame(finished, columns=columns(recipe))
    whole = ("repeat", *WHOLE)
    kinds = {name: "int64" if name in whole else "float64" for name in frame if name not in _WORDS}
    return frame.astype(kinds | {"bytes_sent_per_hospital": "Int64"})


class Store:
    """Read and write the file of a sweep. Raises ValueError, and changes nothing, for any other file.

    A row belongs to this recipe where its fingerprint is that of the variant with its label.
    """

    def __init__(self, path: str | Path, recipe: Recipe) -> None:
        self.path = Path(path)
        self._columns = columns(recipe)
        self._fingerprints = {chosen.label: fingerprint(recipe, chosen) for chosen in recipe.methods}
        self._recipe = recipe

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the file inside a `with` block, creating it; ValueError where another sweep has locked it."""
        with self._writing():
            file = self.path.open("ab")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(
                    f"{self.path} is written by another sweep: wait for it, or give another file"
                ) from None
            yield

    def read(self) -> dict[Key, Row]:
        """Return the rows of the file, by cell; begin a new file, or cut off an unfinished last line."""
        whole = self.path.read_bytes() if self.path.exists() else b""
        *lines, rest = whole.split(b"\n")  # rest: of a last line without its end, else empty
        header = (",".join(self._columns) + "\n").encode()
        # Without a whole line, the file is new, or was cut off while its header was written.
        if not (self._words(lines[0], 1) == self._columns if lines else header.startswith(rest)):
            raise ValueError(f"{self.path} must have the columns {', '.join(self._columns)}")
        if not lines:
            with self._writing():
                self.path.write_bytes(header)
            return {}
        rows: dict[Key, Row] = {}
        for number, line in enumerate(lines[1:], start=2):
            row = self._row(line, number)
            rows.setdefault(key_of(self._recipe, row), row)
        if rest:  # cut off only now, when all other lines have proved to be this sweep's
            with self.path.open("r+b") as file:
                file.truncate(len(whole) - len(rest))
        return rows

    def _words(self, line: bytes, number: int) -> list[str]:
        try:
            return next(csv.reader([line.decode("utf-8")], strict=True))
        except UnicodeDecodeError as reason:
            raise ValueError(f"{self.path} must hold CSV, line {number}: it is not in UTF-8") from reason
        except csv.Error as reason:
            raise ValueError(f"{self.path} must hold CSV, line {number}: {reason}") from reason

    def _row(self, line: bytes, number: int) -> Row:
        """Return a line as a row of this recipe, or of a variant that was taken out of it."""
        words = self._words(line, number)
        if len(words) != len(self._columns):
            raise ValueError(f"{self.path} must have {len(self._columns)} values in line {number}")
        row: Row = {}
        for name, word in zip(self._columns, words, strict=True):
            try:
                row[name] = _read(name, word)
            except (ValueError, OverflowError) as reason:
                shortened = word if len(word) <= 40 else f"{word[:40]}..."
                raise ValueError(
                    f"{self.path} must hold a number for {name} in line {number}, got {shortened!r}"
                ) from reason
        if self._fingerprints.get(row["label"], row["recipe"]) != row["recipe"]:
            raise ValueError(f"{self.path} must hold this recipe, line {number} is of another")
        return row

    def append(self, rows: Iterable[Row]) -> None:
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        for row in rows:
            lines.writerow([_written(row[name]) for name in self._columns])
        with self._writing(), self.path.open("a", encoding="utf-8") as file:
            file.write(text.getvalue())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn an OSError inside into one whose sentence says that the file's rows are kept."""
        try:
            yield
        except OSError as reason:
            raise OSError(
                f"{self.path} cannot be written ({reason.strerror}): what it holds is kept, and the same "
                "command goes on from there"
            ) from reason


def _written(value: object) -> str:
    """Return a value as `_read` reads it: None and NaN as nothing, other numbers so that none is rounded."""
    if value is None or value != value:  # NaN alone differs from itself
        return ""
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _read(name: str, word: str) -> object:
    """Return the value of a field of this column. Raises ValueError for what `_written` never writes."""
    if name in _WORDS:
        return word
    if name in _COUNTS:
        if name == "repeat" or word:
            return int(np.int64(int(word)))  # refuses an empty repeat, and more digits than int64 holds
        return None
    value = float(word) if word else math.nan
    if word and (
        math.isnan(value) or (math.isinf(value) and word != "inf") or (value < 0 and name in _ERRORS)
    ):
        raise ValueError("no sweep writes such a number")
    return value
