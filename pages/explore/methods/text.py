"""What the methods page says in words and rows: who errs least among equals, and what each needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.methods import METHODS
from pages.explore.methods.charts import ComparisonMeasure
from pages.explore.methods.sweeps import SweepSetting
from pages.shared import text
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

_OF_TRUST = {
    "central": "of those that trust a curator",
    "untrusted server": "of those that trust no server",
    "secure aggregation": "of those that add up in secret",
    "local": "of those that trust nobody",
    "none": "without privacy",
}
_NEEDS_TRUST = {
    "central": "a curator who sees all second moments",
    "untrusted server": "noise added at each hospital, any server",
    "secure aggregation": "sums that no one can look into",
    "local": "noise added at each patient, nobody trusted",
    "none": "all second moments in the open",
}
_NEEDS = {
    "s_hat": "how many rows to keep",
    "iterations": "several rounds",
    "batches": "patients in random groups, each seen once",
}
_ALONE = {"local_pca": "one hospital's own patients"}


def needs(name: str) -> str:
    """What a method must be given, in words."""
    method = METHODS[name]
    own = [words for use, words in _NEEDS.items() if use in method.uses]
    return "; ".join([_ALONE.get(name, _NEEDS_TRUST[method.trust]), *own])


def at_here(table: pd.DataFrame, key: str, here: Value) -> pd.DataFrame:
    """The rows at the current setting."""
    return table[np.isclose(table[key].to_numpy(dtype=float), float(here), rtol=1e-9)]


def spreads(rows: pd.DataFrame, measure: ComparisonMeasure) -> dict[str, Array]:
    """10, 50 and 90 % of what each method has at the current setting."""
    found = {str(name): measure.of(own) for name, own in rows.groupby("method", sort=False)}
    return {name: quantiles(values) for name, values in found.items() if len(values)}


def headline(found: Results, rows: pd.DataFrame, key: str, here: Value, settings: Settings) -> str:
    """Who errs least here, among methods that trust the same and promise the same."""
    measure = ComparisonMeasure(found, settings, "error")
    seen = spreads(rows, measure)
    if not seen:
        return "Measuring …"
    k = found.experiment.k
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in seen:
        kinds.setdefault((METHODS[name].trust, METHODS[name].guarantee_at(k)), []).append(name)
    guess = measure.guess(key, here)
    parts = [
        f"{_kind(kind, kinds)}, {_winner(members, seen, guess, measure)}"
        for kind, members in sorted(kinds.items(), key=lambda item: list(_OF_TRUST).index(item[0][0]))
        if len(members) > 1
    ]
    where = _where(key, here, settings)
    if not parts:
        return f"{where}, no two of these methods trust the same and promise the same: nothing to rank."
    said = f"{where}: {'; '.join(parts)}. A random guess has {text.short(guess)}."
    epsilon = float(here) if key == "epsilon" else float(settings["epsilon"])
    if any(true_epsilon(found.experiment, name, epsilon) for name in seen):
        said += " As printed in their papers, they do not all keep the privacy asked for: see below."
    return said


def _where(key: str, here: Value, settings: Settings) -> str:
    choice = catalogue.CHOICES[key]
    if settings["view"] == "board":
        return f"With {choice.name(True).lower()} at {text.number(here)}"
    return f"At {choice.label.split()[-1]} = {text.number(here)}"


def cheapest(found: Results, rows: pd.DataFrame, key: str, here: Value, settings: Settings) -> str:
    """Who takes, or sends, least and most here."""
    time = settings["compare.panel"] == "time"
    seen = spreads(rows, ComparisonMeasure(found, settings, settings["compare.panel"]))
    if len(seen) < 2:
        return (
            "Measuring …" if not seen else f"{_where(key, here, settings)}: one method, nothing to compare."
        )
    ranked = sorted(seen, key=lambda name: float(seen[name][1]))
    least, most = ranked[0], ranked[-1]
    verb, unit = ("takes", milliseconds) if time else ("sends", text.size)
    ends = [f"{METHODS[name].title} {verb}" for name in (least, most)]
    values = [unit(float(seen[name][1])) for name in (least, most)]
    each = "a fit" if time else "a hospital, in all rounds"
    where = _where(key, here, settings)
    return f"{where}, {ends[0]} least ({values[0]} {each}) and {ends[1]} most ({values[1]})."


def milliseconds(value: float) -> str:
    """A duration in the unit a person would use."""
    return f"{value / 1e3:.2g} s" if value >= 1e3 else f"{value:.2g} ms"


def _kind(kind: tuple[str, str], kinds: Mapping[tuple[str, str], Any]) -> str:
    trust, guarantee = kind
    several = sum(other == trust for other, _ in kinds) > 1
    said = _OF_TRUST[trust]
    return f"{said} and are {text.GUARANTEES[guarantee]}" if several else said


def _winner(
    members: Sequence[str], seen: Mapping[str, Array], guess: float, measure: ComparisonMeasure
) -> str:
    sign = -1 if measure.energy else 1
    ranked = sorted(members, key=lambda name: sign * float(seen[name][1]))
    best, second = ranked[0], ranked[1]
    first, next_one = seen[best], seen[second]
    if not measure.beats(float(first[1]), guess):
        return "none is a tenth better than a random guess"
    values = f"({measure.said(first[1])}, next {METHODS[second].title} {measure.said(next_one[1])})"
    apart = first[0] > next_one[2] if measure.energy else first[2] < next_one[0]
    if not apart:
        return f"{METHODS[best].title} leads within the spread of the runs {values}"
    verb = "captures most" if measure.energy else "errs least"
    return f"{METHODS[best].title} {verb} {values}"


def true_epsilon(experiment: ExplorerExperiment, name: str, epsilon: float) -> float | None:
    """The epsilon that a calibration truly gives, where it is not the one asked for."""
    own = experiment.options(name)
    true = METHODS[name].true_epsilon(experiment.budget(epsilon), d=experiment.d, k=experiment.k, **own)
    return None if true is None or abs(true / epsilon - 1) <= 0.01 else true


def facts(
    found: Results, rows: pd.DataFrame, methods: Sequence[str], epsilon: float, settings: Settings
) -> pd.DataFrame:
    """One row for each method at the current setting; numbers stay numbers, so that columns sort."""
    plain = settings["view"] == "board"
    measures = {panel: ComparisonMeasure(found, settings, panel) for panel in ("error", "time", "bytes")}
    seen = {panel: spreads(rows, measure) for panel, measure in measures.items()}
    k, nothing = found.experiment.k, np.full(3, np.nan)
    error = "share captured" if measures["error"].energy else "error"
    lines = []
    for name in methods:
        method = METHODS[name]
        low, middle, high = seen["error"].get(name, nothing)
        said = text.PLAIN_GUARANTEES if plain else {}
        guarantee = method.guarantee_at(k)
        row = {
            "method": method.title,
            error: middle,
            "10 %": low,
            "90 %": high,
            "time (ms)": seen["time"].get(name, nothing)[1],
            "sent (kB)": seen["bytes"].get(name, nothing)[1] / 1e3,
            "whom it trusts": text.TRUST_TITLES[method.trust].lower(),
            "guarantee": said.get(guarantee, "protected" if plain and method.private else "")
            or text.GUARANTEES[guarantee],
            "what it needs": needs(name),
        }
        if not plain:
            row["true ε"] = true_epsilon(found.experiment, name, epsilon) or np.nan
        lines.append(row | {"source": method.reference})
    return pd.DataFrame(lines)


def runs(of: SweepSetting | None) -> str:
    """How often what is drawn was run."""
    if of is None:
        return ""
    times = sorted({recipe.repeats for recipe in (of.live, *of.heavy.values()) if recipe is not None})
    said = " or ".join(str(number) for number in reversed(times))
    return f"{said} runs of each method at each value, each with its own noise"


def needed(found: pd.DataFrame, target: float, plain: bool) -> str:
    """Who never gets there, and who needs the fewest patients within each trust."""
    if not len(found):
        return "Measuring …"
    titles = {row.label: METHODS[row.method].title for row in found.itertuples()}
    parts = []
    for trust, said in _OF_TRUST.items():
        own = found[[METHODS[name].trust == trust for name in found["method"]]]
        own = own[np.isfinite(own["patients"])].sort_values("patients")
        if len(own):
            best = own.iloc[0]
            most = "at most " if best["state"] == "at most" else ""
            title = titles[best["label"]].removesuffix(", no privacy")
            parts.append(f"{said}, {title} needs {most}{text.patients(best['patients'])}")
    never = [titles[row.label] for row in found.itertuples() if row.state == "never"]
    name = "an error" if plain else "error"
    if not parts:
        return f"No method reaches {name} of {text.number(target)} with the most patients measured."
    said = f"For {name} of {text.number(target)}: {'; '.join(parts)}."
    if never:
        said += f" Not reached by the most patients measured: {', '.join(never)}."
    return said


def notes(found: Results, methods: Sequence[str], settings: Settings) -> str:
    """What the marks mean, why trust matters to the comparison, and what cannot run here."""
    k = found.experiment.k
    said = []
    marks = text.guarantee_notes(
        [METHODS[name].guarantee_at(k) for name in methods], settings["view"] == "board"
    )
    if marks:
        said.append(f"{marks}: not the same promise as the unmarked, so not the same race.")
    if any(METHODS[name].trust == "local" for name in methods):
        said.append(
            "Methods that trust nobody hide each patient before anything is sent: a stronger promise than "
            "that of methods with a curator or hospitals in between, at the price of more error."
        )
    said += [
        f"{METHODS[name].title} is left out: {reason}."
        for name, reason in found.skipped.items()
        if name in methods
    ]
    if "pca" in methods and isinstance(found.experiment.population, str):
        said.append("Truth here is PCA of the whole table without privacy, so that errs by nothing.")
    if settings["start"] == "near":
        said.append("Runs on this page start at random, whatever *Start* is set to.")
    return " ".join(said)
