"""Analyze Gauss (Dwork, Talwar, Thakurta & Zhang, STOC 2014): its utility, and a closed form for its error.

Utility, as recalled; constants not checked against the paper. Delta is the noise of the sum's entries, and
lambda are the eigenvalues of the mean. If n (lambda_k - lambda_{k+1}) = omega(Delta sqrt d), the noisy top k
eigenvectors lie within O(Delta sqrt d / (n gap)) of the sample's in operator norm. In the Frobenius norm that
is

    sin Theta <= C sqrt(k d) tau / (lambda_k - lambda_{k+1}) + sampling,

tau the standard deviation off the diagonal of the mean's noise, as the method here is calibrated (the
paper's own constant and sensitivity where the accounting is "as-printed"). The paper compares with the
sample's eigenvectors; sampling, to first order, is added by the triangle inequality. It also bounds the
captured energy: at most O(k sqrt d tau) is lost, `energy_lost` of the quantities with the same C.

Closed form (`dppca_core.bounds.perturbation`), which also holds for CAPE, whose aggregate has the same law:

    sin^2 = sum over j <= k < i of [ tau^2 + lambda_i lambda_j / n ] / (lambda_j - lambda_i)^2.
"""

import math

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, check_gap, make_bound, spectrum
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.records import Bound, Setting

SOURCE = (
    "Dwork, Talwar, Thakurta & Zhang, STOC 2014, utility as recalled; constants not checked against the paper"
)
METHODS = ("analyze_gauss", "cape")


def analyze_gauss(setting: Setting, *, c: float = 1.0) -> Bound:
    """Return the utility bound on sin Theta of Analyze Gauss.

    Args:
        c: C, the constant of the term priv.

    Returns:
        The bound; its terms priv and sampling add up, and its quantities hold `energy_lost`.
    """
    top, bulk = spectrum(setting)
    tau = symmetric_gaussian.entry_std(setting.budget, setting.n, noise=None)
    # `reach` bounds the operator norm of the noise, and `width` is the gap that it must not bridge.
    width, reach = float(top[-1] - bulk[0]), c * tau * math.sqrt(setting.d)
    terms = {
        "priv": math.sqrt(setting.k) * reach / width,
        "sampling": math.sqrt(perturbation.sampling(top, bulk, setting.n)),
    }
    wide = reach <= width, f"gap {width:.3g} should be at least C τ √d = {reach:.3g} (the paper: far above)"
    quantities = {"noise_std": tau, "energy_lost": setting.k * reach}
    return make_bound((check_gap(top, bulk), wide), terms, sum(terms.values()), quantities)


def analyze_gauss_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of Analyze Gauss and of CAPE.

    Returns:
        The prediction; its terms privacy and sampling add in squares.
    """
    return perturbation.predict_one_release(
        setting, symmetric_gaussian.entry_std(setting.budget, setting.n, noise=None)
    )


BOUNDS = (
    BoundRule(
        title="Dwork et al. 2014, utility",
        kind="upper",
        methods=METHODS,
        formula=r"\sin\Theta \le C\,\frac{\sqrt{kd}\;\tau}{\lambda_k-\lambda_{k+1}}+\mathrm{sampling}",
        compute=analyze_gauss,
        source=SOURCE,
        symbols={"c": "C"},
        fits="c",
    ),
    BoundRule(
        title="Closed form for Analyze Gauss",
        methods=METHODS,
        formula=(
            r"\sin^2\Theta \approx \sum_{j\le k<i}\frac{\tau^2+\lambda_i\lambda_j/n}{(\lambda_j-\lambda_i)^2}"
        ),
        compute=analyze_gauss_prediction,
    ),
)
