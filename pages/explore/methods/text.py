"""The sentences and the table of the methods page, formed from its numbers. No Streamlit here.

A sweep runs the methods at several values of one setting. The measure is what a panel has on its vertical
axis: an error, captured energy, time or bytes. Errors are ranked only among methods of one trust and one
guarantee.
"""

from collections.abc import Mapping, Sequence
from inspect import signature
from itertools import groupby

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.methods import METHODS
from dppca_core.records import Estimate
from pages.explore.methods.charts import ComparisonMeasure, SweepRuns
from pages.explore.methods.frontier import Corner
from pages.explore.methods.sweeps import SweepSetting
from pages.shared import text
from pages.shared.charts import Scale, in_unit, unit
from pages.shared.charts.explorer_text import other_epsilon
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
LOADINGS_NOTE = "Its directions are turned onto the true ones, as only what they span is estimated."
_TRUSTS = {  # by trust: the words that open its finding, and what its methods need
    "central": ("where all trust one place", "a curator who sees all second moments"),
    "untrusted server": ("where nobody is trusted", "noise added at each hospital, any server"),
    "secure aggregation": ("with sealed sums", "sums of which nobody sees a part"),
    "local": ("where not even the hospital is trusted", "noise added at each patient"),
    "none": ("no privacy", "all second moments in the open"),
}
_NEEDS = {  # by a parameter that a method uses: what it means that the method needs
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
    options = [words for use, words in _NEEDS.items() if use in used]
    return "; ".join([_NEEDS_ALONE.get(name, _TRUSTS[method.trust][1]), *options])


def compared(measure: ComparisonMeasure, values: Mapping[str, Array], key: str, here: Value) -> str:
    """Return which method does best at the current setting; of a single method its value.

    values: 10, 50 and 90 % over the runs of each method there. key, here: the swept setting and its value.
    """
    if not values:
        return text.MEASURING
    choice = CHOICES[key]
    where = f"At {choice.label.split()[-1]} = {text.number(here)}"
    where += ", of the methods chosen" if measure.errs and len(values) > 1 else ""
    finding = _least_error(measure, values, key, here) if measure.errs else _least_cost(measure, values)
    finding = f"{where}{finding}"
    if len(values) > 1:
        return finding
    ((name, spread),) = values.items()
    low, middle, high = (measure.text(float(value)) for value in spread)
    return f"{finding} {METHODS[name].title}: {measure.quantity} {middle} ({low} to {high} in 8 of 10 runs)."


def _least_error(measure: ComparisonMeasure, errors: Mapping[str, Array], key: str, here: Value) -> str:
    """Return which method errs least among those of one trust and one guarantee, for each such kind.

    errors: 10, 50 and 90 % of each method, `values` in `compared`; the other arguments are as there.
    """
    experiment = measure.results.experiment
    # Only methods of one kind can be ranked: the same trust, and the same guarantee.
    kinds: dict[tuple[str, str], dict[str, Array]] = {}
    for name, error in errors.items():
        kind = METHODS[name].trust, METHODS[name].guarantee_at(experiment.k)
        kinds.setdefault(kind, {})[name] = error
    guess, trusts = measure.guess(key, here), [trust for trust, _ in kinds]
    parts = []
    for trust, guarantee in sorted(kinds, key=lambda kind: list(_TRUSTS).index(kind[0])):
        equals = kinds[trust, guarantee]
        # The guarantee is named only where methods of this trust have several.
        promise = f" and are {text.GUARANTEES[guarantee]}" if trusts.count(trust) > 1 else ""
        if len(equals) > 1:
            parts.append(f"{_TRUSTS[trust][0]}{promise}, {_winner(equals, guess, measure)}")
    if not parts:
        return ", no two of these methods have the same trust and guarantee, so they cannot be ranked."
    later = [f"{part[0].upper()}{part[1:]}" for part in parts[1:]]
    sentence = f": {'. '.join([parts[0], *later])}. A random guess has {measure.text(guess)}."
    epsilon = float(here if key == "epsilon" else measure.settings["epsilon"])
    if any(other_epsilon(experiment, name, epsilon) for name in errors):
        sentence += " Calibrated as printed, some do not keep the ε that is set: see below."
    return sentence


_BEST = {"energy": "captures most", "share": "recovers most", "degrees": "comes closest"}


def _winner(errors: Mapping[str, Array], guess: float, measure: ComparisonMeasure) -> str:
    """Return a clause on the method with the best median, and the second, of methods that compare.

    errors: 10, 50 and 90 % over the runs of each. The clause says whether the two intervals overlap, or that
    none is a tenth better than a guess.
    """
    ranked = sorted(errors, key=lambda name: float(errors[name][1]), reverse=measure.more_is_better)
    (best, first), (second, runner_up) = ((METHODS[name].title, errors[name]) for name in ranked[:2])
    if not measure.beats(float(first[1]), guess):
        return "none is a tenth better than a random guess"
    values = f"({measure.text(first[1])}, next {second} {measure.text(runner_up[1])})"
    # They overlap unless even the worse end of the better one's interval beats the other's better end.
    if not (first[0] > runner_up[2] if measure.more_is_better else first[2] < runner_up[0]):
        return f"{best} leads within the spread of the runs {values}"
    return f"{best} {_BEST.get(measure.metric, 'errs least')} {values}"


def _least_cost(measure: ComparisonMeasure, costs: Mapping[str, Array]) -> str:
    """Return which method takes the least and the most time, or sends the least and the most bytes.

    costs: 10, 50 and 90 % over the runs of each method; the median is compared.
    """
    if len(costs) < 2:
        return ": one method, nothing to compare."
    ranked = sorted(costs, key=lambda name: float(costs[name][1]))
    least, most = (
        # The verb is the last word of the quantity: "a fit takes", "a hospital sends".
        (f"{METHODS[name].title} {measure.quantity.split()[-1]}", measure.text(float(costs[name][1])))
        for name in (ranked[0], ranked[-1])
    )
    each = "a fit" if measure.panel == "time" else "a hospital, in all rounds"
    return f", {least[0]} least ({least[1]} {each}) and {most[0]} most ({most[1]})."


def note(sweep: SweepSetting | None, methods: Sequence[str], settings: Settings) -> str:
    """Return why nothing is swept, or why another setting than asked for; empty where all is as set."""
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


def facts(runs: SweepRuns) -> pd.DataFrame:
    """Return one row for each method at the current setting; numbers stay numbers, so that columns sort."""
    measure, sweep, table, methods, *_ = runs
    experiment, settings, missing = measure.results.experiment, measure.settings, np.full(3, np.nan)
    columns = [ComparisonMeasure(measure.results, settings, panel) for panel in ("error", "time", "bytes")]
    errors, times, sizes = map(runs.here, columns)
    here = np.isclose(table[sweep.over].to_numpy(dtype=float), float(sweep.here), rtol=1e-9)
    lines, error = [], columns[0]  # the measure of errors
    for name in methods:
        method = METHODS[name]
        rows = table[here & (table["method"] == name)]
        low, middle, high = errors.get(name, missing)
        row = {
            "method": method.title,
            "share captured" if error.energy else error.quantity: middle,
            "10 %": low,
            "90 %": high,
            **_theory(measure, rows, name),
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


def runs(sweep: SweepSetting | None) -> str:
    """Return how often each method was run at each value.

    Quick methods, run at once (`live`), may have more runs than slow ones, run at a button (`heavy`).
    """
    if sweep is None:
        return ""
    times = sorted({recipe.repeats for recipe in (sweep.live, *sweep.heavy.values()) if recipe is not None})
    numbers = " or ".join(str(number) for number in reversed(times))
    return f"{numbers} runs of each method at each value, each with its own noise"


def drawn(measure: ComparisonMeasure, sweep: SweepSetting) -> str:
    """Return what lines and bands of the panel of this measure show."""
    if measure.panel == "bytes":
        return "What a hospital sends in all rounds together: the same in every run"
    where = ", timed on this server while others run" if measure.panel == "time" else ""
    return f"Lines: median of {runs(sweep).partition(',')[0]}; bands hold 8 of 10{where}"


def of_scaling(runs: SweepRuns) -> str:
    """Return which part of each recommended method's lead at the current setting rows of length 1 explain.

    It is empty until the best published methods have run on such rows, and for methods not compared.
    """
    experiment, sweep = runs.measure.results.experiment, runs.sweep
    usual, unit = (
        table[np.isclose(table[sweep.over].to_numpy(dtype=float), float(sweep.here), rtol=1e-9)]
        .groupby("method")["sin_theta"]
        .median()
        for table in (runs.table, runs.unit)
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
    """Return which methods have runs without an answer, each with its first reason; table: all runs."""
    failed = table[table["failed"] != ""].drop_duplicates("method")
    return "; ".join(f"{METHODS[row.method].title} in part: {row.failed}" for row in failed.itertuples())


def needed(estimates: pd.DataFrame, wanted: str) -> str:
    """Return which method needs the fewest patients within each trust, and which never reach the error.

    estimates: the result of `patients_needed`. wanted: the error in words.
    """
    if not len(estimates):
        return text.MEASURING
    reached = estimates[np.isfinite(estimates["patients"])].sort_values("patients")
    parts = []
    for trust, (words, _) in _TRUSTS.items():
        # They are sorted, so the first needs the fewest patients.
        equals = [row for row in reached.itertuples() if METHODS[row.method].trust == trust]
        if equals:
            most = "at most " if equals[0].state == "at most" else ""
            title = METHODS[equals[0].method].title.removesuffix(", no privacy")
            parts.append(f"{words}, {title} needs {most}{text.patients(equals[0].patients)}")
    if not parts:
        return f"No method reaches {wanted} with the most patients measured."
    sentence = f"For {wanted}: {'; '.join(parts)}."
    never = [METHODS[row.method].title for row in estimates.itertuples() if row.state == "never"]
    if never:
        sentence += f" Not reached by the most patients measured: {', '.join(never)}."
    return sentence


def grid(values: Sequence[Value]) -> str:
    """Return how the patients needed were found, for below the figure; values: the n that were run."""
    first, last = (text.patients(float(n)) for n in (values[0], values[-1]))
    return (
        f"Read off runs at {len(values)} numbers of patients, {first} to {last}. From the number shown on, "
        "the median error stays at or below the target. Whiskers hold 10 to 90 % of resampled runs. The "
        "line is this setting."
    )


def without_privacy(results: Results, settings: Settings) -> str:
    """Return the error without privacy at the current setting; empty before it is measured."""
    cells, scale = results.measured(NO_PRIVACY, EPSILONS[0]), Scale(results, settings)
    if not cells:
        return ""
    middle = float(quantiles([scale.final_error(cell) for cell in cells])[1])
    return f"No privacy: {scale.text(middle)}, as on *Explorer*: the best of PCA and sparse PCA."


def no_energy(settings: Settings) -> str:
    """Return a note where captured energy is asked for in a view that shows errors alone."""
    if settings["metric"] != "energy":
        return ""
    return "The error here is the distance of the directions, not captured energy. "


def notes(results: Results, methods: Sequence[str], settings: Settings) -> str:
    """Return which methods promise other than (ε, δ), what local trust means, and what cannot run."""
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


def frontier(corners: Sequence[Corner]) -> str:
    """Return which methods the hull runs through, from strict to loose privacy; corners: of the hull.

    Each method is named with its range of epsilon and with those that do as well over all of that range.
    """
    if not corners:
        return "None of these methods beats a random guess by a tenth, so there is no frontier."
    parts, held = [], list(corners[:1])
    # A method that stays as good as the best keeps its place in the sentence: else the name would change with
    # every chance difference. The corner's own method is then among those that are level with it.
    for corner in corners[1:]:
        before = held[-1].method
        if before in corner.level:
            others = corner.level - {before} | {corner.method}
            corner = corner._replace(method=before, level=others)
        held.append(corner)
    for name, group in groupby(held, key=lambda corner: corner.method):
        run = list(group)
        low, high = (text.number(corner.epsilon) for corner in (run[0], run[-1]))
        level = frozenset.intersection(*(corner.level for corner in run))
        titles = " and ".join(METHODS[other].title for other in sorted(level))
        beside = f", with {titles} level within the spread of the runs" if titles else ""
        trust = text.trust_heading(METHODS[name].trust).lower()
        at = low if low == high else f"{low} to {high}"
        parts.append(f"{METHODS[name].title} at ε = {at} ({trust}){beside}")
    return f"Least error for its privacy, as far as drawn: {'; '.join(parts)}."


def recommended(experiment: ExplorerExperiment, epsilon: float, trusted: str) -> str:
    """Return which method the core recommends under each trust, from public numbers alone, and why.

    The line of the trust that is set comes first, in bold. trusted: that trust.
    """
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
    """Return which methods the hull leaves off, and why; reasons: by method."""
    titles = text.names_by_value({METHODS[name].title: reason for name, reason in reasons.items()})
    parts = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in titles.items())
    return f"Not counted on the hull: {parts}." if parts else ""


def release(name: str, epsilon: float, measured: str, estimate: Estimate) -> str:
    """Return the sentence on one release of a method; measured: its error in words, with what it is."""
    method = METHODS[name]
    where = f" at ε = {text.number(epsilon)}" if method.private else ""
    noise = ""
    if estimate.noise_std:
        noise = f", with noise of σ = {text.short(estimate.noise_std)} per entry"
    return (
        f"**One release of {method.title}{where}: {measured}{noise}.** This is one draw: "
        "another has other noise, and another error."
    )


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
    """Return what to try next."""
    return _TRY_PANEL.get(panel, _TRY_SWEEP)
