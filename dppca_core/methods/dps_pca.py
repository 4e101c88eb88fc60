"""DPS-PCA: distributed, private, sparse PCA (Ge, Wang, Wang & Liu, AISTATS 2018, Algorithm 1).

At step t hospital i sends H_i = S_i Q + G_i / n_i to a server, S_i its second moment and G_i i.i.d.
N(0, sigma^2); the server averages with weights n_i/n, orthogonalises, keeps the s_hat heaviest rows.
All that follows the sending is post-processing.

Sensitivity of n_i S_i Q: sqrt 2 for replace-one and k >= 2, else 1 (`dppca_core.mechanisms.matrix_product`,
with its proof). The paper uses 2 (triangle inequality).

Noise across hospitals. With "independent" each draws its own G_i, so the mean carries sqrt(N) sigma/n. With
"shared" there is one G for all, as printed (line 8 stands outside the provider loop), so the mean carries N
sigma/n. Then n_1 H_1 - n_2 H_2 is noise-free: a server that sees two hospitals sees through it.
With "secure-aggregation" each adds N(0, sigma^2/N) and only the sum is seen, so the mean carries sigma/n.

With accounting "as-printed" and burn_in=0 this is Algorithm 1 to the letter, with the logarithm of
Lemma A.1 that its line 3 lost: sigma = (2T/epsilon) sqrt(2 ln(2T/delta)).
"""

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian, printed
from dppca_core.arrays import Array, Indices, Moment
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import matrix_product
from dppca_core.numerics import block_power, reduced_rounds
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import PROVIDER_NOISE, SIGNAL, Estimate, Method

UNDONE = "two hospitals' messages together undo the shared noise: only one message alone is private"
sensitivity = matrix_product.sensitivity


def sum_noise_std(budget: Budget, *, k: int, iterations: int) -> float:
    """Return sigma, the std of each entry of G, on the scale of sums (not means) over a hospital's rows."""
    as_printed = budget.accounting == "as-printed"
    movement = printed.GE_SENSITIVITY if as_printed else sensitivity(budget, k)
    return gaussian.composed_std(budget, movement, iterations)


def aggregate_factor(provider_noise: str, providers: int) -> float:
    """Return c in c sigma/n, the noise std of the averaged product: sqrt N, N or 1 by noise mode.

    Weights n_i/n meet noise G_i/n_i, so this holds for unequal hospitals as well. Raises ValueError
    for an unknown mode.
    """
    checks.one_of(PROVIDER_NOISE, provider_noise=provider_noise)
    powers = {"independent": 0.5, "shared": 1.0, "secure-aggregation": 0.0}  # of the number of hospitals
    return float(providers ** powers[provider_noise])


def mean_noise_std(cohort: Cohort, budget: Budget, *, k: int, iterations: int, provider_noise: str) -> float:
    """Return c sigma/n, the std of each entry of the noise in the averaged product of one of T rounds.

    iterations: T. provider_noise: whose noise it is, which decides c (`aggregate_factor`).
    """
    factor = aggregate_factor(provider_noise, len(cohort)) / cohort.n
    return factor * sum_noise_std(budget, k=k, iterations=iterations)


