"""Read off a sweep's table what a panel shows of each method.

A sweep runs all methods that are compared at several values of one setting, several times each; its table has
a row for each run. A panel is what the page shows of it: "error", "time" or "bytes" against what is swept,
"needed" (patients for an error that is wanted) or "frontier" (error against epsilon). The measure of a panel
is the quantity on its vertical axis.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.sweeps.recipe import METRICS, Value
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import TRUSTS
from pages.explore.methods.model.sweeps import SweepExperiment
from pages.shared import text
from pages.shared.charts import metric_axis
from pages.shared.charts.explorer_text import other_epsilon
from pages.shared.charts.traces import ZERO
from pages.shared.settings.catalogue import Settings

Spreads = dict[str, tuple[list[float], Array]]  # by method: swept values, and 10, 50 and 90 % at each


class Cost(NamedTuple):
    """Hold what a panel shows that is no error; `factor` leads from the table's column to the unit shown."""

    column: str
    factor: float
    title: str  # of the axis
    who: str
    verb: str


COSTS = {
    "time": Cost("seconds", 1e3, "time per fit (ms)", who="a fit", verb="takes"),
    "bytes": Cost(
        "bytes_sent_per_hospital", 1.0, "sent by a hospital (bytes)", who="a hospital", verb="sends"
    ),
}
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


class ComparisonMeasure:
    """Read the quantity of the vertical axis off a sweep's table, in the unit on screen (`metric`)."""

    def __init__(self, results: Results, settings: Settings, panel: str) -> None:
        self.results, self.settings, self.panel = results, settings, panel
        self.errs = panel not in COSTS
        self.metric = metric_axis.unit(settings) if panel == "error" else metric_axis.error_unit(settings)
        self.energy, self.more_is_better = self.metric == "energy", metric_axis.more_is_better(self.metric)
        self.log = settings["scale"] == "log" and not (self.errs and self.metric in metric_axis.SPANS)
        self.factor = 1.0
        if panel in COSTS:
            cost = COSTS[panel]
            self.column, self.factor, self.title = cost.column, cost.factor, cost.title
            self.quantity = f"{cost.who} {cost.verb}"
        elif self.energy:
            self.column, self.title = METRICS["energy"], text.METRIC_TITLES["energy"]
            self.quantity = "captured energy"
        else:
            self.column = METRICS["angle" if self.metric == "degrees" else "sin"]
            self.title = metric_axis.error_title(settings)
            self.quantity = metric_axis.QUANTITIES.get(self.metric, "error")

    def values(self, rows: pd.DataFrame) -> Array:
        """Return the value of each row, in the unit on screen; NaN for a run that failed."""
        values = rows[self.column].to_numpy(dtype=float, na_value=np.nan) * self.factor
        if self.errs and self.metric not in ("energy", "degrees"):
            # A table that sweeps k has it in a column.
            k = rows["k"].to_numpy(dtype=float) if "k" in rows else self.results.experiment.k
            values = subspace_metrics.in_unit(self.metric, values, k)
        measured: Array = np.where(np.isfinite(values), values, np.nan)
        return measured

    def text(self, value: float) -> str:
        if not self.errs:
            return text.duration(value / 1e3) if self.panel == "time" else text.size(value)  # from ms
        return f"{value:.3f}" if self.energy else metric_axis.value_text(self.metric, value)

    def wanted(self, target: float) -> str:
        if self.metric != "share":
            return f"error of {text.number(target)}"
        share = float(subspace_metrics.in_unit("share", target, self.results.experiment.k))
        return f"{metric_axis.value_text('share', share)} of the pattern"

    def beats(self, value: float, guess: float) -> bool:
        """Return whether a value is a tenth better than a random guess: less may be luck."""
        if self.energy:
            return value > 1.1 * guess
        return metric_axis.as_error(self.metric, value) < 0.9 * metric_axis.as_error(self.metric, guess)

    def guess(self, name: str, value: Value) -> float:
        """Return the value of a random subspace where the swept setting `name` has this value."""
        experiment = self.results.experiment
        sizes: dict[str, Any] = {name: int(value)} if name in ("d", "k", "s") else {}
        d, k = sizes.get("d", experiment.d), sizes.get("k", experiment.k)
        if not self.energy:
            return metric_axis.random_guess(self.settings, d, k)
        # Captured energy depends on the eigenvalues, which a spiked population has at every size.
        eigenvalues = self.results.truth.eigenvalues
        if sizes and isinstance(experiment.population, Synthetic):
            eigenvalues = replace(experiment.population, **sizes).eigenvalues
        return subspace_metrics.random_energy(eigenvalues, k)

    def span(self, drawn: Sequence[float], guesses: Sequence[float]) -> metric_axis.Span:
        """Return the range of the vertical axis for values and random guesses, and its lower edge."""
        positive = [value for value in drawn if value > (ZERO if self.errs else 0)]
        # A logarithmic axis of errors begins at 0.01 or below, one of time or bytes at the least value.
        metric, begins = (self.metric, 1e-2) if self.errs else ("", math.inf)
        most = max([*positive, *guesses], default=1.0)
        return metric_axis.span_of(metric, self.log, min(positive, default=1.0), most, begins)


