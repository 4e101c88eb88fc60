"""The table with the error of every iterate, which a sweep's table keeps as a single text in each row."""

import pandas as pd

from dppca_core.experiments.sweeps.recipe import BY_ROUND, METRICS

_COLUMN = METRICS["rounds"]


def by_round(table: pd.DataFrame) -> pd.DataFrame:
    """Return a sweep's table with a row for each round of each run in place of one for the run.

    A sweep writes a run's errors as one text, separated by spaces. Methods without iterations have a single
    row, of their output, as round 0; failed cells have none.

    Args:
        table: A sweep's table whose recipe has "rounds" among its metrics.

    Returns:
        The table without that text, and with `round` (0 is the start) and its `sin_theta`; where the recipe
        has "angle rounds" as well, also with `largest_angle` in degrees.

    Raises:
        ValueError: For a table whose recipe did not ask for rounds.
    """
    if _COLUMN not in table:
        raise ValueError('table must be of a recipe with "rounds" among its metrics')
    # Failed cells have an empty text. The errors by round get the name of the result's error, `sin_theta`.
    kept = table[table[_COLUMN] != ""].drop(columns="sin_theta", errors="ignore")
    texts = {column: METRICS[name] for name, column in BY_ROUND.items() if METRICS[name] in kept}
    lists = {column: kept[text].str.split(" ") for column, text in texts.items()}
    long = kept.drop(columns=[*texts.values()]).assign(**lists).explode([*texts])
    long = long.astype(dict.fromkeys(texts, "float64"))
    # Rows of one run still have that run's index: count within it.
    long["round"] = long.groupby(level=0).cumcount()
    return long.reset_index(drop=True)
