"""PCA in the local model (Wang & Xu, IJCAI 2019, Algorithm 1).

Every user adds symmetric Gaussian noise to x x^T before it leaves. The top eigenvectors of the mean of these
messages are post-processing. Nobody is trusted, and the noise of the mean falls with sqrt n only. So the
paper's own experiment (n = 1e5, 40 features, epsilon = 1/2) ends at a random guess, and n near 1e10 would be
needed. Release, sensitivity and proof: `dppca_core.mechanisms.symmetric_gaussian`. Algorithm and constant
read in the paper.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian

release = symmetric_gaussian.release
METHOD = noisy_moment.method_for_trust(
    "local", "Local PCA", "Wang & Xu, IJCAI 2019, Algorithm 1", audit="moments.one_user"
)
