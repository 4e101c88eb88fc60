"""The front page as a report: what privacy costs at one setting."""

from __future__ import annotations

from typing import Any

from dppca_core.experiments.explorer.experiment import TRACED
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from pages.shared import text
from pages.shared.charts import explorer_summary, loadings
from pages.shared.reports import html_report, phrases, sources
from pages.shared.reports.html_report import Report, ReportFigure, ReportTable
from pages.shared.settings.catalogue import Settings

_KEYS = (
    *("data", "epsilon", "delta", "n", "providers", "largest_share", "d", "k", "s", "s_hat", "spike", "bulk"),
    *("iterations", "burn_in", "provider_noise", "neighbours", "accounting", "scaling", "start", "repeats"),
    *("metric", "seed"),
)
_FORMULAS = (
    "Algorithm: K_t = Σ_i (n_i/n)(Σ̂_i Q_t + G_i/n_i), G_i ~ N(0, σ²); Q_t+1 = qr(threshold_ŝ(qr(K_t))).",
    "Closed form after a burn-in: sin² ≈ k [(s−k) + (ŝ−s) f²] [(c σ/(n λ_k))² / (1−r²) + "
    "λ_k b / (n (λ_k−b)²)], c = √N, N or 1 by noise mode, f² the mean square of the noise rows that "
    "thresholding selects, r = b/λ_k.",
)


def build(found: Results, epsilon: float, settings: Settings, link: str) -> Report:
    """All that the page shows at this epsilon, as measured so far."""
    payload = explorer_summary.payload(found, epsilon, settings)
    words = payload["words"][payload["active"]]
    plain = settings["view"] == "board"
    tiles = [(label, *values) for label, values in zip(payload["tiles"], words["tiles"], strict=True)]
    return Report(
        title="What does privacy cost?",
        sentence=words["sentence"],
        settings=phrases.settings_in_words(settings, _KEYS),
        figures=_figures(found, epsilon, settings, payload),
        tables=[ReportTable(f"{METHODS[TRACED].title} in four numbers", ("", "", ""), tiles)],
        guarantee=_guarantee(found, epsilon, settings),
        limits=_limits(found, payload, settings),
        sources=[
            _measured(found, plain),
            *((*_formulas(found, epsilon, settings),) if settings["view"] == "researcher" else ()),
            *phrases.methods(found.methods, found.experiment.k, plain),
        ],
        link=link,
        made=html_report.made(found.experiment.seed),
    )


def _figures(
    found: Results, epsilon: float, settings: Settings, payload: dict[str, Any]
) -> list[ReportFigure]:
    words = payload["words"][payload["active"]]
    said = f"{words.get('spoken') or words['sentence']} {phrases.error_definition(settings)}"
    plain = settings["view"] == "board"
    drawn = [ReportFigure(payload, "The cost by round, by privacy setting and by method", said)]
    if (TRACED, epsilon, 0) in found.failed:
        return drawn
    estimate = found.estimate(TRACED, epsilon, 0)
    share = text.percent(found.cell(TRACED, epsilon, 0).support)
    title = "Weights of one release" if plain else "Loadings of one release, turned onto the true ones"
    rows = "measurements that matter most" if plain else "rows with the largest true loadings"
    kept = (
        "every row is kept."
        if found.support_size >= found.experiment.d
        else f"it kept {share} of the {found.support_size:,} {rows}."
    )
    said = f"Left the true {'weights' if plain else 'loadings'}, right those that one run found: {kept}"
    return [*drawn, ReportFigure(loadings.loadings(found, estimate.basis), title, said)]


def _guarantee(found: Results, epsilon: float, settings: Settings) -> str:
    """Of the method that is traced, at the epsilon that its calibration truly gives."""
    experiment, plain = found.experiment, settings["view"] == "board"
    method = METHODS[TRACED]
    odds = text.odds(explorer_summary.true_epsilon(found, epsilon), experiment.delta, experiment.neighbours)
    caution = (
        explorer_summary.printed_plainly(found, epsilon)
        if plain
        else explorer_summary.printed(found, epsilon, (TRACED,))
    )
    if plain:
        said = f"{odds} {text.margin(experiment.delta)}"
    else:
        rounds = text.count(experiment.iterations, "round", "rounds")
        said = (
            f"{method.title}, over all its {rounds} together, is asked for (ε, δ) = ({text.number(epsilon)}, "
            f"{text.number(experiment.delta)}); {text.RELATIONS[experiment.neighbours]}. {odds}"
        )
    return f"{said} {caution}".strip()


def _measured(found: Results, plain: bool) -> str:
    experiment = found.experiment
    if not plain or isinstance(experiment.population, str):
        return text.unmarked(sources.how_measured(found))
    return (
        f"Simulation, {text.count(experiment.repeats, 'run', 'runs')}, each with its own noise, on invented "
        f"patients like those of the paper behind {METHODS[TRACED].title}: a few equally strong patterns in "
        "some of the measurements, and background in all the others. The true patterns are known, since the "
        "patients are invented."
    )


def _limits(found: Results, payload: dict[str, Any], settings: Settings) -> list[str]:
    experiment, plain = found.experiment, settings["view"] == "board"
    words = payload["words"][payload["active"]]
    said = [words["theorem"], text.large_delta(experiment.delta, experiment.n, plain), words["notes"]]
    if isinstance(experiment.population, str):
        said.append("The errors are computed from the rows of the table without noise: they are not private.")
    else:
        said.append("The patients are simulated: data that differ from the settings above err otherwise.")
        if experiment.s_hat < settings["s"]:
            said.append(
                f"Of {settings['s']} measurements that matter only {experiment.s_hat} are kept: "
                "the rest is lost at any privacy."
            )
    if experiment.start_error is not None:
        said.append(
            f"{METHODS[TRACED].title} starts {text.number(experiment.start_error)} from the truth here, "
            "which nobody has outside a simulation."
        )
    if not payload["complete"]:
        said.append(f"Made while measuring went on: {payload['progress']}.")
    said.append(
        "Methods under 'No privacy' protect nobody. They are drawn to show what privacy costs the others."
    )
    said.append(sources.limits())
    return [one for one in said if one]


def _formulas(found: Results, epsilon: float, settings: Settings) -> tuple[str, ...]:
    return (
        *_FORMULAS,
        phrases.accounting(settings),
        text.unmarked(sources.constants(found, epsilon)),
    )
