"""A closed form for PCA in the local model (Wang & Xu's Algorithm 1): derived here.

The mean of n users' noisy moments carries symmetric noise with standard deviation std off the diagonal, as
the method is calibrated (`dppca_core.mechanisms.symmetric_gaussian`), so to first order

    sin^2 = sum over j <= k < i of [ std^2 + lambda_i lambda_j / n ] / (lambda_j - lambda_i)^2.

std falls with sqrt n only and does not depend on lambda_1: compare Theorem 2 in `wang_xu`.
"""

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.records import Bound, Setting


def local_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of PCA in the local model.

    Returns:
        The prediction; its terms privacy and sampling add in squares.
    """
    return perturbation.predict_one_release(
        setting, symmetric_gaussian.entry_std(setting.budget, setting.n, noise=None, trust="local")
    )


BOUNDS = (
    BoundRule(
        title="Closed form for local PCA",
        methods=("ldp_pca",),
        formula=(
            r"\sin^2\Theta \approx \sum_{j\le k<i}\frac{\mathrm{std}^2+\lambda_i\lambda_j/n}"
            r"{(\lambda_j-\lambda_i)^2}"
        ),
        compute=local_prediction,
    ),
)
