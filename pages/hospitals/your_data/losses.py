"""State what components lose for a use: of spread, in rows given back, and of a label. No Streamlit here."""

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.numerics import subspace_metrics

Three = tuple[float, float, float]  # of released components, of the best without privacy, of a guess


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
