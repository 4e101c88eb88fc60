"""Many simulated runs of DPS-PCA at once: products of several runs taken side by side, noise drawn once.

For simulation only. The numbers are those of `dps_pca.fit` up to rounding; a test holds the two together.
All budgets of a generator see the same start and the same noise up to its scale, as runs that are each
seeded alike would. The runs share nothing but the moment: each has noise of its own, drawn in its own order,
though their products are taken together.
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
    """A simulated run: where it stands, and the noise of each step, (d, k), asked for in turn, once."""

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

    Each is said to take its share of the time. Raises ValueError as `fit`, and for no budgets or generators.
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
            walk = partial(
                block_power.PowerIteration, block_power.begin(start, d, k, rng), s_hat=kept, burn_in=burn_in
            )
            yield from (PowerRun(walk(), noise) for noise in noises(rng))

    walked = _walk_together(cohort.pooled, runs(), k, iterations)
    estimates = [
        [
            dps_pca.estimate(cohort, budget, next(walked), std, provider_noise)
            for budget, std in zip(budgets, stds, strict=True)
        ]
        for _ in rngs
    ]
    seconds = (time.perf_counter() - began) / (len(budgets) * len(rngs))
    return tuple(tuple(replace(one, seconds=seconds) for one in of_rng) for of_rng in estimates)


def _drawn(rng: np.random.Generator, shape: tuple[int, int], std: float, step: int) -> Array:
    noise = rng.standard_normal(shape)
    noise *= std
    return noise


def _scaled(normals: Array, std: float, step: int) -> Array:
    noise: Array = normals[step] * std
    return noise


def _walk_together(
    moment: Moment, runs: Iterator[PowerRun], k: int, steps: int
) -> Iterator[tuple[Array, ...]]:
    """The bases of each run. While blocks are full, the products of a few runs are taken side by side.

    After that each run goes to its end by itself: its numbers stay in the cache.
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
    """Add S Q of each block, (d, k), to its noise, in place, their products taken as one."""
    k = blocks[0].shape[1]
    beside = np.empty((len(blocks) * k, moment.features))
    for i, block in enumerate(blocks):
        beside[i * k : (i + 1) * k] = block.T
    sent = moment.apply(beside.T)
    for i, noise in enumerate(noises):
        noise += sent[:, i * k : (i + 1) * k]
    return list(noises)


def _message(moment: Moment, run: PowerRun, block: Array, rows: Indices | None, step: int) -> Array:
    message = run.noise(step)
    message += moment.apply(block, rows)
    return message


# By method: what the explorer uses where it measures many values of epsilon.
MANY_RUNS: dict[str, Callable[..., tuple[tuple[Estimate, ...], ...]]] = {"dps_pca": dps_pca_runs}
