"""PCA in the local model (Wang & Xu, IJCAI 2019, Algorithm 1).

Every user adds symmetric Gaussian noise to x x^T before it leaves. The top eigenvectors of the mean of these
messages are post-processing. Nobody is trusted, and the noise of the mean falls with sqrt n only. So the
paper's own experiment (n = 1e5, 40 features, epsilon = 1/2) ends at a random guess, and n near 1e10 would be
needed. Release, sensitivity and proof: `dppca_core.mechanisms.symmetric_gaussian`. Algorithm and constant
read in the paper.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian
from dppca_core.records import Method

TRUST = "local"
release = symmetric_gaussian.release
fit = noisy_moment.fit_under(TRUST, __name__)

METHOD = Method(
    title="Local PCA",
    reference="Wang & Xu, IJCAI 2019, Algorithm 1",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=symmetric_gaussian.spends,
    audit="moments.one_user",
)
