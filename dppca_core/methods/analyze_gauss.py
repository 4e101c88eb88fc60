"""Analyze Gauss (Dwork, Talwar, Thakurta & Zhang, STOC 2014, Algorithm 1).

A trusted curator releases the pooled second moment plus symmetric Gaussian noise; its leading
eigenvectors are post-processing. Noise, sensitivity and proof: `dppca_core.mechanisms.symmetric_gaussian`.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian
from dppca_core.records import Method

TRUST = "central"
release = symmetric_gaussian.release
fit = noisy_moment.fit_under(TRUST, __name__)

METHOD = Method(
    title="Analyze Gauss",
    reference="Dwork, Talwar, Thakurta & Zhang, STOC 2014",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    audit="moments.pooled",
)
