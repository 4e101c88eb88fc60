"""The ways in which hospitals can find directions together, or each alone: whom each trusts, what it sends.

A way is a method with its options. Every byte is one of a 64-bit number; what a network, an encryption or the
key agreement of secure aggregation add is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from dppca_core.methods import METHODS

NUMBER = 8  # bytes
# What a hospital has to trust, from everything to nothing.
TRUSTS = (
    "none",
    "central",
    "secure aggregation",
    "untrusted server",
    "one message",
    "alone",
    "alone, none",
)


@dataclass(frozen=True)
class Protocol:
    """One way: a method, whom its hospitals trust, and what the server gets to see.

    `sees`, in a word: everything (second moments as they are), their sum, noisy messages, differences (of
    two messages, which are exact), or nothing. `alone`: one hospital by itself, with its own whole budget.
    `full`: the method's R is d. `noise`: DPS-PCA's noise across hospitals.
    """

    key: str
    method: str
    trust: str
    sees: str
    alone: bool = False
    full: bool = False
    noise: str | None = None

    @property
    def guarantee(self) -> str:
        """What its method promises; shared noise promises it of one message alone."""
        return METHODS[self.method].guarantee

    def options(self, *, s_hat: int, iterations: int, burn_in: int, rank: int, d: int) -> dict[str, Any]:
        """The method's own parameters: those that it uses."""
        own: dict[str, Any] = {"s_hat": s_hat, "iterations": iterations, "burn_in": burn_in}
        kept = {name: value for name, value in own.items() if name in METHODS[self.method].uses}
        if self.noise is not None:
            kept["provider_noise"] = self.noise
        if self.method == "dpdis_pca":
            kept["rank"] = d if self.full else rank
        return kept

    def cost(self, d: int, k: int, providers: int) -> float:
        """One run in d x d eigenproblems, roughly."""
        return METHODS[self.method].cost(d, k, 1 if self.alone else providers)

    @property
    def own_moments(self) -> bool:
        """Whether it needs every hospital's own moment, not only their sum."""
        return self.method in ("dpdis_pca", "federated_projector")


WAYS: dict[str, Protocol] = {
    way.key: way
    for way in (
        Protocol("pca", "pca", "none", "everything"),
        Protocol("sparse_pca", "sparse_pca", "none", "everything"),
        Protocol("analyze_gauss", "analyze_gauss", "central", "everything"),
        Protocol("analyze_gauss_sparse", "analyze_gauss_sparse", "central", "everything"),
        Protocol("cape", "cape", "secure aggregation", "sum"),
        Protocol("dps_pca secure", "dps_pca", "secure aggregation", "sum", noise="secure-aggregation"),
        Protocol("full", "dpdis_pca", "untrusted server", "messages", full=True),
        Protocol("dpdis_pca", "dpdis_pca", "untrusted server", "messages"),
        Protocol("federated_projector", "federated_projector", "untrusted server", "messages"),
        Protocol("dps_pca", "dps_pca", "untrusted server", "messages", noise="independent"),
        Protocol("dps_pca shared", "dps_pca", "one message", "differences", noise="shared"),
        Protocol("alone", "analyze_gauss", "alone", "nothing", alone=True),
        Protocol("alone sparse", "analyze_gauss_sparse", "alone", "nothing", alone=True),
        Protocol("alone open", "pca", "alone, none", "nothing", alone=True),
        Protocol("alone open sparse", "sparse_pca", "alone, none", "nothing", alone=True),
    )
}


class Traffic(NamedTuple):
    """Bytes of one hospital: sent in each round, rounds, and received in all of them with the result."""

    up: int
    rounds: int
    received: int

    @property
    def total(self) -> int:
        """Both directions, all rounds, and the result."""
        return self.rounds * self.up + self.received


def traffic(
    way: Protocol, *, d: int, k: int, rank: int, iterations: int, s_hat: int, burn_in: int
) -> Traffic:
    """Bytes of one hospital on this way.

    DPS-PCA sends H, d k numbers, in each round, and gets the rows of Q that are not zero with their places:
    d (k + 1) numbers up to the end of the burn-in, s_hat (k + 1) afterwards. DPdisPCA sends d R, once;
    averaged projectors a symmetric matrix, d (d + 1)/2, and three numbers; everything else that matrix alone.
    All who join get the d k numbers of the result; who stays alone sends and gets nothing.
    """
    if way.alone:
        return Traffic(0, 0, 0)
    result = NUMBER * d * k
    if way.method == "dps_pca":
        dense = min(burn_in + 1, iterations) if burn_in else 0
        asked = NUMBER * (k + 1) * (dense * d + (iterations - dense) * s_hat)
        return Traffic(NUMBER * d * k, iterations, asked + result)
    numbers = d * (d + 1) // 2
    if way.method == "dpdis_pca" and not way.full and rank < d:
        numbers = d * rank
    if way.method == "federated_projector":
        numbers += 3
    return Traffic(NUMBER * numbers, 1, result)
