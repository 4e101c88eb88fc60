"""Rehearse on the twin what a release is for: the picture of patients' scores, and what a use loses.

A run of the method on the twin gives components; invented rows that it did not see give the rest. Cached by
the recipe alone. No Streamlit here.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.demonstrations import twin_scores
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.numerics import subspace_metrics
from pages.hospitals.your_data.rehearsal import Twin
from pages.shared.background import cache

MOST_FEATURES = 400  # a run on more would keep the page waiting
TOO_MUCH = 1 / 3  # of a picture in wrong cells: beyond it the picture is of little use
Three = tuple[float, float, float]  # of released components, of the best without privacy, of a guess


class TwinRun(NamedTuple):
    """Hold what one run on the twin gives: scores of invented rows on two components, (m, 2), and losses.

    eigenvalues: mean squares of the scores.
    """

    scores: Array
    eigenvalues: tuple[float, ...]
    losses: pd.DataFrame


def run(twin: Twin) -> TwinRun | None:
    """Return a run of the release's method on its twin; None for a table too wide."""
    if twin.experiment.d > MOST_FEATURES:
        return None
    return _run(twin.experiment, twin.epsilon)


@lru_cache(maxsize=4)  # of 0.8 MB each
def _run(experiment: ExplorerExperiment, epsilon: float) -> TwinRun:
    seen = twin_scores.scores(cache.results(experiment), epsilon)
    right = _right(seen.rows, seen.basis, seen.best)
    return TwinRun(
        seen.scores, seen.eigenvalues, losses(seen.moment, seen.basis, seen.best, right, "a label")
    )


def _right(rows: Array, basis: Array, best: Array) -> Three:
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


def losses(
    matrix: Array, basis: Array, best: Array, right: Three | None = None, label: str = ""
) -> pd.DataFrame:
    """Return what components, (d, k), lose against the best of rows with this second moment, (d, d).

    A line each, as shares: the spread that is captured, of what the best hold; |X - X V V^T|^2/|X|^2, which
    is lost in reconstruction; and how often a label is told right, where that was measured.
    """
    d, k = basis.shape
    whole = float(np.trace(matrix))
    released, most = (subspace_metrics.captured_energy(each, matrix, whole) for each in (basis, best))
    guess = k / d
    lines = [
        ("Spread, of the best", released / most, 1.0, guess / most),
        ("Lost in reconstruction", 1 - released, 1 - most, 1 - guess),
    ]
    if right is not None:
        lines.append((f"Right about {label}", *right))
    return pd.DataFrame(lines, columns=["", "released", "no privacy", "guess"])
