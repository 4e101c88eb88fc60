"""Two-stage PCA with sealed sums: hospitals add their noise together, and no one sees one hospital's numbers.

It is `two_stage` (`dppca_core.mechanisms.two_stage`, with its proof), but every round and the last moment are
sums over hospitals by secure aggregation. Each hospital adds 1/N of the noise's variance, so the sum has
exactly the law of a curator's. If t of N hospitals collude, they know their own noise: (N - t)/N of its
variance is left.
"""

from dppca_core.mechanisms import two_stage
from dppca_core.records import Method

TRUST = "secure aggregation"
release = two_stage.release
fit = two_stage.fit_under(TRUST, __name__)

METHOD = Method(
    title="Two-stage PCA, sealed sums",
    reference="normalised rounds, then the moment of the rows they name",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "neighbours", "accounting"),
    fit=fit,
    pools="restricted",
    spends=two_stage.spends,
    matrix=False,
    # Rows of the drawn patients, once for all that asks for them.
    cost=lambda d, k, providers: 3.0,
    scaling="unit",
    audit="stages.one_place",
)
