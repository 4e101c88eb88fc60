"""PCA in the local model (Wang & Xu, IJCAI 2019): Theorems 1 to 4, non-interactive, one row per user.

Read in the paper, which bounds the square of sin Theta; with g = lambda_k - lambda_{k+1}, p features:

    Theorem 1, lower:   C lambda_1 lambda_{k+1} / g^2  k p / (n epsilon^2)
    Theorem 2, upper:   C lambda_1^2 / g^2  k p log(1/delta) / (n epsilon^2)
    Theorem 3, lower:   C lambda_1 lambda_{k+1} / g^2  s (k + log p) / (n epsilon^2)
    Theorem 4, upper:   C lambda_1^2 / g^2  s^2 log p / (n epsilon^2)

No C is specified, and the probabilities of Theorems 2 and 4, 1 - e^(-C1) - p^(-C2) and 1 - 2/p^2 -
p^(-c), hold constants of their own. The lower bounds are for epsilon-local privacy, delta = 0. The
condition of Theorem 3 on n has lambda_1 lambda_{k+1}/g (eq. 1 as extracted); g^2 stands here, as in
Theorem 1. Components lie on s of the features. sin Theta, of the angles between true and found
components, is that of the worst case.

Our own finding: rows have norm at most 1, so lambda_1 < 1 (often far below), while every user's noise has
standard deviation sqrt(2 ln(1.25/delta))/epsilon whatever lambda_1. The factor lambda_1^2 of Theorems 2 and 4
has no counterpart in the method, whose noise alone gives k p std^2 / g^2 to first order. Where the printed
bound lies below that (for Theorem 4: below it on a known support), a check says so and fails.
"""

import math
from collections.abc import Callable, Sequence

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, Check, check_gap, check_reachable, make_bound, spectrum
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods.ldp_sparse_pca import PENALTY
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound, Setting

SOURCE = "Wang & Xu, IJCAI 2019, Theorem {}"
CLIPPED: Check = (True, "rows of norm at most 1: they are clipped to it")


def _ratios(setting: Setting) -> tuple[float, float]:
    """Return lambda_1^2/g^2, for upper bounds, and lambda_1 lambda_{k+1}/g^2, for lower ones."""
    top, bulk = spectrum(setting)
    lead, below, gap = float(top[0]), float(bulk[0]), float(top[-1] - bulk[0])
    return (lead / gap) ** 2, lead * below / gap**2


def _noise_check(setting: Setting, total: float, directions: int) -> Check:
    """Check that an upper bound, `total`, is at least the error that the method's noise alone causes.

    directions: how many of the bulk the noise can turn the components towards: all d - k, or the s - k of a
    known support. Those of the smallest eigenvalues are taken, which have the widest gaps, so that the check
    demands no more than is certain.
    """
    top, bulk = spectrum(setting)
    std = symmetric_gaussian.entry_std(setting.budget, setting.n, noise=None, trust="local")
    pairs = perturbation.pair_eigenvalues(top, bulk[len(bulk) - directions :])
    noise = math.sqrt(float(perturbation.symmetric_pairs(*pairs, std).sum()))
    floor = min(noise, random_guess(setting.d, setting.k))
    return total >= floor, (
        f"our own check: the bound, {total:.3g}, should be at least {floor:.3g}, the error that the method's "
        "noise alone causes"
    )


def _record(
    setting: Setting,
    squared: float,
    conditions: Sequence[Check],
    directions: int | None = None,
) -> Bound:
    """Return the record of a theorem: the bound on sin Theta, from `squared`, the one on its square.

    directions: for an upper bound, as `_noise_check` takes them; None for a lower bound, which is checked
    against the error of a random guess.
    """
    total = math.sqrt(squared)
    plausible = (
        check_reachable(setting, total) if directions is None else _noise_check(setting, total, directions)
    )
    return make_bound((check_gap(*spectrum(setting)), *conditions, plausible), {"priv": total}, total)


def wang_xu_low(setting: Setting, *, c: float = 1.0) -> Bound:
    """Return the upper bound on sin Theta of PCA in the local model.

    Args:
        c: C, the constant of the bound.

    Returns:
        The bound, with one term, priv.
    """
    n, p, epsilon = setting.n, setting.d, setting.budget.epsilon
    rate = setting.k * p * math.log(1 / setting.budget.delta) / (n * epsilon**2)
    upper_ratio, _ = _ratios(setting)
    conditions = (CLIPPED, (n >= p, f"n = {n} should be at least p = {p}"))
    return _record(setting, c * (upper_ratio * rate), conditions, directions=p - setting.k)


