"""A floor under every Gaussian release of components, in the worst case: derived here, to first order.

A release is mu-Gaussian private, mu = 1/z, if one patient cannot be told from another better than N(0, 1)
from N(mu, 1). Every combination of Gaussian releases with multiplier z is (Dong, Roth & Su, JRSS-B 2022, from
memory). Take the tables of n rows no longer than b = sqrt(tr C) whose covariance has nearly the eigenvalues
lambda. To first order, whatever the release, on one of them the root mean square of sin Theta is at least

    (z b^2/n) sqrt(R(a)) (sum over P of 1/gamma_ij^2)^(1/2),    R(a) = a^2 E sech^2(a X),  X ~ N(a, 1),

gamma_ij = lambda_i - lambda_j, i <= k < j, P the pairs that fit, a = m/(2 z), m even. sqrt(R) is at most .69,
at a = 1.23. Analyze Gauss at this b has (z b^2/n) (sum over all pairs)^(1/2): 1.45 times that, if all fit.

Proof. Let u_i be orthonormal. For each pair (i, j) of P take m rows b (u_i + s_ij u_j)/sqrt 2, half of them
negated, s_ij = 1 or -1. The other n - m|P| rows (n even) have length b, come in pairs y, -y, and complete the
second moment to diag(lambda) on the diagonal. They exist where the pairs that i is in, times m b^2/(2 n), are
at most lambda_i for each i, and likewise for j, and there are at least 2 d others: equal lengths are
majorised by every spectrum of the same trace (Schur and Horn). All 2^|P| tables have mean 0 and

    C = diag(lambda) + sum over P of s_ij (m b^2/2n) (u_i u_j^T + u_j u_i^T),

so component i turns towards j by s_ij h, h = m b^2/(2 n gamma_ij), to first order. Tables that differ in one
sign differ in m rows. So a release tells them apart no better than N(0, 1) from N(m mu, 1) (group privacy),
and is as if computed from one draw of these two, with noise of its own (Blackwell). The best estimate of s h
from a draw of N(+-a, 1), a = m mu/2, both signs being as likely, has mean square error h^2 E sech^2(a X).
This is (z b^2/(n gamma))^2 R(a), since h = a z b^2/(n gamma). The other signs given, no estimate does better;
the errors of pairs add up; and the worst table is no better than the average one. []

If a patient is added or removed instead, m replaced rows are 2 m steps. So the same holds with 2 m mu for m
mu, which halves the floor.

P is filled from the smallest of the k eigenvalues and the largest of the others on, while pairs fit. Of some
even m the one with the highest floor is taken. Single tables can be easier, so this is a floor under methods,
not under tables. Sampling and clipping are not in it: the error is against the table's own components.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.bounds.perturbation import check_small_error
from dppca_core.bounds.rule import BoundRule, check_gap, make_bound, spectrum, void_bound
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget, Guarantee, Release
from dppca_core.records import Bound, Method, Setting

_NODES = np.linspace(-12.0, 12.0, 4801)  # of integrals over N(0, 1)
_WEIGHTS = np.exp(-np.square(_NODES) / 2)
_BEST = 1.23  # a at which R is largest
_MOST_COPIES = 1e9  # of m, which must stay a whole number that floating point has
_ROUNDING = 1e-12  # of what pairs use up


@lru_cache(maxsize=4096)
def sign_error(a: float) -> float:
    """Return E sech^2(a X), X ~ N(a, 1): the least mean square error of a random sign, from N(+-a, 1)."""
    # sech of more than 350 is 0 to all digits.
    arguments = np.clip(a * (_NODES + a), -350.0, 350.0)
    return float((_WEIGHTS / np.cosh(arguments) ** 2).sum() / _WEIGHTS.sum())


def pairs_that_fit(top: Array, bulk: Array, used: float, most: int) -> NDArray[np.bool_]:
    """Return which pairs fit in a table, (k, d - k), for the k largest eigenvalues and the others, falling.

    used: what a pair takes of both its eigenvalues. most: the number of pairs for which there are rows.
    """
    chosen = np.zeros((len(top), len(bulk)), dtype=bool)
    if not used > 0:
        return chosen
    # How many pairs each eigenvalue can be in, and a gap is least for the last of the top.
    most_top, left = (np.floor(values * (1 + _ROUNDING) / used) for values in (top, bulk))
    for i in reversed(range(len(top))):
        free = np.flatnonzero(left > 0)[: int(min(most_top[i], len(bulk)))]
        chosen[i, free] = True
        left[free] -= 1
    extra = int(chosen.sum()) - most
    if extra > 0:
        gaps = np.where(chosen, top[:, None] - bulk[None, :], -1.0)
        chosen.ravel()[np.argsort(gaps, axis=None)[-extra:]] = False
    return chosen


def gaussian_floor(setting: Setting) -> Bound:
    """Return the floor under the root mean square of sin Theta of Gaussian methods, in the worst case.

    Of the setting only d, n, k, the eigenvalues and the budget count.

    Returns:
        The floor, with one term, priv; its quantities hold the number of `pairs` and `copies` m.
    """
    top, bulk = spectrum(setting)
    n, exact = setting.n, setting.budget.accounting != "as-printed"
    best, pairs, copies = 0.0, 0, 0
    if top[-1] > bulk[0]:
        most = _norm(top, bulk, np.ones((len(top), len(bulk)), dtype=bool)) / n
        for m, turn in sorted(_turns(setting), key=lambda each: -each[1]):
            if turn * most <= best:  # nor can any after it, even if all pairs fit
                break
            fitting = _fitting(setting, top, bulk, m, n)
            floor = turn / n * _norm(top, bulk, fitting)
            if floor > best:
                best, pairs, copies = floor, int(fitting.sum()), m
    room = pairs > 0, f"patients n = {n} should be enough for one pair, beside 2d = {2 * setting.d} others"
    calibrated = exact, "noise should be calibrated, not as printed"
    if not pairs:
        return void_bound((check_gap(top, bulk), calibrated, room))
    return make_bound(
        (check_gap(top, bulk), calibrated, room, check_small_error(setting, best)),
        {"priv": best},
        best,
        {"pairs": pairs, "copies": copies},
    )


def patients_at_floor(setting: Setting, target: float) -> int:
    """Return the largest number of patients at which the floor is at least `target`; 0 where there is none.

    With m copies the floor is c S(n)/n, S^2 the sum over the pairs that fit. It can be at least the target
    only up to c S/target, S for all pairs, or for those that fit in so many patients. That is solved by
    beginning at the former and taking the latter until it stays. With far fewer patients hardly a pair fits,
    which ends the proof and not the need for patients.

    Args:
        setting: As `gaussian_floor` takes it; its n plays no part.
        target: The root mean square of sin Theta, positive.
    """
    top, bulk = spectrum(setting)
    if not top[-1] > bulk[0]:
        return 0
    largest = 0
    most = _norm(top, bulk, np.ones((len(top), len(bulk)), dtype=bool))
    for m, turn in _turns(setting):
        n = math.floor(turn / target * most)
        while n > largest:
            least = turn / target * _norm(top, bulk, _fitting(setting, top, bulk, m, n))
            if least >= n:
                break
            n = math.floor(least)
        largest = max(largest, n)
    return largest


def _turns(setting: Setting) -> Iterator[tuple[int, float]]:
    """Yield numbers m of copies, and for each n times the floor of a single pair whose gap is 1."""
    z = gaussian.noise_multiplier(setting.budget)
    steps = 1 if setting.budget.neighbours == "replace-one" else 2  # of a row that is replaced
    square = _square(setting)
    for m in _numbers_of_copies(_BEST * 2 * z / steps):
        yield m, m * square / 2 * math.sqrt(sign_error(m * steps / (2 * z)))


def _square(setting: Setting) -> float:
    """Return b^2, which is the trace of the covariance."""
    return float(sum(values.sum() for values in spectrum(setting)))


def _fitting(setting: Setting, top: Array, bulk: Array, m: int, n: int) -> NDArray[np.bool_]:
    """Return which pairs fit in n rows with m copies of each."""
    return pairs_that_fit(top, bulk, m * _square(setting) / (2 * n), max(n - 2 * setting.d, 0) // m)


def _norm(top: Array, bulk: Array, pairs: NDArray[np.bool_]) -> float:
    """Return the root of the sum of 1/gap^2 over these pairs."""
    return math.sqrt(float(np.square(1 / (top[:, None] - bulk[None, :])[pairs]).sum()))


def _numbers_of_copies(best: float) -> list[int]:
    """Return even numbers up to a quarter above the best of all pairs, each at most a fifth above the last.

    They are the first of one sequence, whatever the best is: so more privacy never lowers the floor.
    """
    numbers = [2]
    while numbers[-1] < min(1.25 * best, _MOST_COPIES):
        numbers.append(max(numbers[-1] + 2, 2 * int(0.6 * numbers[-1])))
    return numbers


def _is_gaussian(method: Method) -> bool:
    """Return whether all that a method spends are Gaussian releases, whoever adds the noise."""
    events = method.spends(Budget(1.0, 1e-6), d=4, k=1) if method.spends else (Guarantee(1.0),)
    return all(isinstance(event, Release) for event in events)


GAUSSIAN = tuple(name for name, method in METHODS.items() if _is_gaussian(method))
BOUNDS = (
    BoundRule(
        title="Floor of Gaussian methods, to first order",
        kind="lower",
        gaussian=False,
        methods=GAUSSIAN,
        formula=(
            r"\sup\,\mathrm{rms}\,\sin\Theta \gtrsim \frac{z\,\mathrm{tr}\,C}{n}\sqrt{R(a)}"
            r"\Bigl(\sum_{(i,j)\in P}\frac{1}{(\lambda_i-\lambda_j)^2}\Bigr)^{1/2}"
        ),
        compute=gaussian_floor,
        source="floor derived for this tool; its tests hold every method of Gaussian noise against it",
    ),
)
