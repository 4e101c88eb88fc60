"""The one private step of every method that releases a symmetric noisy second moment, whoever adds the noise.

Dwork, Talwar, Thakurta & Zhang (STOC 2014), Algorithm 1: A^T A + E with rows of norm at most 1. Here on
the scale of means, divided by the public n. Replacing a row moves the sum by |xx^T - yy^T|_F <= sqrt 2, with
equality at x orthogonal to y. Adding or removing one moves it by |x|^2 <= 1. The l2 norm of the upper
triangle moves by at most the same. The paper's relation is add/remove, its constant sqrt(2
ln(1.25/delta))/epsilon.

Whose noise, on the scale of sums over n patients of N hospitals, where one curator adds s:

    "central"             one curator, s
    "secure aggregation"  hospitals together, of which only the sum is seen, s (`dppca_core.methods.cape`)
    "untrusted server"    each hospital adds s to its own sum, sqrt(N) s in all
    "local"               each patient adds s to x x^T before it leaves, sqrt(n) s in all

Sums of independent symmetric Gaussians are symmetric Gaussian: one draw has exactly the law of all messages'
mean, whatever N and n. In the local model (Wang & Xu, IJCAI 2019, Algorithm 1, lines 1 to 4) the same
sensitivities hold between two patients' rows, and between taking part and sending noise alone. That paper
prints the relation "any two rows" and the constant sqrt(2 ln(1.25/delta))/epsilon at sensitivity 1. So the
true epsilon is above the printed one from .9 on (delta = 1e-4: 1 is 1.04, 3 is 3.70).
"""

import math

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Moment
from dppca_core.cohort import Cohort
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget, Event, Release

SHAPES = ("isotropic", "mirrored")


def sensitivity(budget: Budget) -> float:
    """Return the l2 sensitivity of sum x x^T, |x| <= 1; the proof is in the module's text."""
    return math.sqrt(2) if budget.neighbours == "replace-one" else 1.0


def sum_noise_std(budget: Budget) -> float:
    """Return the std of the noise in one diagonal entry of sum x x^T, as one curator adds it.

    With accounting "as-printed" it is at the paper's sensitivity of 1.
    """
    movement = 1.0 if budget.accounting == "as-printed" else sensitivity(budget)
    return movement * gaussian.noise_multiplier(budget)


def shape_of(budget: Budget, noise: str | None) -> str:
    """Return the shape of symmetric noise: `noise` if given, else by the budget's accounting.

    "mirrored" draws the upper triangle with equal variances and reflects it, as in the paper: the default
    where the accounting is as printed. "isotropic" is (G + G^T)/2, which gives the same guarantee with half
    the variance off the diagonal. Raises ValueError for an unknown shape.
    """
    default = "mirrored" if budget.accounting == "as-printed" else "isotropic"
    chosen = default if noise is None else noise
    checks.one_of(SHAPES, noise=chosen)
    return chosen


def entry_std(budget: Budget, n: int, noise: str | None, trust: str = "central", providers: int = 1) -> float:
    """Return the std of the noise in one off-diagonal entry of the mean of n rows.

    It is that of a diagonal entry, over sqrt 2 where the noise is isotropic. The arguments are those of
    `mean_noise_std`; noise: the shape, as for `shape_of`.
    """
    std = mean_noise_std(budget, n, trust, providers)
    return std if shape_of(budget, noise) == "mirrored" else std / math.sqrt(2)


def mean_noise_std(budget: Budget, n: int, trust: str = "central", providers: int = 1) -> float:
    """Return the std of the noise in one diagonal entry of (1/n) sum x x^T.

    trust: who adds the noise, as listed in the module's text; providers: the number of hospitals. Raises
    ValueError for a trust under which no moment is released.
    """
    checks.one_of(("central", "secure aggregation", "untrusted server", "local"), trust=trust)
    std = sum_noise_std(budget)
    if trust == "local":  # n noises in the sum, sqrt(n) std in all, over n
        return std / math.sqrt(n)
    return std * math.sqrt(providers) / n if trust == "untrusted server" else std / n


def release(
    cohort: Cohort, budget: Budget, rng: np.random.Generator, noise: str | None, trust: str = "central"
) -> Array:
    """Return the noisy pooled second moment, (d, d) symmetric.

    This is the only step that reads private rows. noise: its shape, as for `shape_of`. trust: who adds it;
    one draw has the law of all messages' mean.
    """
    std = mean_noise_std(budget, cohort.n, trust, len(cohort))
    return with_noise(cohort.pooled, std, shape_of(budget, noise), rng)


def with_noise(moment: Moment, std: float, shape: str, rng: np.random.Generator) -> Array:
    """Return a second moment plus symmetric Gaussian noise, (d, d): it reads the rows behind the moment.

    std: of one diagonal entry of the noise, on the scale of the moment. shape: "isotropic" or "mirrored".
    """
    draw = {"isotropic": linalg.isotropic_noise, "mirrored": linalg.mirrored_noise}[shape]
    noisy = draw(moment.features, std, rng)
    noisy += moment.dense()
    return noisy


def spends(budget: Budget, **_: object) -> tuple[Event, ...]:
    """Return one Gaussian release."""
    return (Release(sum_noise_std(budget) / sensitivity(budget)),)