def wang_xu_low_lower(setting: Setting, *, c: float = 1.0, c_n: float = 1.0) -> Bound:
    """Return the lower bound on the worst case's sin Theta of PCA in the local model.

    Args:
        c: C, the constant of the bound.
        c_n: Constant of the condition on n.

    Returns:
        The bound, with one term, priv.
    """
    n, p, k, epsilon = setting.n, setting.d, setting.k, setting.budget.epsilon
    _, lower_ratio = _ratios(setting)
    needed = c_n * lower_ratio * min(k, p - k) / epsilon**2
    conditions = (
        (p / 4 <= k <= 3 * p / 4, f"k = {k} should be between p/4 = {p / 4:.3g} and 3p/4 = {3 * p / 4:.3g}"),
        (epsilon <= 0.5, f"ε = {epsilon:.3g} should be at most 1/2"),
        (n >= p, f"n = {n} should be at least p = {p}"),
        (n >= needed, f"n = {n} should be at least {needed:.3g}"),
    )
    return _record(setting, c * (lower_ratio * k * p / (n * epsilon**2)), conditions)


def wang_xu_sparse(setting: Setting, *, c: float = 1.0, c_penalty: float = 1.0) -> Bound:
    """Return the upper bound on sin Theta of sparse PCA in the local model.

    Args:
        c: C, the constant of the bound.
        c_penalty: Constant of the condition on the penalty.

    Returns:
        The bound, with one term, priv.
    """
    n, p, s, budget = setting.n, setting.d, setting.s, setting.budget
    rate = s**2 * math.log(p) / (n * budget.epsilon**2)
    std = symmetric_gaussian.entry_std(budget, n, noise=None, trust="local")
    penalty = PENALTY * std * math.sqrt(2 * math.log(p))
    upper_ratio, _ = _ratios(setting)
    top, _ = spectrum(setting)
    allowed = c_penalty * float(top[0]) * math.sqrt(math.log(p) / n) / budget.epsilon
    conditions = (
        CLIPPED,
        (budget.epsilon < 1, f"ε = {budget.epsilon:.3g} should be below 1"),
        (penalty <= allowed, f"penalty of the method {penalty:.3g} should be at most {allowed:.3g}"),
    )
    return _record(setting, c * (upper_ratio * rate), conditions, directions=s - setting.k)


def wang_xu_sparse_lower(setting: Setting, *, c: float = 1.0, c_n: float = 1.0) -> Bound:
    """Return the lower bound on the worst case's sin Theta of sparse PCA in the local model.

    Args:
        c: C, the constant of the bound.
        c_n: Constant of the condition on n.

    Returns:
        The bound, with one term, priv.
    """
    n, p, k, s, epsilon = setting.n, setting.d, setting.k, setting.s, setting.budget.epsilon
    _, lower_ratio = _ratios(setting)
    size = k + math.log(p)
    needed = c_n * max(s - k, 0) * size / epsilon**2 * lower_ratio
    conditions = (
        (epsilon <= 0.5, f"ε = {epsilon:.3g} should be at most 1/2"),
        (n >= needed, f"n = {n} should be at least {needed:.3g}"),
        (2 * k <= s - k <= p - k, f"s − k = {s - k} should be between 2k = {2 * k} and p − k = {p - k}"),
        (k <= p - 4, f"k = {k} should be at most p − 4 = {p - 4}"),
    )
    return _record(setting, c * (lower_ratio * s * size / (n * epsilon**2)), conditions)


def _rule(
    theorem: int, compute: Callable[..., Bound], methods: tuple[str, ...], numerator: str, **symbols: str
) -> BoundRule:
    """Return the rule of one theorem; its kind is read off the function's name.

    numerator: LaTeX of what stands over n epsilon^2 in its formula. symbols: as of `BoundRule`.
    """
    lower = compute.__name__.endswith("lower")
    lead = r"\ge C\,\frac{\lambda_1\lambda_{k+1}}" if lower else r"\le C\,\frac{\lambda_1^2}"
    lead += r"{(\lambda_k-\lambda_{k+1})^2}"
    return BoundRule(
        title=f"Wang & Xu 2019, Theorem {theorem}",
        kind="lower" if lower else "upper",
        methods=methods,
        formula=rf"\sin^2\Theta {lead}\frac{{{numerator}}}{{n\varepsilon^2}}",
        compute=compute,
        source=SOURCE.format(theorem),
        symbols=symbols,
        fits="c",
        power=0.5,
    )


LOCAL = ("ldp_pca", "ldp_sparse_pca")
BOUNDS = (
    _rule(1, wang_xu_low_lower, LOCAL, "kp", c="C", c_n="C of n"),
    _rule(2, wang_xu_low, ("ldp_pca",), r"kp\log(1/\delta)", c="C"),
    _rule(3, wang_xu_sparse_lower, LOCAL, r"s(k+\log p)", c="C", c_n="C of n"),
    _rule(4, wang_xu_sparse, ("ldp_sparse_pca",), r"s^2\log p", c="C", c_penalty="C of the penalty"),
)
