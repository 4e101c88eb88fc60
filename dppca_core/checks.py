"""Argument checks. Each takes values by keyword, so that the message names the argument; NaN always fails.

checks.positive(epsilon=-1)  ->  ValueError: epsilon must be positive and finite, got -1
"""

import math
from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import NDArray


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
            raise ValueError(f"{name} must be a number, got {value!r}")
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond any float
            number = math.inf
        if not holds(number):
            raise ValueError(f"{name} must {rule.format(*limits)}, got {value!r}")


def whole(low: int, high: float = math.inf, **named: object) -> None:
    """Raise ValueError unless every value is a whole number in [low, high]."""
    for name, value in named.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise ValueError(f"{name} must be a whole number, got {value!r}")
        if not low <= value <= high:
            limit = f"between {low} and {high}" if high < math.inf else f"at least {low}"
            raise ValueError(f"{name} must be {limit}, got {value!r}")


def instance(kind: type, **named: object) -> None:
    for name, value in named.items():
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be a {kind.__name__}, got {value!r}")


def one_of(allowed: Collection[str], **named: object) -> None:
    """Raise ValueError unless every value is one of the allowed words."""
    for name, value in named.items():
        if not isinstance(value, str) or value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(sorted(allowed))}, got {value!r}")


def orthonormal(d: int, k: int, **named: NDArray[np.float64]) -> None:
    """Raise ValueError unless every value is a (d, k) array with orthonormal columns, to 1e-6."""
    for name, value in named.items():
        if not isinstance(value, np.ndarray) or not np.isrealobj(value):
            raise ValueError(f"{name} must be an array of real numbers, got {value!r}")
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
            raise ValueError(f"{name} must be an array of real numbers, got {value!r}")
        if value.shape != (d,):
            raise ValueError(f"{name} must have shape ({d},), got {value.shape!r}")
        for end in (value.min(), value.max()):  # NaN is both the minimum and the maximum
            within(-1e-6, 1e12, **{name: end})
        if (np.diff(value) > 0).any():
            raise ValueError(f"{name} must descend, got {value!r}")
