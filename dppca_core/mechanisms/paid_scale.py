"""Release scales that privacy is paid for: each measurement counts by its own spread, not its public range.

Principal components of rows in public units favour measurements that fill their ranges. Dividing each by a
scale of its own first gives components of correlations, as a StandardScaler before a PCA does. So of rows r,
|r| <= 1, that were centred in public or at a paid mean, a share w of the budget (as 1/z^2) releases

    v_j = mean of r_j^2 + N(0, tau^2),    tau = D z/(n sqrt w).

Sensitivity. The squares a = r o r of one row are at least 0, and |a|_2 <= |a|_1 = |r|^2 <= 1. With the
squares b of another, |a - b|^2 = |a|^2 + |b|^2 - 2 a.b <= 2. So D = sqrt 2 for replacing a row, attained at
two axes, and D = 1 for emptying or filling one. A patient with m rows, weighted 1/m, adds the mean of their
squares. Its entries are at least 0 and add up to 1 at most, so the same two lines hold.

The scale is s_j = sqrt(max(v_j, c tau)), c = sqrt(2 ln 2d). Each of d noises is above c tau with probability
at most e^(-c^2/2)/2 = 1/(4d), and below -c tau likewise. By the union bound all d are within with probability
1/2 at least. Then a true mean square u leaves the scaling as u/max(u - c tau, c tau) <= 2, whatever it was.
So no measurement that drowns in noise is blown up: all of these are divided by one number.

The row r_j/s_j is shortened to b q, q^2 = sum of max(v_j, 0)/s_j^2 (at least 1) its mean square length, and
divided by that. This is a function of one patient and of what was released, and a further Gaussian release
from these rows composes exactly (`paid_centre`). A moment's noise on rows of mean square length 1 is 2 a b^2
high, with a = z sqrt(d)/n of the budget that is left. The choice b = sqrt(.005/a), within 1 and 3, keeps that
at 1 % of all variance as long as it can. At most a ninth of the rows lies beyond 3 q (Chebyshev).

The rule for w. Take a component of standardised rows with eigenvalue l. Errors of tau in every u = rho/d (rho
the mean square length of rows r) turn it by d z/(sqrt 2 rho n sqrt w). The moment's noise turns it by d^1.5
z/(n l sqrt(1 - w)). Their squares add up to A/w + B/(1 - w), least at w = x/(1 + x), where x = sqrt(A/B) =
l/(rho sqrt(2 d)). Both are proportional to z/n: neither epsilon, delta nor n decides. At w = .3 the error is
within a tenth of the best for every x from .1 to 1. So the rule takes w = .3 of what a mean leaves.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.mechanisms import paid_centre
from dppca_core.numerics import moments
from dppca_core.privacy import Budget

_SHARE = 0.3  # w of the rule, of what a mean leaves
_NOISE_HEIGHT = 0.005  # a b^2, half the height of a moment's noise, which the choice of b aims at
_LONGEST = 3.0  # the largest b


class ColumnScales(NamedTuple):
    """Hold released scales. divisors: s, (d,), by which the columns of rows of length 1 at most are divided.

    bound: b q, the length to which the divided rows are then shortened.
    """

    divisors: Array
    bound: float


def sensitivity(budget: Budget) -> float:
    """Return D, how far one row moves the sum of squared entries; the proof is in the module's text."""
    return math.sqrt(2) if budget.neighbours == "replace-one" else 1.0


def share(mean_share: float = 0.0) -> float:
    """Return w by the rule in the module's text. mean_share: the share of the budget that pays for a mean."""
    return _SHARE * (1 - mean_share)


def noise_std(budget: Budget, w: float, n: float) -> float:
    """Return tau, the std of the noise in each v_j, for n rows no longer than 1."""
    return sensitivity(budget) * paid_centre.price(budget, w).noise_multiplier / n


def release(rows: Array, budget: Budget, w: float, rng: np.random.Generator, *, part: float = 1.0) -> Array:
    """Return v, (d,), of rows no longer than 1, (n, d). This is the only step here that reads private rows.

    w: the share of the budget that pays for it. part: the part of the noise's std that is added here, as for
    `paid_centre.release`.
    """
    n, d = rows.shape
    squares: Array = np.square(rows).mean(axis=0)
    return squares + part * noise_std(budget, w, n) * rng.standard_normal(d)


def floor(std: float, d: int) -> float:
    """Return c tau, the least square that a scale can have, so that no noise is blown up. std: tau."""
    return std * math.sqrt(2 * math.log(2 * d))


def relative_bound(left: Budget, *, d: int, n: float) -> float:
    """Return b: how many root mean square lengths long a scaled row may be before it is shortened.

    left: the budget for what follows, whose noise must stay small beside the rows.
    """
    height = gaussian.noise_multiplier(left) * math.sqrt(d) / n  # a of the module's text
    return min(max(math.sqrt(_NOISE_HEIGHT / height), 1.0), _LONGEST)


def scales_from_squares(squares: Array, std: float, relative: float) -> ColumnScales:
    """Return the scales that `squares`, the released v, (d,), give: no row is read. std: tau; relative: b."""
    squared_scales = np.maximum(squares, floor(std, len(squares)))
    # q, the root mean square length of the divided rows.
    length = math.sqrt(max(float((np.maximum(squares, 0.0) / squared_scales).sum()), 1.0))
    return ColumnScales(np.sqrt(squared_scales), relative * length)


def scales_of_release(squares: Array, budget: Budget, w: float, left: Budget, n: float) -> ColumnScales:
    """Return the columns' scales that follow from released mean squares; no row is read.

    squares: v of the module's text, (d,), released from n patients with a share w of the budget. left: the
    budget that is left for what follows.
    """
    return scales_from_squares(squares, noise_std(budget, w, n), relative_bound(left, d=len(squares), n=n))


def scaled(rows: Array, scales: ColumnScales) -> Array:
    """Return rows, (n, d), with columns divided by released scales, then shortened to length 1.

    Rows up to the scales' bound keep their relative lengths: all are divided by it.
    """
    return moments.clip_rows(rows / scales.divisors, scales.bound) if len(rows) else rows


def rescaled(moment: Array, std: float | Array, variances: Array, stds: Array) -> tuple[Array, Array]:
    """Return a released moment, (d, d), over its columns' variances, and these variances' roots, (d,).

    So floors that keep noise small do not change what components are of. It reads no row.

    std: of the noise on the moment's diagonal, one for all or (d,). variances, stds: of the same columns as
    released before, with the std of their noise, (d,). A column's variance is the mean of both, weighted by
    their precision. It is taken as 2.5 stds of its noise at least, and as half the height of the moment's
    noise, or 1 where that is more: without it the noise of a rare answer, divided by next to nothing, would
    be the first component.
    """
    precision = 1 / std**2 + 1 / np.square(stds)
    average = (moment.diagonal() / std**2 + variances / np.square(stds)) / precision
    height = np.minimum(std * math.sqrt(len(moment) / 2), 1.0)
    roots = np.sqrt(np.maximum(average, np.maximum(2.5 / np.sqrt(precision), height)))
    return moment / np.outer(roots, roots), roots
