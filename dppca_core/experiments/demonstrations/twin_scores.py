"""Scores of a twin's invented rows on two released components, and their picture with noise.

A twin is a population of invented patients in place of a visitor's table (`DictionaryTwin`, or a spiked
model), on which a release is rehearsed. A row's scores are its products with the components. The picture
counts rows in a grid of cells over the first two scores, as `release.score_histogram` releases it.
"""

from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics import linalg, moments
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.populations.spiked import SpikedModel
from dppca_core.release import score_histogram

_NOISE_DRAWS = 20  # of the noise, whose mean distance is stated
_LEAST_ROWS, _MOST_ROWS, _MOST_NUMBERS = 20_000, 50_000, 4_000_000  # of invented rows; numbers are rows x d


class TwinScores(NamedTuple):
    """Hold rows that a run did not see, a run's components, and the scores of the rows on these.

    Attributes:
        rows: Invented rows, (m, d).
        moment: Their second moment, (d, d).
        basis: The run's components, (d, k), turned to the axes of that moment, the strongest first.
        best: The true components, (d, k), turned likewise.
        scores: The rows' scores on the first two of the run's components, (m, 2).
        eigenvalues: The mean squares of these scores.
    """

    rows: Array
    moment: Array
    basis: Array
    best: Array
    scores: Array
    eigenvalues: tuple[float, ...]


class TwinPicture(NamedTuple):
    """Hold counts of invented patients by their two scores, with and without noise.

    Attributes:
        noisy: The counts with noise, (cells, cells).
        exact: The counts without.
        edges: The limits of the cells along each score, (cells + 1,) each.
        std: The standard deviation of the noise in each count.
        distance: Half the sum of |p - q| over cells, p the noisy shares with 0 for what is negative, q the
            exact ones; the mean over _NOISE_DRAWS draws of the noise.
    """

    noisy: Array
    exact: Array
    edges: tuple[tuple[float, ...], tuple[float, ...]]
    std: float
    distance: float


def scores(results: Results, epsilon: float) -> TwinScores:
    """Return the components of the first run of the experiment's method, and new rows' scores on them."""
    experiment = results.experiment
    rows = _rows(experiment)
    moment = rows.T @ rows / len(rows)
    # Rotate both bases to the moment's principal axes within their span; its values there are not needed.
    basis, best = (
        linalg.axes_within(each, moment)[0]
        for each in (results.estimate(experiment.method, epsilon, 0).basis, results.truth.basis)
    )
    along = rows @ basis[:, :2]
    squares = tuple(np.square(along).mean(axis=0).tolist())
    return TwinScores(rows, moment, basis, best, along, squares)


def _rows(experiment: ExplorerExperiment) -> Array:
    """Draw invented rows as the release sees them: clipped, and minus their mean if the twin is centred."""
    population, n = experiment.population, experiment.n
    assert isinstance(population, SpikedModel | DictionaryTwin)  # whose rows can be drawn
    count = min(max(n, _LEAST_ROWS), _MOST_ROWS, _MOST_NUMBERS // experiment.d)
    rng = draws.generator(experiment.seed, 0, "scores")
    blocks = list(population.rows(count, rng))
    if isinstance(population, DictionaryTwin):
        rows = np.concatenate(blocks)  # of length 1 at most already
        return moments.clip_rows(rows - rows.mean(axis=0), 1.0) if population.centred else rows
    return moments.clip_rows(np.concatenate(blocks), experiment.scaling.divisor(population, n))


def picture(scores: Array, eigenvalues: tuple[float, ...], n: float, count: int, std: float) -> TwinPicture:
    """Return the picture of n patients of the twin in count x count cells, with noise of this std.

    It also serves for one group of patients, whose cells have the same noise as all patients'.

    Args:
        scores: The scores on two components, (m, 2). Where m is below n each row counts n/m times.
        eigenvalues: Their mean squares, which set the range of the grid.
        n: The patients in the picture; for a group its part of them, which need not be whole.
        count: The number of cells along each component.
        std: The standard deviation of the noise in each count.
    """
    edges = score_histogram.grid({"eigenvalues": eigenvalues}, count)
    used = scores[: max(round(n), 1)]
    first, second = (np.clip(along, ends[0], ends[-1]) for along, ends in zip(used.T, edges, strict=True))
    exact = np.histogram2d(first, second, bins=[*map(np.array, edges)])[0] * (n / len(used))
    noisy = exact + std * np.random.default_rng(0).standard_normal((_NOISE_DRAWS, *exact.shape))
    positive = np.maximum(noisy, 0.0)
    # At least 1e-300, for the case that noise leaves no count above 0.
    shares = positive / np.maximum(positive.sum(axis=(1, 2), keepdims=True), 1e-300)
    distance = float(np.abs(shares - exact / exact.sum()).sum()) / 2 / _NOISE_DRAWS
    return TwinPicture(noisy[0], exact, edges, std, distance)
