"""Compare a release with PCA of the same rows without privacy, as blocks for the owner alone.

What people mean by PCA are the components of the covariance C, of rows centred at their own mean m. A release
without a paid mean estimates C + m m^T, of rows centred in public: where m is large, its first component is
nearly m.

All of it is computed from private rows and none of it is paid for. So the panel shows it as `OwnersOnly`,
which no file can have. No Streamlit here.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.numerics.subspace_metrics import in_unit
from dppca_core.release.private_release import Released
from dppca_core.tables import limits
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import Counting
from pages.hospitals.your_data.text import HARDLY_BETTER, TOO_MUCH, is_fitted, noun
from pages.shared import text
from pages.shared.charts.metric_axis import value_text
from pages.shared.document.blocks import Block, Note, Table, Text

NEARLY_THE_MEAN = 0.9  # |cos|: an angle of 26 degrees
PARTLY_THE_MEAN = 0.5  # 60 degrees
NOT_PRIVATE = ":red-badge[not private] Only you may see this: it is computed from the patients' rows."
HIDDEN = "How good it is, only you may see: alone at your screen, turn on *Show exact values* at the top."
NO_RELEASE = "After a release: how far it is from the answer without privacy."
ANOTHERS = "The release shown above is of another table, or of other columns."
TOO_WIDE = (
    f"Beyond {limits.MOST_MATRIX_FEATURES:,} measurements there is no answer without privacy to compare with."
)
_AGAINST = "Against PCA without privacy of the same rows, centred at their own mean."
_SCALED = "Your rows are divided by the scales that were released."
_ERRORS = {"sin": "‖sin Θ‖", "projector": "‖VVᵀ − WWᵀ‖", "share": "recovered", "degrees": "angle"}


class TableTruth(NamedTuple):
    """Hold the covariance of a table's rows, (d, d), and their mean, (d,), both without privacy."""

    covariance: Array
    mean: Array


class ReleaseVerdict(NamedTuple):
    """Hold how good a release is against the components of the covariance.

    error: ||sin Theta|| between them. captured: what it captures of the covariance, as a share of what the
    best components do. guess, guess_captured: both of random components. cosine: |cos| of the angle between
    the first component and the mean of rows that were centred in public; 0 where a mean was paid for.
    """

    error: float
    captured: float
    guess: float
    guess_captured: float
    cosine: float


def truth(prepared: PreparedTable, lengths: Array | None = None) -> TableTruth:
    """Return the covariance and the mean of the rows that a release is of, over the patients who are used.

    lengths: of a fitted bound, by which encoded columns are divided, (d,). Without it rows are clipped to the
    public bound and divided by it.
    """
    held = prepared.held
    rows = held.rows if lengths is None else held.encoded
    weighted = rows if held.weights is None else rows * held.weights
    mean = (weighted if held.weights is None else weighted * held.weights).sum(axis=0) / prepared.used
    covariance = weighted.T @ weighted / prepared.used - np.outer(mean, mean)
    if lengths is None:
        return TableTruth(covariance, mean)
    return TableTruth(covariance / np.outer(lengths, lengths), mean / lengths)


def compare(prepared: PreparedTable, released: Released) -> ReleaseVerdict:
    """Return how good a release of this table is. Reads private rows."""
    document, (d, k) = released.document, released.basis.shape
    lengths = None
    if is_fitted(released):
        lengths = np.array(document["scales"] or np.ones(d)) * document["length after scaling"]
    covariance, mean = truth(prepared, lengths)
    best = linalg.top_eigenspace(covariance, k)
    most = float(np.vdot(best, covariance @ best))
    captured = subspace_metrics.captured_energy(released.basis, covariance, most) if most > 0 else 0.0
    guess_captured = float(np.trace(covariance)) * k / d / most if most > 0 else 0.0
    length = float(np.linalg.norm(mean))
    is_centred = document["mean"] is not None or length < 1e-12
    return ReleaseVerdict(
        error=subspace_metrics.sin_theta(released.basis, best),
        captured=captured,
        guess=subspace_metrics.random_guess(d, k),
        guess_captured=guess_captured,
        cosine=0.0 if is_centred else abs(float(released.basis[:, 0] @ mean)) / length,
    )


def blocks(compared: ReleaseVerdict, released: Released, metric: str) -> Iterator[Block]:
    """Return the comparison as a table, and what would improve it; metric: the unit of errors."""
    k, rows = released.basis.shape[1], int(released.document["rows per patient"])
    metric = "sin" if metric == "degrees" and k > 1 else metric  # an error gives no angle there
    answers = {
        "this release": (compared.error, compared.captured),
        "a random guess": (compared.guess, compared.guess_captured),
    }
    lines = [
        (name, value_text(metric, float(in_unit(metric, error, k))), text.recovered(100 * captured))
        for name, (error, captured) in answers.items()
    ]
    yield Table(pd.DataFrame(lines, columns=["", _ERRORS[metric], "captured"]))
    yield Note(f"{_AGAINST} {_SCALED}" if released.document["scales"] is not None else _AGAINST)
    yield Text(advice(compared, rows))


def advice(compared: ReleaseVerdict, rows: int) -> str:
    """Return whether the first component is the mean of rows centred in public, or what a poor release needs.

    Less noise only brings a release closer to what it estimates, which has the mean in it. "" where neither
    is to be said. rows: the most of one patient.
    """
    if compared.cosine >= PARTLY_THE_MEAN:
        much = "nearly" if compared.cosine >= NEARLY_THE_MEAN else "partly"
        return (
            f"**The first component is {much} the mean of your {noun(rows)}** (cosine "
            f"{compared.cosine:.3f}). It tells where they lie, not how they differ, and paying more does not "
            "change that."
        )
    if compared.error > HARDLY_BETTER * compared.guess:
        return "**It is hardly better than a guess:** ask for fewer directions or measurements, or pay more."
    return ""


def usable(n: int, counted: int, rows: int, counting: Counting | None) -> str:
    """Return how many patients are usable, which must not be stated in public.

    n: all patients. counted: the usable ones. counting: how rows of one count; None where no column names
    them.
    """
    units = noun(rows)
    what = f"**{counted:,} of {n:,} {units} are usable:** nothing fills in the missing cells of the others."
    if isinstance(counting, int):
        what = f"**Usable rows make up {counted:,} of {n:,} {units}**, {counting:,} rows for each."
    return f"{what} Do not state a share above that was counted here: it would become public."


def rehearsed_for_usable(counted: int, share: float, pattern: str, rows: int) -> str:
    end = " **That is of little use.**" if share > TOO_MUCH else ""
    return (
        f"Rehearsed for {counted:,} {noun(rows)}, a release has {text.percent(min(share, 1.0))} of a guess's "
        f"error where the pattern is {pattern}.{end}"
    )
