"""What only the owner may see: a release against the answer without privacy, on the same clipped rows.

All of it is computed from private rows and none of it is paid for. No Streamlit here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from dppca_core import linalg, metrics
from dppca_core.tables import Raw
from dppca_core.types import Array
from pages.shared.own.table import Prepared, Rows

MOST_POINTS = 2_000
MOST_ROWS = 5_000
MOST_LABELS = 10
FOLDS = 5


class Truth(NamedTuple):
    """Second moment of all clipped rows, (d, d), and its eigenvalues, all d, largest first."""

    moment: Array
    eigenvalues: Array


def truth(own: Prepared) -> Truth:
    """The answer without privacy."""
    moment = own.moment
    return Truth(moment, np.linalg.eigvalsh(moment)[::-1])


class Verdict(NamedTuple):
    """sin Theta against the plain components, that of a random guess, and the share of captured energy."""

    error: float
    guess: float
    energy: float


def verdict(found: Truth, basis: Array) -> Verdict:
    """How far a release, (d, k), is from PCA of the same rows."""
    d, k = basis.shape
    plain = linalg.top_eigenspace(found.moment, k)
    best = float(found.eigenvalues[:k].sum())
    energy = metrics.captured_energy(basis, found.moment, best) if best > 0 else 0.0
    return Verdict(metrics.sin_theta(basis, plain), metrics.random_guess(d, k), energy)


def label_columns(own: Prepared, raw: Raw) -> list[str]:
    """Columns that are no features and have two to ten values."""
    used = {column.name for column in own.schema.columns}
    table = raw.table
    free = [name for name in raw.columns if name not in used]
    return [name for name in free if 2 <= pc.count_distinct(table[name].drop_null()).as_py() <= MOST_LABELS]


def labels(raw: Raw, held: Rows, name: str | None) -> tuple[Array, list[str]]:
    """Places among the rows, and the label of each, "" without a column; rows without one are left out."""
    if name is None:
        return np.arange(len(held.rows)), [""] * len(held.rows)
    column = raw.table[name].to_pandas()[held.kept].reset_index(drop=True)
    known = column.dropna()
    said = [f"{value:g}" if isinstance(value, float) else str(value) for value in known]
    return known.index.to_numpy(), said


def some(places: Array, said: list[str], most: int) -> tuple[Array, list[str]]:
    """At most so many of them, chosen at random, the same each time."""
    if len(places) <= most:
        return places, said
    drawn = np.sort(np.random.default_rng(0).choice(len(places), most, replace=False))
    return places[drawn], [said[int(i)] for i in drawn]


def downstream(raw: Raw, held: Rows, name: str, basis: Array) -> pd.DataFrame:
    """Share of patients whose label logistic regression gets right, in cross-validation: mean and spread.

    From the released components, (d, k), from as many without privacy, and from all features; the share of
    the commonest label is what guessing gets. At most 5,000 patients. Raises ValueError for labels of which
    fewer than two have two patients.
    """
    from sklearn.linear_model import LogisticRegression  # here: slow to load, and asked for by few
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    places, said = some(*labels(raw, held, name), MOST_ROWS)
    target = np.array(said)
    values, counts = np.unique(target, return_counts=True)
    common = np.isin(target, values[counts >= 2])
    if len(np.unique(target[common])) < 2:
        raise ValueError("fewer than two labels have two patients")
    rows, target = held.rows[places[common]], target[common]
    folds = StratifiedKFold(min(FOLDS, int(counts[counts >= 2].min())), shuffle=True, random_state=0)
    plain = linalg.top_eigenspace(held.rows.T @ held.rows, basis.shape[1])
    lines = []
    for what, used in (
        ("released components", rows @ basis),
        ("as many components without privacy", rows @ plain),
        ("all columns", rows),
    ):
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
        scores = cross_val_score(model, used, target, cv=folds)
        lines.append((what, float(scores.mean()), float(scores.min()), float(scores.max())))
    guess = float(np.unique(target, return_counts=True)[1].max() / len(target))
    lines.append(("always the commonest label", guess, guess, guess))
    return pd.DataFrame(lines, columns=["from", "right", "worst fold", "best fold"])
