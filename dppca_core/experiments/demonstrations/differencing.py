"""What two exact summaries give away: a total with and a total without one patient.

A total is S = sum_i x_i x_i^T. The difference of two that differ in one patient is x x^T: its leading
eigenvector times the root of its eigenvalue is that patient's record, up to the sign of all its values at
once. No crowd hides anybody: the other patients cancel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.experiments.draws import Scaling
from dppca_core.numerics import linalg
from dppca_core.numerics.moments import RowMoment, clip_rows
from dppca_core.populations.spiked import SpikedModel


class NeighbouringTotals(NamedTuple):
    """One patient's row (d,), in the units of the data, and two totals (d, d) of rows divided by `bound`."""

    patient: Array
    without: Array
    with_: Array
    bound: float


def rebuilt(with_: Array, without: Array) -> Array:
    """What the difference of two totals, (d, d) each, gives away: a row, (d,), its largest value positive."""
    values, vectors = linalg.top_eigenpairs(with_ - without, 1)
    row: Array = math.sqrt(max(float(values[0]), 0.0)) * vectors[:, 0]
    return turned(row)


def turned(row: Array) -> Array:
    """With the sign that makes its largest value positive."""
    return row if row[np.abs(row).argmax()] >= 0 else -row


def digits(row: Array, guess: Array) -> int:
    """To how many digits of the largest value all of them agree, 15 at most; rows up to their sign."""
    apart = float(np.abs(turned(row) - turned(guess)).max() / np.abs(row).max())
    return 15 if apart < 1e-15 else max(0, math.floor(-math.log10(apart)))


def pair(population: SpikedModel | str, n: int, who: int, scaling: Scaling, seed: int) -> NeighbouringTotals:
    """A hospital of n patients with and without its patient number `who`, from 0 on.

    A population's other patients are drawn together, by the exact law of their total; a table has no more
    patients than rows, and begins again with the first. Raises ValueError for n or `who` out of range.
    """
    checks.whole(1, n=n)
    checks.whole(0, who=who)
    if isinstance(population, SpikedModel):
        bound = scaling.of(population, n)
        rng = draws.generator(seed, who, "one patient")
        scaled = clip_rows(np.concatenate(list(population.rows(1, rng))), bound)[0]
        others = np.zeros((population.d, population.d))
        if n > 1:
            fixed = Scaling(failure=scaling.failure, bound=bound)
            drawn = draws.cohort(population, (n - 1,), fixed, seed, 0)
            others = (n - 1) * drawn.pooled.dense()
        return NeighbouringTotals(scaled * bound, others, others + np.outer(scaled, scaled), bound)
    dealt = draws.cohort(population, (n,), scaling, seed, 0)
    held = dealt[0].moment
    assert isinstance(held, RowMoment)  # a table's always is
    at = who % n
    others = np.delete(held.rows, at, axis=0)
    return NeighbouringTotals(
        held.rows[at] * dealt.bound, others.T @ others, held.rows.T @ held.rows, dealt.bound
    )
