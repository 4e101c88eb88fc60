"""DP-Oja: one pass of Oja's iteration over batches of patients (Private Oja of Liu et al., NeurIPS 2022).

As recalled, the published version clips single gradients to a data-dependent norm. It adds 2 eta beta alpha z
with alpha = C ln(n/delta)/(epsilon sqrt n), C unspecified, and relies on a random order of the patients. Here
patients are assigned at random to `batches` groups, and each group is used in one step only:

    H_t = S_t W_t + G_t,   W_{t+1} = thin QR of W_t + eta_t H_t,

S_t the group's second moment, G_t i.i.d. N(0, (sigma/b_t)^2), b_t its size. Rows of norm at most 1 need no
further clipping: |x x^T W|_F <= 1.

Sensitivity of b_t S_t W for orthonormal W: that of `dppca_core.mechanisms.matrix_product`, with its proof.
A patient enters one group, so all groups together cost what one costs (parallel composition): given which
patient goes where, replacing one changes one product. Group sizes follow from n, which is public; "adding"
a patient here means putting a row where one of zeros was.

The step is eta_t = 1/(t' l_t), with l_t the mean of the diagonal of W_t^T H_t. H_t has been released, so l_t
is an estimate of the leading eigenvalues, free of charge. The number t' = 1, 2, ... counts the steps after
the first half and one. To first order W is then the mean of the H_t / l_t since. Until there eta is infinite,
that is, W_{t+1} = thin QR of H_t, as the start is far away. The same holds wherever noise leaves l_t at or
below zero.
"""

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Divisible, Moment
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import matrix_product
from dppca_core.numerics import block_power, linalg
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import Estimate, Method

sensitivity = matrix_product.sensitivity


def release(moment: Moment, block: Array, std: float, rng: np.random.Generator) -> Array:
    """Return the noisy product H = S W + G of one group of patients, (d, k), W = `block`.

    This is the only step that reads private rows. std: of each entry of G, on the scale of the group's mean.
    """
    product = moment.apply(block)
    product += std * rng.standard_normal(block.shape)
    return product


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    batches: int = 10,
    start: Array | None = None,
) -> Estimate:
    """Pass over the patients once, in at most one batch for each patient.

    Args:
        rng: Source of the noise, of the start and of who is in which batch.
        batches: Number of batches, and so of steps.

    Returns:
        The basis, (d, k), with the start and every step as `iterates`.

    Raises:
        ValueError: Unless batches >= 1, for a cohort that holds second moments without rows, or for another
            start.
    """
    checks.whole(1, batches=batches)
    if not isinstance(cohort.pooled, Divisible):
        raise ValueError("cohort must hold rows, or be drawn from a population, to be divided into batches")
    steps = min(batches, cohort.n)
    # Groups are as equal as they can be: the first ones have one patient more.
    sizes = [cohort.n // steps + (t < cohort.n % steps) for t in range(steps)]
    sum_std = sensitivity(budget, k) * gaussian.noise_multiplier(budget)
    basis = block_power.begin(start, cohort.features, k, rng)
    iterates = [basis]
    for t, moment in enumerate(cohort.pooled.batches(sizes, rng)):
        message = release(moment, basis, sum_std / sizes[t], rng)
        # t' and l_t of the module's text. Without a finite step the product alone gives the next basis.
        late_step = t - steps // 2
        eigenvalue = float(np.vdot(basis, message)) / k
        if late_step > 0 and eigenvalue > 0:
            message = basis + message / (late_step * eigenvalue)
        basis = linalg.orthonormalise(message)
        iterates.append(basis)
    return Estimate(
        basis,
        iterates=tuple(iterates),
        noise_std=sum_std / min(sizes),
        bytes_sent=8 * cohort.features * k * steps,
        spent=spends(budget),
    )


def spends(budget: Budget, **_: object) -> tuple[Event, ...]:
    """Return one Gaussian release: each patient is in one batch, which makes one."""
    return (Release(gaussian.noise_multiplier(budget)),)


METHOD = Method(
    title="DP-Oja, one pass",
    reference="Liu, Kong, Jain & Oh, NeurIPS 2022 (constants as recalled)",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "batches", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    matrix=False,
    audit="products.oja",
)
