"""Form the text beside the front page's charts, for each epsilon: sentence, odds, figures, badges."""

from __future__ import annotations

import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from dppca_core.datasets import MEASUREMENTS, PATIENTS
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.records import Bound
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.charts import explorer, style
from pages.shared.charts.metric_axis import Scale
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

_NOT_DRAWN = ("epsilon", "ghost", "loadings")
_KEPT = 48  # under a megabyte each
_BUILT: OrderedDict[object, dict[str, Any]] = OrderedDict()  # as last built for each view
_LOCK = Lock()
_GROWN = 1.1  # redraw only when the number of finished runs has grown by 10 %
_SAME = 0.01  # a true epsilon within this share of the nominal one counts as equal


def payload(results: Results, epsilon: float, settings: Settings) -> dict[str, Any]:
    """Return everything that the component draws: figure, frames, text and the active epsilon.

    All but the active epsilon is built once for all visitors, and rebuilt when enough has been measured
    since.
    """
    shown = {key: value for key, value in settings.items() if key not in _NOT_DRAWN}
    missing = results.next_missing(epsilon, settings["slow"]) is not None
    runs_measured = len(results.cells)  # count before building: other threads go on measuring
    measured = runs_measured + len(results.failed)  # a failed run changes the text as well
    state = (results.experiment, tuple(shown.values()))
    method = results.experiment.method
    at_epsilon = len(results.measured(method, epsilon))
    with _LOCK:
        held = _BUILT.get(state)
    little = held is not None and missing and measured < _GROWN * held["version"]
    if held is None or not (measured == held["version"] or (little and at_epsilon == held["runs"][epsilon])):
        mark = f"{zlib.crc32(repr(shown).encode()):08x}"
        runs = {at: len(results.measured(method, at)) for at in EPSILONS}
        held = _build(results, settings) | {"scene": mark, "version": measured, "runs": runs}
        held["measured"] = runs_measured
        with _LOCK:
            _BUILT[state] = held
            _BUILT.move_to_end(state)
            while len(_BUILT) > _KEPT:
                _BUILT.popitem(last=False)
    built = {name: part for name, part in held.items() if name not in ("runs", "measured")}
    return built | {
        "active": EPSILONS.index(epsilon),
        "ghost": settings["ghost"],
        "follow": "epsilon",
        "complete": not missing,
        "progress": f"{held['measured']:,} runs measured, more coming" if missing else "",
    }


