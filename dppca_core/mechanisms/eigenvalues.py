"""Release eigenvalues inside a subspace that was released before: V^T S V plus noise, V (d, k) orthonormal.

S is the second moment of n rows of norm at most 1, n public, V a method's answer. Replacing a row moves
n V^T S V by V^T D V, D = x x^T - y y^T; adding or removing one by V^T x x^T V.

Gaussian noise, symmetric and isotropic in the Frobenius norm: |V^T D V|_F <= |D V|_F. So the sensitivity of
`matrix_product` serves, with its proof: sqrt 2 for replace-one and k >= 2, else 1. It is attained at x
orthogonal to y in the span of V, for the diagonal alone as much as for the block. So the block costs what its
diagonal would, and it also turns V into principal axes.

Laplace noise, where the method is purely private, on the diagonal alone. Its l1 norm moves by at most sum_j
|(v_j^T x)^2 - (v_j^T y)^2| <= |x|^2 + |y|^2 <= 2. For k = 1 both squares lie in [0, 1], so it moves by at
most 1. When a row is added or removed it moves by |V^T x|^2 <= 1.

V is an answer about the same rows, so the two compose adaptively. Gaussian releases do exactly: 1/z^2 adds up
(`accounting`), z the noise multiplier, std over sensitivity; all else by adding epsilons and deltas. Any use
of the released block, V^T S V plus noise, is free. Whoever makes the release holds all rows: hospitals that
trust nobody with theirs would each add noise of their own.
"""

import math
from dataclasses import replace

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import matrix_product
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget, Event, Guarantee, Release
from dppca_core.records import Method


def l1_sensitivity(budget: Budget, k: int) -> float:
    """Return the l1 sensitivity of n times the diagonal; the proof is in the module's text."""
    return 2.0 if budget.neighbours == "replace-one" and k > 1 else 1.0


def split(
    method: Method, budget: Budget, share: float, *, d: int, k: int, **options: object
) -> tuple[Budget, Event]:
    """Return the budget to run `method` with, and the event that pays for the eigenvalues.

    The method gets 1 - share of epsilon and of delta. For the eigenvalues a purely private method leaves
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


def noise_scale(budget: Budget, price: Event, n: int, k: int) -> float:
    """Return the size of the noise in V^T S V: the std of one diagonal entry, or the scale of Laplace noise.

    price: what it may spend (`split`), a `Release` for Gaussian or a pure `Guarantee` for Laplace noise. Of
    `budget` only the neighbours count. n: patients. Raises ValueError for a Guarantee with a delta.
    """
    if isinstance(price, Release):
        # A price of several steps is that of one release with a multiplier over sqrt(steps).
        return matrix_product.sensitivity(budget, k) * price.noise_multiplier / math.sqrt(price.steps) / n
    if price.delta:
        raise ValueError(
            f"price must be a Release or purely private, got delta = {checks.shown(price.delta)}"
        )
    return l1_sensitivity(budget, k) / price.epsilon / n


def release(cohort: Cohort, basis: Array, price: Event, budget: Budget, rng: np.random.Generator) -> Array:
    """Return the noisy block V^T S V, (k, k), in units of the scaled rows.

    This is the only step that reads rows.

    basis: V, (d, k). price: the event that it may spend (`split`); a pure one releases the diagonal, with
    zeros beside it. Of `budget` only the neighbours count. Noise is drawn in floating point. Raises
    ValueError for a basis without orthonormal columns.
    """
    d, k = cohort.features, basis.shape[-1]
    checks.orthonormal(d, k, basis=basis)
    scale = noise_scale(budget, price, cohort.n, k)
    block: Array = basis.T @ cohort.pooled.apply(basis)
    if isinstance(price, Release):
        return (block + block.T) / 2 + linalg.isotropic_noise(k, scale, rng)
    return np.diag(block.diagonal() + scale * rng.laplace(size=k))


def principal_axes(basis: Array, block: Array) -> tuple[Array, Array]:
    """Return a released block's eigenvalues, (k,), largest first, and the basis V turned to its axes, (d, k).

    Eigenvalues that noise made negative become 0. It reads no rows.
    """
    values, rotation = linalg.top_eigenpairs(block, len(block))
    return np.maximum(values, 0.0), basis @ rotation
