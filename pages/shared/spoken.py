"""A chart's main finding, for those who do not see it, read off the chart as it is drawn. No Streamlit here.

Charts whose page says the finding above them are given that sentence; these are the others.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dppca_core import tradeoff
from dppca_core.experiments.alliances import Alliance
from dppca_core.experiments.joining import Measured
from dppca_core.experiments.live import Results
from dppca_core.experiments.recipe import Value
from dppca_core.experiments.regime_map import RegimeMap
from dppca_core.methods import METHODS
from dppca_core.regimes import REGIONS
from dppca_core.types import Array, Budget
from pages.shared import comparison_words, join_words, privacy_cost_words, site_view, site_words, text
from pages.shared.charts import Trace
from pages.shared.choices import Settings
from pages.shared.comparison_charts import Measure
from pages.shared.joins import Row, Scale
from pages.shared.page_choices import KIND_TITLES
from pages.shared.privacy_view import Accounted, Attack
from pages.shared.privacy_words import share
from pages.shared.site_view import listed

Figure = Mapping[str, Any]
_HEAVIEST = 5  # rows of a heat map that are named
_NAMED = 3  # of each released direction, and arrows
MEASURING = "Measuring …"
_MARKUP = re.compile(r"<[^>]+>")


def plainly(said: str) -> str:
    """A sentence of the page without its Markdown."""
    return said.replace("**", "").replace("*", "")


def _values(trace: Trace, name: str = "y") -> Array:
    return np.array([math.nan if value is None else value for value in trace[name]], dtype=float)


def _heavy(trace: Trace, most: int) -> list[str]:
    """Names of a heat map's heaviest rows, by their norm; those without any weight are none of them."""
    weight = np.linalg.norm(np.array(trace["z"], dtype=float), axis=1)
    order = np.argsort(-weight, kind="stable")[: min(most, np.count_nonzero(weight))]
    return [str(trace["y"][place]) for place in order]


def loadings(figure: Figure) -> str:
    """Which rows weigh most in truth, and how many of them weigh most in what was found."""
    true, found = figure["data"]
    wanted = _heavy(true, _HEAVIEST)
    got = _heavy(found, len(wanted))
    right = len(set(wanted) & set(got))
    return (
        f"Heat map of the {text.count(len(true['y']), 'heaviest row', 'heaviest rows')}, true beside found. "
        f"Heaviest in truth: {listed(wanted)}. Heaviest found: {listed(got)}. {right} of "
        f"{len(wanted)} agree."
    )


def weights(figure: Figure, plain: bool) -> str:
    """The heaviest columns of every released direction, with their signs."""
    trace = figure["data"][0]
    names, z = figure["layout"]["yaxis"]["ticktext"], np.array(trace["z"], dtype=float)
    what = "Direction" if plain else "Component"
    parts = []
    for j, label in enumerate(trace["x"]):
        order = np.argsort(-np.abs(z[:, j]), kind="stable")[:_NAMED]
        each = [f"{html.unescape(names[i])} {text.short(z[i, j])}" for i in order]
        parts.append(f"{what} {label}: mostly {listed(each)}.")
    return f"Heat map of what was released. {' '.join(parts)}"


def scree(figure: Figure, plain: bool) -> str:
    """How strength falls from the first direction to the last, without privacy and as released."""
    what = "Strength" if plain else "Eigenvalue"
    said = []
    for trace in figure["data"]:
        values = _values(trace)
        ends = f"{text.short(values[0])}" + (f" to {text.short(values[-1])}" if len(values) > 1 else "")
        said.append(f"{trace['name']}, {text.count(len(values), 'direction', 'directions')}: {ends}")
    return f"{what} of every direction, largest first: {'; '.join(said)}."


def biplot(figure: Figure) -> str:
    """How many patients of which label are drawn, and which columns' arrows are longest."""
    crowds = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    arrows = [trace for trace in figure["data"] if trace["mode"] == "lines+text"]
    each = [f"{len(trace['x']):,} {html.unescape(trace['name'])}" for trace in crowds]
    names = [html.unescape(trace["text"][1]) for trace in arrows[:_NAMED]]
    return f"Patients along two released directions: {listed(each)}. The longest arrows: {listed(names)}."


def terms(figure: Figure, applies: bool) -> str:
    """The theorem's terms and the measured error in the last round. applies: every assumption holds."""
    last = {trace["name"]: float(_values(trace)[-1]) for trace in figure["data"] if len(trace["y"])}
    stack = [(name, value) for name, value in last.items() if "ξ" in name]
    measured = [value for name, value in last.items() if name.endswith(", measured")]
    if stack:
        parts, below = [], 0.0
        for name, value in stack:
            parts.append(f"{name.removeprefix('+ ').partition(' ')[0]} {text.error(value - below)}")
            below = value
        but = "" if applies else ", of which an assumption fails here,"
        said = f"Theorem 4.3{but} in the last round: {listed(parts)}, together {text.error(below)}."
    else:
        said = "Theorem 4.3 says nothing here."
    if measured:
        said += f" Measured: {text.error(measured[0])}."
    return f"{said} A random guess has {text.short(last['random guess'])}."


def regimes(found: RegimeMap, n: int, epsilon: float, plain: bool) -> str:
    """How much of the map each region takes, and which one this setting is in."""
    counts = [int((found.codes == code).sum()) for code in range(len(REGIONS))]
    parts = [
        f"{name} in {text.percent(count / found.codes.size)} of it"
        for name, count in zip(REGIONS, counts, strict=True)
        if count
    ]
    i, j = (
        int(np.abs(np.log(values) - math.log(here)).argmin())
        for values, here in ((found.epsilons, epsilon), (found.patients, n))
    )
    at = f"{'privacy setting' if plain else 'ε ='} {text.number(epsilon)}"
    return (
        f"Map of patients and privacy: {'; '.join(parts)}. This setting, {n:,} patients at {at}: "
        f"{REGIONS[found.codes[i, j]]}."
    )


