"""The one private step of the local model: every user sends a noisy second moment of one row.

Wang & Xu (IJCAI 2019), Algorithm 1, lines 1 to 4: user i sends x_i x_i^T + Z_i, |x_i| <= 1, and nobody is
trusted; the mean of what arrives is used. Between two users' rows, or two rows of one user, what is sent
moves by |xx^T - yy^T|_F <= sqrt 2, and between taking part and sending noise alone by |x|^2 <= 1: the
sensitivities of `noisy_moment`, with its proof, its noise shapes and its calibration, for n = 1. Printed are
the relation "any two rows" and the constant sqrt(2 ln(1.25/delta))/epsilon at sensitivity 1, so the printed
epsilon is exceeded from .9 on (delta = 1e-4: 1 is 1.04, 3 is 3.70).

sum_i Z_i / n is itself symmetric Gaussian with the variance of one Z_i divided by n. One draw has exactly
the law of n users' messages, whatever n.
"""

import math

import numpy as np

from dppca_core import linalg, noisy_moment
from dppca_core.types import Array, Budget, Cohort


def entry_std(budget: Budget, n: int, noise: str | None) -> float:
    """std of one off-diagonal entry of the mean: s/sqrt n mirrored, s/sqrt(2 n) isotropic."""
    return noisy_moment.entry_std(budget, 1, noise) / math.sqrt(n)


def release(cohort: Cohort, budget: Budget, rng: np.random.Generator, noise: str | None) -> Array:
    """The mean of all users' noisy moments, (d, d) symmetric. The only step that reads private rows."""
    std = noisy_moment.sum_noise_std(budget) / math.sqrt(cohort.n)
    shape = noisy_moment.shape_of(budget, noise)
    draw = linalg.isotropic_noise if shape == "isotropic" else linalg.mirrored_noise
    noisy = draw(cohort.features, std, rng)
    noisy += cohort.pooled.dense()
    return noisy
