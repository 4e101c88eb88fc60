"""Rehearse on the twin what a release is for: the picture of patients' scores, and what a use loses.

A run of the method on the twin gives components; invented rows that it did not see give the rest. Cached by
the recipe alone. No Streamlit here.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import draws
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.numerics import linalg
from dppca_core.numerics.moments import clip_rows
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.release import score_histogram
from pages.hospitals.your_data.losses import Losses, losses
from pages.hospitals.your_data.rehearsal import Twin
from pages.shared.background import cache

MOST_FEATURES = 400  # a run on more would keep the page waiting
TOO_MUCH = 1 / 3  # of a picture in wrong cells: beyond it the picture is of little use
_DRAWS = 20  # of the noise, whose mean distance is stated
_LEAST_ROWS, _MOST_ROWS, _MOST_NUMBERS = 20_000, 50_000, 4_000_000


class TwinRun(NamedTuple):
    """Hold what one run on the twin gives: scores of invented rows on two components, (m, 2), and losses.

    eigenvalues: mean squares of the scores.
    """

    scores: Array
    eigenvalues: tuple[float, ...]
    losses: Losses


class TwinPicture(NamedTuple):
    """Hold counts of invented patients, (cells, cells), with and without noise; edges, and the noise's std.

    distance: half the sum of |p - q| over cells, p the noisy shares with 0 for what is negative, q the exact;
    the mean of several draws.
    """

    noisy: Array
    exact: Array
    edges: tuple[tuple[float, ...], tuple[float, ...]]
    std: float
    distance: float


def run(twin: Twin) -> TwinRun | None:
    """Return a run of the release's method on its twin; None for a table too wide."""
    if twin.experiment.d > MOST_FEATURES:
        return None
    return _run(twin.experiment, twin.epsilon)


@lru_cache(maxsize=4)  # of 0.8 MB each
def _run(experiment: ExplorerExperiment, epsilon: float) -> TwinRun:
    results = cache.results(experiment)
    rows, truth = _rows(experiment), results.truth.basis
    moment = rows.T @ rows / len(rows)
    basis, best = (
        _by_falling_square(each, moment)
        for each in (results.estimate(experiment.method, epsilon, 0).basis, truth)
    )
    scores = rows @ basis[:, :2]
    squares = tuple(np.square(scores).mean(axis=0).tolist())
    return TwinRun(scores, squares, losses(moment, basis, best, _right(rows, basis, best)))


def _rows(experiment: ExplorerExperiment) -> Array:
    """Draw invented rows as the release sees them: clipped, and about their mean where that is paid for."""
    population, n = experiment.population, experiment.n
    assert not isinstance(population, str)  # a twin is no table
    many = min(max(n, _LEAST_ROWS), _MOST_ROWS, _MOST_NUMBERS // experiment.d)
    rng = draws.generator(experiment.seed, 0, "scores")
    blocks = list(population.rows(many, rng))
    if isinstance(population, DictionaryTwin):
        rows = np.concatenate(blocks)
        return clip_rows(rows - rows.mean(axis=0), 1.0) if population.centred else rows
    return clip_rows(np.concatenate(blocks), experiment.scaling.divisor(population, n))


def _by_falling_square(basis: Array, moment: Array) -> Array:
    return basis @ linalg.top_eigenpairs(basis.T @ moment @ basis, basis.shape[1])[1]


def _right(rows: Array, basis: Array, best: Array) -> tuple[float, float, float]:
    """Return how often a label is told from released components, from the best, and by guessing.

    The label: whether the score on the best first component, about its mean, is positive after chance of the
    same variance was added. Told by least squares, learnt on half of the rows and tried on the others.
    """
    rng, score = np.random.default_rng(0), rows @ best[:, 0]
    label = np.where(score - score.mean() + score.std() * rng.standard_normal(len(rows)) > 0, 1.0, -1.0)
    half = len(rows) // 2

    def right(components: Array) -> float:
        given = np.column_stack([np.ones(len(rows)), rows @ components])
        weights = np.linalg.lstsq(given[:half], label[:half])[0]
        return float(np.mean(np.sign(given[half:] @ weights) == label[half:]))

    commonest = max(float(np.mean(label[half:] > 0)), float(np.mean(label[half:] < 0)))
    return right(basis), right(best), commonest


def picture(twin_run: TwinRun, n: float, count: int, std: float) -> TwinPicture:
    """Return the picture of n patients of the twin in count x count cells, with noise of this std.

    Of a group's too: its cells have the same noise, and its share of the patients. Where fewer rows were
    drawn each counts more than once.
    """
    edges = score_histogram.grid({"eigenvalues": twin_run.eigenvalues}, count)
    used = twin_run.scores[: max(round(n), 1)]
    inside = (np.clip(along, ends[0], ends[-1]) for along, ends in zip(used.T, edges, strict=True))
    exact = np.histogram2d(*inside, bins=edges)[0] * (n / len(used))
    noisy = exact + std * np.random.default_rng(0).standard_normal((_DRAWS, *exact.shape))
    positive = np.maximum(noisy, 0.0)
    shares = positive / np.maximum(positive.sum(axis=(1, 2), keepdims=True), 1e-300)
    distance = float(np.abs(shares - exact / exact.sum()).sum()) / 2 / _DRAWS
    return TwinPicture(noisy[0], exact, edges, std, distance)
