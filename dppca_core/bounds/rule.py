"""The record of a bound before it meets a setting: its formula, its kind, its free constants.

A rule is called as a function, rule(setting, **constants) -> Bound, so that BOUNDS[name](setting) is the
public form. The helpers serve every bound: the spectrum without negative rounding, the record made from
checked conditions, and the void one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound, Setting

KINDS = ("upper", "lower", "prediction")
MEASURES = ("sin", "covariance")

_ZERO = 1e-100  # of a row's largest square: squares of what is below are lost, and of no use

Check = tuple[bool, str]


@dataclass(frozen=True)
class BoundRule:
    """Hold a published bound, or a closed form, as a function of a `Setting`.

    kind: "upper", "lower" or "prediction". methods: the METHODS whose measured error it is about; empty for
    a lower bound on every method, private or not. measure: "sin" (Frobenius norm of sin Theta) or
    "covariance" (of the rows' covariance, in their scaled units). formula: LaTeX of the total.
    constants: keyword -> default of what the paper leaves unspecified, all positive; symbols: keyword -> its
    name on screen. options: keyword -> default of what is not a constant (the Schatten norm q).
    fits: the constant C in total = fixed + moving C^power, "" where none scales the total.

    Raises ValueError for another kind or measure, or symbols that do not belong to the constants.
    """

    name: str
    title: str
    kind: str
    methods: tuple[str, ...]
    formula: str
    compute: Callable[..., Bound]
    constants: Mapping[str, float] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, float] = field(default_factory=dict)
    measure: str = "sin"
    fits: str = ""
    power: float = 1.0

    def __post_init__(self) -> None:
        checks.one_of(KINDS, kind=self.kind)
        checks.one_of(MEASURES, measure=self.measure)
        checks.one_of({"", *self.constants}, fits=self.fits)
        if set(self.symbols) != set(self.constants):
            raise ValueError(f"symbols must name {sorted(self.constants)}, got {self.symbols!r}")

    def __call__(self, setting: Setting, **constants: float) -> Bound:
        """Return the bound at `setting`.

        Raises ValueError for an unknown constant or one that is not positive.
        """
        for name, value in constants.items():
            checks.one_of({*self.constants, *self.options}, constant=name)
            if name in self.constants:
                checks.positive(**{name: value})
        return self.compute(setting, **{**self.constants, **self.options, **constants})

    def named(self, constants: Mapping[str, float]) -> dict[str, float]:
        """Return the constants by their names on screen."""
        return {self.symbols[name]: value for name, value in constants.items()}


def spectrum(setting: Setting) -> tuple[Array, Array]:
    """Return the k largest eigenvalues and the others; a zero that rounding left about zero is zero."""
    eigenvalues = np.where(setting.eigenvalues > _ZERO, setting.eigenvalues, 0.0)
    return eigenvalues[: setting.k], eigenvalues[setting.k :]


def judged(
    conditions: Sequence[Check],
    terms: Mapping[str, float | Array],
    total: float | Array,
    source: str,
    constants: Mapping[str, float] | None = None,
    quantities: Mapping[str, float] | None = None,
) -> Bound:
    """Return the record: `applies` where every condition holds, each of them a line of `why`."""
    why = tuple(f"{'holds' if holds else 'fails'}: {text}" for holds, text in conditions)
    applies = all(holds for holds, _ in conditions)
    return Bound(dict(terms), total, applies, why, source, dict(constants or {}), dict(quantities or {}))


def has_gap(top: Array, bulk: Array) -> Check:
    """Check the spectral gap, without which no bound has a value."""
    return bool(top[-1] > bulk[0]), f"gap λ_k − λ_k+1 above 0: λ_k = {top[-1]:.3g}, λ_k+1 = {bulk[0]:.3g}"


def reachable(setting: Setting, total: float, attained: float = math.inf, method: str = "") -> Check:
    """Check that guessing, or `method`, attains at least a lower bound; if not, its constant is less."""
    best = min(attained, random_guess(setting.d, setting.k))
    who = f"{method} or guessing" if method else "guessing"
    return total <= best, f"our own check: {total:.3g} at most the {best:.3g} that {who} attains"


def spike_over(top: Array, bulk: Array) -> float:
    """Return lambda_k above the bulk's mean; at least the gap, which rounding of the mean could undercut."""
    return float(top[-1] - min(bulk.mean(), bulk[0]))


def void(
    conditions: Sequence[Check],
    source: str,
    constants: Mapping[str, float] | None = None,
    quantities: Mapping[str, float] | None = None,
) -> Bound:
    """Return the bound without terms and with an infinite total, with what failed."""
    return judged(conditions, {}, math.inf, source, constants, quantities)
