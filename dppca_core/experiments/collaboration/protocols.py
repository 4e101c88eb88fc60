"""The protocols by which hospitals find directions together, or each alone, and whom each protocol trusts.

A protocol is a method with its options. Bytes are those of 64-bit numbers; what a network, an encryption or
the key agreement of secure aggregation add is not counted.
"""

from dataclasses import dataclass
from typing import NamedTuple

from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS

NUMBER = 8  # bytes


@dataclass(frozen=True)
class Protocol:
    """A protocol names a method, whom its hospitals trust, and what the server sees."""

    key: str  # the name, which also keys its random streams
    method: str  # a key of `METHODS`
    trust: str  # whom a hospital has to trust, in a word or two
    # What the server sees, in a word: everything (second moments as they are), their sum, noisy messages,
    # differences (of two messages, which are exact), or nothing.
    sees: str
    alone: bool = False  # whether one hospital works by itself, with its own whole budget
    full: bool = False  # whether hospitals send whole noisy moments, which is DPdisPCA with R = d directions
    noise: str | None = None  # DPS-PCA's noise across hospitals
    name: str = ""  # its title where another protocol has the same method

    @property
    def title(self) -> str:
        return self.name or METHODS[self.method].title

    @property
    def free(self) -> bool:
        """Return whether it protects nobody: its errors are the best of all ways to do without privacy."""
        return self.trust in ("none", "alone, none")

    @property
    def own_moments(self) -> bool:
        """Return whether it needs the second moment of every hospital, not only their sum."""
        return self.method in ("dpdis_pca", "federated_projector")


PROTOCOLS: dict[str, Protocol] = {
    protocol.key: protocol
    for protocol in (
        Protocol(NO_PRIVACY, "pca", "none", "everything", name="Best, no privacy"),
        Protocol("analyze_gauss", "analyze_gauss", "central", "everything"),
        Protocol("analyze_gauss_sparse", "analyze_gauss_sparse", "central", "everything"),
        Protocol("two_stage", "two_stage", "central", "everything"),
        Protocol("stacked_rounds", "stacked_rounds", "central", "everything"),
        Protocol("cape", "cape", "secure aggregation", "sum"),
        Protocol("sealed_sparse", "sealed_sparse", "secure aggregation", "sum"),
        Protocol("two_stage_sealed", "two_stage_sealed", "secure aggregation", "sum"),
        Protocol("stacked_rounds_sealed", "stacked_rounds_sealed", "secure aggregation", "sum"),
        Protocol(
            "dps_pca secure",
            method="dps_pca",
            trust="secure aggregation",
            sees="sum",
            noise="secure-aggregation",
            name="DPS-PCA, sealed sums",
        ),
        Protocol("full", "dpdis_pca", "untrusted server", "messages", full=True, name="Full noisy moments"),
        Protocol("dpdis_pca", "dpdis_pca", "untrusted server", "messages"),
        Protocol("federated_projector", "federated_projector", "untrusted server", "messages"),
        Protocol("own_noise_sparse", "own_noise_sparse", "untrusted server", "messages"),
        Protocol("two_stage_own_noise", "two_stage_own_noise", "untrusted server", "messages"),
        Protocol("stacked_rounds_own_noise", "stacked_rounds_own_noise", "untrusted server", "messages"),
        Protocol("dps_pca", "dps_pca", "untrusted server", "messages", noise="independent"),
        Protocol(
            "dps_pca shared",
            method="dps_pca",
            trust="one message",
            sees="differences",
            noise="shared",
            name="DPS-PCA, shared noise",
        ),
        Protocol("alone", "analyze_gauss", "alone", "nothing", alone=True),
        # Of one hospital the sealed sum is its own: a sparse step on rows of length 1.
        Protocol("alone sparse", "sealed_sparse", "alone", "nothing", alone=True, name="Sparse step"),
        Protocol("alone two_stage", "two_stage", "alone", "nothing", alone=True),
        Protocol("alone stacked_rounds", "stacked_rounds", "alone", "nothing", alone=True),
        Protocol(
            f"alone, {NO_PRIVACY}",
            method="pca",
            trust="alone, none",
            sees="nothing",
            alone=True,
            name="Best, no privacy",
        ),
    )
}
# By method, the protocol by which a hospital alone uses it to publish.
ALONE = {protocol.method: protocol for protocol in PROTOCOLS.values() if protocol.trust == "alone"}
# Whom a hospital has to trust, from everybody to nobody.
TRUSTS = tuple(dict.fromkeys(protocol.trust for protocol in PROTOCOLS.values()))


class Traffic(NamedTuple):
    """Hold the bytes that one hospital sends in each round, and receives in all rounds with the result."""

    bytes_sent: tuple[int, ...]
    bytes_received: int

    @property
    def rounds(self) -> int:
        return len(self.bytes_sent)

    @property
    def most_sent(self) -> int:
        return max(self.bytes_sent, default=0)

    @property
    def total(self) -> int:
        return sum(self.bytes_sent) + self.bytes_received
