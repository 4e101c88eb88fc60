"""The minimax lower bound of sparse PCA without privacy (Vu & Lei, Annals of Statistics 2013).

This is as quoted by Ge, Wang, Wang & Liu (AISTATS 2018, section 4). Take the covariances with an s-row-sparse
top k subspace and lambda_k - lambda_{k+1} > kappa lambda_{k+1}, kappa > 0. For every estimator from n rows
there is one where its mean error is at least

    sin Theta >= C2 sqrt(lambda_1 lambda_{k+1}) / (lambda_k - lambda_{k+1}) sqrt(s (k + log(d)/4) / n).

C2 is unspecified. Over such covariances plain PCA errs at its worst, to first order, by sqrt(k (d - k)
lambda_1 lambda_{k+1} / n) / gap. Where C2 = 1 gives more, a check of our own says so. Privacy plays no part,
so it holds for private methods as well, and cannot show that one is optimal under privacy. It is a worst
case: at one given covariance an estimator may do better. Read as quoted; that 2k <= s - k <= d - k is needed
is Wang & Xu's Theorem 3, which follows the same construction.
"""

import math

from dppca_core.bounds.rule import BoundRule, check_reachable, make_bound, spectrum
from dppca_core.records import Bound, Setting

SOURCE = "Vu & Lei, Annals of Statistics 2013, as quoted by Ge, Wang, Wang & Liu, AISTATS 2018, section 4"


def sparse_minimax(setting: Setting, *, c2: float = 1.0) -> Bound:
    """Return the lower bound on the worst case's mean sin Theta of sparse PCA without privacy.

    Args:
        c2: C2, the constant of the bound.

    Returns:
        The bound, with one term, stat.
    """
    d, k, s = setting.d, setting.k, setting.s
    top, bulk = spectrum(setting)
    width, below = float(top[-1] - bulk[0]), float(bulk[0])
    rate = math.sqrt(float(top[0]) * below) / width
    stat = c2 * rate * math.sqrt(s * (k + math.log(d) / 4) / setting.n)
    # kappa is the relative gap that the class of covariances is defined by.
    kappa = width / below if below > 0 else math.inf
    conditions = (
        (kappa > 0, f"gap over λ_k+1: κ = {kappa:.3g} should be above 0"),
        (2 * k <= s - k <= d - k, f"s − k = {s - k} should be between 2k = {2 * k} and d − k = {d - k}"),
        check_reachable(setting, stat, math.sqrt(k * (d - k) / setting.n) * rate, "PCA"),
    )
    return make_bound(conditions, {"stat": stat}, stat)


BOUNDS = (
    BoundRule(
        title="Vu & Lei 2013, without privacy",
        kind="lower",
        methods=(),
        formula=(
            r"\sin\Theta \ge C_2\,\frac{\sqrt{\lambda_1\lambda_{k+1}}}{\lambda_k-\lambda_{k+1}}"
            r"\sqrt{\frac{s(k+\frac14\log d)}{n}}"
        ),
        compute=sparse_minimax,
        source=SOURCE,
        symbols={"c2": "C2"},
        fits="c2",
    ),
)
