"""The one private step of the local model: every user sends a noisy second moment of one row.

Wang & Xu (IJCAI 2019), Algorithm 1, lines 1 to 4: user i sends x_i x_i^T + Z_i, |x_i| <= 1, and nobody is
trusted; the mean of what arrives is used. Between two users' rows, or two rows of one user, what is sent
moves by |xx^T - yy^T|_F <= sqrt 2, and between taking part and sending noise alone by |x|^2 <= 1: the
sensitivities of `symmetric_gaussian`, with its proof, its noise shapes and its calibration, for n = 1.
Printed are the relation "any two rows" and the constant sqrt(2 ln(1.25/delta))/epsilon at sensitivity 1, so
the printed epsilon is exceeded from .9 on (delta = 1e-4: 1 is 1.04, 3 is 3.70).

sum_i Z_i / n is itself symmetric Gaussian with the variance of one Z_i divided by n. One draw has exactly
the law of n users' messages, whatever n.
"""

import math

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget


def entry_std(budget: Budget, n: int, noise: str | None) -> float:
    """std of one off-diagonal entry of the mean: s/sqrt n mirrored, s/sqrt(2 n) isotropic."""
    return symmetric_gaussian.entry_std(budget, 1, noise) / math.sqrt(n)


def release(cohort: Cohort, budget: Budget, rng: np.random.Generator, noise: str | None) -> Array:
    """The mean of all users' noisy moments, (d, d) symmetric. The only step that reads private rows."""
    std = symmetric_gaussian.sum_noise_std(budget) / math.sqrt(cohort.n)
    shape = symmetric_gaussian.shape_of(budget, noise)
    draw = linalg.isotropic_noise if shape == "isotropic" else linalg.mirrored_noise
    noisy = draw(cohort.features, std, rng)
    noisy += cohort.pooled.dense()
    return noisy
