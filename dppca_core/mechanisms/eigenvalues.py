"""Release variances inside a subspace that was released before, and what lies outside of it, in one release.

S is the second moment of n rows of norm at most 1, n public, V a method's answer, (d, k) orthonormal. One row
x adds a pair to n times what is released: the block B = V^T x x^T V, (k, k), and the rest r = |x|^2 -
|V^T x|^2, the squared length that is left outside of V. Their mean over rows is (V^T S V, tr S - tr V^T S V).
The total variance is the block's trace plus the rest.

Sensitivity, in the norm |(B, r)|^2 = |B|_F^2 + r^2. r >= 0, and |B|_F = |V^T x|^2, so that one pair has

    |(B, r)|^2 = |V^T x|^4 + r^2 <= (|V^T x|^2 + r)^2 = |x|^4 <= 1.

Two pairs of rows x and y have the inner product (V^T x . V^T y)^2 + r_x r_y >= 0. So |(B_x, r_x) -
(B_y, r_y)|^2 <= |(B_x, r_x)|^2 + |(B_y, r_y)|^2 <= 2: it is sqrt 2 where a row is replaced, and 1 where one
is added or removed. Both are attained: by x and y orthogonal in the span of V, or x in it and y orthogonal to
it. For k >= 2 the block alone has the same sensitivity, and so has its diagonal alone: so the rest is free
there, as is the block that turns V into principal axes. Noise is Gaussian, symmetric and isotropic in that
norm.

Where the method is purely private, Laplace noise is on the diagonal and the rest alone. They are at least 0
and add up to |x|^2 <= 1. So their l1 norm moves by at most 2 where a row is replaced, and by 1 where one is
added or removed, attained by the same rows.

V is an answer about the same rows, so the two compose adaptively. Gaussian releases do exactly: 1/z^2 adds up
(`accounting`), z the noise multiplier, std over sensitivity; all else by adding epsilons and deltas. Any use
of what is released is free. Whoever makes the release holds all rows: hospitals that trust nobody with theirs
would each add noise of their own.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import linalg, moments
from dppca_core.privacy import Budget, Event, Guarantee, Release
from dppca_core.records import Method


class ReleasedVariances(NamedTuple):
    """Hold what was released of the variances in and outside of a subspace.

    block: the second moment within its basis, (k, k). rest: the mean squared length outside of it, to which
    noise may have left less than nothing. std: of the noise in the rest.
    """

    block: Array
    rest: float
    std: float


class AxisVariances(NamedTuple):
    """Hold variances along axes, (k,), none below 0, and the rest: that of all directions outside of them."""

    along: Array
    rest: float

    def times(self, square: float) -> "AxisVariances":
        return AxisVariances(self.along * square, self.rest * square)


def sensitivity(budget: Budget) -> float:
    """Return the l2 sensitivity of n times block and rest together; the proof is in the module's text."""
    return math.sqrt(2) if budget.neighbours == "replace-one" else 1.0


def l1_sensitivity(budget: Budget) -> float:
    """Return the l1 sensitivity of n times diagonal and rest; the proof is in the module's text."""
    return 2.0 if budget.neighbours == "replace-one" else 1.0


def split(
    method: Method, budget: Budget, share: float, *, d: int, k: int, **options: object
) -> tuple[Budget, Event]:
    """Return the budget to run `method` with, and the event that pays for the variances.

    The method gets 1 - share of epsilon and of delta. For the variances a purely private method leaves
    share * epsilon, for Laplace noise (a `Guarantee`). Others leave Gaussian noise (a `Release`). Where the
    method is Gaussian too and the accounting not as printed, that is all that exact composition leaves, which
    is more than the share. Otherwise it is share * (epsilon, delta). Both together are the budget. options:
    the method's own parameters. Raises ValueError for a share outside (0, 1) or too small to be told from
    none, and for a method without privacy or one that trusts nobody with the rows.
    """
    checks.inside_unit_interval(share=share)
    if method.spends is None:
        raise ValueError(f"method must be private to share a budget, got {method.name}")
    if method.trust == "local":
        raise ValueError(f"{method.name} trusts nobody with the rows, so nobody can release eigenvalues")
    rest = replace(budget, epsilon=(1 - share) * budget.epsilon, delta=(1 - share) * budget.delta)
    events = method.spends(rest, d=d, k=k, **options)
    stated = [event for event in events if isinstance(event, Guarantee)]
    # The method is purely private.
    if len(stated) == len(events) and not any(event.delta for event in stated):
        return rest, Guarantee(share * budget.epsilon)
    # Where only (epsilon, delta) is known of the method, or its noise is as printed, the share alone is sure.
    if stated or budget.accounting == "as-printed":
        part = replace(budget, epsilon=share * budget.epsilon, delta=share * budget.delta)
        return rest, Release(gaussian.noise_multiplier(part))
    # Exact composition adds up 1/z^2: the whole budget's less the method's is left.
    precision = gaussian.noise_multiplier(budget) ** -2 - closed_form.multiplier_of(events) ** -2
    if precision <= 0:
        raise ValueError(f"share must leave something beside {method.name}, got {checks.shown(share)}")
    return rest, Release(precision**-0.5)


