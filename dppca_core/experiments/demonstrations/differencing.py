"""The differencing attack: two exact totals, with and without a patient, give away that patient's record.

A total is S = sum_i x_i x_i^T. The difference of two that differ in one patient is x x^T: its leading
eigenvector times the root of its eigenvalue is that patient's record, up to the sign of the whole row. The
other patients cancel, however many there are.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.experiments.draws import Scaling
from dppca_core.numerics import linalg, moments
from dppca_core.populations.differing import DifferingHospitals
from dppca_core.populations.site_summaries import SiteMoment
from dppca_core.populations.synthetic import Synthetic


class NeighbouringTotals(NamedTuple):
    """Hold a patient's row and the totals of a hospital with that patient and without."""

    patient: Array  # the row, in units of the data, (d,)
    without: Array  # the sum of x x^T over the other patients, rows divided by `bound`, (d, d)
    with_: Array  # the same with the patient
    bound: float  # what rows were divided by


def rebuilt(with_: Array, without: Array) -> Array:
    """Return the patient's row, divided by the bound, that two totals give away, (d,)."""
    values, vectors = linalg.top_eigenpairs(with_ - without, 1)
    # The difference is x x^T: its only eigenvalue is |x|^2, below 0 only by rounding.
    row: Array = math.sqrt(max(float(values[0]), 0.0)) * vectors[:, 0]
    return with_positive_largest(row)


def with_positive_largest(row: Array) -> Array:
    return row if row[np.abs(row).argmax()] >= 0 else -row


def digits(row: Array, guess: Array) -> int:
    """Return how many decimal digits of the largest value two rows share, up to their sign; at most 15."""
    # Doubles agree to about 15 digits; below that the difference is rounding.
    apart = float(np.abs(with_positive_largest(row) - with_positive_largest(guess)).max() / np.abs(row).max())
    return 15 if apart < 1e-15 else max(0, math.floor(-math.log10(apart)))


def pair(
    population: Synthetic | DifferingHospitals | str, n: int, who: int, scaling: Scaling, seed: int
) -> NeighbouringTotals:
    """Return the totals of a hospital's patients with and without one of them.

    Of a spiked model, the patient is drawn by itself, and the total of all others by its exact law. Of
    hospitals that differ they are those of the first run of a decision, and `population` is a single one
    (`DifferingHospitals.only`). who: the index of the patient; but for a spiked model, modulo the rows.
    """
    checks.whole(1, n=n)
    checks.whole(0, who=who)
    if isinstance(population, Synthetic):
        bound = scaling.divisor(population, n)
        rng = draws.generator(seed, who, "one patient")
        scaled = moments.clip_rows(np.concatenate(list(population.rows(1, rng))), bound)[0]
        others = np.zeros((population.d, population.d))
        if n > 1:
            # The bound is that of all n patients, also for the n - 1 of this draw.
            fixed = Scaling(failure=scaling.failure, bound=bound)
            drawn = draws.cohort(population, (n - 1,), fixed, seed, draw=0)
            others = (n - 1) * drawn.pooled.dense()
        return NeighbouringTotals(scaled * bound, others, others + np.outer(scaled, scaled), bound)
    patients = draws.cohort(population, (n,), scaling, seed, draw=0)
    held = patients[0].moment
    if isinstance(held, SiteMoment):
        drawn_rows, total = held.held_rows().rows, n * held.dense()
        row = drawn_rows[who % len(drawn_rows)]
        return NeighbouringTotals(row * patients.bound, total - np.outer(row, row), total, patients.bound)
    assert isinstance(held, moments.RowMoment)  # the rows of a table always are
    rows, index = held.rows, who % n
    others = np.delete(rows, index, axis=0)
    return NeighbouringTotals(rows[index] * patients.bound, others.T @ others, rows.T @ rows, patients.bound)
