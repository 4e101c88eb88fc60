"""Describe what a study needs: its patients, privacy or hospitals, in full and in plain view."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from dppca_core.experiments.planning.evaluations import EVALUATIONS
from dppca_core.records import Bound
from pages.hospitals.planner import charts
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.model.simulation import Simulated, slot, values_of
from pages.hospitals.planner.sentences import answer, methods, numbers, plain, protocol, surroundings
from pages.hospitals.planner.settings import PANEL
from pages.shared import text
from pages.shared.background import sessions
from pages.shared.document.blocks import (
    Blocks,
    Controls,
    Figure,
    Fold,
    Frame,
    Headline,
    Live,
    Measuring,
    Note,
    OnScreen,
    Press,
    Quote,
    Running,
    Section,
    Table,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.plain import phrases
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.of_pages import panel_keys

_STEM = "dppca-plan"
# A telephone has no sidebar.
_MAIN_SETTINGS = Controls("main settings", ("epsilon", "providers"), on_telephone=True)


def at(settings: Settings) -> Document:
    """Return the page at these settings, in the view that they name."""
    if settings["view"] == "plain":
        board = PlainPlanner(settings)
        return Document(
            surroundings.TITLE,
            plain.INTRODUCTION,
            _STEM,
            blocks=partial(_plain, board),
            frame=partial(_plain_frame, board),
            complete=board.complete,
        )
    simulated = Simulated(settings, sessions.visitor())
    return Document(
        surroundings.TITLE,
        surroundings.INTRODUCTION,
        _STEM,
        blocks=partial(_full, simulated),
        frame=lambda: _frame(simulated.now()),
        steps=surroundings.STEPS,
        complete=simulated.planner.complete,
    )


def _full(simulated: Simulated) -> Blocks:
    planner = simulated.planner
    yield _MAIN_SETTINGS
    yield Live("plan", partial(_answer, simulated), simulated.more)
    yield from _choices(planner)
    yield Live("plan by method", lambda: _by_method(simulated.now()), simulated.more)
    if (bound := planner.bound()) is not None:
        title = "Why the formula may be trusted here, or not"
        yield Fold(title, "plan assumptions", partial(_assumptions, planner, bound))
    yield OnScreen((Text(surroundings.try_this(planner)),))
    yield sources.fold(planner.settings, partial(surroundings.about, planner))


def _answer(simulated: Simulated) -> Blocks:
    planner = simulated.now()
    drawn = planner.drawn()
    headline, details = answer.headline(planner), answer.details(planner)
    yield Headline(headline)
    yield Figure(
        "plan figure",
        charts.figure(drawn, planner),
        title=surroundings.TITLE,
        stem=_STEM,
        alt_text=f"{headline} {details}".strip(),
        table=lambda: charts.table(planner),
        code=planner.code,
    )
    yield Text(details)
    yield Note(answer.floor(planner))
    yield Note(methods.below_chart(planner, drawn))
    yield from _simulation(simulated, planner)


def _simulation(simulated: Simulated, planner: Planner) -> Blocks:
    """Yield how far the simulation of the method in focus has come, or why there can be none."""
    job, simulation = simulated.job(planner.focus), planner.simulation
    if planner.search() is None:
        yield Note(answer.not_simulated(planner))
    elif simulation is None or not planner.is_simulated():
        yield Note("")
    elif job is None or job.state == "complete":
        failures = filter(None, job.table()["failed"] if job else ())
        yield Note(answer.simulated(planner, simulation, next(failures, "")))  # the first stands for all
    else:
        yield Running(job, slot(planner.focus))
        yield Note(answer.halving(len(values_of(job))))


def _choices(planner: Planner) -> Blocks:
    all_methods = "all_methods" if planner.settings["plan.trust"] == "any" else ""
    asked_for = planner.settings["plan.simulate"]
    label = answer.LEAVE_OUT if asked_for else answer.offer(planner)
    if label and (asked_for or not planner.is_simulated()):  # else it began by itself
        yield Controls("plan shown", (all_methods, Press(label, "plan.simulate", not asked_for)))
    elif all_methods:
        yield Controls("plan shown", (all_methods,))


def _by_method(planner: Planner) -> Blocks:
    yield Table(methods.table(planner))
    yield Note(methods.below_table(planner))
    yield Text(methods.recommended(planner))
    yield Section(surroundings.PARAGRAPH_TITLE)
    yield Quote(protocol.paragraph(planner))


def _assumptions(planner: Planner, bound: Bound) -> Blocks:
    yield from map(Text, surroundings.assumptions(planner, bound))
    yield Note(f"Source: {bound.source}.")


def _plain(planner: PlainPlanner) -> Blocks:
    measuring = Measuring(EVALUATIONS, planner.next_missing)
    yield _MAIN_SETTINGS
    yield Live("plain plan", partial(_by_trust, planner), measuring)
    if planner.asked == "patients":
        yield Section(plain.CAUTIOUS_TITLE)
    if planner.has_cautious:
        yield Controls("cautious", ("plan.cautious",))
    yield Live("plain paragraph", partial(_cautious, planner), measuring)
    yield sources.fold(planner.settings, partial(plain.about, planner), title=phrases.FOLD)


def _by_trust(planner: PlainPlanner) -> Blocks:
    rows = plain.lines(planner)
    yield Headline(plain.headline(planner))
    yield Figure(
        "plain plan figure",
        charts.by_trust(planner),
        title=surroundings.TITLE,
        stem=_STEM,
        alt_text=" ".join(rows),
        code=planner.code,
    )
    yield Text(_listed(rows))
    yield Note(answer.floor(planner))


def _cautious(planner: PlainPlanner) -> Blocks:
    if planner.asked == "patients":
        case, *rows = plain.cautious(planner) or [plain.NOT_CAUTIOUS]
        yield Text(f"{case}\n\n{_listed(rows)}")
    yield Section(surroundings.PARAGRAPH_TITLE)
    yield Quote(plain.paragraph(planner))


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _frame(planner: Planner) -> Frame:
    # The method that the page shows may be another than the chosen one, which may not be listed.
    shown = planner.settings | {"plan.way": planner.focus}
    size = ("plan.size",) if planner.asked == "hospitals" else ()
    asked = ("plan.asked", "plan.trust", "plan.way", "plan.tuned", *size)
    return Frame(
        settings=[("Target", numbers.goal(planner)), *_settings(shown, asked)],
        promise=protocol.guarantee(planner),
        limits=(
            text.large_delta(planner.settings["delta"], planner.n),
            surroundings.confirmed(planner),
            protocol.assumptions(planner),
            *protocol.LIMITS,
        ),
        made=sources.made(planner.settings["seed"]),
    )


def _plain_frame(planner: PlainPlanner) -> Frame:
    return Frame(
        settings=[("Target", f"To {plain.aim(planner)}"), *_settings(planner.settings)],
        promise=plain.guarantee(planner),
        limits=(
            phrases.delta_too_large(planner.settings["delta"], planner.n),
            plain.likeness(planner),
            *plain.LIMITS,
        ),
        made=sources.today(),
    )


def _settings(shown: Settings, asked: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the settings in words: those of the page, then those of all pages, without what has no effect."""
    keys = chain(asked, *panel_keys(plain=shown["view"] == "plain"))
    yield from settings_in_words(shown, [key for key in keys if key not in PANEL.decided])
