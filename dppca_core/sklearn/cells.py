"""Read rows as scikit-learn does, and refuse them without quoting a cell."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from dppca_core.arrays import Array


def read(check: Callable[[], Any], X: ArrayLike) -> Array:
    """Return what scikit-learn's check makes of X, (n, d); what it raises quotes no cell of X."""
    try:
        checked: Array = check()
        return checked
    except (TypeError, ValueError):
        refusal = _unreadable(X)
        if refusal is None:
            raise
    # Raised here and not above: an error raised while another is handled keeps that one, with its cell.
    raise refusal


def _unreadable(X: ArrayLike) -> Exception | None:
    """Return the error for a table of another shape, or for its first cell that is no number.

    None where all cells are numbers or missing: of other faults scikit-learn's messages have no cell.
    """
    if issparse(X):
        return None
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        return ValueError(
            f"Expected 2D array, got {cells.ndim}D array instead. Reshape your data: a row for each patient, "
            "all with the same columns"
        )
    for (row, column), cell in np.ndenumerate(cells):
        if cell is None:
            continue
        name = f"'{X.columns[column]}'" if hasattr(X, "columns") else f"{column + 1:,}"
        where = f"column {name} holds no number in row {row + 1:,}"
        if isinstance(cell, complex | np.complexfloating):
            return ValueError(f"Complex data not supported: {where}")
        try:
            float(cell)
        except ValueError:
            return ValueError(f"X must hold numbers only: {where}")
        except TypeError:
            kind = type(cell).__name__
            return TypeError(f"argument must be a string or a number: {where}, but a {kind}")
    return None
