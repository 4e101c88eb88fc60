"""Many simulated runs of a method at once: the products of several runs are computed as one matrix product.

This is for simulation only. The numbers are those of the method's `fit` up to rounding, which a test checks.
All budgets see the same start and the same noise up to its scale, as runs with the same seed would.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Indices, Moment
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, stacked, two_stage
from dppca_core.methods import METHODS, dps_pca
from dppca_core.numerics import block_power
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method

_MOST_COLUMNS = 256  # columns of one product: more do not make it faster
# Two-stage and stacked methods, whose runs share the products of their normalised rounds.
JOINED = frozenset(
    name
    for name, method in METHODS.items()
    if method.chooses_rows or "left_out" in signature(method.fit).parameters
)


def runs(
    method: Method,
    cohort: Cohort,
    *,
    budgets: Sequence[Budget],
    rngs: Sequence[np.random.Generator],
    **options: Any,
) -> list[Estimate]:
    """Return the estimate of a method's `fit` for each budget and generator; DPS-PCA's are seeded alike."""
    if method.name == "dps_pca":
        return dps_pca_runs(cohort, budgets=budgets, rng=rngs[0], **options)
    if method.name in JOINED:
        return round_runs(method, cohort, budgets=budgets, rngs=rngs, **options)
    if method.scaling == "unit":  # form the moment of rows of length 1 once
        cohort, options = cohort.unit(), options | {"scaling": "inside"}
    each = zip(budgets, rngs, strict=True)
    return [method.fit(cohort, budget=budget, rng=rng, **options) for budget, rng in each]


def round_runs(
    method: Method,
    cohort: Cohort,
    *,
    k: int,
    budgets: Sequence[Budget],
    rngs: Sequence[np.random.Generator],
    s_hat: int | str | None = None,
) -> list[Estimate]:
    """Return what `runs` does for a two-stage or stacked method, whose rounds are asked together."""
    began = time.perf_counter()
    d, trust = cohort.features, method.trust
    plans = [two_stage.plan(cohort, trust, k, b, s_hat=s_hat) for b in budgets if method.chooses_rows]
    stds = [plan.noise.round_stds for plan in plans] or [
        (stacked.noise_std(b, trust, len(cohort), cohort.n, stacked.ROUNDS),) * stacked.ROUNDS
        for b in budgets
    ]
    bases, rounds = [[block_power.begin(None, d, k, rng)] for rng in rngs], [list[Array]() for _ in rngs]
    for step in range(max(map(len, stds))):
        going = [i for i, stds_of_run in enumerate(stds) if step < len(stds_of_run)]
        # Runs of generators that are seeded alike begin alike: one product serves them.
        asked = {bases[i][-1].tobytes(): bases[i][-1] for i in going}
        product = cohort.pooled.normalised_product(np.hstack(list(asked.values())), len(asked))
        means = dict(zip(asked, np.split(product, len(asked), axis=1), strict=True))
        for i in going:
            noise = stds[i][step] * rngs[i].standard_normal((d, k))
            rounds[i].append(noise + means[bases[i][-1].tobytes()])
            left_out = two_stage.left_out(len(stds[i])) if plans else stacked.LEFT_OUT
            bases[i].append(normalised_product.next_basis(rounds[i], stds[i], left_out))
    estimates = []
    for i, budget in enumerate(budgets):
        if not plans:
            estimates.append(stacked.estimate(tuple(bases[i]), budget, stds[i][0]))
            continue
        rows = two_stage.rows_of_rounds(rounds[i], plans[i].noise, s_hat=plans[i].kept, n=plans[i].n)
        block = two_stage.release_block(cohort.pooled, rows, plans[i].noise, rngs[i])
        released = two_stage.ReleasedStages(tuple(bases[i]), rows, block)
        spent = two_stage.spends(budget, s_hat=s_hat)
        estimates.append(two_stage.estimate(plans[i], released, (d, k), spent))
    seconds = (time.perf_counter() - began) / len(budgets)
    return [replace(estimate, seconds=seconds) for estimate in estimates]


def dps_pca_runs(
    cohort: Cohort,
    *,
    k: int,
    budgets: Sequence[Budget],
    rng: np.random.Generator,
    s_hat: int | None = None,
    iterations: int = 10,
    burn_in: int = 2,
    provider_noise: str = "independent",
    start: Array | None = None,
) -> list[Estimate]:
    """Return the estimate of `dps_pca.fit` at each budget; its seconds are an equal share of all."""
    began = time.perf_counter()
    d, moment = cohort.features, cohort.pooled
    checks.whole(1, d - 1, k=k)
    checks.whole(1, **{"number of budgets": len(budgets)})
    checks.instance(np.random.Generator, rng=rng)
    rows_kept = block_power.checked_rows(d, k, s_hat, iterations, burn_in)
    stds = [
        dps_pca.mean_noise_std(cohort, budget, k=k, iterations=iterations, provider_noise=provider_noise)
        for budget in budgets
    ]
    start = block_power.begin(start, d, k, rng)
    normals = rng.standard_normal((iterations, d, k))

    def message(std: float, block: Array, rows: Indices | None, step: int) -> Array:
        """Return S Q plus noise of this std, (d, k); rows: those that the block holds, if not all."""
        noisy: Array = normals[step] * std
        noisy += moment.apply(block, rows)
        return noisy

    finished: list[tuple[Array, ...]] = []  # the bases of each run, by round
    # In groups, since a product with more than _MOST_COLUMNS columns saves no more time.
    while group := stds[len(finished) :][: max(1, _MOST_COLUMNS // k)]:
        unfinished = [block_power.PowerIteration(start, s_hat=rows_kept, burn_in=burn_in) for _ in group]
        # While all rows are kept, the products of the runs are computed together. Then each run finishes by
        # itself, so that its numbers stay in the CPU cache.
        while len(unfinished) > 1 and unfinished[0].step < iterations and unfinished[0].current.rows is None:
            noises = [normals[unfinished[0].step] * std for std in group]
            sent = messages(moment, [run.current.block for run in unfinished], noises)
            for run, product in zip(unfinished, sent, strict=True):
                run.update(product)
        finished += [
            run.finish(partial(message, std), iterations) for run, std in zip(unfinished, group, strict=True)
        ]
    estimates = [
        dps_pca.estimate(cohort, budget, iterates, std, provider_noise)
        for budget, iterates, std in zip(budgets, finished, stds, strict=True)
    ]
    seconds = (time.perf_counter() - began) / len(budgets)
    return [replace(estimate, seconds=seconds) for estimate in estimates]


def messages(moment: Moment, blocks: Sequence[Array], noises: Sequence[Array]) -> Sequence[Array]:
    """Add S Q of each block Q, (d, k), to its noise, in place, by one product; S is of all patients."""
    k = blocks[0].shape[1]
    # Given this array, np.concatenate fills it row by row; by itself it would choose the other memory order.
    rows = np.empty((len(blocks) * k, moment.features))
    sent = moment.apply(np.concatenate([block.T for block in blocks], out=rows).T)
    for i, noise in enumerate(noises):
        noise += sent[:, i * k : (i + 1) * k]
    return noises
