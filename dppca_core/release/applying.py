"""Programs that score new rows by a release, for its bundle, and the table that the one in R reads.

Both stand alone beside the bundle's other files. `PYTHON` encodes by this package; `R` needs base R alone,
which has no JSON, and so reads `table`. A test holds the two together.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from dppca_core.tables import Column, Schema, cells
from dppca_core.tables.export import safe_cell

PYTHON = '''\
"""Score new rows by this release: python apply.py new-rows.csv scores.csv [saved-dictionary.json].

Parquet is read as well. The third file, the owner's, has the words that were mapped by hand."""
import json, pathlib, sys
import numpy as np
from dppca_core import tables

release = json.loads(pathlib.Path(__file__).with_name("release.json").read_text(encoding="utf-8"))
published = tables.Schema.from_json(json.dumps(release["public"]["dictionary"]))
schema = tables.Schema.from_json(pathlib.Path(sys.argv[3]).read_bytes()) if sys.argv[3:] else published
if schema.published != published.published:
    sys.exit("The saved dictionary is not that of this release.")
try:
    table = tables.read(pathlib.Path(sys.argv[1]), "new rows", to_score=True)
    # A row with a missing cell and no fill is left out: nan.
    new = tables.encode(schema, table.table, table.marks)
except ValueError as reason:
    sys.exit(f"The new rows cannot be scored: {reason}")
if left := table.n - len(new.rows):
    print(f"{left:,} of {table.n:,} rows lack a cell and have no score.", file=sys.stderr)
if outside := sum(new.owner.outside):
    print(f"{outside:,} cells are outside of their range or none of their categories.", file=sys.stderr)
rows = new.rows / (1 if release["fitted bound"] else schema.bound) - (release["mean"] or 0)
rows = rows / (release["scales"] or 1) / (release["length after scaling"] or 1)
scores = np.full((table.n, len(release["components"])), np.nan)
scores[new.kept] = rows @ np.transpose(release["components"])
if noise := [i for i, each in enumerate(release["noise of components"], 1) if min(each) >= 1]:
    print(f"Components {noise} are mostly noise: do not read scores along them.", file=sys.stderr)