def noise_scale(budget: Budget, price: Event, n: int) -> float:
    """Return the size of the noise in the rest and in each diagonal entry: its std, or that of Laplace noise.

    price: what it may spend (`split`), a `Release` for Gaussian or a pure `Guarantee` for Laplace noise. Of
    `budget` only the neighbours count. n: patients. Laplace noise has sqrt 2 times its scale as std; what is
    returned is the scale. Raises ValueError for a Guarantee with a delta.
    """
    if isinstance(price, Release):
        # A price of several steps is that of one release with a multiplier over sqrt(steps).
        return sensitivity(budget) * price.noise_multiplier / math.sqrt(price.steps) / n
    if price.delta:
        raise ValueError(
            f"price must be a Release or purely private, got delta = {checks.shown(price.delta)}"
        )
    return l1_sensitivity(budget) / price.epsilon / n


def release(
    cohort: Cohort, basis: Array, price: Event, budget: Budget, rng: np.random.Generator
) -> ReleasedVariances:
    """Return the noisy block and rest in units of the scaled rows. This is the only step that reads rows.

    basis: V, (d, k). price: the event that it may spend (`split`); a pure one releases the diagonal, with
    zeros elsewhere in the block. Of `budget` only the neighbours count. Noise is drawn in floating point.
    Raises ValueError for a basis without orthonormal columns.
    """
    d, k = cohort.features, basis.shape[-1]
    checks.orthonormal(d, k, basis=basis)
    scale = noise_scale(budget, price, cohort.n)
    block: Array = basis.T @ cohort.pooled.apply(basis)
    rest = moments.trace(cohort.pooled) - float(block.trace())
    if isinstance(price, Release):
        noisy = (block + block.T) / 2 + linalg.isotropic_noise(k, scale, rng)
        return ReleasedVariances(noisy, rest + scale * rng.standard_normal(), scale)
    noisy = np.diag(block.diagonal() + scale * rng.laplace(size=k))
    return ReleasedVariances(noisy, rest + scale * rng.laplace(), math.sqrt(2) * scale)


def of_moment(moment: Array, basis: Array, std: float) -> ReleasedVariances:
    """Return what a released second moment, (d, d), tells of a basis, (d, k), at no price: no row is read.

    std: of the noise in the moment's trace, which counts as that of the rest.
    """
    block = basis.T @ moment @ basis
    return ReleasedVariances(block, float(moment.trace() - block.trace()), std)


def principal_axes(basis: Array, released: ReleasedVariances) -> tuple[AxisVariances, Array]:
    """Return variances along the principal axes of a basis, largest first, and the axes, (d, k).

    A variance that noise made negative becomes 0. The rest is at least the std of its noise: less cannot be
    told from nothing, and a model of rows that had nothing there would exclude all rows. It reads no rows.
    """
    values, rotation = linalg.top_eigenpairs(released.block, len(released.block))
    variances = AxisVariances(np.maximum(values, 0.0), max(released.rest, released.std))
    return variances, basis @ rotation


def fewest_axes(values: Array, total: float, std: float, share: float) -> int:
    """Return the least number of axes that hold a share of the total variance; all of them where none does.

    values: along the axes, (k,), largest first, as released. total: of all directions, as released, with the
    std of its noise. What the first axes leave of it counts as in `principal_axes`. It reads no rows.
    """
    held = np.cumsum(np.maximum(values, 0.0))
    enough = np.flatnonzero(held >= share * (held + np.maximum(total - held, std)))
    return int(enough[0]) + 1 if len(enough) else len(held)
