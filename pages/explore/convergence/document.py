"""Describe the convergence page: the error after each round, for several values of one parameter."""

from functools import partial
from types import ModuleType

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.sweeps.iterate_table import by_round
from pages.explore.convergence import charts, sentences
from pages.explore.convergence.model import SLOT, Convergence
from pages.explore.convergence.sentences import rates, stages
from pages.explore.convergence.settings import PANEL
from pages.shared.charts import error_unit
from pages.shared.document.blocks import (
    Blocks,
    Controls,
    Figure,
    Frame,
    Headline,
    Live,
    Note,
    OnScreen,
    Running,
    Table,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings.catalogue import Settings


def at(settings: Settings) -> Document:
    m = Convergence(settings)
    return Document(
        title=sentences.TITLE,
        question=sentences.INTRODUCTION,
        stem="dppca-convergence",
        blocks=partial(_blocks, m),
        frame=partial(_frame, m),
        steps=sentences.STEPS,
    )


def _words(m: Convergence) -> ModuleType:
    return rates if m.has_rate else stages


def _blocks(m: Convergence) -> Blocks:
    words, settings = _words(m), m.settings
    yield Controls("family", ("family", "traced", "layout"))
    yield Note("\n\n".join(sentences.notes(m)))
    yield Controls("main settings", ("epsilon", "n"), on_telephone=True)
    yield Live("convergence", partial(_measured, m), lambda: m.job.running)
    yield OnScreen((Text(f"**Try this:** {words.try_this(settings)}"),))
    how = sources.how_measured(m.results, sentences.runs(settings))
    measured = f"{how}\n\n{words.derivation(settings)}"
    yield sources.of_results(m.results, settings["epsilon"], settings, measured=measured)


def _measured(m: Convergence) -> Blocks:
    words, settings, readings = _words(m), m.settings, m.readings(m.job.table())
    headline = words.headline(m, readings)
    drawn = {"recipe": m.recipe, "key": m.key, "k": settings["k"], "metric": error_unit(settings)}
    yield Headline(headline)
    yield Figure(
        name=f"{settings['layout']} figure",
        payload=charts.family_figure(m, readings),
        title=sentences.TITLE,
        stem="dppca-convergence",
        alt_text=headline,
        table=lambda: by_round(m.job.table()),
        code=lambda: FigureRecipe("sweeps.trajectories", drawn),
        recipe=lambda: m.recipe,
    )
    yield Running(m.job, SLOT, sentences.measured(m))
    yield Table(words.table(m, readings))
    yield Note(words.below_table(m, readings))


def _frame(m: Convergence) -> Frame:
    experiment = m.results.experiment
    return Frame(
        settings=settings_in_words(m.settings, first=("family", "traced"), without=PANEL.decided),
        promise="",
        limits=(*sources.limits(experiment), sentences.incomplete(m.job.progress)),
        made=sources.made(experiment.seed),
    )
