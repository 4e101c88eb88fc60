"""Read a typed list of eigenvalues, or a pasted table of correlations, and keep either as one short text.

The text is "100,60,35" for eigenvalues, and "r0.5_0.3,0.2" for what is below a table's diagonal, row by row.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dppca_core.arrays import Array
from dppca_core.populations.stated import (
    MOST_CORRELATED,
    ROUNDING,
    StatedCorrelations,
    StatedEigenvalues,
    components_with_gap,
)

MOST_EIGENVALUES = 2000
MOST_COMPONENTS = 20  # that are looked for below
_TABLE = "r"
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")
_ONE_DECIMAL = re.compile(r"-?\d+,\d+")  # a line of a column


def numbers_of(text: str) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    """Return the eigenvalues that a text lists, descending, or the rows of a table below its diagonal.

    A list is in one line or in one column, in any order. A table is square, with 1 on its diagonal, or has
    the lower triangle alone. Numbers are separated by tabs, spaces, semicolons or commas. Where tabs or
    semicolons separate them and no point is used, or in one column, a comma is the decimal sign.

    Raises ValueError, whose sentence says what to change, for anything else, and for commas and points that
    can be read in two ways.
    """
    text = text.removeprefix("\ufeff").replace("\u2212", "-").replace("\r", "\n")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    decimal_comma = _has_decimal_commas(lines)
    between = r"[;\s]+" if decimal_comma else r"[;,\s]+"
    rows = []
    for i, line in enumerate(lines):
        parts = [part for part in re.split(between, line) if part]
        if decimal_comma and any(map(_THOUSANDS.fullmatch, parts)):
            raise ValueError(
                f"Row {i + 1} holds a comma that may mark thousands or decimals: write a point for decimals, "
                "and leave out marks of thousands."
            )
        try:
            rows.append(tuple(float(part.replace(",", ".")) for part in parts))
        except ValueError:
            raise ValueError(f"Row {i + 1} holds something that is no number: paste numbers alone.") from None
        if not all(map(math.isfinite, rows[-1])):
            raise ValueError(f"Row {i + 1} holds a number that is not finite.")
    if not any(rows):
        raise ValueError("There is no number yet: type eigenvalues, or paste a table of correlations.")
    widths = [len(row) for row in rows]
    if len(rows) == 1 or max(widths) == 1:
        return _eigenvalues([number for row in rows for number in row])
    if widths not in ([len(rows)] * len(rows), list(range(1, len(rows) + 1))):
        i = next((i for i, width in enumerate(widths) if width != len(rows)), 0)
        raise ValueError(
            f"A table needs as many numbers in each row as it has rows: of {len(rows)} rows, row {i + 1} "
            f"has {widths[i]}."
        )
    return _lower_triangle(rows)


def _has_decimal_commas(lines: Sequence[str]) -> bool:
    """Return whether commas are decimal signs in these lines. Raises ValueError where that cannot be told."""
    whole = "\n".join(lines)
    if "," not in whole:
        return False
    if re.search(r"[;\t]", whole):
        if "." in whole:
            raise ValueError(
                "There are both commas and points: write a point for decimals, and leave out marks of "
                "thousands."
            )
        return True
    if len(lines) > 2 and all(map(_ONE_DECIMAL.fullmatch, lines)):
        return True
    if any(re.search(r"[^,\s]\s+[^,\s]", line) and "," in line for line in lines):
        raise ValueError(
            "Commas and blanks both separate numbers: separate them by semicolons or tabs, and write a point "
            "for decimals."
        )
    return False


def _eigenvalues(numbers: list[float]) -> tuple[float, ...]:
    if len(numbers) > MOST_EIGENVALUES:
        raise ValueError(f"Of {len(numbers):,} eigenvalues at most {MOST_EIGENVALUES:,} are taken.")
    if not all(0 <= number <= 1e9 for number in numbers):
        raise ValueError("Eigenvalues of a covariance are numbers from 0 to a billion.")
    ordered = tuple(sorted(numbers, reverse=True))
    if not ordered[0] >= 1e-9:
        raise ValueError("At least one eigenvalue must be above 0.")
    if len(ordered) > 1 and not components_with_gap(np.array(ordered)):
        raise ValueError("All eigenvalues are equal, so that no component stands out.")
    return ordered


def _lower_triangle(rows: list[tuple[float, ...]]) -> tuple[tuple[float, ...], ...]:
    d = len(rows)
    if d > MOST_CORRELATED:
        raise ValueError(f"The table has {d} features, and at most {MOST_CORRELATED} are taken.")
    for i, row in enumerate(rows):
        if abs(row[i] - 1) > 0.005:
            raise ValueError(f"A table of correlations has 1 on its diagonal, and row {i + 1} has not.")
        for j in range(i):
            if len(rows[0]) == d and abs(row[j] - rows[j][i]) > 0.005:
                raise ValueError(
                    f"A table of correlations is symmetric, and row {i + 1} differs from column {i + 1}."
                )
            if not abs(row[j]) <= 1:
                raise ValueError(f"Correlations lie between −1 and 1, and row {i + 1} has one beyond.")
    lower = tuple(row[:i] for i, row in enumerate(rows))[1:]
    table = np.eye(d)
    for i, row in enumerate(lower, 1):
        table[i, :i] = row
    eigenvalues = np.linalg.eigvalsh(table)[::-1]  # of the lower triangle alone
    if eigenvalues[-1] < -ROUNDING * math.sqrt(d):
        raise ValueError(
            f"No patients have these correlations together: an eigenvalue is {eigenvalues[-1]:.2g}, below 0 "
            "by more than rounding explains."
        )
    if not components_with_gap(np.maximum(eigenvalues, 0.0)):
        raise ValueError("All eigenvalues are equal, so that no component stands out.")
    return lower


def is_table(value: str) -> bool:
    return value.startswith(_TABLE)


def typed(text: str) -> str:
    """Return the setting that a visitor's text means.

    Raises ValueError, whose sentence says what to change, for text that is neither list nor table.
    """
    return kept(numbers_of(text))


def kept(numbers: tuple[float, ...] | tuple[tuple[float, ...], ...]) -> str:
    """Return the setting that holds these numbers. Raises ValueError where no k up to 20 is possible."""
    rows = [row for row in numbers if isinstance(row, tuple)]
    listed = [number for number in numbers if not isinstance(number, tuple)]
    if rows:
        value = _TABLE + "_".join(",".join(f"{number:.12g}" for number in row) for row in rows)
    else:
        value = ",".join(f"{number:.12g}" for number in listed)
    if not components(value):
        raise ValueError(
            "The first 21 eigenvalues are equal, so that no component up to the 20th stands out."
        )
    return value


def shown(value: str) -> str:
    """Return the setting as a visitor may edit it: a list, or the lower triangle of a table, diagonal too."""
    if not is_table(value):
        return value.replace(",", ", ")
    rows = ["", *value.removeprefix(_TABLE).split("_")]
    return "\n".join("\t".join([*filter(None, row.split(",")), "1"]) for row in rows)


@lru_cache(maxsize=32)
def _numbers(value: str) -> tuple[float, ...]:
    return tuple(map(float, value.removeprefix(_TABLE).replace("_", ",").split(",")))


@lru_cache(maxsize=32)
def features(value: str) -> int:
    """Return how many features a table has, or how many eigenvalues are listed."""
    return len(value.split("_")) + 1 if is_table(value) else len(_numbers(value))


def ends(value: str) -> tuple[float, float]:
    """Return the largest and the smallest number of a setting."""
    return max(_numbers(value)), min(_numbers(value))


@lru_cache(maxsize=32)
def components(value: str) -> tuple[int, ...]:
    """Return the numbers of components, up to 20, at which the next eigenvalue is smaller.

    Below a list of eigenvalues there may be others, which are smaller than the last.
    """
    if is_table(value):
        eigenvalues: Array = StatedCorrelations(_numbers(value), _first_gap(value)).eigenvalues
    else:
        eigenvalues = np.array([*_numbers(value), 0.0])
    return tuple(k for k in components_with_gap(eigenvalues) if k <= MOST_COMPONENTS)


def _first_gap(value: str) -> int:
    """Return a number of components that a table allows: `numbers_of` has refused those that allow none."""
    d = features(value)
    lower = np.zeros((d, d))
    lower[np.tril_indices(d, -1)] = _numbers(value)
    return components_with_gap(np.maximum(np.linalg.eigvalsh(lower + lower.T + np.eye(d))[::-1], 0.0))[0]


def population(
    value: str, *, d: int, k: int, s: int, bulk: float, seed: int, tails: float | None
) -> StatedEigenvalues | StatedCorrelations:
    """Return the population that the numbers state; bulk: the most that eigenvalues not listed may be."""
    numbers = _numbers(value)
    if is_table(value):
        return StatedCorrelations(numbers, k, seed, tails)
    return StatedEigenvalues(d, k, s, numbers, (0.0, min(bulk, numbers[-1])), seed, tails)


def of_kept(raw: str) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    """Return the numbers of a text that `kept` has made, or that a person wrote alike.

    Raises ValueError for text that states none.
    """
    if not is_table(raw):
        return numbers_of(raw.replace("_", ","))
    rows = ["", *raw.removeprefix(_TABLE).split("_")]
    return numbers_of("\n".join(f"{row},1" if row else "1" for row in rows))
