"""A prepared table: who is left out leaves no trace in the numbers that count as public."""

import numpy as np
import pandas as pd

from dppca_core import tables
from dppca_core.tables import Column, Schema
from dppca_core.tables.encode import prepare
from pages.hospitals.your_data.owner_only_document import truth

SCHEMA = Schema((Column("a", "number", 0, 1), Column("b", "number", 0, 1)), 1.0)


def prepared(cells: list[float | None], by: str | None):
    frame = pd.DataFrame({"a": cells, "b": np.linspace(0, 1, 6), "where": list("xxyyyy")})
    return prepare(tables.from_frame(frame, "t"), SCHEMA, by, 2)


def test_who_is_left_out_does_not_change_a_number_that_is_published():
    """A missing cell makes a row of zeros: sizes stay, and the sum moves by that row alone."""
    for by in (None, "where"):
        whole = prepared([0.1, 0.2, 0.3, 0.4, 0.5, 0.9], by)
        less = prepared([0.1, 0.2, 0.3, 0.4, 0.5, None], by)
        assert whole.sizes == less.sizes == ((2, 4) if by else (3, 3))
        assert less.owner.dropped == 1 and less.n == 6
        assert [len(part) for part in less.parts] == list(less.sizes)
        gone = whole.held.rows[5]
        moved = sum(part.T @ part for part in whole.parts) - sum(part.T @ part for part in less.parts)
        np.testing.assert_allclose(moved, np.outer(gone, gone), atol=1e-15)
        used = np.cov(whole.held.rows[:5].T, bias=True)
        np.testing.assert_allclose(truth(less).covariance, used, atol=1e-15)
