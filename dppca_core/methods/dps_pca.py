"""DPS-PCA: distributed, private, sparse PCA (Ge, Wang, Wang & Liu, AISTATS 2018, Algorithm 1).

At step t hospital i sends H_i = S_i Q + G_i / n_i to a server, S_i its second moment and G_i i.i.d.
N(0, sigma^2); the server averages with weights n_i/n, orthogonalises, keeps the s_hat heaviest rows.
All that follows the sending is post-processing.

Sensitivity of n_i S_i Q: sqrt 2 for replace-one and k >= 2, else 1 (`dppca_core.mechanisms.matrix_product`,
with its proof). The paper uses 2 (triangle inequality).

Noise across hospitals. "independent": each draws its own G_i, so the mean carries sqrt(N) sigma/n.
"shared": one G for all, as printed (line 8 stands outside the provider loop), so it carries N sigma/n
and n_1 H_1 - n_2 H_2 is noise-free: a server that sees two hospitals sees through it.
"secure-aggregation": each adds N(0, sigma^2/N) and only the sum is seen, so it carries sigma/n.

With accounting "as-printed" and burn_in=0 this is Algorithm 1 to the letter, with the logarithm of
Lemma A.1 that its line 3 lost: sigma = (2T/epsilon) sqrt(2 ln(2T/delta)).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.accounting.printed import GE_SENSITIVITY
from dppca_core.arrays import Array, Indices, Moment
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import matrix_product
from dppca_core.numerics import block_power
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import PROVIDER_NOISE, Estimate, Method

SIDE_BY_SIDE = 256  # columns of one product: more do not make it faster
UNDONE = "two hospitals' messages together undo the shared noise: only one message alone is private"
sensitivity = matrix_product.sensitivity


def sum_noise_std(budget: Budget, *, k: int, iterations: int) -> float:
    """sigma: std of each entry of G, on the scale of sums (not means) over a hospital's rows."""
    printed = budget.accounting == "as-printed"
    moved = GE_SENSITIVITY if printed else sensitivity(budget, k)
    return gaussian.composed_std(budget, moved, iterations)


def aggregate_factor(provider_noise: str, providers: int) -> float:
    """c in c sigma/n, the noise std of the averaged product: sqrt N, N or 1 by noise mode.

    Weights n_i/n meet noise G_i/n_i, so this holds for unequal hospitals as well. Raises ValueError
    for an unknown mode.
    """
    checks.one_of(PROVIDER_NOISE, provider_noise=provider_noise)
    powers = {"independent": 0.5, "shared": 1.0, "secure-aggregation": 0.0}
    return float(providers ** powers[provider_noise])


def release(moment: Moment, block: Array, rows: Indices | None, noise: Array) -> Array:
    """A message H = S Q + noise, (d, k). The only step that reads private rows, here and in `release_all`.

    Of one hospital; or, with the pooled moment and the noise of the sum, the server's mean of all messages
    sum_i (n_i/n) H_i: where only that is looked at, in law (and, for given noise, exactly) it is the same.
    """
    product = moment.apply(block, rows)
    product += noise
    return product


def release_all(moment: Moment, blocks: Sequence[Array], noises: Sequence[Array]) -> list[Array]:
    """`release` of several blocks, (d, k) each, their products taken as one; in the place of their noises."""
    k = blocks[0].shape[1]
    beside = np.empty((len(blocks) * k, moment.features))
    for i, block in enumerate(blocks):
        beside[i * k : (i + 1) * k] = block.T
    sent = moment.apply(beside.T)
    for i, noise in enumerate(noises):
        noise += sent[:, i * k : (i + 1) * k]
    return list(noises)


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
    """T noisy products, then orthogonalise and threshold. Iterates: Q(0), ..., Q(T).

    s_hat: rows kept (default d, dense). iterations: T. burn_in: first steps without thresholding; 0 is the
    paper. provider_noise: "independent", "shared" or "secure-aggregation", as the module's text says.
    start: (d, k) orthonormal, default uniformly random.
    Raises ValueError unless k <= s_hat <= d, iterations >= 1 and 0 <= burn_in, for an unknown mode of noise
    or another start.
    """
    ((found,),) = fit_many(
        cohort,
        k=k,
        budgets=(budget,),
        rngs=(rng,),
        s_hat=s_hat,
        iterations=iterations,
        burn_in=burn_in,
        provider_noise=provider_noise,
        start=start,
    )
    return found


