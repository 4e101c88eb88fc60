"""The records that travel between the core's parts. Frozen, and they check themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

NEIGHBOURS = ("replace-one", "add-remove")
ACCOUNTINGS = ("exact", "zcdp", "as-printed")
TRUSTS = ("central", "untrusted server", "secure aggregation", "local", "none")
GUARANTEES = ("(ε, δ)", "ε", "on a good event", "approximate sampler", "none")


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta)-differential privacy, with its neighbouring relation and its accounting.

    epsilon > 0, 0 < delta < 1. `neighbours`: data sets differ by replacing one row, or by adding or
    removing one. `accounting`: "exact" (Balle-Wang and the T-fold Gaussian), "zcdp", or "as-printed"
    (the constants of each method's own paper, whatever they truly give).

    Raises ValueError naming the field and its value.
    """

    epsilon: float
    delta: float
    neighbours: Literal["replace-one", "add-remove"] = "replace-one"
    accounting: Literal["exact", "zcdp", "as-printed"] = "exact"

    def __post_init__(self) -> None:
        checks.positive(epsilon=self.epsilon)
        checks.inside_unit_interval(delta=self.delta)
        checks.one_of(NEIGHBOURS, neighbours=self.neighbours)
        checks.one_of(ACCOUNTINGS, accounting=self.accounting)


class Moment(Protocol):
    """A provider's uncentred second moment, (1/n) sum x x^T with |x| <= 1, shape (d, d)."""

    @property
    def features(self) -> int:
        """d."""

    def apply(self, block: Array, rows: Indices | None = None) -> Array:
        """The product with `block`, shape (d, k), as a fresh array.

        With `rows`, `block` holds just those rows of an otherwise zero (d, k) matrix.
        """

    def dense(self) -> Array:
        """The (d, d) matrix, read-only."""


@dataclass(frozen=True)
class Provider:
    """One hospital: n patients and the second moment of their rows (scaled to norm at most 1)."""

    n: int
    moment: Moment

    def __post_init__(self) -> None:
        checks.whole(1, n=self.n)


@dataclass(frozen=True)
class Cohort:
    """The providers, and the moment of all their rows together.

    `bound` is the public row norm that the rows were divided by: a moment times bound**2 is in the
    units of the data. Behaves as a tuple of providers.
    """

    providers: tuple[Provider, ...]
    pooled: Moment
    bound: float = 1.0

    def __post_init__(self) -> None:
        if not self.providers:
            raise ValueError("providers must hold at least one provider, got none")
        checks.positive(bound=self.bound)
        for provider in self.providers:
            if provider.moment.features != self.features:
                raise ValueError(
                    f"providers must share the same features, got {provider.moment.features} "
                    f"beside {self.features}"
                )

    @staticmethod
    def from_rows(rows: Sequence[Array], bound: float) -> Cohort:
        """Providers from their rows, list of (n_i, d): clip every row to norm `bound`, divide by it.

        Raises ValueError for an empty list, a matrix that is empty or not finite, unequal numbers
        of columns, or a bound that is not positive.
        """
        from dppca_core import moments  # moments builds on these types

        return moments.cohort_from_rows(rows, bound)

    @property
    def features(self) -> int:
        """d."""
        return self.pooled.features

    @property
    def n(self) -> int:
        """Patients in total."""
        return sum(provider.n for provider in self.providers)

    def __len__(self) -> int:
        return len(self.providers)

    def __iter__(self) -> Iterator[Provider]:
        return iter(self.providers)

    def __getitem__(self, index: int) -> Provider:
        return self.providers[index]


@dataclass(frozen=True)
class Release:
    """One entry for the ledger: `steps` adaptive Gaussian releases with this std / sensitivity."""

    noise_multiplier: float
    steps: int = 1


@dataclass(frozen=True)
class Estimate:
    """What a method returns. Never private data.

    basis: (d, k), orthonormal columns. iterates: (d, k) each, the first is the start; empty for
    one-shot methods. noise_std: standard deviation of one entry (for symmetric noise: one
    off-diagonal entry) of the noise in the aggregate, in units of the scaled second moment.
    bytes_sent: what each provider sends in total. spent: releases for the ledger.
    """

    basis: Array
    iterates: tuple[Array, ...] = ()
    noise_std: float = 0.0
    bytes_sent: int = 0
    seconds: float = 0.0
    spent: tuple[Release, ...] = ()


@dataclass(frozen=True)
class Method:
    """A published method: what it is, whom it trusts, what it guarantees, and how to run it.

    `uses` names the controls that matter to it. `fit(cohort, *, k, budget, rng, **own)` runs it.
    `multiplier(budget, *, d, k, **own)` is the std / sensitivity of its whole run seen as one
    Gaussian release (None where there is no Gaussian noise); `true_epsilon` turns it into the
    epsilon that the calibration really gives at the budget's delta.
    """

    name: str
    title: str
    reference: str
    trust: str
    guarantee: str
    uses: tuple[str, ...]
    fit: Callable[..., Estimate]
    multiplier: Callable[..., float] | None = None

    def __post_init__(self) -> None:
        checks.one_of(TRUSTS, trust=self.trust)
        checks.one_of(GUARANTEES, guarantee=self.guarantee)

    def true_epsilon(self, budget: Budget, *, d: int, k: int, **own: object) -> float | None:
        """The epsilon that this method's noise truly gives at budget.delta; None without noise."""
        from dppca_core import gaussian  # gaussian builds on these types

        if self.multiplier is None:
            return None
        return gaussian.epsilon_of(self.multiplier(budget, d=d, k=k, **own), budget.delta)


@dataclass(frozen=True)
class Setting:
    """Where a bound is evaluated. Eigenvalues: all d, descending, of the rows scaled to the bound."""

    d: int
    n: int
    k: int
    s: int
    s_hat: int
    providers: int
    iterations: int
    eigenvalues: Array = field(repr=False)
    budget: Budget
    tau: float = 3.3
    provider_noise: Literal["independent", "shared", "secure-aggregation"] = "independent"
    burn_in: int = 2
    start_error: float | None = None  # sin Theta of the start; None is a random start

    def __post_init__(self) -> None:
        checks.whole(2, d=self.d)
        checks.whole(1, n=self.n, providers=self.providers, iterations=self.iterations)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s=self.s, s_hat=self.s_hat)
        checks.positive(tau=self.tau)
        if self.eigenvalues.shape != (self.d,):
            raise ValueError(f"eigenvalues must have shape ({self.d},), got {self.eigenvalues.shape!r}")


@dataclass(frozen=True)
class Bound:
    """A bound on sin Theta at a setting: named terms (numbers or arrays over t = 1..T) and a total.

    `applies` is True when every assumption holds; `why` lists each assumption with its number, led
    by "holds: " or "fails: ". A void bound has no terms and an infinite total.
    """

    terms: dict[str, float | Array]
    total: float | Array
    applies: bool
    why: tuple[str, ...]
    source: str
    constants: dict[str, float] = field(default_factory=dict)
    quantities: dict[str, float] = field(default_factory=dict)
