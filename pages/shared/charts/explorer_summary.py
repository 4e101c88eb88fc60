"""Form the text beside the front page's charts, for each epsilon: sentence, odds, figures, badges."""

from __future__ import annotations

import math
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from dppca_core.datasets import MEASUREMENTS, PATIENTS, TABLES
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.records import Bound
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.charts import explorer, explorer_text, style
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
    runs_here = len(results.measured(method, epsilon))
    with _LOCK:
        built = _BUILT.get(state)
    current = built is not None and measured == built["version"]
    if built is not None and missing and measured < _GROWN * built["version"]:
        current = current or runs_here == built["runs"][epsilon]
    if built is None or not current:
        mark = f"{zlib.crc32(repr(shown).encode()):08x}"
        runs = {at: len(results.measured(method, at)) for at in EPSILONS}
        built = _build(results, settings) | {"scene": mark, "version": measured, "runs": runs}
        built["measured"] = runs_measured
        with _LOCK:
            _BUILT[state] = built
            _BUILT.move_to_end(state)
            while len(_BUILT) > _KEPT:
                _BUILT.popitem(last=False)
    sent = {name: part for name, part in built.items() if name not in ("runs", "measured")}
    return sent | {
        "active": EPSILONS.index(epsilon),
        "ghost": settings["ghost"],
        "follow": "epsilon",
        "complete": not missing,
        "progress": f"{built['measured']:,} runs measured, more coming" if missing else "",
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
    measure = catalogue.CHOICES["metric"].text(settings["metric"])
    heaviest = results.support_size if isinstance(results.experiment.population, str) else None
    return explorer.explorer(results, settings, bounds) | {
        "plain": plain,
        "scrub": "Try other privacy settings" if plain else "Scrub ε",
        "tiles": explorer_text.tile_titles(measure, scale.metric == "energy", heaviest, plain),
        "words": [
            _words(results, at, settings, scale, *pair) for at, pair in zip(EPSILONS, bounds, strict=True)
        ],
        "legend": _legend(results, plain, scale, bounds),
    }


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
        sentence = text.MEASURING if coming else failed_runs.NO_ANSWER
        return shown | {"sentence": sentence, "tiles": [["…", ""]] * 4}
    low, middle, high = quantiles([scale.last(cell) for cell in cells])
    support = float(np.median([cell.support for cell in cells]))
    free = [scale.last(cell) for cell in results.measured(explorer.reference(results), epsilon)]
    table = TABLES.get(experiment.population)
    numbers = explorer_text.Headline(
        patients=experiment.n,
        rows=(table.row_noun if table else PATIENTS)[1],
        hospitals=experiment.providers,
        epsilon=epsilon,
        method=method.title,
        directions=experiment.k,
        value=middle,
        free=quantiles(free)[1] if free else None,
        columns=""
        if explorer.reference_reaches_truth(results)
        else (table.column_noun if table else MEASUREMENTS)[1],
        guess=scale.guess,
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
        "sentence": explorer_text.headline(numbers, scale.metric == "energy", plain),
        "tiles": [
            [text.error(middle), spread],
            rows,
            [relative, strength] if plain else [text.short(noise), f"{relative} {strength}"],
            [message, f"in {text.count(rounds, 'round', 'rounds')}"],
        ],
    }


def _theorem(theorem: Bound, prediction: Bound, settings: Settings) -> str:
    """Return the badge of the paper's theorem; empty where it was not asked."""
    if not theorem.why:
        return ""
    failed, unpredicted = (
        [line.removeprefix("fails: ") for line in bound.why if line.startswith("fails")]
        for bound in (theorem, prediction)
    )
    probability = theorem.quantities.get("probability", math.nan)
    return explorer_text.theorem(failed, unpredicted, probability, settings["view"])


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
    sentences = _printed_conditions(results, plain=True)
    if experiment.accounting == "as-printed":
        title, true = METHODS[experiment.method].title, true_epsilon(results, epsilon)
        sentences.insert(0, explorer_text.printed_noise(title, true, epsilon))
    return " ".join(sentences)


def _printed_conditions(results: Results, plain: bool) -> list[str]:
    experiment = results.experiment
    shared = experiment.provider_noise == "shared" and experiment.providers > 1
    return explorer_text.printed_conditions(shared, experiment.failure == 0.5, plain)


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
    truly: dict[str, list[str]] = {}
    for name in names:
        true = _other_epsilon(results, epsilon, name)
        if true is not None:
            shown = text.short(true) if true >= 1e-3 else "below 0.001"
            truly.setdefault(shown, []).append(METHODS[name].title)
    sentences = [text.printed_truth(truly, results.experiment.budget(epsilon))] if truly else []
    return " ".join([*sentences, *_printed_conditions(results, plain=False)])


def _legend(
    results: Results, plain: bool, scale: Scale, bounds: list[tuple[Bound, Bound]]
) -> list[tuple[str, str, str, str]]:
    """Return (label, colour, dash, kind) of what is drawn."""
    method, reference = results.experiment.method, explorer.reference(results)
    look, free = style.look(method), explorer.reference_look(results)
    items = [
        (f"{METHODS[method].title}, median", look.colour, "solid", "line"),
        ("8 of 10 runs" if plain else "10-90 % of runs", style.faded(look.colour, 0.3), "solid", "band"),
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
