"""State what components lose for a use: of spread, in rows given back, and of a label. No Streamlit here."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.numerics import subspace_metrics

Three = tuple[float, float, float]  # of released components, of the best without privacy, of a guess


class Losses(NamedTuple):
    """Hold shares of components that were released, of the best, and of a guess.

    captured: of the spread that the best hold. unexplained: |X - X V V^T|^2/|X|^2. right: of labels told.
    """

    captured: Three
    unexplained: Three
    right: Three | None = None


def losses(matrix: Array, basis: Array, best: Array, right: Three | None = None) -> Losses:
    """Return what components, (d, k), lose against the best of rows with this second moment, (d, d)."""
    d, k = basis.shape
    whole = float(np.trace(matrix))
    released, most = (subspace_metrics.captured_energy(each, matrix, whole) for each in (basis, best))
    guess = k / d
    return Losses((released / most, 1.0, guess / most), (1 - released, 1 - most, 1 - guess), right)


def table(measured: Losses, label: str) -> pd.DataFrame:
    """Return the losses as a table of percentages; `label` names the label that is told."""
    names = ("Spread, of the best", "Lost in reconstruction", f"Right about {label}")
    lines = [(name, *three) for name, three in zip(names, measured, strict=True) if three is not None]
    return pd.DataFrame(lines, columns=["", "released", "no privacy", "guess"])
