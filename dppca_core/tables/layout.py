"""Say what the encoded columns of a dictionary are, for a release with a fitted bound."""

import numpy as np

from dppca_core.mechanisms.paid_lengths import Layout
from dppca_core.tables.dictionary import Schema


def layout_of(schema: Schema) -> Layout:
    """Return which encoded columns are numbers, which are of one column of categories, and where they lie."""
    columns = schema.columns
    middle = [
        (column.middle - column.origin) / column.half
        if column.kind == "number"
        else 1 / max(len(column.categories), 2) - np.asarray(column.centres)
        for column in columns
    ]
    # A cell that misses every category is none of them where the dictionary fills it with "".
    answered = [column.fill != "" for column in columns]
    sizes = [len(column.categories) for column in columns]
    return Layout.of_columns(sizes, answered, np.hstack(middle), complete=not schema.leaves_rows_out)
