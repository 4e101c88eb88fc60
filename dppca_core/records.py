"""The records that travel between the core's parts: estimates, methods, settings and bounds.

All are frozen. A method and a setting check their fields when they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from dppca_core import checks
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import MATRIX_LIMIT, Array
from dppca_core.numerics import block_power, linalg, row_shrinkage
from dppca_core.privacy import Budget, Event

if TYPE_CHECKING:  # it takes longer to load than all else here
    import pandas as pd

Item = TypeVar("Item")

ProviderNoise = Literal["independent", "shared", "secure-aggregation"]

PROVIDER_NOISE: tuple[ProviderNoise, ...] = get_args(ProviderNoise)

TRUSTS = ("central", "untrusted server", "secure aggregation", "local", "none")

# Rows as the cohort holds them, all inside its public bound, or each scaled to length 1.
SCALINGS = ("inside", "unit")

# Words that an option may have instead of a number. "tuned": the number of rounds T, `iterations`, is set by
# a rule from public numbers. "released": the features kept, `s_hat`, are those that a first release shows.
TUNED, RELEASED = "tuned", "released"
# What such rules take for k lambda_k/tr Sigma, the share of the components in all variance, unless another
# guess is declared.
SIGNAL = 0.1

# Which hospitals' noisy sums a method averages: none, those of whole rows, or of rows restricted to the
# features kept.
POOLS = ("", "whole", "restricted")

# What a method promises. "on a good event": (ε, δ) only for data that behave like its model. "approximate
# sampler": ε, if its Markov chain had reached its law exactly.
GUARANTEES = ("(ε, δ)", "ε", "on a good event", "approximate sampler", "none")


class UnknownNameError(KeyError):
    """Say that a registry has no such name, and which are nearest, as a KeyError that prints a sentence."""

    def __str__(self) -> str:
        return str(self.args[0])


class Registry(dict[str, Item]):
    """Hold methods or bounds by name, as a dictionary whose error for an unknown name helps.

    Attributes:
        kind: What an entry is called, in the singular.
        added: Entries of a script's or notebook's own. They are there by name, as in `registry[name]` and
            `name in registry`, but not in the lists of entries, which are the same in every process.
    """

    def __init__(self, kind: str, entries: Mapping[str, Item]) -> None:
        super().__init__(entries)
        self.kind = kind
        self.added: dict[str, Item] = {}

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.added

    def __missing__(self, name: str) -> Item:
        if name in self.added:
            return self.added[name]
        known = [*self, *self.added]
        raise UnknownNameError(f"no {self.kind} is named {checks.shown(name)}: {checks.meant(name, known)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, dict(self))


@dataclass(frozen=True)
class Estimate:
    """Hold the result of a method, without any row.

    Attributes:
        basis: Orthonormal columns, (d, k).
        iterates: The start and every step, (d, k) each; empty for one-shot methods.
        noise_std: Standard deviation of one entry (for symmetric noise: one off-diagonal entry) of the
            Gaussian noise in what is released, which for most methods is the scaled second moment or its
            product with a basis; zero where there is none.
        bytes_sent: Bytes that each provider sends in total.
        seconds: Running time.
        spent: Events for an account; of the least protected hospital where each has its own budget.
        spent_each: Events of every hospital, where each has its own budget.
        covariance: Private covariance of the scaled rows, (d, d), where the method releases one.
        notes: What a reader must know about this run.
        diagnostics: Named numbers about how it was computed; they may depend on rows beyond what was paid
            for, so a release on real data does not publish them.
        features: Names of the d features, where the cohort was made of data frames; else empty.
    """

    basis: Array
    iterates: tuple[Array, ...] = ()
    noise_std: float = 0.0
    bytes_sent: int = 0
    seconds: float = 0.0
    spent: tuple[Event, ...] = ()
    spent_each: tuple[tuple[Event, ...], ...] = ()
    covariance: Array | None = None
    notes: tuple[str, ...] = ()
    diagnostics: dict[str, float] = field(default_factory=dict)
    features: tuple[Any, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return the loadings as a data frame.

        Returns:
            The basis, (d, k): a row for each feature, by its name or else its number from 0, and the columns
            "component 1" to "component k".
        """
        import pandas as pd

        names = list(self.features or range(len(self.basis)))
        index = pd.Index(names, name="feature", tupleize_cols=False)
        columns = [f"component {j + 1}" for j in range(self.basis.shape[1])]
        return pd.DataFrame(self.basis, index, columns)

    @staticmethod
    def from_moment(
        moment: Array, k: int, *, s_hat: int | None = None, shrink_n: float | None = None, **fields: Any
    ) -> Estimate:
        """Return the top k directions of a symmetric matrix, (d, d), whose upper triangle is sent.

        Args:
            moment: The matrix, released or without privacy.
            k: Number of directions.
            s_hat: Rows that truncated power iteration keeps; None: the eigenvectors as they are.
            shrink_n: Number of patients behind the matrix, where rows of the basis are to be shrunk at the
                end by what `noise_std` and sampling make them err; None leaves them as they are.
            fields: Other fields of the estimate.

        Returns:
            The estimate; its `bytes_sent` are those of the matrix's upper triangle.
        """
        d = len(moment)
        if s_hat is None:
            basis = linalg.top_eigenspace(moment, k)
        else:
            basis = block_power.sparse_eigenspace(moment, k, s_hat)
        if shrink_n is not None:
            basis = row_shrinkage.shrunk(moment, basis, fields.get("noise_std", 0.0), shrink_n)
        # The upper triangle has d (d + 1)/2 numbers of 8 bytes.
        return Estimate(basis, bytes_sent=8 * d * (d + 1) // 2, **fields)


@dataclass(frozen=True)
class Method:
    """Hold a published method: what it is, whom it trusts, what it guarantees, and how to run it.

    Attributes:
        title: Name on screen.
        reference: The paper.
        trust: One of TRUSTS.
        guarantee: One of GUARANTEES.
        uses: Names of the settings on which its result depends.
        fit: Runs it: `fit(cohort, *, k, budget, rng, **options)` returns an `Estimate`.
        spends: Returns the events of one run, known beforehand: `spends(budget, *, d, k, **options)`; None
            where nothing is private.
        exact_at_one: True for an approximate sampler that is exact for k = 1, and so purely ε-private there.
        matrix: True if it forms a d x d matrix.
        cost: Rough running time, `cost(d, k, providers)`, in units of the time for a d x d eigenproblem.
        scaling: How it takes rows by default, one of SCALINGS.
        pools: One of POOLS: which sums of hospitals, each with Gaussian noise, the server averages. Where it
            averages any, every hospital may have a budget of its own.
        tuned: Returns its number of rounds from public numbers, `tuned(budget, *, d, n, k, providers, signal,
            **options)`; None where it has none.
        audit: Which releases an audit draws, a key of `dppca_core.auditing.cases.BUILDERS`.
        name: Key of the registry, which fills it in: the name of the method's module.

    Raises:
        ValueError: For a trust, guarantee, scaling or pools outside the agreed words, and where `spends` and
            `guarantee` do not fit together.
    """

    title: str
    reference: str
    trust: str
    guarantee: str
    uses: tuple[str, ...]
    fit: Callable[..., Estimate]
    spends: Callable[..., tuple[Event, ...]] | None = None
    exact_at_one: bool = False
    matrix: bool = True
    cost: Callable[[int, int, int], float] = lambda d, k, providers: 1.0
    scaling: str = "inside"
    pools: str = ""
    tuned: Callable[..., int] | None = None
    audit: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        checks.one_of(TRUSTS, trust=self.trust)
        checks.one_of(GUARANTEES, guarantee=self.guarantee)
        checks.one_of(SCALINGS, scaling=self.scaling)
        checks.one_of(POOLS, pools=self.pools)
        if self.spends is None and self.guarantee != "none":
            raise ValueError(f'spends of {self.title} must be given, or its guarantee be "none"')
        if self.spends is not None and self.guarantee == "none":
            raise ValueError(f'spends of {self.title} must be None, since its guarantee is "none"')

    @cached_property
    def chooses_rows(self) -> bool:
        """True if the method has two stages, so that what the first releases can choose the features kept."""
        return "stage_one" in signature(self.fit).parameters

    @cached_property
    def iterative(self) -> bool:
        """True if the method runs in rounds, with an answer after each."""
        return "iterations" in signature(self.fit).parameters

    @property
    def private(self) -> bool:
        """True if the method spends a budget."""
        return self.spends is not None

    def guarantee_at(self, k: int) -> str:
        """Return the guarantee for k components.

        Args:
            k: Number of components.

        Returns:
            One of GUARANTEES.
        """
        return "ε" if self.exact_at_one and k == 1 else self.guarantee

    def true_epsilon(self, budget: Budget, *, d: int, k: int, **options: object) -> float | None:
        """Return the epsilon that the calibration truly gives at budget.delta.

        Args:
            budget: Privacy budget that the method is given.
            d: Number of features.
            k: Number of components.
            options: The method's own parameters.

        Returns:
            Epsilon, or None without privacy.

        References:
            Balle & Wang, ICML 2018, Theorem 8, by `dppca_core.accounting.trade_off`.
        """
        trade_off = self.trade_off(budget, d=d, k=k, **options)
        return None if trade_off is None else trade_off.epsilon(budget.delta)

    def trade_off(self, budget: Budget, *, d: int, k: int, **options: object) -> TradeOff | None:
        """Return what all that the method releases lets an attacker do, which has its mu and its curve.

        Args:
            budget: Privacy budget that the method is given.
            d: Number of features.
            k: Number of components.
            options: The method's own parameters.

        Returns:
            The trade-off, on the condition that `guarantee` states; None without privacy.
        """
        return None if self.spends is None else TradeOff.from_events(self.spends(budget, d=d, k=k, **options))

    def skip(self, d: int) -> str | None:
        """Return why the method cannot run at d features.

        Args:
            d: Number of features.

        Returns:
            A sentence, or None where it can run.
        """
        if not self.matrix or d <= MATRIX_LIMIT:
            return None
        size = 8e-9 * d * d  # GB, of numbers of 8 bytes
        return (
            f"{self.name} forms a d x d matrix, {size:.1f} GB at d = {d:,}; beyond d = {MATRIX_LIMIT:,} use "
            "dps_pca, noisy_power or dp_oja, which work on the rows themselves"
        )


@dataclass(frozen=True)
class Setting:
    """Hold the setting at which a bound is evaluated.

    Attributes:
        d: Number of features.
        n: Number of patients.
        k: Number of components.
        s: Number of features that the components use.
        s_hat: Number of rows that a sparse method keeps.
        providers: Number of hospitals.
        iterations: Number of rounds.
        eigenvalues: All d eigenvalues, descending, of the second moment of the rows scaled to the bound: in
            [0, 1] there, but accepted from -1e-6, which rounding may leave of a zero, to 1e12.
        budget: Privacy budget.
        tau: Standard deviations of slack in the bounds' probabilities.
        provider_noise: Noise across hospitals, one of PROVIDER_NOISE.
        burn_in: Number of first rounds without thresholding.
        start_error: sin Theta of the start; None is a random start.
        tails: Degrees of freedom of Student's t where rows inside a bound have its tails; None for Gaussian
            rows, which formulas suppose where they count what sampling errs.

    Raises:
        ValueError: For a value out of range, by its field's name.
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
    tails: float | None = None

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


class Assumption(NamedTuple):
    """Hold whether an assumption of a bound holds, and the sentence that states it with its numbers.

    of_size: whether it is that the error is small, which a closed form to first order needs.
    """

    holds: bool
    text: str
    of_size: bool = False


@dataclass(frozen=True)
class Bound:
    """Hold a bound on sin Theta at a setting. A void bound has no terms and an infinite total.

    Attributes:
        terms: Named terms, numbers or arrays over t = 1..T.
        total: The bound, a number or an array over t.
        applies: True when every assumption holds.
        why: Each assumption, with the number by which it was checked.
        source: Paper and theorem.
        constants: The free constants, by their names on screen.
        quantities: Intermediate numbers by name.
    """

    terms: dict[str, float | Array]
    total: float | Array
    applies: bool
    why: tuple[Assumption, ...]
    source: str = ""
    constants: dict[str, float] = field(default_factory=dict)
    quantities: dict[str, float] = field(default_factory=dict)

    @property
    def final(self) -> float:
        """Return the total at the output: its last step, where it is an array over t."""
        return float(np.asarray(self.total).flat[-1])

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the sentences of the assumptions that fail."""
        return tuple(each.text for each in self.why if not each.holds)

    @property
    def applies_but_for_size(self) -> bool:
        """Return whether every assumption holds, but maybe the one that the error is small."""
        return all(each.holds or each.of_size for each in self.why)
