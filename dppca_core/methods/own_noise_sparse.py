"""One moment from each hospital with noise of its own, averaged, then sparse post-processing.

Rows have length 1 (`scaling`). Each hospital adds noise to its own moment, so that the mean carries sqrt(N)
times that of one curator (`dppca_core.mechanisms.symmetric_gaussian`, with its proof); all that follows is
free. It sends d(d+1)/2 numbers.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian
from dppca_core.records import Method

TRUST = "untrusted server"
release = symmetric_gaussian.release
fit = noisy_moment.sparse_fit_under(TRUST, __name__)

METHOD = Method(
    title="Own noise + sparse step",
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
