"""How large a table may be. Beyond, a file is refused with one sentence, before it is read whole."""

MOST_BYTES = 200 * 2**20  # of a file, unpacked
MOST_COLUMNS = 20_100  # of a file: as many features, and some columns that are none
MOST_ROWS = 2_000_000
MOST_CELLS = 50_000_000  # 400 MB as numbers
MOST_BATCH_CELLS = 2**21  # of one batch of a Parquet file, or 256 rows of a wider one
FEWEST_ROWS = 2
MOST_FEATURES = 20_000  # after one-hot
MOST_MATRIX_FEATURES = 2_000  # of which a d x d matrix is made: 32 MB
MOST_CATEGORIES = 200  # of one column
MOST_HOSPITALS = 200
MOST_NAME = 100  # letters in a column's name: a longer one is a quotation mark that was not closed
HEADER_BYTES = 2**20  # within which the first line ends
