"""Noisy power method (Hardt & Price, NeurIPS 2014; Balcan, Du, Wang & Yu, COLT 2016), row by row.

K_t = S X_t + G_t, X_{t+1} = thin QR of K_t, X of `width` p >= k columns, S the pooled second moment and
G_t i.i.d. N(0, sigma^2). A curator reads the rows and adds the noise; no d x d matrix is needed.

Sensitivity of n S X: that of `dppca_core.mechanisms.matrix_product`, with its proof; it does not grow with p.
The T steps compose exactly.

As printed, the noise of Balcan et al., Algorithm 2: N(0, (max|X_t| nu)^2), nu = (4/epsilon) sqrt(p T ln(1/
delta)). Their privacy is of single entries of the matrix, not of rows: `true_epsilon` returns the epsilon of
a row at its worst, max|X_t| = 1/sqrt d in every step.
"""

import math

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Indices
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import matrix_product
from dppca_core.numerics import block_power, linalg, reduced_rounds
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import SIGNAL, Estimate, Method

sensitivity = matrix_product.sensitivity


def sum_noise_std(budget: Budget, width: int, iterations: int, largest: float) -> float:
    """Return the std of each entry of n G, the noise in the sum-scale product of one of T steps.

    width: p, columns of X. iterations: T. largest: max|X_t|, on which only noise as printed depends.
    """
    if budget.accounting == "as-printed":
        return largest * 4 / budget.epsilon * math.sqrt(width * iterations * math.log(1 / budget.delta))
    return gaussian.composed_std(budget, sensitivity(budget, width), iterations)


def tuned_iterations(
    budget: Budget,
    *,
    d: int,
    n: int,
    k: int,
    width: int | None = None,
    signal: float = SIGNAL,
    **_: object,
) -> int:
    """Return the T with the least predicted error, from public numbers alone.

    The rule declares a population: k lambda_k/tr Sigma = `signal`, rows whose mean square is a third of the
    public bound's. Noise as printed is taken at its largest, max|X_t| = 1. It is derived in
    `dppca_core.numerics.reduced_rounds`. The options are those of `fit`.

    Returns:
        T, from 1 to `reduced_rounds.MOST_ROUNDS`.

    Raises:
        ValueError: For options out of range.
    """
    checks.inside_unit_interval(signal=signal)
    wide = k if width is None else width
    return reduced_rounds.best_rounds(
        reduced_rounds.SpikedRows.declared(d, k, k, signal, energy=reduced_rounds.DECLARED_ENERGY),
        lambda rounds: sum_noise_std(budget, wide, rounds, largest=1.0) / n,
        n,
        s_hat=d,
    )


def release(cohort: Cohort, budget: Budget, block: Array, iterations: int, rng: np.random.Generator) -> Array:
    """Return one step's noisy product S X + G, (d, p). This is the only step that reads private rows.

    block: X, (d, p). iterations: T, among which the budget is divided.
    """
    std = sum_noise_std(budget, block.shape[1], iterations, float(np.abs(block).max())) / cohort.n
    product = cohort.pooled.apply(block)
    product += std * rng.standard_normal(block.shape)
    return product


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    iterations: int = 10,
    width: int | None = None,
    start: Array | None = None,
) -> Estimate:
    """Run T noisy products, each followed by orthogonalisation.

    With width > k, the answer is the leading k directions of the last product, which costs no privacy.

    Args:
        budget: Privacy budget of all T products together.
        rng: Source of the noise and of the start.
        iterations: T.
        width: p, the number of columns that are iterated; default k.
        start: Orthonormal start, (d, width); default uniformly random.

    Returns:
        The basis, (d, k); `noise_std` is that of the last product, `iterates` is empty where width > k.

    Raises:
        ValueError: Unless k <= width <= d and iterations >= 1, or for another start.
    """
    d = cohort.features
    wide = k if width is None else width
    checks.whole(k, d, width=wide)
    checks.whole(1, block_power.MOST_STEPS, iterations=iterations)
    begin = block_power.begin(start, d, wide, rng)
    last = np.zeros((d, wide))
    largest = 1.0  # max|X_t| of the last step, by which noise as printed is scaled

    # `rows`, the features that are kept, and `step` are unused: all are kept, and each step is alike.
    def product(block: Array, rows: Indices | None, step: int) -> Array:
        """Return one noisy product, and keep it and max|X_t|, which are needed after the last step."""
        nonlocal largest
        largest = float(np.abs(block).max())
        last[:] = release(cohort, budget, block, iterations, rng)
        return last

    iterates = block_power.iterate(product, begin, s_hat=d, steps=iterations, burn_in=0)
    basis = iterates[-1]
    if wide > k:
        # The last product, within the last basis, tells the leading k directions of its p columns' span.
        left, _, _ = np.linalg.svd(basis.T @ last)
        basis = linalg.orthonormalise(basis @ left[:, :k])
        iterates = ()
    return Estimate(
        basis,
        iterates=iterates,
        noise_std=sum_noise_std(budget, wide, iterations, largest) / cohort.n,
        bytes_sent=8 * d * wide * iterations,
        spent=spends(budget, d=d, k=k, iterations=iterations, width=width),
    )


def spends(
    budget: Budget, *, d: int, k: int, iterations: int = 10, width: int | None = None, **_: object
) -> tuple[Event, ...]:
    """Return T adaptive Gaussian releases."""
    wide = k if width is None else width
    # As printed a row is least protected where max|X_t| is the smallest it can be.
    sigma = sum_noise_std(budget, wide, iterations, largest=1 / math.sqrt(d))
    return (Release(sigma / sensitivity(budget, wide), iterations),)


METHOD = Method(
    title="Noisy power method",
    reference="Hardt & Price, NeurIPS 2014; Balcan et al., COLT 2016",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "iterations", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    tuned=tuned_iterations,
    matrix=False,
    audit="products.power",
)