def tuned_iterations(
    budget: Budget,
    *,
    d: int,
    n: int,
    k: int,
    providers: int = 1,
    s_hat: int | None = None,
    burn_in: int = 2,
    provider_noise: str = "independent",
    signal: float = SIGNAL,
    **_: object,
) -> int:
    """Return the T with the least predicted error, from public numbers alone.

    The rule declares a population: k lambda_k/tr Sigma = `signal`, s_hat/2 rows that matter, rows whose mean
    square is a third of the public bound's. A T within the burn-in, which chooses no rows, is tried as well.

    It is derived in `dppca_core.numerics.reduced_rounds`. The options are those of `fit`.

    Returns:
        T, from 1 to `reduced_rounds.MOST_ROUNDS`.

    Raises:
        ValueError: For options out of range.
    """
    kept = block_power.checked_rows(d, k, s_hat, iterations=1, burn_in=burn_in)
    checks.inside_unit_interval(signal=signal)
    factor = aggregate_factor(provider_noise, providers) / n
    # The rows that matter; where all are kept their number plays no part, and k is the cheapest.
    matter = k if kept == d else max(k, kept // 2)
    return reduced_rounds.best_rounds(
        reduced_rounds.SpikedRows.declared(d, k, matter, signal, energy=reduced_rounds.DECLARED_ENERGY),
        lambda rounds: factor * sum_noise_std(budget, k=k, iterations=rounds),
        n,
        s_hat=kept,
        burn_in=burn_in,
    )


def release(
    moment: Moment, block: Array, rows: Indices | None, std: float, rng: np.random.Generator
) -> Array:
    """Return a message H = S Q + N(0, std^2), (d, k). This is the only step that reads private rows.

    It is the message of one hospital. With the pooled moment and the noise of the sum it is the server's mean
    sum_i (n_i/n) H_i of all messages. That has the same law where only the mean is used. block: Q, or where
    `rows` is given its rows of these indices alone, all others being zero.
    """
    message = rng.standard_normal((moment.features, block.shape[1]))
    message *= std
    message += moment.apply(block, rows)
    return message


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    s_hat: int | None = None,
    iterations: int = 10,
    burn_in: int = 2,
    provider_noise: str = "independent",
    start: Array | None = None,
) -> Estimate:
    """Run T rounds of noisy products, each followed by orthogonalisation and row thresholding.

    Args:
        budget: Privacy budget of all T rounds together.
        rng: Source of the noise and of the start.
        iterations: T.
        burn_in: Number of first steps without thresholding; 0 is the paper.
        provider_noise: "independent", "shared" or "secure-aggregation", as the module's text says.

    Returns:
        The basis, (d, k), with Q(0), ..., Q(T) as `iterates`; `noise_std` is that of the averaged product.

    Raises:
        ValueError: Unless k <= s_hat <= d, iterations >= 1 and burn_in >= 0, for an unknown mode of noise, or
            for another start.
    """
    kept = block_power.checked_rows(cohort.features, k, s_hat, iterations, burn_in)
    std = mean_noise_std(cohort, budget, k=k, iterations=iterations, provider_noise=provider_noise)
    iterates = block_power.iterate(
        lambda block, rows, _: release(cohort.pooled, block, rows, std, rng),
        block_power.begin(start, cohort.features, k, rng),
        s_hat=kept,
        steps=iterations,
        burn_in=burn_in,
    )
    return estimate(cohort, budget, iterates, std, provider_noise)


def estimate(
    cohort: Cohort, budget: Budget, iterates: tuple[Array, ...], std: float, provider_noise: str
) -> Estimate:
    """Return the estimate of a run that has its iterates, Q(0), ..., Q(T), and this noise in the mean.

    std: of each entry of the noise in the averaged product. It reads no rows.
    """
    (d, k), iterations = iterates[-1].shape, len(iterates) - 1
    return Estimate(
        iterates[-1],
        iterates=iterates,
        noise_std=std,
        bytes_sent=8 * d * k * iterations,
        spent=spends(budget, k=k, iterations=iterations),
        notes=(UNDONE,) if provider_noise == "shared" and len(cohort) > 1 else (),
    )


def spends(budget: Budget, *, k: int, iterations: int = 10, **_: object) -> tuple[Event, ...]:
    """Return T adaptive Gaussian releases: each hospital makes them, of its own patients."""
    sigma = sum_noise_std(budget, k=k, iterations=iterations)
    return (Release(sigma / sensitivity(budget, k), iterations),)


METHOD = Method(
    title="DPS-PCA",
    reference="Ge, Wang, Wang & Liu, AISTATS 2018",
    trust="untrusted server",
    guarantee="(ε, δ)",
    uses=(
        *("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "iterations", "burn_in"),
        *("provider_noise", "neighbours", "accounting"),
    ),
    fit=fit,
    pools="whole",
    spends=spends,
    tuned=tuned_iterations,
    matrix=False,
    audit="products.dps",
)
