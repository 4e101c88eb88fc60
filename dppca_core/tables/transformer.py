"""Offer the encoding of tables as a scikit-learn transformer, so that a script encodes as the dashboard does.

    make_pipeline(DictionaryEncoder(schema), PrivatePCA(bound=schema.bound, ...)).fit(frame)

The dictionary (`dictionary.Schema`) is public and nothing is learned from rows, so that encoding them spends
no privacy budget. "The page" is *Your data* of the dashboard.
"""

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dppca_core.arrays import Array
from dppca_core.tables import cells
from dppca_core.tables.dictionary import Schema
from dppca_core.tables.encode import encode


# scikit-learn has no types: its classes are "Any" to mypy.
class DictionaryEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encode a table's cells by a public dictionary, with its missing codes, synonyms and fills.

    A row with a missing cell that the dictionary does not fill in becomes zeros, as on the page: it adds
    nothing to any sum and is still counted, so that the number of rows does not tell which rows had such
    cells. A blank row, which the page leaves out, is counted here: a transformer keeps all rows. Columns that
    the dictionary does not name are left out. An array must have the dictionary's columns, in its order; a
    data frame is read by its column names.

    Args:
        schema: The dictionary, as `Schema.from_json` reads it from the file that the page saves.

    Attributes:
        n_features_in_: As everywhere in scikit-learn.
        feature_names_in_: As everywhere in scikit-learn.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def fit(self, X: Any, y: object = None) -> Self:
        """Note the columns of X, and nothing else.

        Raises:
            TypeError: For a schema that is none.
            ValueError: For rows that cannot be encoded.
        """
        if not isinstance(self.schema, Schema):
            raise TypeError("schema must be a Schema, such as Schema.from_json reads from a file")
        self._table(X, reset=True)
        return self

    def transform(self, X: Any) -> Array:
        """Return the encoded rows, (n, d), not clipped.

        Raises:
            ValueError: As `tables.encode` does, with a row's number and without a cell.
        """
        check_is_fitted(self, "n_features_in_")
        return encode(self.schema, self._table(X, reset=False)).whole

    def _table(self, X: Any, reset: bool) -> Any:
        """Return X, a data frame or an array, as a table with the dictionary's columns.

        reset: True notes the columns of X, as scikit-learn does in `fit`; False compares them with those.
        """
        names = [column.name for column in self.schema.columns]
        # scikit-learn's checks of cells are left out: they refuse missing cells and text.
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return cells.from_frame(X[[name for name in X.columns if name in names]])
        rows = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        if rows.shape[1] != len(names):
            raise ValueError(
                f"X must have the dictionary's columns, {len(names)}, got n_features = {rows.shape[1]}"
            )
        return cells.from_frame(pd.DataFrame(rows, columns=names))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the encoded columns: "age", "sex = female"."""
        return np.array(self.schema.features, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags
