"""Guarantees: the budget asked for, which checks itself, and the events that an account keeps. All frozen."""

from dataclasses import dataclass
from typing import Literal, get_args

from dppca_core import checks

Neighbours = Literal["replace-one", "add-remove"]

AccountingKind = Literal["exact", "zcdp", "as-printed"]

NEIGHBOURS: tuple[Neighbours, ...] = get_args(Neighbours)

ACCOUNTINGS: tuple[AccountingKind, ...] = get_args(AccountingKind)


@dataclass(frozen=True)
class Budget:
    """Hold an (epsilon, delta) privacy budget, its neighbouring relation and its accounting.

    Attributes:
        epsilon: From 1e-12 to 1e12.
        delta: From 1e-300 to below 1.
        neighbours: "replace-one": data sets differ by replacing one row; "add-remove": by adding or removing
            one.
        accounting: "exact" (Balle-Wang and the T-fold Gaussian), "zcdp", or "as-printed" (the constants of
            each method's own paper, whatever they truly give).

    Raises:
        ValueError: For a value out of range, by its field's name.

    References:
        Dwork & Roth 2014, Definition 2.4; the accountings stand in `dppca_core.accounting.gaussian`.
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
        # Files of accounts hold no numbers of NumPy, and float32 would round all that follows.
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, checks.plain(getattr(self, name)))
        checks.one_of(NEIGHBOURS, neighbours=self.neighbours)
        checks.one_of(ACCOUNTINGS, accounting=self.accounting)


@dataclass(frozen=True)
class Release:
    """Record, for an account, `steps` adaptive Gaussian releases with this std / sensitivity.

    Attributes:
        noise_multiplier: Standard deviation of the noise over the l2 sensitivity.
        steps: Number of releases.

    References:
        Dong, Roth & Su, JRSS-B 2022, Corollary 3.3, for their composition.
    """

    noise_multiplier: float
    steps: int = 1


@dataclass(frozen=True)
class Guarantee:
    """Record, for an account, a release of which only its (epsilon, delta) is known.

    Attributes:
        epsilon: Privacy loss.
        delta: Chance of failure; 0 is pure differential privacy.

    References:
        Dwork & Roth 2014, Definition 2.4.
    """

    epsilon: float
    delta: float = 0.0


Event = Release | Guarantee
