"""The records that travel between the core's parts. Frozen, and they check themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

Neighbours = Literal["replace-one", "add-remove"]
AccountingKind = Literal["exact", "zcdp", "as-printed"]
ProviderNoise = Literal["independent", "shared", "secure-aggregation"]
NEIGHBOURS: tuple[Neighbours, ...] = get_args(Neighbours)
ACCOUNTINGS: tuple[AccountingKind, ...] = get_args(AccountingKind)
PROVIDER_NOISE: tuple[ProviderNoise, ...] = get_args(ProviderNoise)
TRUSTS = ("central", "untrusted server", "secure aggregation", "local", "none")
GUARANTEES = ("(ε, δ)", "ε", "on a good event", "approximate sampler", "none")


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta)-differential privacy, with its neighbouring relation and its accounting.

    epsilon from 1e-12 to 1e12, delta from 1e-300 to below 1. `neighbours`: data sets differ by replacing
    one row, or by adding or removing one. `accounting`: "exact" (Balle-Wang and the T-fold Gaussian),
    "zcdp", or "as-printed" (the constants of each method's own paper, whatever they truly give).

    Raises ValueError naming the field and its value.
    """

    epsilon: float
    delta: float
    neighbours: Neighbours = "replace-one"
    accounting: AccountingKind = "exact"

    def __post_init__(self) -> None:
        checks.positive(epsilon=self.epsilon)
        checks.within(1e-12, 1e12, epsilon=self.epsilon)
        checks.inside_unit_interval(delta=self.delta)
        checks.within(1e-300, 1.0, delta=self.delta)
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


@runtime_checkable
class Divisible(Protocol):
    """A moment of which patients can be told apart."""

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        """Moments of disjoint random groups of these sizes, in turn; all sizes add up to n."""


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

    @cached_property
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
class Guarantee:
    """One entry for the ledger: a release of which only its (epsilon, delta) is known."""

    epsilon: float
    delta: float = 0.0


Event = Release | Guarantee


@dataclass(frozen=True)
class Estimate:
    """What a method returns. Never private data.

    basis: (d, k), orthonormal columns. iterates: (d, k) each, the first is the start; empty for
    one-shot methods. noise_std: standard deviation of one entry (for symmetric noise: one
    off-diagonal entry) of the Gaussian noise in what is released, which for most methods is the scaled
    second moment or its product with a basis; zero where there is none. bytes_sent: what each provider
    sends in total. spent: events for the ledger. covariance: the private (d, d) covariance of the scaled
    rows, where the method gives one. notes: what a reader must know about this run. diagnostics: named
    numbers about how it was computed; they may depend on rows beyond what was paid for, so a release on
    real data does not publish them.
    """

    basis: Array
    iterates: tuple[Array, ...] = ()
    noise_std: float = 0.0
    bytes_sent: int = 0
    seconds: float = 0.0
    spent: tuple[Event, ...] = ()
    covariance: Array | None = None
    notes: tuple[str, ...] = ()
    diagnostics: dict[str, float] = field(default_factory=dict)


def _one(d: int, k: int, providers: int) -> float:
    return 1.0


# Above this many features no method forms a d x d matrix: 800 MB each, and eigenproblems hold three.
MATRIX_LIMIT = 10_000


@dataclass(frozen=True)
class Method:
    """A published method: what it is, whom it trusts, what it guarantees, and how to run it.

    `uses` names the controls that matter to it. `fit(cohort, *, k, budget, rng, **own)` runs it.
    `spends(budget, *, d, k, **own)` are the events of one run, known beforehand (None where nothing is
    private). `exact_at_one`: an approximate sampler that is exact, and so purely private, for k = 1.
    `fit_many(cohort, *, k, budgets, rngs, **own)`, where a method has it, is `fit` for each generator and,
    within it, each budget, faster than one by one: a tuple of estimates for each generator.
    `matrix`: whether it forms d x d. `cost(d, k, providers)`: one run in d x d eigenproblems, roughly.
    """

    name: str
    title: str
    reference: str
    trust: str
    guarantee: str
    uses: tuple[str, ...]
    fit: Callable[..., Estimate]
    spends: Callable[..., tuple[Event, ...]] | None = None
    fit_many: Callable[..., tuple[tuple[Estimate, ...], ...]] | None = None
    exact_at_one: bool = False
    matrix: bool = True
    cost: Callable[[int, int, int], float] = _one

    def __post_init__(self) -> None:
        checks.one_of(TRUSTS, trust=self.trust)
        checks.one_of(GUARANTEES, guarantee=self.guarantee)

    @property
    def private(self) -> bool:
        """Whether the budget matters to it at all."""
        return self.spends is not None

    def guarantee_at(self, k: int) -> str:
        """The guarantee for k components."""
        return "ε" if self.exact_at_one and k == 1 else self.guarantee

    def true_epsilon(self, budget: Budget, *, d: int, k: int, **own: object) -> float | None:
        """The epsilon that this method's calibration truly gives at budget.delta; None without privacy."""
        from dppca_core import accounting  # accounting builds on these types

        if self.spends is None:
            return None
        return accounting.epsilon_of(self.spends(budget, d=d, k=k, **own), budget.delta)

    def skip(self, d: int) -> str | None:
        """Why it cannot run at d features, or None."""
        if not self.matrix or d <= MATRIX_LIMIT:
            return None
        size = 8e-9 * d * d
        return (
            f"{self.name} forms a d x d matrix, {size:.1f} GB at d = {d:,}; beyond d = {MATRIX_LIMIT:,} use "
            "dps_pca, noisy_power or dp_oja, which work on the rows themselves"
        )


@dataclass(frozen=True)
class Setting:
    """Where a bound is evaluated. Eigenvalues: all d, descending, of the rows scaled to the bound.

    They lie in [0, 1] there; up to 1e12, and the -1e-6 that rounding may leave of
    a zero are taken. Raises ValueError naming the field and its value.
    """

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
    provider_noise: ProviderNoise = "independent"
    burn_in: int = 2
    start_error: float | None = None  # sin Theta of the start; None is a random start

    def __post_init__(self) -> None:
        checks.whole(2, d=self.d)
        checks.whole(1, n=self.n, providers=self.providers, iterations=self.iterations)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s=self.s, s_hat=self.s_hat)
        checks.positive(tau=self.tau)
        checks.instance(Budget, budget=self.budget)
        checks.one_of(PROVIDER_NOISE, provider_noise=self.provider_noise)
        checks.whole(0, burn_in=self.burn_in)
        if self.start_error is not None:
            checks.not_negative(start_error=self.start_error)
        checks.spectrum(self.d, eigenvalues=self.eigenvalues)


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

    @property
    def final(self) -> float:
        """The total at the output: its last step, where it is an array over t."""
        return float(np.asarray(self.total).flat[-1])