def at_active(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the payload with the frame and the text of its active epsilon alone."""
    active = whole["active"]
    only = {
        part: [frame if at == active else None for at, frame in enumerate(whole[part])]
        for part in ("frames", "words")
    }
    return whole | only


def _build(results: Results, settings: Settings) -> dict[str, Any]:
    plain = settings["view"] == "board"
    bounds = [explorer.bounds_at(results, at) for at in EPSILONS]
    scale = Scale(results, settings)
    return explorer.explorer(results, settings, bounds) | {
        "plain": plain,
        "scrub": "Try other privacy settings" if plain else "Scrub ε",
        "tiles": _tile_titles(results, settings),
        "words": [
            _words(results, at, settings, scale, *pair) for at, pair in zip(EPSILONS, bounds, strict=True)
        ],
        "legend": _legend(results, plain, scale, bounds),
    }


def _tile_titles(results: Results, settings: Settings) -> list[str]:
    measure = catalogue.CHOICES["metric"].text(settings["metric"])
    synthetic = not isinstance(results.experiment.population, str)
    rows = "true rows found" if synthetic else f"heaviest {results.support_size} features found"
    energy = settings["metric"] == "energy"
    if settings["view"] == "board":
        first = "Share of the pattern captured" if energy else "Error"
        return [first, "Right measurements found", "Noise added", "Each hospital sends"]
    return [
        "Captured energy" if energy else f"Error, {measure}",
        f"Share of the {rows}",
        "Noise σ per entry",
        "Each hospital sends",
    ]


def _words(
    results: Results,
    epsilon: float,
    settings: Settings,
    scale: Scale,
    theorem: Bound,
    prediction: Bound,
) -> dict[str, Any]:
    experiment = results.experiment
    plain = settings["view"] == "board"
    method = METHODS[experiment.method]
    cells = results.measured(experiment.method, epsilon)
    shown = {
        "epsilon": text.number(epsilon),
        "odds": text.odds(true_epsilon(results, epsilon), experiment.delta, experiment.neighbours),
        "theorem": _theorem(theorem, prediction, settings),
        "notes": _notes(results, epsilon, plain),
        "printed": printed_plainly(results, epsilon)
        if plain
        else printed(results, epsilon, (*results.names, *results.slow)),
    }
    if not cells:
        coming = results.missing((experiment.method, epsilon, repeat) for repeat in range(experiment.repeats))
        sentence = "Measuring …" if coming else failed_runs.NO_ANSWER
        return shown | {"sentence": sentence, "tiles": [["…", ""]] * 4}
    low, middle, high = quantiles([scale.last(cell) for cell in cells])
    support = float(np.median([cell.support for cell in cells]))
    reference = results.measured(explorer.reference(results), epsilon)
    free = [scale.last(cell) for cell in reference]
    table = experiment.table
    row_noun = (table.row_noun if table else PATIENTS)[1]
    column_noun = (table.column_noun if table else MEASUREMENTS)[1]
    rows = "" if explorer.reference_reaches_truth(results) else f", on as many {column_noun},"
    without = f"; without privacy{rows} {text.error(quantiles(free)[1])}" if free else ""
    directions = text.count(experiment.k, "direction", "directions")
    hold = "holds" if experiment.k == 1 else "hold"
    quality = (
        f"captures a share of {text.error(middle)} of what the best {directions} {hold}"
        if scale.metric == "energy"
        else f"finds the {directions} with error {text.error(middle)}"
    )
    setting = f"privacy setting {epsilon:g}" if plain else f"ε = {text.number(epsilon)}"
    hospitals = text.count(experiment.providers, "hospital", "hospitals")
    sentence = (
        f"With {experiment.n:,} {row_noun} in {hospitals} at {setting}, {method.title} {quality}{without}; "
        f"guessing {text.short(scale.guess)}."
    )
    noise = cells[0].noise_std
    relative = text.percent(noise / float(results.truth.eigenvalues[experiment.k - 1]))
    strength = "of the weakest direction's strength"
    rows = [text.percent(support), f"{results.support_size:,} of {experiment.d:,} count"]
    if results.support_size >= experiment.d:
        rows = ["–", "every row is kept"]
    spread = f"{text.error(low)} to {text.error(high)} in 8 of 10 runs" if len(cells) > 2 else ""
    message = text.size(cells[0].bytes_sent)
    rounds = experiment.iterations if "iterations" in method.uses else 1
    return shown | {
        "sentence": sentence,
        "tiles": [
            [text.error(middle), spread],
            rows,
            [relative, strength] if plain else [text.short(noise), f"{relative} {strength}"],
            [message, f"in {text.count(rounds, 'round', 'rounds')}"],
        ],
    }


def _theorem(theorem: Bound, prediction: Bound, settings: Settings) -> str:
    """Return the badge: whether the paper's theorem applies, and if not why; empty where it was not asked."""
    if not theorem.why:
        return ""
    failed = [line.removeprefix("fails: ") for line in theorem.why if line.startswith("fails")]
    if settings["view"] == "board":
        return "" if not failed else "The paper's own guarantee does not reach this setting."
    if not failed:
        odds = theorem.quantities["probability"]
        return f"Theorem 4.3 applies (C1 = 1 assumed), with probability at least {text.short(odds)}."
    first = failed if settings["view"] == "researcher" else failed[:1]
    more = f" ({len(failed)} assumptions fail)" if len(first) < len(failed) else ""
    message = f"Theorem 4.3 says nothing here: it needs {'; '.join(first)}{more}."
    unpredicted = [line.removeprefix("fails: ") for line in prediction.why if line[:5] == "fails"]
    if unpredicted:
        message += f" The closed form is silent too: it needs {unpredicted[0]}."
    return message


def _notes(results: Results, epsilon: float, plain: bool) -> str:
    """Return what the marks on the methods mean, and the notes of most of a method's runs."""
    kinds = [METHODS[name].guarantee_at(results.experiment.k) for name in results.methods]
    marks = text.guarantee_notes(kinds, plain)
    sentences = [marks + "."] if marks else []
    for name in results.methods:
        cells = results.measured(name, epsilon)
        if not any(cell.notes for cell in cells):
            continue
        common = Counter(note for cell in cells for note in cell.notes)
        notes = [note for note, times in common.items() if 2 * times > len(cells)]
        notes = [note for note in notes if note not in text.GUARANTEES.values()]
        sentences += [f"{METHODS[name].title}: {note}." for note in notes]
    sentences += [f"{METHODS[name].title} is left out: {reason}." for name, reason in results.skipped.items()]
    return " ".join(sentences)


def printed_plainly(results: Results, epsilon: float) -> str:
    """Return the warnings of `printed` for a reader without symbols."""
    experiment = results.experiment
    sentences = []
    if experiment.accounting == "as-printed":
        given = text.short(true_epsilon(results, epsilon))
        truly = f"the setting that {METHODS[experiment.method].title} truly has is {given}"
        sentences.append(f"The noise is as the papers print it: {truly}, not {epsilon:g}.")
    if experiment.provider_noise == "shared" and experiment.providers > 1:
        sentences.append("Hospitals share one noise, as printed: two messages together reveal what it hides.")
    if experiment.failure == 0.5:
        sentences.append("Rows are scaled by the largest of them, as published, which itself is private.")
    return " ".join(sentences)


@lru_cache(maxsize=8192)
def _true_epsilon(name: str, budget: Budget, d: int, k: int, options: tuple[Any, ...]) -> float | None:
    """Return the epsilon that the calibration truly gives; it depends on neither patients nor hospitals."""
    return METHODS[name].true_epsilon(budget, d=d, k=k, **dict(options))


def true_epsilon(results: Results, epsilon: float) -> float:
    """Return the epsilon that the experiment's method truly gives: as printed it is not the one asked for."""
    true = _other_epsilon(results, epsilon, results.experiment.method)
    return epsilon if true is None else true


def _other_epsilon(results: Results, epsilon: float, name: str) -> float | None:
    """Return the epsilon that a method truly gives, None where that is the one asked for."""
    at = results.experiment
    true = _true_epsilon(name, at.budget(epsilon), at.d, at.k, tuple(at.options(name).items()))
    return None if true is None or abs(true / epsilon - 1) <= _SAME else true


def printed(results: Results, epsilon: float, names: Iterable[str]) -> str:
    """Return which of these methods are calibrated as printed, with the epsilon that they truly give."""
    experiment = results.experiment
    truly: dict[str, list[str]] = {}
    for name in names:
        true = _other_epsilon(results, epsilon, name)
        if true is not None:
            shown = text.short(true) if true >= 1e-3 else "below 0.001"
            truly.setdefault(shown, []).append(METHODS[name].title)
    sentences = [text.printed_truth(truly, experiment.budget(epsilon))] if truly else []
    if experiment.provider_noise == "shared" and experiment.providers > 1:
        sentences.append(
            "Shared noise: a server that sees two hospitals' messages can cancel the noise, so the "
            "guarantee holds for one message alone, not against the server."
        )
    if experiment.failure == 0.5:
        sentences.append("Scaling by the largest row looks at private rows; it is here to reproduce papers.")
    return " ".join(sentences)


def _legend(
    results: Results, plain: bool, scale: Scale, bounds: list[tuple[Bound, Bound]]
) -> list[tuple[str, str, str, str]]:
    """Return (label, colour, dash, kind) of what is drawn."""
    method, reference = results.experiment.method, explorer.reference(results)
    look, free = style.look(method), explorer.reference_look(results)
    items = [
        (f"{METHODS[method].title}, median", look.colour, "solid", "line"),
        (
            "8 of 10 runs" if plain else "10-90 % of runs",
            style.faded(look.colour, 0.3),
            "solid",
            "band",
        ),
        (METHODS[reference].title, free.colour, free.dash, "line"),
        ("random guess", style.GUESS, "dot", "line"),
    ]
    if scale.metric != "energy":
        if any(prediction.applies for _, prediction in bounds):
            items.insert(2, ("closed-form prediction", look.colour, "dash", "line"))
        if not plain and any(theorem.applies for theorem, _ in bounds):
            names = ("Theorem 4.3: sampling", "+ privacy", "+ optimisation")
            items += [
                (name, style.THEOREM[0], dash, "line")
                for name, dash in zip(names, style.THEOREM_DASHES, strict=True)
            ]
    return items
