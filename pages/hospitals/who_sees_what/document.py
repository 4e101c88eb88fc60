"""Describe a run message by message: its rounds, what the server sees of a hospital, and two who compare."""

from functools import partial
from itertools import chain

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.federated.exchange import ALL
from pages.hospitals.who_sees_what import sentences
from pages.hospitals.who_sees_what.charts import messages as message_charts
from pages.hospitals.who_sees_what.charts import network
from pages.hospitals.who_sees_what.model import (
    Messages,
    NoRunError,
    brief,
    differences,
    name,
    table,
)
from pages.hospitals.who_sees_what.sentences import messages, rounds
from pages.hospitals.who_sees_what.settings import PANEL
from pages.shared import text
from pages.shared.background import cache
from pages.shared.document.blocks import (
    Blocks,
    Choose,
    Controls,
    Figure,
    Frame,
    Note,
    Notice,
    OnScreen,
    Quote,
    Sets,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.of_pages import panel_keys


def at(settings: Settings) -> Document:
    return showing(Messages(settings))


def showing(m: Messages) -> Document:
    return Document(
        sentences.TITLE,
        sentences.INTRODUCTION,
        "dppca-who-sees-what",
        blocks=partial(_blocks, m),
        frame=partial(_frame, m),
        steps=sentences.STEPS,
    )


def _blocks(m: Messages) -> Blocks:
    if not m.simulated:
        yield Note(sentences.SLIDERS_DO_NOT_MOVE_IT)
    if m.why_none is None:
        yield from _run(m)
    else:  # no Markdown: the reason may quote an uploaded file
        yield Quote(m.why_none) if m.why_none else Note(sentences.UPLOAD_A_RECORD)
    yield OnScreen((Text(sentences.try_this(m)),))
    results = cache.results(m.experiment)
    yield sources.of_results(results, m.epsilon, m.settings, measured=sentences.ABOUT)


def _run(m: Messages) -> Blocks:
    panels = {"rounds": _rounds, "sees": _message, "pair": _pair}
    try:
        yield from panels[m.settings["sees.panel"]](m)
    except NoRunError as reason:
        if str(reason):
            yield Notice(str(reason))
    except (ArithmeticError, TypeError, ValueError, MemoryError):
        # An uploaded record may be valid and still hold numbers that nothing can draw; any other run is ours,
        # so its failure is a bug and is raised.
        if m.recorded is None or m.recorded.stored:
            raise
        yield Notice(sentences.CANNOT_BE_DRAWN)


def _rounds(m: Messages) -> Blocks:
    run = m.run()
    yield Text(rounds.headline(run, m.settings))
    recipe = _recipe(m, "rounds")
    if m.recorded and m.recorded.stored:
        recipe = FigureRecipe("collaboration.stored", {"name": m.recorded.stored})
    yield Figure(
        "ring figure",
        network.figure(run, m.settings),
        title="Round by round",
        stem="dppca-rounds",
        table=lambda: table(m.run()),
        code=(lambda: recipe) if recipe else None,
        on_use=Sets("join.round", tuple(number for number, _answering in network.steps(run))),
    )
    if run.record.ended:
        yield Quote(brief(run.record.ended))
    yield Note(rounds.below_figure(run))


def _message(m: Messages) -> Blocks:
    run, hospital = m.run(), ALL
    if run.sealed:
        yield Note(messages.MASKED)
    else:
        count = run.record.plan.hospitals
        hospital = m.hospital("join.hospital", count)
        yield Controls("hospital", (_choose("join.hospital", count, hospital),))
    # Only a simulated run is surely of the page's table, so only its features can be named.
    named = TABLES.get(m.settings["data"]) if m.recorded is None else None
    drawn = message_charts.message(run, hospital, m.settings, named.features if named else ())
    recipe = _recipe(m, "message", hospital=hospital)
    yield Figure(
        "sees figure",
        drawn,
        title="What the server sees",
        stem="dppca-message",
        table=lambda: table(m.run()),
        code=(lambda: recipe) if recipe else None,
        on_use=_sets_round(run),
    )
    yield Note(messages.message_note(run, message_charts.MOST_ROWS))


def _pair(m: Messages) -> Blocks:
    count = len(m.recipe.sizes)
    if count < 2:
        yield Notice(sentences.NOBODY_TO_COMPARE)
        return
    first, second = (m.hospital(key, count) for key in ("join.hospital", "join.other"))
    boxes = (("join.hospital", first), ("join.other", second))
    yield Controls("hospitals", tuple(_choose(key, count, hospital) for key, hospital in boxes))
    if first == second:
        second = (first + 1) % count
        yield Note(messages.alone(second))
    shared, independent = (m.simulate(key) for key in m.simulated)
    drawn = message_charts.pair(shared, independent, first, second, m.settings)
    recipe = FigureRecipe("collaboration.pair", {"setting": m.recipe, "first": first, "second": second})
    yield Figure(
        "pair figure",
        drawn,
        title="Two messages together",
        stem="dppca-pair",
        table=lambda: differences(m, first, second),
        code=lambda: recipe,
        on_use=_sets_round(shared),
    )
    yield Text(messages.below_pair(name(shared, first), name(shared, second)))


def _recipe(m: Messages, figure: str, **values: int) -> FigureRecipe | None:
    """Return what gives the numbers of a simulated run's figure; None for a run that took place."""
    if m.recorded is not None:
        return None
    simulated = {"setting": m.recipe, "protocol": m.settings["join.way"]}
    return FigureRecipe(f"collaboration.{figure}", simulated | values)


def _choose(key: str, count: int, hospital: int) -> Choose:
    return Choose(key, tuple(range(1, count + 1)), hospital + 1)


def _sets_round(run: Transcript) -> Sets:
    return Sets("join.round", tuple(round_.number for round_ in run.record.rounds))


def _frame(m: Messages) -> Frame:
    plan = m.recorded.run.record.plan if m.recorded else None
    budget, n = (plan.budget, sum(plan.sizes)) if plan else (m.recipe.budget, m.recipe.n)
    keys = [key for key in chain(*panel_keys(plain=False)) if key not in PANEL.decided]
    if m.settings["sees.panel"] != "pair":
        keys.append("join.way")
    return Frame(
        settings=sentences.of_plan(plan) if plan else settings_in_words(m.settings, keys),
        promise=sentences.promise(budget) if m.why_none is None else "",
        limits=(
            text.large_delta(budget.delta, n),
            sentences.SHARED_NOISE if "dps_pca shared" in m.simulated else "",
            sentences.AS_RECORDED if plan else "",
            sources.LIMITS,
        ),
        made=sources.today() if plan else sources.made(m.settings["seed"]),
    )
