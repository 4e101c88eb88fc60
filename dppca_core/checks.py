"""Argument checks. Each takes values by keyword, so that the message names the argument; NaN always fails.

checks.positive(epsilon=-1)  ->  ValueError: epsilon must be positive and finite, got -1
"""

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_SHOWN = 5  # values within a list that a message shows in full
_LONGEST_SHOWN = 80  # characters of a text
_MOST_LISTED = 12  # allowed words that a message lists where some of them are near
_LISTS = (list, tuple, set, frozenset, dict)


def shown(value: object) -> str:
    """Return a value as an error may show it, which may go into a log: never the numbers of an array.

    Numbers, short texts and short lists of these are shown as they are; an array and a data frame by type and
    shape, a longer or nested list by its length, and any other object by its type, since its representation
    may hold an array.
    """
    kind = type(value).__name__
    if value is None or isinstance(value, (bool, int, float, complex, np.generic)):
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}...")
    if isinstance(shape := getattr(value, "shape", None), tuple):
        return f"{kind} of shape {shape}"
    if isinstance(value, _LISTS):
        entries = list(islice(_entries(value), _MOST_SHOWN + 1))
        simple = all(entry is None or isinstance(entry, (bool, int, float, str)) for entry in entries)
        return repr(value) if simple and len(entries) <= _MOST_SHOWN else f"{kind} of length {len(value)}"
    return kind


def _entries(value: object) -> Iterator[object]:
    """Yield the values within lists and dictionaries, and within those that they hold."""
    if isinstance(value, _LISTS):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _entries(part)
    else:
        yield value


def plain(value: object) -> Any:
    """Return a NumPy number, truth value or text as Python's own, which JSON holds; all else as it is.

    A float64 is a float already.
    """
    return value.item() if isinstance(value, np.generic) and not isinstance(value, float) else value


def meant(word: object, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown word: which known ones it is most like, or all of them."""
    near = _near(word, known)
    return f"did you mean {near}?" if near else f"there are {', '.join(sorted(known)) or 'none'}"


def _near(word: object, known: Iterable[str]) -> str:
    return " or ".join(difflib.get_close_matches(word, sorted(known))) if isinstance(word, str) else ""


def positive(**named: object) -> None:
    _check(named, lambda number: 0 < number < math.inf, "be positive and finite")


def not_negative(**named: object) -> None:
    _check(named, lambda number: 0 <= number < math.inf, "be at least 0 and finite")


def within(low: float, high: float, **named: object) -> None:
    _check(named, lambda number: low <= number <= high, "lie between {:g} and {:g}", low, high)


def inside_unit_interval(**named: object) -> None:
    _check(named, lambda number: 0 < number < 1, "lie strictly between 0 and 1")


def _check(named: Mapping[str, object], holds: Callable[[float], bool], rule: str, *limits: float) -> None:
    """Raise ValueError unless every value is a number for which `holds` is true.

    rule: how the message goes on after "must", with a {} for each of `limits`, which are for nothing else.
    """
    for name, value in named.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise ValueError(f"{name} must be a number, got {shown(value)}")
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond any float
            number = math.inf
        if not holds(number):
            raise ValueError(f"{name} must {rule.format(*limits)}, got {shown(value)}")


def whole(low: int, high: float = math.inf, **named: object) -> None:
    """Raise ValueError unless every value is a whole number in [low, high]."""
    for name, value in named.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise ValueError(f"{name} must be a whole number, got {shown(value)}")
        if not low <= value <= high:
            limit = f"between {low} and {high}" if high < math.inf else f"at least {low}"
            raise ValueError(f"{name} must be {limit}, got {shown(value)}")


def instance(kind: type, **named: object) -> None:
    for name, value in named.items():
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be a {kind.__name__}, got {shown(value)}")


def one_of(allowed: Collection[str], **named: object) -> None:
    """Raise ValueError unless every value is one of the allowed words."""
    for name, value in named.items():
        if not isinstance(value, str) or value not in allowed:
            if len(allowed) > _MOST_LISTED and (near := _near(value, allowed)):
                raise ValueError(f"{name} must be one of {near}, or others, got {shown(value)}")
            raise ValueError(f"{name} must be one of {', '.join(sorted(allowed))}, got {shown(value)}")


def orthonormal(d: int, k: int, **named: NDArray[np.float64]) -> None:
    """Raise ValueError unless every value is a (d, k) array with orthonormal columns, to 1e-6."""
    for name, value in named.items():
        if not isinstance(value, np.ndarray) or not np.isrealobj(value):
            raise ValueError(f"{name} must be an array of real numbers, got {shown(value)}")
        if value.shape != (d, k):
            raise ValueError(f"{name} must have shape ({d}, {k}), got {value.shape!r}")
        apart = float(np.abs(value.T @ value - np.eye(k)).max())
        if not apart <= 1e-6:  # NaN fails as well
            raise ValueError(f"{name} must have orthonormal columns, got a Gram matrix off by {apart:.3g}")


def finite_matrix(**named: NDArray[np.float64]) -> None:
    """Raise ValueError unless every value is a non-empty two-dimensional array of finite numbers."""
    for name, value in named.items():
        if value.ndim != 2 or 0 in value.shape:
            raise ValueError(f"{name} must be a non-empty matrix, got shape {value.shape!r}")
        if not np.isfinite(value).all():
            raise ValueError(f"{name} must hold finite numbers only, got NaN or infinity")


def spectrum(d: int, **named: NDArray[np.float64]) -> None:
    """Raise ValueError unless every value is d real numbers, descending, from -1e-6 to 1e12.

    They are eigenvalues, none below 0, but rounding may leave a little less than 0 of a zero.
    """
    for name, value in named.items():
        if not isinstance(value, np.ndarray) or not np.isrealobj(value):
            raise ValueError(f"{name} must be an array of real numbers, got {shown(value)}")
        if value.shape != (d,):
            raise ValueError(f"{name} must have shape ({d},), got {value.shape!r}")
        for end in (value.min(), value.max()):  # NaN is both the minimum and the maximum
            within(-1e-6, 1e12, **{name: end})
        if (np.diff(value) > 0).any():
            raise ValueError(f"{name} must descend, got {shown(value)}")
