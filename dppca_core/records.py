"""The records that travel between the core's parts: estimates, methods, settings and bounds. Frozen and
self-checking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form
from dppca_core.arrays import MATRIX_LIMIT, Array
from dppca_core.privacy import Budget, Event

ProviderNoise = Literal["independent", "shared", "secure-aggregation"]

PROVIDER_NOISE: tuple[ProviderNoise, ...] = get_args(ProviderNoise)

TRUSTS = ("central", "untrusted server", "secure aggregation", "local", "none")

# Rows as the cohort holds them, all inside its public bound, or each scaled to length 1.
SCALINGS = ("inside", "unit")

GUARANTEES = ("(ε, δ)", "ε", "on a good event", "approximate sampler", "none")


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


@dataclass(frozen=True)
class Method:
    """A published method: what it is, whom it trusts, what it guarantees, and how to run it.

    `uses` names the controls that matter to it. `fit(cohort, *, k, budget, rng, **own)` runs it.
    `spends(budget, *, d, k, **own)` are the events of one run, known beforehand (None where nothing is
    private). `exact_at_one`: an approximate sampler that is exact, and so purely private, for k = 1.
    `matrix`: whether it forms d x d. `cost(d, k, providers)`: one run in d x d eigenproblems, roughly.
    `scaling`: how it takes rows by default, one of SCALINGS. `audit`: which releases an audit draws, by a key
    of `dppca_core.auditing.cases.BUILDERS`.
    """

    name: str
    title: str
    reference: str
    trust: str
    guarantee: str
    uses: tuple[str, ...]
    fit: Callable[..., Estimate]
    spends: Callable[..., tuple[Event, ...]] | None = None
    exact_at_one: bool = False
    matrix: bool = True
    cost: Callable[[int, int, int], float] = _one
    scaling: str = "inside"
    audit: str = ""

    def __post_init__(self) -> None:
        checks.one_of(TRUSTS, trust=self.trust)
        checks.one_of(GUARANTEES, guarantee=self.guarantee)
        checks.one_of(SCALINGS, scaling=self.scaling)

    @property
    def private(self) -> bool:
        """Whether the budget matters to it at all."""
        return self.spends is not None

    def guarantee_at(self, k: int) -> str:
        """The guarantee for k components."""
        return "ε" if self.exact_at_one and k == 1 else self.guarantee

    def true_epsilon(self, budget: Budget, *, d: int, k: int, **own: object) -> float | None:
        """The epsilon that this method's calibration truly gives at budget.delta; None without privacy."""
        if self.spends is None:
            return None
        return closed_form.epsilon_of(self.spends(budget, d=d, k=k, **own), budget.delta)

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
