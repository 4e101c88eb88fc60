"""Tell which rows of a table belong to one patient, where a column names the patients by an id.

A code stands for an id: the 64 bits of a number, or SipHash of the trimmed text under a key drawn for each
reading, so that nobody can choose texts that collide. Each id is read by itself: 017 is 17 also where another
id is a word.
Else one patient's id could part or join the rows of others, whom the guarantee takes as given. Two of P
ids share a code with a chance below P^2/2^65, 3 in 10^6 for ten million patients, and count as one then.
"""

import secrets
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dppca_core.arrays import Indices
from dppca_core.tables import cells
from dppca_core.tables.dictionary import Schema

_ROUNDED = 2.0**53  # from here on two whole numbers can be one as a float


def check_not_a_measurement(column: str, schema: Schema) -> None:
    """Raise ValueError if the column that names the patients is also among the measurements of the schema."""
    if column in {chosen.name for chosen in schema.columns}:
        raise ValueError(f"Column '{column}' names the patients and cannot count as a measurement too.")


def new_key() -> str:
    """Return a random key for the codes of one reading: 16 characters, as pandas' hash takes them."""
    return secrets.token_hex(8)


def patient_codes(column: Any, name: str, marks: cells.Marks | None, key: str) -> Indices:
    """Return the code of the id in each cell, (n,), which depends on no other cell.

    name: of the column, for errors. key: from `new_key`, the same for all cells that are compared. Raises
    ValueError for a missing id, and for a number so large that two ids may be rounded to one.
    """
    plain = cells.as_numbers_or_text(column, name)
    read = cells.numbers(plain, marks)
    if read.missing.any():
        raise ValueError(f"Column '{name}' names no patient in some rows: fill it in, or leave them out.")
    if (np.abs(read.values) >= _ROUNDED).any():
        raise ValueError(
            f"Column '{name}' names patients by numbers of more than 15 digits, which are rounded here: "
            "write a letter before each."
        )
    codes: Indices = (read.values + 0.0).view(np.int64)  # adding 0.0 turns -0 into 0
    if read.unread.any():
        words = cells.texts(plain.filter(pa.array(read.unread))).to_numpy(zero_copy_only=False)
        codes[read.unread] = pd.util.hash_array(words, hash_key=key, categorize=False).view(np.int64)
    return codes
