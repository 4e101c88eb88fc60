"""Form the text beside the front page's charts at one epsilon: sentence, odds, figures, badges."""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dppca_core.datasets import PATIENTS
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.explorer.strength import strength
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.verdicts import costs_nothing
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.charts import Scale, unit
from pages.shared.charts.explorer import BoundPair
from pages.shared.settings.catalogue import CHOICES, Settings

_TOLERANCE = 0.01  # a true epsilon within this share of the nominal one counts as equal


def words(
    results: Results, epsilon: float, scale: Scale, bounds: BoundPair, beside: Collection[str]
) -> dict[str, Any]:
    experiment = results.experiment
    cells = results.measured(experiment.method, epsilon)
    drawn = [name for name in (*results.live_methods, *results.slow) if name in beside]  # live ones first
    always = {
        "epsilon": text.number(epsilon),
        "odds": text.odds(true_epsilon(results, epsilon), experiment.delta),
        "theorem": _theorem(bounds),
        "notes": _notes(results, epsilon, beside),
        "printed": printed(results, epsilon, drawn),
    }
    if not cells:
        coming = results.missing((experiment.method, epsilon, repeat) for repeat in range(experiment.repeats))
        sentence = text.MEASURING if coming else failed_runs.NO_ANSWER
        return always | {"sentence": sentence, "tiles": [["…", ""]] * 4}
    low, middle, high = quantiles([scale.final_error(cell) for cell in cells])
    support = float(np.median([cell.support for cell in cells]))
    noise = cells[0].noise_std
    relative = text.percent(noise / strength(results))
    of_weakest = "of the weakest direction's strength"
    features = [text.percent(support), f"{results.support_size:,} of {experiment.d:,} count"]
    if results.support_size >= experiment.d:
        features = ["–", "every row is kept"]
    spread = f"{scale.text(low)} to {scale.text(high)} in 8 of 10 runs" if len(cells) > 2 else ""
    rounds = max(len(cells[0].sin) - 1, 1)  # a method of several rounds is measured at its start too
    return always | {
        "sentence": _sentence(results, epsilon, middle, scale),
        "tiles": [
            [scale.text(middle), spread],
            features,
            [text.short(noise), f"{relative} {of_weakest}"],
            [text.size(cells[0].bytes_sent), f"in {text.count(rounds, 'round', 'rounds')}"],
        ],
    }


def _sentence(results: Results, epsilon: float, middle: float, scale: Scale) -> str:
    experiment, table = results.experiment, results.experiment.table
    rows = (table.row_noun if table else PATIENTS)[1]  # the noun's plural
    hospitals = text.count(experiment.providers, "hospital", "hospitals")
    method = METHODS[experiment.method]
    directions, value = text.count(experiment.k, "direction", "directions"), scale.text(middle)
    hold = "holds" if experiment.k == 1 else "hold"
    quality = {
        "energy": f"captures a share of {value} of what the best {directions} {hold}",
        "share": f"recovers {value} of the pattern of {directions}",
        "degrees": f"finds the {directions} within {value}",
    }.get(scale.metric, f"finds the {directions} with error {value}")
    free, cells = "", results.measured(NO_PRIVACY, epsilon)
    if cells:
        spread = quantiles([scale.final_error(cell) for cell in cells])
        same = costs_nothing(middle, spread, scale.more_is_better)
        free = f" {text.NO_COST}" if same else f" Without privacy it is {scale.text(float(spread[1]))}."
    return (
        f"With {experiment.n:,} {rows} in {hospitals} at ε = {text.number(epsilon)}, "
        f"{method.title} {quality}.{free} A random guess has {scale.text(scale.guess)}."
    )


def tile_titles(results: Results, settings: Settings) -> list[str]:
    """Name the tiles; where no loading is zero the heaviest features count as true."""
    titles = {"energy": "Captured energy", "share": "Pattern recovered", "degrees": "Largest angle"}
    metric = unit(settings)
    first = titles.get(metric, f"Error, {CHOICES['metric'].text(settings['metric'])}")
    sparse = results.experiment.sparse
    rows = "true features found" if sparse else f"heaviest {results.support_size} features found"
    return [first, f"Share of the {rows}", "Noise σ per entry", "Each hospital sends"]


