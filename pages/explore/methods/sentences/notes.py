"""The words beside the findings: what is drawn, what is recommended, and what is left out."""

from collections.abc import Mapping, Sequence

import pandas as pd

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.methods import METHODS
from dppca_core.records import Estimate
from pages.explore.methods.model import packages
from pages.explore.methods.model.measure import ComparisonMeasure, SweepRuns
from pages.explore.methods.model.sweeps import SweepExperiment
from pages.shared import text
from pages.shared.charts import Scale
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "Methods"
STEPS = (
    "Each line is one method, given the same patients.",
    "Choose what is swept, and move the other sliders.",
    "The lowest line errs least; compare methods of the same trust.",
)
INTRODUCTION = (
    "**How do methods compare?** Each gets the same patients. How large is its error, how long does it "
    "take, how much does it send, and whom must you trust?"
)
NOTHING_QUICK = "None of these methods is quick here: measure one at its button."
FRONTIER_HELP = "Click a point to see one release of it, or choose it below."
PACKAGES = "Against packages that can be installed"
LOADINGS_NOTE = "Its directions are turned onto the true ones, as only what they span is estimated."


def note(sweep: SweepExperiment | None, methods: Sequence[str], settings: Settings) -> str:
    if not methods:
        return "Choose at least one method."
    if sweep is None:
        return "A table has a fixed number of patients, so more cannot be simulated."
    wanted = settings["compare.over"]
    if sweep.over == wanted or settings["compare.panel"] in ("needed", "frontier"):
        return ""
    table = TABLES[settings["data"]].title.split(",")[0]
    name, instead = (CHOICES[key].label for key in (wanted, sweep.over))
    return f"{table} fixes “{name}”: “{instead}” is varied instead."


def promise(experiment: ExplorerExperiment, epsilon: float) -> str:
    asked = f"(ε, δ) = ({text.number(epsilon)}, {text.number(experiment.delta)})"
    odds = text.odds(epsilon, experiment.delta)
    relation = text.RELATIONS[experiment.neighbours]
    return f"At the current setting private methods are asked for {asked}; {relation}. {odds}"


def start(name: str, seconds: float) -> str:
    return f"Measure {METHODS[name].title} too, about {text.duration(seconds)}"


def runs(sweep: SweepExperiment | None) -> str:
    return "" if sweep is None else f"{_number_of_runs(sweep)}, each with its own noise"


def _number_of_runs(sweep: SweepExperiment) -> str:
    times = sorted({recipe.repeats for recipe in (sweep.live, *sweep.heavy.values()) if recipe is not None})
    numbers = " or ".join(str(number) for number in reversed(times))
    return f"{numbers} runs of each method at each value"


def drawn(measure: ComparisonMeasure, sweep: SweepExperiment) -> str:
    if measure.panel == "bytes":
        return "What a hospital sends in all rounds together: the same in every run"
    where = ", timed on this server while others run" if measure.panel == "time" else ""
    return f"Lines: median of {_number_of_runs(sweep)}; bands hold 8 of 10{where}"


def of_scaling(runs: SweepRuns) -> str:
    """Return which part of each recommended method's lead rows of length 1 explain, once it is measured."""
    experiment, sweep = runs.measure.results.experiment, runs.sweep
    usual, unit = (
        sweep.runs_here(table).groupby("method")["sin_theta"].median() for table in (runs.table, runs.unit)
    )
    parts = []
    for published in unit.index:
        advised = trusts.recommended(experiment, runs.measure.settings["epsilon"], METHODS[published].trust)
        scaled = METHODS[advised.method].scaling == "unit" and not advised.near_guess
        if scaled and usual.get(advised.method, 0.0) > 0:
            whole, left = (errors[published] / usual[advised.method] for errors in (usual, unit))
            lead = trusts.Lead(advised.method, published, whole, left)
            if lead.whole > 1:
                leader, other = METHODS[advised.method].title, METHODS[published].title
                parts.append(f"{lead.part} of the lead of {leader} over {other}")
    return f"Rows of length 1 explain {text.listed(parts)}" if parts else ""


def failures(table: pd.DataFrame) -> str:
    failed = table[table["failed"] != ""].drop_duplicates("method")
    return "; ".join(f"{METHODS[str(row.method)].title} in part: {row.failed}" for row in failed.itertuples())


def grid(values: Sequence[Value]) -> str:
    first, last = (text.patients(float(n)) for n in (values[0], values[-1]))
    return (
        f"Read off runs at {len(values)} numbers of patients, {first} to {last}. From the number shown on, "
        "the median error stays at or below the target. Whiskers hold 10 to 90 % of resampled runs. The "
        "line is this setting."
    )