def figure_2(figure: Figure) -> str:
    """The overall bound at both ends of the range, beside the largest error there is; its largest term."""
    *curves, most = figure["data"]
    whole, *parts = curves
    ends = [text.short(value) for value in _values(whole)[[0, -1]]]
    largest = [max(parts, key=lambda trace, at=at: float(_values(trace)[at]))["name"] for at in (0, -1)]
    at = [text.number(value) for value in (whole["x"][0], whole["x"][-1])]
    return (
        f"The overall bound falls from {ends[0]} at ε = {at[0]}, mostly {largest[0]}, to {ends[1]} at ε = "
        f"{at[1]}, mostly {largest[1]}. The largest possible error is {text.short(_values(most)[0])}."
    )


def compared(found: Results, rows: pd.DataFrame, key: str, here: Value, settings: Settings) -> str:
    """The headline of methods against each other; of one method alone, what it has."""
    measure = Measure(found, settings, settings["compare.panel"])
    said = comparison_words.headline if measure.errs else comparison_words.cheapest
    headline = said(found, rows, key, here, settings)
    seen = comparison_words.spreads(rows, measure)
    if len(seen) != 1:
        return headline
    ((name, (low, middle, high)),) = seen.items()
    what, unit = {
        "time": ("a fit takes", comparison_words.milliseconds),
        "bytes": ("a hospital sends", text.size),
    }.get(measure.panel, ("captured energy" if measure.energy else "error", measure.said))
    spread = f"{unit(float(middle))} ({unit(float(low))} to {unit(float(high))} in 8 of 10 runs)"
    return f"{headline} {METHODS[name].title}: {what} {spread}."


def gains(grouped: Mapping[str, list[Row]], of: Alliance, scale: Scale) -> str:
    """Under each heading who errs least, and how much; and the random guess."""
    parts = []
    for trust, own in grouped.items():
        for hospital in dict.fromkeys(row.hospital for row in own):
            members = [row for row in own if row.hospital == hospital and row.error is not None]
            if members:
                best = min(members, key=lambda row: row.middle)
                where = join_words.heading(trust, hospital, of)
                title = join_words.title(best.way, of, scale.plain)
                parts.append(f"{where}: least error {text.error(best.middle)}, by {title}")
    return f"{'; '.join(parts)}. A random guess has {text.short(scale.guess)}." if parts else MEASURING


def standardising(found: Measured, settings: Settings) -> str:
    """The error of every way of standardising at this strength, the least first."""
    of, measure = found.of, site_view.Measure(found.of, settings)
    at = site_view.strength(of, settings)
    seen = {kind: measure.common(found, at, kind) for kind in of.kinds}
    middles = {kind: float(one[0][1]) for kind, one in seen.items() if one is not None}
    if not middles:
        return site_words.waiting(found, settings)
    ranked = sorted(middles, key=lambda kind: middles[kind])
    parts = [f"{KIND_TITLES[kind]} {text.error(middles[kind])}" for kind in ranked]
    drawn = "; ".join(parts)
    return f"Error of the joint answer by standardising: {drawn}. Guessing has {text.short(measure.guess)}."


def paper(verdict: str, curves: pd.DataFrame, measure: str) -> str:
    """The verdict, and every curve at both of its ends; measure: an axis title, without its markup."""
    parts = []
    for label, own in curves.groupby("label", sort=False):
        own = own.sort_values("x")
        ends = [f"{text.short(row.mean)} at {text.number(row.x)}" for row in own.iloc[[0, -1]].itertuples()]
        name = text.symbols(str(label)) or "this run"
        parts.append(f"{name} {ends[0]}" if len(own) == 1 else f"{name} from {ends[0]} to {ends[1]}")
    drawn = f"{_MARKUP.sub('', measure)}: {'; '.join(parts)}" if parts else "Nothing is stored"
    return f"{verdict}. {drawn}."


def readings(found: Attack) -> str:
    """How far apart the two laws are, and the two errors of the chosen line."""
    return (
        f"What is read lies around 0 without the patient and around {text.short(found.mu)} with the patient, "
        f"in standard deviations of the noise. A line at {found.limit:.2f} gives {share(found.alarms)} false "
        f"alarms and {share(found.misses)} misses."
    )


def errors(found: Attack, budget: Budget) -> str:
    """The chosen test by calculation, by the promise and as measured."""
    seen, least = found.measured, float(tradeoff.allowed(budget.epsilon, budget.delta, found.alarms))
    return (
        f"At {share(found.alarms)} false alarms the best test of this noise misses {share(found.misses)}; "
        f"the promise demands at least {share(least)}. Measured: {share(seen.false_alarms)} false alarms and "
        f"{share(seen.misses)} misses. A random guess would miss {share(1 - found.alarms)}."
    )


def charged(found: Accounted, plain: bool) -> str:
    """What the exact noise of the chosen rounds is said to cost, the least first."""
    costs = found.charged.loc[found.steps].sort_values()
    parts = [
        f"{privacy_cost_words.accounting(str(name), plain)} {text.short(cost)}"
        for name, cost in costs.items()
    ]
    count = text.count(found.steps, "round", "rounds")
    what = "privacy setting" if plain else "ε"
    return f"What {count} with the same noise would be charged, as {what}: {'; '.join(parts)}."
