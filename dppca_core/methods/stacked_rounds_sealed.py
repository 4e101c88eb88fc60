"""Stacked normalised rounds with sealed sums: hospitals add the noise of one curator together.

As `stacked_rounds` (`dppca_core.mechanisms.stacked`), each round a sum over hospitals by secure aggregation.
Of N hospitals t that collude know their own noise: (N - t)/N of its variance is left.
"""

from dppca_core.mechanisms import normalised_product, stacked
from dppca_core.records import Method

TRUST = "secure aggregation"
release = normalised_product.release
fit = stacked.fit_under(TRUST, __name__)

METHOD = Method(
    title="Stacked rounds, sealed sums",
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
    audit="stages.rounds",
)
