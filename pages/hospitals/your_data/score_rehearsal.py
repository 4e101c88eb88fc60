"""Rehearse on the twin what a release is for: the picture of patients' scores, and what a use loses.

The twin is the rehearsal of a release on invented patients. A run of the method on it gives components;
invented rows that the run did not see give the rest. Scores are rows' coordinates along components. Runs are
cached by the experiment alone, in which there is no row of a visitor's table. No Streamlit here.
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
ReleasedBestGuess = tuple[
    float, float, float
]  # a measure of released components, of the best ones, and of a guess


class TwinRun(NamedTuple):
    """Hold what one run on the twin gives.

    scores: of m invented rows on the run's first two components, (m, 2), or (m, 1) of one. eigenvalues: mean
    squares of the scores. losses: what the components lose, as `losses` returns it.
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
    """Return the first run of an experiment at an epsilon, measured on new rows."""
    scored = twin_scores.scores(cache.results(experiment), epsilon)
    right = _shares_right(scored.rows, scored.basis, scored.best)
    return TwinRun(
        scored.scores, scored.eigenvalues, losses(scored.moment, scored.basis, scored.best, right, "a label")
    )


def _shares_right(rows: Array, basis: Array, best: Array) -> ReleasedBestGuess:
    """Return how often a label is predicted right from released components, from the best, and by guessing.

    rows: (m, d). basis, best: the released and the true components, (d, k). The label is made up: whether a
    row's score on the best first component, about the scores' mean, is positive after noise of the same
    variance was added. It is predicted by least squares, learnt on half of the rows and tried on the others.
    """
    rng, score = np.random.default_rng(0), rows @ best[:, 0]
    label = np.where(score - score.mean() + score.std() * rng.standard_normal(len(rows)) > 0, 1.0, -1.0)
    half = len(rows) // 2

    def right(components: Array) -> float:
        """Return the share of the second half whose label is predicted right from their scores."""
        # A constant lets least squares learn the share of labels that are positive.
        inputs = np.column_stack([np.ones(len(rows)), rows @ components])
        weights = np.linalg.lstsq(inputs[:half], label[:half])[0]
        return float(np.mean(np.sign(inputs[half:] @ weights) == label[half:]))

    commonest = max(float(np.mean(label[half:] > 0)), float(np.mean(label[half:] < 0)))
    return right(basis), right(best), commonest


def losses(
    matrix: Array, basis: Array, best: Array, right: ReleasedBestGuess | None = None, label: str = ""
) -> pd.DataFrame:
    """Return what components lose, in a table with a line for each measure, as shares.

    The columns are the released components, the best without privacy, and a guess. The measures are the
    spread that is captured, of what the best capture; |X - X V V^T|^2/|X|^2, which is lost in reconstruction;
    and how often a label is predicted right, where that was measured.

    Args:
        matrix: The second moment of the rows X, (d, d).
        basis: Released components V, (d, k).
        best: The best components, (d, k).
        right: How often the label is predicted right, from each; None where it was not measured.
        label: What the label is called.
    """
    d, k = basis.shape
    whole = float(np.trace(matrix))
    captured, most = (subspace_metrics.captured_energy(each, matrix, whole) for each in (basis, best))
    guess = k / d
    lines = [
        ("Spread, of the best", captured / most, 1.0, guess / most),
        ("Lost in reconstruction", 1 - captured, 1 - most, 1 - guess),
    ]
    if right is not None:
        lines.append((f"Right about {label}", *right))
    return pd.DataFrame(lines, columns=["", "released", "no privacy", "guess"])