def spreads(table: pd.DataFrame, measure: ComparisonMeasure, methods: Sequence[str], name: str) -> Spreads:
    """Return for each method the values of a column that have finished runs, and 10, 50 and 90 % there."""
    values, swept = measure.values(table), table[name].to_numpy(dtype=float)
    made_by, has_value = table["method"].to_numpy(), ~np.isnan(values)
    result = {}
    for method in methods:
        finished = has_value & (made_by == method)
        reached = np.unique(swept[finished]).tolist()
        bands = [quantiles(values[finished & (swept == value)]) for value in reached]
        result[method] = reached, np.array(bands).reshape(-1, 3).T
    return result


def at_value(spreads: Spreads, value: Value) -> dict[str, Array]:
    return {name: spread[:, x.index(value)] for name, (x, spread) in spreads.items() if value in x}


class SweepRuns(NamedTuple):
    """Hold what a sweep has measured so far; unit: runs of published methods on rows of length 1."""

    measure: ComparisonMeasure
    sweep: SweepExperiment
    table: pd.DataFrame
    methods: list[str]
    progress: str
    unit: pd.DataFrame

    def here(self, measure: ComparisonMeasure) -> dict[str, Array]:
        return at_value(spreads(self.table, measure, self.methods, self.sweep.over), self.sweep.here)


def order(methods: Sequence[str]) -> list[str]:
    return sorted(methods, key=lambda name: TRUSTS.index(METHODS[name].trust))


def needs(name: str) -> str:
    method = METHODS[name]
    # What it uses of the experiment's settings, and parameters of its own.
    used = {*method.uses, *(signature(method.fit).parameters if method.private else ())}
    options = [words for use, words in NEEDS.items() if use in used]
    return "; ".join([_NEEDS_ALONE.get(name, TRUST_NEEDS[method.trust]), *options])


def facts(runs: SweepRuns) -> pd.DataFrame:
    """Return one row for each method at the current setting; numbers stay numbers, so that columns sort."""
    measure, sweep = runs.measure, runs.sweep
    experiment, settings, missing = measure.results.experiment, measure.settings, np.full(3, np.nan)
    columns = [ComparisonMeasure(measure.results, settings, panel) for panel in ("error", "time", "bytes")]
    errors, times, sizes = map(runs.here, columns)
    here, lines, error = sweep.runs_here(runs.table), [], columns[0]  # the measure of errors
    for name in runs.methods:
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
    bound = closed_form(measure.results, name, measure.settings["epsilon"])
    cells: dict[str, float | str] = {}
    if measure.settings["metric"] != "energy":
        shown, k = metric_axis.unit(measure.settings), measure.results.experiment.k
        final = bound.final if bound is not None and bound.applies else np.nan
        cells["closed form"] = float(subspace_metrics.in_unit(shown, final, k))
    if "support_found" in rows:
        complete = rows["support_found"].dropna() == 1.0
        cells["all true features found"] = complete.mean() if len(complete) else np.nan
        chance = None if bound is None else bound.quantities.get("support_probability")
        cells["predicted"] = "–" if chance is None else text.chance(chance)
    return cells
