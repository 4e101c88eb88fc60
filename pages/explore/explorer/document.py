"""Describe the explorer: what privacy costs at these settings, in full and in plain view."""

from collections.abc import Iterator
from functools import partial

from dppca_core.experiments.estimated_seconds import run_seconds
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.methods import METHODS
from pages.explore.explorer import sentences
from pages.explore.explorer.model import Explorer, PlainExplorer
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.charts import loadings, unit
from pages.shared.document.blocks import (
    Blocks,
    Choose,
    Controls,
    Figure,
    Frame,
    Live,
    Note,
    OnScreen,
    Press,
    Section,
    Sets,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.plain import phrases, share_bars
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import CHOICES, RECOMMENDED, Settings


def at(settings: Settings) -> Document:
    if settings["view"] == "plain":
        return plain(PlainExplorer(settings))
    return full(Explorer(settings))


def full(m: Explorer) -> Document:
    why = sentences.why(m.experiment, m.epsilon, m.settings["trust"])
    return Document(
        title=sentences.TITLE,
        question=why,
        stem="dppca-explorer",
        blocks=partial(_full, m),
        frame=partial(_frame, m),
        steps=sentences.STEPS,
        switches=("view", "ghost", "loadings"),
        beside="first_panel",
    )


def plain(m: PlainExplorer) -> Document:
    return Document(
        title=sentences.TITLE,
        question=sentences.QUESTION,
        stem="dppca-explorer",
        blocks=partial(_plain, m),
        frame=partial(_plain_frame, m),
    )


def _full(m: Explorer) -> Blocks:
    yield Live("explorer", partial(_measured, m), m.measuring)
    selectable = (RECOMMENDED, *to_experiment.selectable(m.experiment, m.settings["trust"]))
    yield Controls("methods shown", ("all_methods", Choose("method", selectable)))
    if m.settings["all_methods"] and m.results.slow:
        yield _slow_methods(m)
    yield OnScreen((Text(sentences.try_this(m.experiment, m.settings)),))
    yield sources.of_results(m.results, m.epsilon, m.settings)


def _slow_methods(m: Explorer) -> Controls:
    sizes = m.experiment.d, m.experiment.k, m.experiment.providers
    seconds = sum(run_seconds(name, *sizes) for name in m.results.slow)
    titles = [METHODS[name].title for name in m.results.slow]
    label, note = sentences.slow(titles, seconds, m.settings["slow"])
    return Controls("slow methods", (Press(label, "slow", not m.settings["slow"], note),))


def _measured(m: Explorer) -> Blocks:
    yield _live_figure(m)
    yield Note(sentences.of_scaling(m.results, m.epsilon, m.settings["trust"]))
    yield Note(sentences.two_stages(m.results, m.epsilon, m.settings, m.shown))
    yield Note(sentences.NO_PRIVACY_IS)
    if m.settings["loadings"] and m.release in m.results.cells:
        drawn = loadings.loadings(m.results, m.results.estimate(*m.release).basis)
        release = {"experiment": m.experiment, "method": m.experiment.method, "epsilon": m.epsilon}
        yield Section(sentences.LOADINGS)
        yield Figure(
            name="loadings figure",
            payload=drawn,
            title=sentences.LOADINGS,
            stem="dppca-loadings",
            alt_text=loadings.description(drawn),
            code=lambda: FigureRecipe("explorer.loadings", release),
        )
        yield Note(sentences.loadings_found(m.results, m.epsilon))
    yield failed_runs.by_method(m.results)


def _live_figure(m: Explorer) -> Figure:
    experiment = m.experiment
    # `results.live_methods` are the methods fast enough to be measured live.
    others = tuple(name for name in m.results.live_methods if name in m.shown and name != experiment.method)
    panels = {"experiment": experiment, "epsilon": m.epsilon, "others": others, "metric": unit(m.settings)}
    return Figure(
        name="live",
        payload=m.payload(),
        title=sentences.TITLE,
        stem="dppca-explorer",
        table=m.results.table,
        code=lambda: FigureRecipe("explorer.panels", panels),
        recipe=lambda: to_experiment.over_epsilon(experiment, m.epsilon, (experiment.method,)),
        on_use=Sets("epsilon", EPSILONS),
        on_move=Sets("n", CHOICES["n"].options) if experiment.table is None else None,
        ahead=True,
    )


def _plain(m: PlainExplorer) -> Blocks:
    yield Live("explorer", lambda: [_live_figure(m)], m.measuring)
    tries = sentences.TRY if m.experiment.table is None else sentences.TRY_TABLE
    yield OnScreen((Text(tries),))
    yield sources.fold(m.settings, partial(_about, m), sources.LIMITS, phrases.FOLD)


def _about(m: PlainExplorer) -> Iterator[str]:
    yield share_bars.table(m.shares(), m.experiment.k)
    yield sources.how_measured(m.results)


def _frame(m: Explorer) -> Frame:
    payload, experiment = m.payload(), m.experiment
    limits = [*sources.limits(experiment)]
    if experiment.sparse:
        limits.append(sentences.features_lost(m.settings["s"], experiment.s_hat))
    if experiment.start_error is not None and experiment.method == DPS_PCA:
        limits.append(sentences.starts_near(experiment.start_error))
    if not payload["complete"]:
        limits.append(f"Made while measuring went on: {payload['progress']}.")
    return Frame(
        settings=settings_in_words(m.settings),
        promise=sentences.guarantee(m.results, m.epsilon),
        limits=(*limits, sentences.REFERENCE),
        made=sources.made(experiment.seed),
    )


def _plain_frame(m: PlainExplorer) -> Frame:
    experiment = m.experiment
    return Frame(
        settings=settings_in_words(m.settings),
        promise=text.odds(m.epsilon, experiment.delta),
        limits=(
            sentences.OTHER_PATIENTS if experiment.table is None else sentences.SHARES_NOT_PRIVATE,
            phrases.delta_too_large(experiment.delta, experiment.n),
            "" if m.payload()["complete"] else sentences.STILL_MEASURING,
            sentences.STUDY_TOOL,
        ),
        made=sources.today(),
    )