def without_privacy(results: Results, settings: Settings) -> str:
    cells, scale = results.measured(NO_PRIVACY, EPSILONS[0]), Scale(results, settings)
    if not cells:
        return ""
    middle = float(quantiles([scale.final_error(cell) for cell in cells])[1])
    return f"No privacy: {scale.text(middle)}, as on *Explorer*: the best of PCA and sparse PCA."


def no_energy(settings: Settings) -> str:
    if settings["metric"] != "energy":
        return ""
    return "The error here is the distance of the directions, not captured energy. "


def notes(results: Results, methods: Sequence[str], settings: Settings) -> str:
    k = results.experiment.k
    sentences = []
    other = text.guarantee_notes({METHODS[name].title: METHODS[name].guarantee_at(k) for name in methods})
    if other:
        sentences.append(f"{other} Compare these with the others with care: they promise something else.")
    if any(METHODS[name].trust == "local" for name in methods):
        sentences.append(
            "Methods that do not even trust the hospital hide each patient before anything is sent. That is "
            "a stronger promise, at the price of more error."
        )
    sentences += [
        f"{METHODS[name].title} is left out: {reason}."
        for name, reason in results.skipped.items()
        if name in methods
    ]
    if "pca" in methods and isinstance(results.experiment.population, str):
        sentences.append("The truth here is PCA of the whole table, so PCA without privacy has error 0.")
    if settings["start"] == "near":
        sentences.append("Runs on this page start at random, whatever *Start* is set to.")
    return " ".join(sentences)


def recommended(experiment: ExplorerExperiment, epsilon: float, trusted: str) -> str:
    known = "the eigenvalues of the simulated population"
    if isinstance(experiment.population, str):
        known = text.declared_signal(trusts.signal(experiment))
    lines = [f"Recommended under each trust, from public numbers and {known}:"]
    for trust in sorted(TRUSTS, key=lambda trust: trust != trusted):
        reason = trusts.recommended(experiment, epsilon, trust).reason
        line = f"{text.trust_heading(trust)}. {reason}"
        lines.append(f"- **{line}**" if trust == trusted else f"- {line}")
    return "\n".join(lines)


def off_hull(reasons: Mapping[str, str]) -> str:
    titles = text.names_by_value({METHODS[name].title: reason for name, reason in reasons.items()})
    parts = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in titles.items())
    return f"Not counted on the hull: {parts}." if parts else ""


def release(name: str, epsilon: float, measured: str, estimate: Estimate) -> str:
    method = METHODS[name]
    where = f" at ε = {text.number(epsilon)}" if method.private else ""
    noise = ""
    if estimate.noise_std:
        noise = f", with noise of σ = {text.short(estimate.noise_std)} per entry"
    return (
        f"**One release of {method.title}{where}: {measured}{noise}.** This is one draw: "
        "another has other noise, and another error."
    )


def true_epsilon(epsilon: float | None) -> str:
    return "" if epsilon is None else f"Its calibration truly gives ε = {text.short(epsilon)}."


def of_packages(neighbours: str) -> str:
    record, errors = packages.stored()
    setting, versions = record["settings"], record["versions"]
    parts = [
        f"All had the same rows, ε = {setting['epsilon']:g}, δ = {text.number(setting['delta'])}, "
        f"k = {setting['k']}, {setting['s']} true features and twice as many kept. "
        f"{text.sentence(text.RELATIONS[neighbours])}."
    ]
    patients = errors[errors["population"] == "sparse population"].groupby("n")["d"].unique()
    parts += [
        f"{n:,} patients were drawn with {text.listed([str(d) for d in sizes])} features."
        for n, sizes in patients.items()
    ]
    silent = errors[(errors["kind"] == "peer") & errors["error"].isna()]
    for recipe, group in silent.groupby("recipe"):
        sizes = ", ".join(str(d) for d in sorted(set(group["d"])))
        parts.append(f"{recipe}: no answer in {record['limit_seconds']:.0f} s at {sizes} features.")
    if neighbours != "replace-one":
        parts.append("The packages' own PCA protects a changed record: it is shown where one is replaced.")
    released = record["last_releases"]
    used = ", ".join(f"{name} {version} ({released[name]})" for name, version in versions.items())
    parts.append(
        f"Measured {record['date']} by `make bench-peers` with {used}. In brackets is the day of each "
        "package's last release."
    )
    return " ".join(parts)


_TRY_SWEEP = (
    "set *Noise across hospitals* (*More settings*) to independent, then move *Hospitals* up. The error "
    "grows only where nobody is trusted: there each hospital adds its own noise."
)
_TRY_PANEL = {
    "needed": "halve the target error. Where sampling dominates, or each patient adds noise, it takes four "
    "times the patients. Where the noise of sums dominates, it takes only twice as many.",
    "frontier": "click two points of one method, one with much privacy and one with little. Which loadings "
    "does the noise hide first?",
}


def try_this(panel: str) -> str:
    return _TRY_PANEL.get(panel, _TRY_SWEEP)