def fit_many(
    cohort: Cohort,
    *,
    k: int,
    budgets: Sequence[Budget],
    rngs: Sequence[np.random.Generator],
    s_hat: int | None = None,
    iterations: int = 10,
    burn_in: int = 2,
    provider_noise: str = "independent",
    start: Array | None = None,
) -> tuple[tuple[Estimate, ...], ...]:
    """`fit` for each generator and, within it, each budget: for simulation only.

    All budgets of a generator see the same start and the same noise up to its scale, as runs that are each
    seeded alike would. Dense products are taken for several runs at once. The numbers are those of `fit`
    up to rounding. Raises as `fit`.
    """
    d = cohort.features
    kept = d if s_hat is None else s_hat
    checks.whole(k, d, s_hat=kept)
    checks.whole(1, block_power.MOST_STEPS, iterations=iterations)
    checks.whole(0, burn_in=burn_in)
    factor = aggregate_factor(provider_noise, len(cohort)) / cohort.n
    stds = [factor * sum_noise_std(budget, k=k, iterations=iterations) for budget in budgets]
    # The normals of many generators would leave the cache before they are used, unless drawn step by step.
    by_step = len(stds) == 1 and 1 < len(rngs) == len({id(rng.bit_generator) for rng in rngs})

    def noises(rng: np.random.Generator) -> list[Callable[[int], Array]]:
        if by_step:
            return [partial(_drawn, rng, (d, k), stds[0])]
        normals = rng.standard_normal((iterations, d, k))
        if len(stds) > 1:
            return [partial(_scaled, normals, std) for std in stds]
        normals *= stds[0]
        return [normals.__getitem__]

    def runs() -> Iterator[PowerRun]:
        for rng in rngs:
            walk = partial(block_power.Walk, block_power.begin(start, d, k, rng), s_hat=kept, burn_in=burn_in)
            yield from (PowerRun(walk(), noise) for noise in noises(rng))

    notes = (UNDONE,) if provider_noise == "shared" and len(cohort) > 1 else ()

    def estimate(budget: Budget, std: float, iterates: tuple[Array, ...]) -> Estimate:
        return Estimate(
            iterates[-1],
            iterates=iterates,
            noise_std=std,
            bytes_sent=8 * d * k * iterations,
            spent=spends(budget, k=k, iterations=iterations),
            notes=notes,
        )

    walked = walk_together(cohort.pooled, runs(), k, iterations)
    return tuple(tuple(map(estimate, budgets, stds, walked)) for _ in rngs)


class PowerRun(NamedTuple):
    """A simulated run: where it stands, and the noise of each step, (d, k), asked for in turn, once."""

    walk: block_power.Walk
    noise: Callable[[int], Array]


def _drawn(rng: np.random.Generator, shape: tuple[int, int], std: float, step: int) -> Array:
    noise = rng.standard_normal(shape)
    noise *= std
    return noise


def _scaled(normals: Array, std: float, step: int) -> Array:
    noise: Array = normals[step] * std
    return noise


def walk_together(
    moment: Moment, runs: Iterator[PowerRun], k: int, steps: int
) -> Iterator[tuple[Array, ...]]:
    """The bases of each run. While blocks are full, the products of a few runs are taken side by side.

    After that each run goes to its end by itself: its numbers stay in the cache.
    """
    while group := list(islice(runs, max(1, SIDE_BY_SIDE // k))):
        first = group[0].walk
        while len(group) > 1 and first.step < steps and first.place.rows is None:
            noises = [run.noise(first.step) for run in group]
            sent = release_all(moment, [run.walk.place.block for run in group], noises)
            for run, product in zip(group, sent, strict=True):
                run.walk.take(product)
        for run in group:
            yield run.walk.finish(partial(_sent, moment, run), steps)


def _sent(moment: Moment, run: PowerRun, block: Array, rows: Indices | None, step: int) -> Array:
    return release(moment, block, rows, run.noise(step))


def spends(budget: Budget, *, k: int, iterations: int = 10, **_: object) -> tuple[Event, ...]:
    """T adaptive Gaussian releases, to each hospital's own patients."""
    sigma = sum_noise_std(budget, k=k, iterations=iterations)
    return (Release(sigma / sensitivity(budget, k), iterations),)


METHOD = Method(
    name="dps_pca",
    title="DPS-PCA",
    reference="Ge, Wang, Wang & Liu, AISTATS 2018",
    trust="untrusted server",
    guarantee="(ε, δ)",
    uses=(
        *("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "iterations", "burn_in"),
        *("provider_noise", "neighbours", "accounting"),
    ),
    fit=fit,
    fit_many=fit_many,
    spends=spends,
    matrix=False,
    audit="products.dps",
)
