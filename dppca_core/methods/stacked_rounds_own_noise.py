"""Stacked normalised rounds where hospitals trust nobody: each adds noise to its own sum of every round.

As `stacked_rounds` (`dppca_core.mechanisms.stacked`), with sqrt(N) times the noise in the sum.
"""

from dppca_core.mechanisms import normalised_product, stacked
from dppca_core.records import Method

TRUST = "untrusted server"
release = normalised_product.release
fit = stacked.fit_under(TRUST, __name__)

METHOD = Method(
    title="Stacked rounds, own noise",
    reference="normalised rounds, stacked in units of their noise",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "providers", "neighbours", "accounting"),
    fit=fit,
    pools="whole",
    spends=stacked.spends,
    matrix=False,
    # Rows of the drawn patients, once for all that asks for them.
    cost=lambda d, k, providers: 3.0,
    scaling="unit",
    audit="stages.own_rounds",
)
