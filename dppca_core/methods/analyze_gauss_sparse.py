"""One Analyze Gauss release, then sparse post-processing: truncated power on the noisy moment.

Beyond the papers. The release is that of Analyze Gauss (`dppca_core.mechanisms.symmetric_gaussian`, with
its proof); all iterations after it are free, so unlike DPS-PCA the noise does not grow with their number.
It needs a curator and sends d(d+1)/2 numbers instead of d k a round.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian
from dppca_core.records import Method

TRUST = "central"
release = symmetric_gaussian.release
fit = noisy_moment.sparse_fit_under(TRUST, __name__)

METHOD = Method(
    title="Analyze Gauss + sparse step",
    reference="Analyze Gauss, then truncated power as free post-processing",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "s_hat", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    audit="moments.pooled",
)
