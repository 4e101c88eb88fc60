"""One moment with sealed sums, then sparse post-processing: CAPE's aggregate and truncated power.

Rows have length 1 (`scaling`), hospitals add the noise of one curator together, and all that follows the one
release (`dppca_core.mechanisms.symmetric_gaussian`, with its proof) is free. It sends d(d+1)/2 numbers.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian
from dppca_core.records import Method

TRUST = "secure aggregation"
release = symmetric_gaussian.release
fit = noisy_moment.sparse_fit_under(TRUST, __name__)

METHOD = Method(
    title="Sealed sums + sparse step",
    reference="one noisy moment from each hospital, then truncated power",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "neighbours", "accounting"),
    fit=fit,
    pools="whole",
    spends=symmetric_gaussian.spends,
    scaling="unit",
    audit="moments.pooled",
)
