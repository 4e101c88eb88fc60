"""The number of patients that a method needs for an error, interpolated in a sweep over n."""

import numpy as np
import pandas as pd

from dppca_core import checks
from dppca_core.arrays import Array

_NUMBERS = ("patients", "low", "high")
_COLUMNS = ["label", "method", *_NUMBERS, "state", "reason"]
_RESAMPLES = 1000


def patients_needed(table: pd.DataFrame, target: float, *, level: float = 0.8, seed: int = 0) -> pd.DataFrame:
    """Return the n from which on the median of sin_theta over repeats is at most the target, for each label.

    Between the grid's last n with a median above the target, n_-, and the next, n_+, the median is taken as
    a power of n: log n = log n_- + (log n_+ - log n_-) log(e_-/target) / log(e_-/e_+), exact for e = a/n^p.
    So a curve that falls, rises and falls again counts from its last fall. A median of 0 has no logarithm,
    and n_+ is returned. Runs that failed are left out.

    Args:
        table: The table of a sweep over n alone, in any order, complete or not.
        target: The error to reach.
        level: The coverage of the interval (0.8: from 10 to 90 %). The interval lies between quantiles of the
            same estimate from bootstrap samples of repeats, each kept whole as it may share patients along n.
            For a power law under log-normal errors it covers the true n in 0.8 of tables from 10 repeats on,
            0.7 at 5.
        seed: The seed of the resampling.

    Returns:
        A table with a row per label and the columns label, method, patients, low, high, state and reason.
        state is "reached"; "at most", the smallest n already reaches the target and is returned; "never",
        the largest n still misses it and patients is infinite (`high` alone may be so too, where some
        resamples never reach it); or "unmeasured", NaN. reason is the same in words, empty where reached.

    Raises:
        ValueError: For a table with two rows of one (label, n, repeat); for a
            target that is not positive, or a level outside (0, 1).
    """
    checks.positive(target=target)
    checks.inside_unit_interval(level=level)
    checks.whole(0, seed=seed)
    if table.duplicated(["label", "n", "repeat"]).any():
        raise ValueError("table must be swept over n alone, it has several rows of one label, n and repeat")
    rows = []
    for label, runs in table.groupby("label", sort=False):
        # Seeded by the label too, so that another method in the table changes no interval of this one.
        rng = np.random.default_rng([seed, *str(label).encode()])
        answer = _needed(runs, target, level, rng)
        rows.append({"label": label, "method": runs["method"].iloc[0], **answer})
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(_NUMBERS, float))


def _needed(runs: pd.DataFrame, target: float, level: float, rng: np.random.Generator) -> dict[str, object]:
    # A row for each n and a column for each repeat; those in which no run has finished are left out.
    wide = runs.pivot(index="n", columns="repeat", values="sin_theta").sort_index()
    wide = wide.dropna(how="all").dropna(axis=1, how="all")
    if wide.empty:
        return dict.fromkeys(_NUMBERS, np.nan) | {"state": "unmeasured", "reason": "no run has finished"}
    patients, errors = wide.index.to_numpy(dtype=float), wide.to_numpy(dtype=float)
    needed = float(last_fall(patients, _medians(errors)[None], target)[0])
    chosen = rng.integers(errors.shape[1], size=(_RESAMPLES, errors.shape[1]))
    resampled = last_fall(patients, _medians(errors[:, chosen]).T, target)
    tails = [(1 - level) / 2, (1 + level) / 2]
    # Quantiles are not interpolated, since resamples that never reach the target are infinite.
    low, high = np.quantile(resampled, tails, method="inverted_cdf")
    smallest, largest = patients[0], patients[-1]
    state, reason = "reached", ""
    if needed == np.inf:
        before = "reached and lost again" if (_medians(errors) <= target).any() else "not reached"
        state, reason = "never", f"{before} by {largest:,.0f} patients"
    elif needed == smallest:
        state, reason = "at most", f"already reached by {smallest:,.0f} patients, the fewest measured"
    return {"patients": needed, "low": float(low), "high": float(high), "state": state, "reason": reason}


def _medians(errors: Array) -> Array:
    """Return np.nanmedian over the last axis, NaN for none, several times as fast on many resamples."""
    ordered = np.sort(errors, axis=-1)  # NaN last
    count = np.count_nonzero(~np.isnan(errors), axis=-1)[..., None]
    # The two in the middle, which are the same one for an odd count.
    positions = (np.maximum(count - 1, 0) // 2, count // 2)
    middle = [np.take_along_axis(ordered, position, -1) for position in positions]
    return np.where(count > 0, (middle[0] + middle[1]) / 2, np.nan)[..., 0]


def last_fall(patients: Array, medians: Array, target: float) -> Array:
    """Return the n from which on each row of medians stays at or below the target; infinity where none does.

    Between two n a median is taken as a power of n, as the formula of `patients_needed` says. `patients` are
    the measured n, ascending, (m,); `medians` a curve in each row, (curves, m), NaN where none was measured.
    """
    crossings = np.empty(len(medians))
    for i, row in enumerate(medians):
        measured = ~np.isnan(row)
        n, error = patients[measured], row[measured]
        above = np.flatnonzero(error > target)
        if not len(above):
            crossings[i] = n[0]
        elif above[-1] == len(n) - 1:
            crossings[i] = np.inf
        else:
            j = above[-1]  # the last n that misses the target
            # The crossing's share of the way to the next n, in logarithms. Towards a median of 0, which has
            # no logarithm, it is the whole way.
            share = np.log(error[j] / target) / np.log(error[j] / error[j + 1]) if error[j + 1] > 0 else 1.0
            crossings[i] = n[j] * (n[j + 1] / n[j]) ** share
    return crossings
