"""Many simulated runs of DPS-PCA at once: the products of several runs are computed as one matrix product.

This is for simulation only. The numbers are those of `dps_pca.fit` up to rounding, which a test checks. All
budgets of a generator see the same start and the same noise up to its scale, as runs with the same seed
would. The runs share nothing but the moment: each has its own noise, drawn in its own order, though their
products are computed together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Indices, Moment
from dppca_core.cohort import Cohort
from dppca_core.methods import dps_pca
from dppca_core.numerics import block_power
from dppca_core.privacy import Budget
from dppca_core.records import Estimate

_SIDE_BY_SIDE = 256  # columns of one product: more do not make it faster


class PowerRun(NamedTuple):
    """Hold a simulated run: its state, and a function that draws the noise of each step, (d, k), in order."""

    walk: block_power.PowerIteration
    noise: Callable[[int], Array]


def dps_pca_runs(
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
    """Return, for each generator, the estimate of `dps_pca.fit` at each budget.

    Each estimate has its share of the seconds. Raises ValueError as `fit` does, and without a budget or a
    generator.
    """
    began = time.perf_counter()
    d = cohort.features
    checks.whole(1, d - 1, k=k)
    checks.whole(1, **{"number of budgets": len(budgets), "number of generators": len(rngs)})
    for rng in rngs:
        checks.instance(np.random.Generator, rng=rng)
    kept = dps_pca.checked_rows(d, k, s_hat, iterations, burn_in)
    stds = [
        dps_pca.mean_noise_std(cohort, budget, k=k, iterations=iterations, provider_noise=provider_noise)
        for budget in budgets
    ]
    # Draw the noise of many generators step by step; drawing it all first would evict it from the CPU cache.
    by_step = len(stds) == 1 and 1 < len(rngs) == len({id(rng.bit_generator) for rng in rngs})

    def noises(rng: np.random.Generator) -> list[Callable[[int], Array]]:
        if by_step:
            return [lambda _: rng.standard_normal((d, k)) * stds[0]]
        normals = rng.standard_normal((iterations, d, k))

        def scaled(std: float) -> Callable[[int], Array]:
            return lambda step: normals[step] * std

        return [scaled(std) for std in stds]

    def runs() -> Iterator[PowerRun]:
        """Yield, for every generator, one run a budget; its runs share their start and differ by noise."""
        for rng in rngs:
            new_iteration = partial(
                block_power.PowerIteration, block_power.begin(start, d, k, rng), s_hat=kept, burn_in=burn_in
            )
            yield from (PowerRun(new_iteration(), noise) for noise in noises(rng))

    walked = _walk_together(cohort.pooled, runs(), k, iterations)
    estimates = [
        [
            dps_pca.estimate(cohort, budget, next(walked), std, provider_noise)
            for budget, std in zip(budgets, stds, strict=True)
        ]
        for _ in rngs
    ]
    seconds = (time.perf_counter() - began) / (len(budgets) * len(rngs))
    return tuple(tuple(replace(run, seconds=seconds) for run in group) for group in estimates)


def _walk_together(
    moment: Moment, runs: Iterator[PowerRun], k: int, steps: int
) -> Iterator[tuple[Array, ...]]:
    """Yield the bases of each run. While all rows are kept, the products of a few runs are computed together.

    After that each run finishes by itself, so that its numbers stay in the CPU cache.
    """
    while group := list(islice(runs, max(1, _SIDE_BY_SIDE // k))):
        first = group[0].walk
        while len(group) > 1 and first.step < steps and first.current.rows is None:
            noises = [run.noise(first.step) for run in group]
            sent = messages(moment, [run.walk.current.block for run in group], noises)
            for run, product in zip(group, sent, strict=True):
                run.walk.update(product)
        for run in group:
            yield run.walk.finish(partial(_message, moment, run), steps)


def messages(moment: Moment, blocks: Sequence[Array], noises: Sequence[Array]) -> list[Array]:
    """Add S Q of each block, (d, k), to its noise, in place, by one matrix product for all blocks."""
    k = blocks[0].shape[1]
    rows = np.empty((len(blocks) * k, moment.features))  # as np.concatenate would return the other order
    sent = moment.apply(np.concatenate([block.T for block in blocks], out=rows).T)
    for i, noise in enumerate(noises):
        noise += sent[:, i * k : (i + 1) * k]
    return list(noises)


def _message(moment: Moment, run: PowerRun, block: Array, rows: Indices | None, step: int) -> Array:
    message = run.noise(step)
    message += moment.apply(block, rows)
    return message