names = ",".join(f"component {i + 1}" for i in range(scores.shape[1]))
np.savetxt(sys.argv[2], scores, "%.17g", ",", header=names, comments="")
'''
R = r"""# Score new rows by this release: Rscript apply.R new-rows.csv scores.csv
# Base R alone. The first line of new-rows.csv has the names; commas or semicolons separate cells.
# A quotation mark within a cell that does not begin with one is a letter of it, which `read.table` denies.
read_csv <- function(path) {
  lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
  if (!all(validUTF8(lines))) stop("The file is not in UTF-8: save it in that encoding.", call. = FALSE)
  lines[1] <- sub("^\ufeff", "", lines[1])
  marks <- gsub('"[^"]*"|[^;,]', "", lines[1])
  separator <- if (2 * nchar(gsub(",", "", marks)) > nchar(marks)) ";" else ","
  text <- paste0(paste(lines[grepl("[^[:space:]]", lines)], collapse = "\n"), "\n")
  cell <- sprintf('("(?:[^"]++|"")*+"|[^%s\n]*+)[%s\n]', separator, separator)
  cells <- regmatches(text, gregexpr(cell, text, perl = TRUE, useBytes = TRUE))[[1]]
  Encoding(cells) <- "UTF-8"
  sizes <- diff(c(0, which(endsWith(cells, "\n"))))
  wrong <- which(sizes != sizes[1])
  if (length(wrong)) stop("Row ", wrong[1] - 1, " has not as many cells as the names.", call. = FALSE)
  cells <- substr(cells, 1, nchar(cells) - 1)
  quoted <- grepl('^".*"$', cells)
  cells[quoted] <- gsub('""', '"', substr(cells, 2, nchar(cells) - 1)[quoted], fixed = TRUE)
  cells <- matrix(cells, ncol = sizes[1], byrow = TRUE)
  list(names = cells[1, ], cells = cells[-1, , drop = FALSE], separator = separator)
}
trimmed <- function(text) gsub("^[\\h\\v]+|[\\h\\v]+$", "", text, perl = TRUE)

# Texts that are a number by these marks as numbers, others as NA.
by_marks <- function(text, decimal, group) {
  text <- gsub("\u2212", "-", text, fixed = TRUE)
  if (group == " ") text <- gsub("[\u00a0\u2009\u202f]", " ", text)
  if (group == "'") text <- gsub("\u2019", "'", text, fixed = TRUE)
  whole <- if (group == "") "[0-9]+" else sprintf("([0-9]+|[1-9][0-9]{0,2}([%s][0-9]{3})+)", group)
  form <- sprintf("^[+-]?(%s([%s][0-9]*)?|[%s][0-9]+)([eE][+-]?[0-9]+)?$", whole, decimal, decimal)
  # What a program writes with an exponent has one reading, whatever the marks.
  machine <- grepl("^[+-]?[0-9]+([.][0-9]+)?[eE][+-]?[0-9]+$", text)
  plain <- if (group == "") text else gsub(group, "", text, fixed = TRUE)
  plain <- ifelse(machine, text, sub(decimal, ".", plain, fixed = TRUE))
  as.numeric(ifelse(machine | grepl(form, text), plain, NA))
}

missing_words <- c("", "na", "n/a", "<na>", "nan", "nat", "null", "?", ".", "#n/a", "#na", "#div/0!",
                   "#value!", "#num!", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
# Cells as numbers: NaN where one is missing, NA where it is a word.
as_numbers <- function(cells, decimal, group, separator) {
  values <- by_marks(cells, if (decimal == "") "." else decimal, group)
  if (decimal == "" && separator == ";") { # only what has one reading: 14,5 and 0.012, but not 1.012
    points <- by_marks(cells, ".", ",")
    commas <- by_marks(cells, ",", ".")
    unclear <- !is.na(points) & !is.na(commas) & points != commas
    values <- ifelse(unclear, NA, ifelse(is.na(commas), points, commas))
  }
  small <- tolower(cells)
  values[small %in% c("true", "false")] <- (small == "true")[small %in% c("true", "false")]
  values[small %in% missing_words | is.infinite(values)] <- NaN
  values
}

given <- commandArgs(trailingOnly = TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
features <- read_csv(file.path(here, "apply.csv"))
features <- structure(as.data.frame(features$cells), names = features$names)
for (name in c("column", "category")) { # in which a % stands for a letter that a spreadsheet could run
  features[[name]] <- vapply(features[[name]], utils::URLdecode, "", USE.NAMES = FALSE)
  Encoding(features[[name]]) <- "UTF-8"
}
texts <- names(features) %in% c("column", "category", "decimal", "group")
features[!texts] <- lapply(features[!texts], as.numeric)
new <- read_csv(given[1])
rows <- beyond <- matrix(0, nrow(new$cells), nrow(features))
for (name in unique(features$column)) {
  mine <- which(features$column == name)
  first <- features[mine[1], ]
  place <- which(trimmed(new$names) == name)
  if (length(place) != 1) stop("The table must have one column '", name, "'.", call. = FALSE)
  cells <- trimmed(new$cells[, place])
  values <- as_numbers(cells, first$decimal, first$group, new$separator)
  missing <- is.nan(values)
  word <- is.na(values) & !missing
  if (first$category == "") {
    if (any(word)) stop("Column '", name, "' holds no number in row ", which(word)[1], ".", call. = FALSE)
    beyond[, mine] <- !missing & (values < first$low | values > first$high)
    rows[, mine] <- pmin(pmax(ifelse(missing, first$fill, values), first$low), first$high)
  } else { # numbers compare as numbers, so that 1 and 1.0 are one answer, and words as they are written
    answer <- ifelse(word, match(cells, features$category[mine]), match(values, features$value[mine]))
    for (i in seq_along(mine)) rows[, mine[i]] <- ifelse(missing, features$fill[mine[i]], answer %in% i)
    beyond[, mine[1]] <- !missing & is.na(answer) & length(mine) > 1
  }
}
outside <- sum(beyond[!is.na(rowSums(rows)), ]) # a row with a missing cell and no fill has no score
words <- "cells are outside of their range or none of their categories."
if (outside > 0) message(format(outside, big.mark = ","), " ", words)
noise <- which(vapply(features[startsWith(names(features), "noise ")], min, 0) >= 1)
words <- "are mostly noise: do not read scores along them."
if (length(noise)) message("Components [", paste(noise, collapse = ", "), "] ", words)
encoded <- (t(rows) - features$origin) / features$half
scores <- t((encoded - features$minus) / features$over) %*%
  as.matrix(features[startsWith(names(features), "component ")])
lines <- apply(scores, 1, function(row) paste(sprintf("%.17g", row), collapse = ","))
writeLines(c(paste(colnames(scores), collapse = ","), lines), given[2])
"""


def table(document: Mapping[str, Any], schema: Schema) -> pd.DataFrame:
    """Return what `R` reads of a release: how its columns are encoded, and its components, a line a feature.

    document: `private_release.Released.document`. schema: its dictionary. A number x of a column becomes
    (x - origin)/half, where it is an answer x = 1 for its category and 0 for the others. A score is the
    product of a component with (encoded - minus)/over. All of it is public.
    """
    lines = [line for column in schema.columns for line in _lines(column)]
    # A row is divided by the bound, where none was fitted; then the mean is subtracted, and it is divided by
    # scales and length.
    mean, scales = document["mean"] or 0, document["scales"] or 1
    bound = 1.0 if document["fitted bound"] else schema.bound
    public = {
        "minus": np.multiply(mean, bound),
        "over": np.multiply(scales, bound * (document["length after scaling"] or 1)),
    }
    for name, key in (("component", "components"), ("noise", "noise of components")):
        public |= {f"{name} {i}": values for i, values in enumerate(document[key], 1)}
    return pd.DataFrame(lines).assign(**public)


def _lines(column: Column) -> list[dict[str, Any]]:
    """Return how a column is encoded, a line for each of its features; "" where nothing is stated.

    value: the number that a category is, if it is one. fill: what stands for a missing cell.
    """
    marks = {"decimal": column.decimal or "", "group": column.group}
    if column.kind == "number":
        return [
            {
                "column": _plain(column.name),
                "category": "",
                "value": "",
                "fill": "" if column.fill is None else column.fill,
                "low": column.low,
                "high": column.high,
                "origin": column.origin,
                "half": column.half,
                **marks,
            }
        ]
    values = cells.word_numbers(column.categories).values
    return [
        {
            "column": _plain(column.name),
            "category": _plain(word),
            "value": "" if np.isnan(value) else value,
            "fill": "" if column.fill is None else float(word == column.fill),
            "low": 0.0,
            "high": 1.0,
            "origin": centre,
            "half": 1.0,
            **marks,
        }
        for word, value, centre in zip(column.categories, values, column.centres, strict=True)
    ]


def _plain(text: str) -> str:
    """Return a text as it is where no spreadsheet would run it, or else as in a web address."""
    if "%" not in text and safe_cell(text) == text:
        return text
    return quote(text, safe="").replace("-", "%2D")
