"""What a guarantee is: the budget asked for, and the events that a ledger keeps. Frozen and self-checking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from dppca_core import checks

Neighbours = Literal["replace-one", "add-remove"]

AccountingKind = Literal["exact", "zcdp", "as-printed"]

NEIGHBOURS: tuple[Neighbours, ...] = get_args(Neighbours)

ACCOUNTINGS: tuple[AccountingKind, ...] = get_args(AccountingKind)


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