def _theorem(bounds: BoundPair) -> str:
    theorem, failed, unpredicted = bounds[0], bounds[0].failed, bounds[1].failed  # assumptions that fail
    if not theorem.why:
        return ""
    if not failed:
        probability = text.short(theorem.quantities.get("probability", math.nan))
        return f"Theorem 4.3 applies (C1 = 1 assumed), with probability at least {probability}."
    more = f" ({len(failed)} assumptions fail)" if len(failed) > 1 else ""
    closed = f" Nor does the closed form: {unpredicted[0]}." if unpredicted else ""
    return f"Theorem 4.3 says nothing here: {failed[0]}{more}.{closed}"


def _notes(results: Results, epsilon: float, beside: Collection[str]) -> str:
    names = [name for name in results.methods if name in beside]
    kinds = {METHODS[name].title: METHODS[name].guarantee_at(results.experiment.k) for name in names}
    sentences = [text.guarantee_notes(kinds)] if text.guarantee_notes(kinds) else []
    for name in names:
        cells = results.measured(name, epsilon)
        common = Counter(note for cell in cells for note in cell.notes)
        sentences += [
            f"{METHODS[name].title}: {note}."
            for note, times in common.items()  # of more than half of the runs, and not on the guarantee
            if 2 * times > len(cells) and note not in text.GUARANTEES.values()
        ]
    skipped = {METHODS[name].title: reason for name, reason in results.skipped.items() if name in beside}
    for reason, titles in text.names_by_value(skipped).items():
        verb = "is" if len(titles) == 1 else "are"
        sentences.append(f"{text.listed(titles)} {verb} left out: {reason}.")
    if results.experiment.choose_rows:
        sentences.append(
            f"Two-stage methods choose from their own release how many features to keep; "
            f"all other methods keep all {results.experiment.d:,}."
        )
    return " ".join(sentences)


@lru_cache(maxsize=8192)
def _true_epsilon(name: str, budget: Budget, d: int, k: int, options: tuple[Any, ...]) -> float | None:
    """Return the epsilon that a method's noise truly gives, None without privacy; options: (name, value)."""
    return METHODS[name].true_epsilon(budget, d=d, k=k, **dict(options))


def other_epsilon(experiment: ExplorerExperiment, name: str, epsilon: float) -> float | None:
    """Return the epsilon that a method truly gives, None where that is the one asked for."""
    options, budget = tuple(experiment.options(name).items()), experiment.budget(epsilon)
    true = _true_epsilon(name, budget, experiment.d, experiment.k, options)
    # Where releasing means and scales takes a part of epsilon, `budget.epsilon` is what it leaves the method.
    return None if true is None or abs(true / budget.epsilon - 1) <= _TOLERANCE else true


def true_epsilon(results: Results, epsilon: float) -> float:
    """Return the epsilon that the experiment's method truly gives: as printed it is not the one asked for."""
    return other_epsilon(results.experiment, results.experiment.method, epsilon) or epsilon


def printed(results: Results, epsilon: float, names: Iterable[str]) -> str:
    """Return which of these methods have the noise of their papers, and what else protects less."""
    experiment, sentences = results.experiment, []
    by_title = {METHODS[name].title: other_epsilon(experiment, name, epsilon) for name in names}
    true = {title: value for title, value in by_title.items() if value is not None}
    in_words = {title: text.short(value) if value >= 1e-3 else "below 0.001" for title, value in true.items()}
    if in_words:
        budget = replace(experiment.budget(epsilon), epsilon=epsilon)
        sentences.append(text.printed_truth(text.names_by_value(in_words), budget))
    if experiment.provider_noise == "shared" and experiment.providers > 1:
        sentences.append(
            "Shared noise: a server that sees two hospitals' messages can cancel it. The guarantee holds "
            "for one message alone, not against the server."
        )
    if experiment.failure == 0.5:  # the setting that stands for scaling by the largest row
        sentences.append("Scaling by the largest row reads private rows. Use it only to reproduce papers.")
    return " ".join(sentences)
