"""A closed form for the noisy spectral projector (Cai, Xia & Zha's mechanism): derived here.

The projector on the sample's top k eigenvectors has eigenvalues 1 and 0. So symmetric noise with standard
deviation s off the diagonal turns each of its k (d - k) pairs by s:

    sin^2 = k (d - k) s^2 + sampling.

Here s is the method's default calibration, for the spike lambda_k - v and the mean v of the bulk. Each is
moved to the cautious side as the method moves it. The noise with which they are released must be small beside
them.
"""

import math

import numpy as np

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, spectrum
from dppca_core.mechanisms import spiked_covariance, symmetric_gaussian
from dppca_core.records import Bound, Setting

# Largest relative noise of the released spike and bulk; s moves by half of it.
_CLOSE = 0.1


def projector_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of the noisy projector.

    Returns:
        The prediction; its terms privacy and sampling add in squares.
    """
    d, n, k, budget = setting.d, setting.n, setting.k, setting.budget
    top, bulk = spectrum(setting)
    flat = float(bulk.mean())
    # These are the method's own steps: `blur` is the noise of the released spectrum, by which it moves spike
    # and bulk to the cautious side before it takes the projector's sensitivity at them.
    # Spike and bulk are released too (known=False), and so is the covariance.
    z = spiked_covariance.multipliers(budget, known=False, covariance=True)
    blur = spiked_covariance.spectrum_std(budget, n, z["spectrum"])
    spike, raised = spiked_covariance.move_cautiously(float(top[-1]), flat, blur, d, k)
    constant = spiked_covariance.default_constant(d, n)
    std = spiked_covariance.projector_sensitivity(d, n, k, spike, raised, constant) * z["projector"]
    if symmetric_gaussian.shape_of(budget, noise=None) == "isotropic":
        std /= math.sqrt(2)  # off the diagonal, where alone noise turns directions
    # The bulk is released as the sum of d - k eigenvalues, so its mean has blur/(d - k).
    spread = max(blur / spike, blur / (d - k) / raised) if spike > 0 else math.inf
    close = (
        spread <= _CLOSE,
        (f"released spike and bulk: spread over value = {spread:.2g} should be at most {_CLOSE:g}"),
    )
    return perturbation.predict_from_pairs(setting, np.full((k, d - k), std**2), {"noise_std": std}, close)


BOUNDS = (
    BoundRule(
        title="Closed form for the noisy projector",
        methods=("spiked_projector",),
        formula=(
            r"\sin^2\Theta \approx k(d-k)s^2"
            r"+\sum_{j\le k<i}\frac{\lambda_i\lambda_j}{n(\lambda_j-\lambda_i)^2}"
        ),
        compute=projector_prediction,
    ),
)
