"""A person's own table: from a file to rows of numbers, by public constants only, and never onto a disk.

raw = tables.read(data, "ours.csv")                       # private; raw.key finds its account
schema = tables.Schema((tables.Column("age", "number", 0, 120, fill=60), ...))     # public
encoded = tables.encode(schema, raw.table, raw.marks)    # .rows (n, d); .owner: not private
groups = tables.at_random(len(encoded.rows), hospitals=5, seed=0)
cohort = Cohort.from_rows([encoded.rows[group] for group in groups], schema.bound)

Where patients have several rows, `tables.encode` has `prepare`, whose `parts` a release takes.
"""

from dppca_core.tables.content import content_key
from dppca_core.tables.dictionary import Column, Schema
from dppca_core.tables.encode import OwnerCounts, encode
from dppca_core.tables.export import safe_cell, safe_csv
from dppca_core.tables.patients import at_random, by_column
from dppca_core.tables.read import QuestionError, Raw, from_frame, read
from dppca_core.tables.several import JoinedTable, join

__all__ = [
    "Column",
    "JoinedTable",
    "OwnerCounts",
    "QuestionError",
    "Raw",
    "Schema",
    "at_random",
    "by_column",
    "content_key",
    "encode",
    "from_frame",
    "join",
    "read",
    "safe_cell",
    "safe_csv",
]
