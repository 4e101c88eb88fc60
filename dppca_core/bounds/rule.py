"""The record of a bound before it meets a setting: its formula, its kind, its free constants.

A rule is called as a function, rule(setting, **constants) -> Bound, so that BOUNDS[name](setting) is the
public form. The helpers serve every bound: the spectrum without negative rounding, the record made from
checked conditions, and the void one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import Parameter, signature

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Assumption, Bound, Setting

KINDS = ("upper", "lower", "prediction")
MEASURES = ("sin", "covariance")

CLOSED_FORM = "closed form derived for this tool; checked against simulation in its tests"
# Smaller eigenvalues count as zero: their squares would be lost to rounding.
_ZERO = 1e-100

# Whether an assumption holds, and the sentence that states it with its numbers.
Check = tuple[bool, str] | Assumption


@dataclass(frozen=True)
class BoundRule:
    """Hold a published bound, or a closed form, as a function of a `Setting`.

    Attributes:
        title: Name on screen.
        methods: The METHODS whose measured error it is about; empty for a lower bound on every method,
            private or not.
        formula: LaTeX of the total.
        compute: Function of a setting; its keywords are the constants that the paper leaves unspecified, and
            the options.
        kind: "upper", "lower" or "prediction": a closed form unless it is said to be another.
        source: Paper and theorem; a closed form of this tool's own has none.
        symbols: The keywords of `compute` that are free constants, each with its name on screen.
        measure: "sin" (Frobenius norm of sin Theta) or "covariance" (of the rows' covariance, in their scaled
            units).
        fits: The keyword of the constant C in total = fixed + moving C^power, "" where none scales the total.
        power: The power of that constant.
        needs_gap: Whether it is void without a spectral gap; if False, `compute` sees to that itself.
        smooth: Whether plans may interpolate and invert it. They may not where the error jumps within a
            narrow range of n or epsilon, as where features are found or lost.
        gaussian: Whether it supposes Gaussian rows: it does not apply to rows with heavy tails.
        name: Key of the registry, the name of the function unless given.

    Raises:
        ValueError: For another kind or measure, or symbols that do not belong to the function.
    """

    title: str
    methods: tuple[str, ...]
    formula: str
    compute: Callable[..., Bound]
    kind: str = "prediction"
    source: str = CLOSED_FORM
    symbols: Mapping[str, str] = field(default_factory=dict)
    measure: str = "sin"
    fits: str = ""
    power: float = 1.0
    needs_gap: bool = True
    smooth: bool = True
    gaussian: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        checks.one_of(KINDS, kind=self.kind)
        checks.one_of(MEASURES, measure=self.measure)
        if not set(self.symbols) <= set(self._defaults):
            raise ValueError(
                f"symbols must name some of {sorted(self._defaults)}, got {checks.shown(self.symbols)}"
            )
        checks.one_of({"", *self.constants}, fits=self.fits)
        # The only way to fill in a field of a frozen dataclass.
        object.__setattr__(self, "name", self.name or self.compute.__name__)

    @cached_property
    def _defaults(self) -> dict[str, float]:
        """Return the keyword-only parameters of `compute` with their defaults: constants and options."""
        parameters = signature(self.compute).parameters.values()
        return {each.name: each.default for each in parameters if each.kind is Parameter.KEYWORD_ONLY}

    @cached_property
    def constants(self) -> dict[str, float]:
        """Return the free constants, which the paper leaves unspecified, with their positive defaults."""
        return {name: self._defaults[name] for name in self.symbols}

    @property
    def options(self) -> dict[str, float]:
        """Return the defaults of the other keywords (the Schatten norm q)."""
        return {name: default for name, default in self._defaults.items() if name not in self.symbols}

    def __call__(self, setting: Setting, **constants: float) -> Bound:
        """Return the bound at `setting`, with its source and the values of its constants filled in.

        constants: free constants and options that differ from their defaults, by keyword.
        Raises ValueError for an unknown keyword, or a free constant that is not positive.
        """
        for name, value in constants.items():
            if name not in self._defaults:
                meant = checks.meant(name, self._defaults)
                raise ValueError(f"{self.name} takes no constant {checks.shown(name)}: {meant}")
            if name in self.constants:
                checks.positive(**{name: value})
        gap = check_gap(*spectrum(setting))
        bound = void_bound((gap,)) if self.needs_gap and not gap[0] else self.compute(setting, **constants)
        if self.gaussian and setting.tails is not None:
            bound = replace(bound, applies=False, why=(*bound.why, Assumption(False, heavy(setting.tails))))
        values = self.constants | constants
        named = {symbol: values[name] for name, symbol in self.symbols.items()}
        return replace(bound, source=self.source, constants=named)


def heavy(tails: float) -> str:
    """Return why a formula for Gaussian rows does not apply, as a sentence's end; tails: of `Setting`."""
    return (
        f"it supposes Gaussian rows, and here they have the heavy tails of Student's t with {tails:g} degrees"
    )


def spectrum(setting: Setting) -> tuple[Array, Array]:
    """Return the k largest eigenvalues, (k,), and the others, (d - k,), none below zero.

    A population's zero eigenvalue may come as a tiny number of either sign, which rounding left.
    """
    eigenvalues = np.where(setting.eigenvalues > _ZERO, setting.eigenvalues, 0.0)
    return eigenvalues[: setting.k], eigenvalues[setting.k :]


def make_bound(
    conditions: Sequence[Check],
    terms: Mapping[str, float | Array],
    total: float | Array,
    quantities: Mapping[str, float] | None = None,
) -> Bound:
    """Return the record of a bound: it `applies` where every condition holds, which `why` lists.

    terms: the summands of the total by name. quantities: intermediate numbers that a screen may show.
    """
    why = tuple(Assumption(bool(each[0]), *each[1:]) for each in conditions)
    return Bound(dict(terms), total, all(each.holds for each in why), why, quantities=dict(quantities or {}))


def check_gap(top: Array, bulk: Array) -> Check:
    """Check the gap between lambda_k, the last of `top`, and lambda_{k+1}, the first of `bulk`."""
    return bool(top[-1] > bulk[0]), f"gap: λ_k = {top[-1]:.3g} should be above λ_k+1 = {bulk[0]:.3g}"


def check_reachable(setting: Setting, total: float, attained: float = math.inf, method: str = "") -> Check:
    """Check a lower bound, `total`, against errors that are known to be attained.

    No lower bound can exceed the error of a random guess, or `attained`, that of `method`. Where it does, the
    paper's unspecified constant must be smaller than the one that was put in.
    """
    best = min(attained, random_guess(setting.d, setting.k))
    who = f"{method} or guessing" if method else "guessing"
    return total <= best, (
        f"our own check: the bound, {total:.3g}, should be at most {best:.3g}, the error that {who} attains"
    )


def void_bound(conditions: Sequence[Check], quantities: Mapping[str, float] | None = None) -> Bound:
    """Return a bound without terms and with an infinite total, for where its formula has no value."""
    return make_bound(conditions, {}, math.inf, quantities)
