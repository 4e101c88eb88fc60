"""Form the table of facts: a row for each method at the current setting."""

from inspect import signature

import numpy as np
import pandas as pd

from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.methods import METHODS
from pages.explore.methods.model.measure import ComparisonMeasure, SweepRuns
from pages.shared import text
from pages.shared.charts import in_unit, unit
from pages.shared.charts.explorer_text import other_epsilon

TRUST_NEEDS = {
    "central": "a curator who sees all second moments",
    "untrusted server": "noise added at each hospital, any server",
    "secure aggregation": "sums of which nobody sees a part",
    "local": "noise added at each patient",
    "none": "all second moments in the open",
}
NEEDS = {  # by a parameter that a method uses: what it means that the method needs
    "s_hat": "how many features to keep",
    "iterations": "several rounds",
    "batches": "patients in random groups, each seen once",
}
_NEEDS_ALONE = {"local_pca": "one hospital's own patients"}


def needs(name: str) -> str:
    """Return what a method needs: trust in somebody, and choices or rounds that its parameters stand for."""
    method = METHODS[name]
    # What it uses of the experiment's settings, and parameters of its own.
    used = {*method.uses, *(signature(method.fit).parameters if method.private else ())}
    options = [words for use, words in NEEDS.items() if use in used]
    return "; ".join([_NEEDS_ALONE.get(name, TRUST_NEEDS[method.trust]), *options])


def facts(runs: SweepRuns) -> pd.DataFrame:
    """Return one row for each method at the current setting; numbers stay numbers, so that columns sort."""
    measure, sweep, table, methods, *_ = runs
    experiment, settings, missing = measure.results.experiment, measure.settings, np.full(3, np.nan)
    columns = [ComparisonMeasure(measure.results, settings, panel) for panel in ("error", "time", "bytes")]
    errors, times, sizes = map(runs.here, columns)
    here, lines, error = sweep.runs_here(table), [], columns[0]  # the measure of errors
    for name in methods:
        method = METHODS[name]
        low, middle, high = errors.get(name, missing)
        row = {
            "method": method.title,
            "share captured" if error.energy else error.quantity: middle,
            "10 %": low,
            "90 %": high,
            **_theory(measure, here[here["method"] == name], name),
            "time (ms)": times.get(name, missing)[1],  # the median, as in the next
            "sent (kB)": sizes.get(name, missing)[1] / 1e3,
            "whom it trusts": text.TRUST_TITLES[method.trust].lower(),
            "guarantee": text.guarantee(method.guarantee_at(experiment.k)),
            "what it needs": needs(name),
        }
        # The epsilon that its noise truly gives, where that is another than the one set.
        true = other_epsilon(experiment, name, settings["epsilon"]) or np.nan
        lines.append(row | {"true ε": true, "source": method.reference})
    return pd.DataFrame(lines)


def _theory(measure: ComparisonMeasure, rows: pd.DataFrame, name: str) -> dict[str, float | str]:
    """Return the cells of `facts` on a closed form and on how often all true features are found, by column.

    The chance is predicted for two stages alone; the share is of runs, on a synthetic population. rows: the
    method's runs at the current setting.
    """
    bound = closed_form(measure.results, name, measure.settings["epsilon"])
    cells: dict[str, float | str] = {}
    if measure.settings["metric"] != "energy":
        applies = bound is not None and bound.applies
        shown, k = unit(measure.settings), measure.results.experiment.k
        cells["closed form"] = float(in_unit(shown, bound.final, k)) if applies else np.nan
    if "support_found" in rows:
        complete = rows["support_found"].dropna() == 1.0
        cells["all true features found"] = complete.mean() if len(complete) else np.nan
        chance = None if bound is None else bound.quantities.get("support_probability")
        cells["predicted"] = "–" if chance is None else text.chance(chance)
    return cells
