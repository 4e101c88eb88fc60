"""Laplace approximation of PPCA (Chaudhuri, Sarwate & Sinha, JMLR 2013): derived here.

Around the sample's eigenvectors the exponent c n tr(V^T S V) falls when direction j <= k turns by x_ij
towards i > k. It falls by c n (lambda_j - lambda_i) x_ij^2. So x_ij ~ N(0, 1/(2 c n (lambda_j - lambda_i))).
With the first order of sampling and g_ij = lambda_j - lambda_i this gives

    sin^2 = sum over j <= k < i of 1/(2 c n g_ij) + lambda_i lambda_j / (n g_ij^2).

c is the method's own strength: epsilon/2 when a row is replaced (so 1/(n epsilon g_ij) a pair), epsilon when
one is added or removed. delta plays no part.
"""

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, spectrum
from dppca_core.methods.ppca import strength
from dppca_core.numerics import bingham
from dppca_core.records import Bound, Setting


def ppca_laplace(setting: Setting) -> Bound:
    """Predict sin Theta of PPCA's exact law.

    Returns:
        The prediction; its terms privacy and sampling add in squares.
    """
    # The method holds the factor below what doubles resolve, and so does its prediction.
    factor = min(strength(setting.budget) * setting.n, bingham.STRONGEST / 2)
    over, under = perturbation.pair_eigenvalues(*spectrum(setting))
    return perturbation.predict_from_pairs(setting, 1 / (2 * factor * (over - under)), {"strength": factor})


BOUNDS = (
    BoundRule(
        title="Laplace approximation of PPCA",
        methods=("ppca",),
        formula=(
            r"\sin^2\Theta \approx \sum_{j\le k<i}\frac{1}{2cn(\lambda_j-\lambda_i)}"
            r"+\frac{\lambda_i\lambda_j}{n(\lambda_j-\lambda_i)^2}"
        ),
        compute=ppca_laplace,
    ),
)
