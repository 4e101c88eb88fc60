"""Checks of claims beyond the papers: how many fewer patients suffice for a median error of TARGET.

A method is named by the label of its rows in a sweep's table over n. A check takes a figure's curves and the
table, and returns a `Finding`; those here use the table alone, since curves have means and no medians.
"""

import math
from collections.abc import Sequence

import pandas as pd

from dppca_core.experiments.papers import results
from dppca_core.experiments.papers.figure import NOTHING, Check, Finding
from dppca_core.experiments.sweeps.patients_needed import patients_needed

TARGET = 0.2
_CONFIDENCE = 0.95
_DENSE_LABEL = "DPS-PCA, noise of its proof, dense start"
_EXACT = "DPS-PCA exact"
_ONE_RELEASE_LABEL = "one release + sparse step, exact"
_NINE_TENTHS = 0.9
_PUBLIC_BOUND_RESULT = "needed-patients-public"


def fewer(table: pd.DataFrame, many: str, few: str) -> tuple[float, float, float]:
    """Return how many times as many patients `many` needs as `few`, for a median error of TARGET.

    With it come the ends of its interval: quotients of the 95 % intervals of both, which together err in at
    most 10 % of tables (Bonferroni). Where `many` never reaches the target for good, the ratio and the upper
    end are infinite, and the lower end is of the most patients that were measured.
    """
    needed = patients_needed(table, TARGET, level=_CONFIDENCE).set_index("label").to_dict("index")
    of_many, of_few = needed[many], needed[few]
    return (
        of_many["patients"] / of_few["patients"],
        min(of_many["low"], float(table["n"].max())) / of_few["high"],
        of_many["high"] / of_few["low"],
    )


def needs_fewer(name: str, many: str, few: str) -> Check:
    """Return the check that `many` needs more patients than `few`: the interval of `fewer` lies above 1."""

    def check(_: pd.DataFrame, table: pd.DataFrame) -> Finding:
        if not {many, few} <= set(table["label"]):
            return Finding(name, False, NOTHING)
        ratio, low, high = fewer(table, many, few)
        times = ""  # stays so where the ratio is infinite and its lower end says nothing
        if math.isfinite(ratio):
            times = f"; {ratio:.3g} times as many, from {low:.3g} to {high:.3g}"
        elif low >= 1:
            times = f"; at least {math.floor(low)} times as many to stay there"
        counts = f"{_needed(table, many)} and {_needed(table, few)}"
        return Finding(name, bool(low > 1), f"patients for a median error of {TARGET:g}: {counts}{times}")

    return check


def _needed(table: pd.DataFrame, label: str) -> str:
    runs = table[table["label"] == label]
    needed = patients_needed(runs, TARGET).iloc[0]
    if math.isfinite(needed["patients"]):
        return f"{label} {needed['patients']:,.0f}"
    medians = runs.groupby("n")["sin_theta"].median()
    reached = medians[medians <= TARGET]  # by fewer patients, though not by the most
    numbers = ""
    if len(reached):
        numbers = f" ({reached.iloc[-1]:.3g} with {reached.index[-1]:,.0f}, {medians.iloc[-1]:.3g} with all)"
    return f"{label}, {needed['reason']}, the most that were measured{numbers}"


def tenth_of_one_release(name: str, few: str, others: Sequence[str]) -> Check:
    """Return the check that `few` needs less than a tenth of the patients of one release with a sparse step.

    That release is of rows divided by a public bound, in the stored result _PUBLIC_BOUND_RESULT. The check
    holds where the lower end of its 95 % interval is more than ten times the upper end of that of `few`. The
    sentence also names the patients that `others` need, and the other methods of the stored result.
    """

    def check(_: pd.DataFrame, table: pd.DataFrame) -> Finding:
        if not {few, *others} <= set(table["label"]):
            return Finding(name, False, NOTHING)
        public = results.stored(_PUBLIC_BOUND_RESULT).table
        least_of_release, most_of_few = (
            patients_needed(runs[runs["label"] == label], TARGET, level=_CONFIDENCE).iloc[0][end]
            for runs, label, end in ((public, _ONE_RELEASE_LABEL, "low"), (table, few, "high"))
        )
        counts = ", ".join(_needed(table, label) for label in (few, *others))
        above = ", ".join(_needed(public, label) for label in (_DENSE_LABEL, _EXACT, _ONE_RELEASE_LABEL))
        numbers = f"patients for a median error of {TARGET:g}: {counts}; by a public bound {above}"
        return Finding(name, bool(least_of_release > 10 * most_of_few), numbers)

    return check


def nine_of_ten(name: str, label: str, patients: int) -> Check:
    """Return the check that at least nine of ten runs with so many patients err by at most TARGET."""

    def check(_: pd.DataFrame, table: pd.DataFrame) -> Finding:
        runs = table[(table["label"] == label) & (table["n"] == patients)]
        if runs.empty:
            return Finding(name, False, NOTHING)
        share = float((runs["sin_theta"] <= TARGET).mean())
        numbers = f"{label}: {share:.0%} of {len(runs)} runs with {patients:,} patients"
        return Finding(name, share >= _NINE_TENTHS, numbers)

    return check
