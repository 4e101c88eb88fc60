"""How large a table may be. Beyond, a file is refused with one sentence, before it is read whole."""

MOST_BYTES = 100 * 2**20  # of a file held in memory; `reduce_file` reads larger ones in pieces
MOST_COLUMNS = 20_100  # of a file: as many features, and some columns that are none
MOST_WIDE_BYTES = 400 * 2**20  # of a file with more columns than sums in pieces can take
MOST_ROWS = 2_000_000
MOST_CELLS = 50_000_000  # 400 MB as numbers
MOST_ROWS_IN_PIECES = 2**27  # of a file read in pieces: sums of so many rows keep 13 bits of each entry
MOST_BATCH_CELLS = 2**21  # of one batch of a Parquet file, or 256 rows of a wider one
FEWEST_ROWS = 2
MOST_FEATURES = 20_000  # after one-hot
MOST_COLUMNS_IN_PIECES = 2_000  # features of a table read in pieces: a d x d matrix of 32 MB
MOST_CATEGORIES = 200  # of one column
MOST_HOSPITALS = 200
MOST_BATCH_TEXT_BYTES = 2**28  # bytes of all texts in one batch of rows, unpacked
MOST_COLUMN_TEXT_BYTES = 2**30  # bytes of one text column in one row group of a Parquet file, unpacked
MOST_TABLE_TEXT_BYTES = 160 * 2**20  # bytes of all texts of a table in memory, as a CSV of UTF-16 can have
MOST_NAME = 100  # letters in a column's name: a longer one is a quotation mark that was not closed
HEADER_BYTES = 2**20  # within which the first line ends


def most_bytes(columns: int) -> int:
    """Return how many bytes a file with so many columns may have to be read whole into memory.

    A wide file may have more: it cannot be read in pieces instead, as that adds up a d x d matrix, which
    would be too large.
    """
    return MOST_WIDE_BYTES if columns > MOST_COLUMNS_IN_PIECES else MOST_BYTES
