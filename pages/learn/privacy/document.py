"""Describe the privacy page: what the best attacker learns, the role of delta and of rounds, and an audit."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from dppca_core.experiments.figure_tables import privacy as tables
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.learn.privacy.charts import accountings, attacker
from pages.learn.privacy.model import LEVEL, ROUNDS, Attack, Privacy
from pages.learn.privacy.sentences import accounting, attack, plain, promise_text
from pages.learn.privacy.settings import USED
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.document.blocks import (
    Blocks,
    Columns,
    Controls,
    Figure,
    Fold,
    Frame,
    Headline,
    Note,
    Notice,
    OnScreen,
    Section,
    Table,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.plain import phrases
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings.catalogue import CHOICES, Settings

_OF_ATTACK = ("attack.method", "attack.alarms", "attack.draws")
_ON_TELEPHONE = Controls("main settings", ("epsilon", "delta"), on_telephone=True)
_ROUNDS = "One budget, several rounds"
_KEPT = "Is the promise kept?"


def at(settings: Settings) -> Document:
    m = Privacy(settings)
    blocks, frame = (_plain, _plain_frame) if settings["view"] == "plain" else (_full, _frame)
    return Document(
        title=attack.TITLE,
        question=attack.INTRODUCTION,
        stem="dppca-privacy",
        blocks=partial(blocks, m),
        frame=partial(frame, m),
        steps=attack.STEPS,
    )


def _full(m: Privacy) -> Blocks:
    # Draw all releases before saying which have failed.
    tested, honest, broken = m.attack, m.honest, m.broken
    yield Headline(failed_runs.NO_ANSWER if tested is None else attack.headline(m.draws))
    yield _ON_TELEPHONE
    yield failed_runs.notice(m.draws.failed)
    if tested is None or honest is None:
        yield Controls("attack", _OF_ATTACK)
        return
    yield Fold(attack.THREE_ODDS, "three odds", lambda: [Text(attack.three_odds(tested, m.draws))])
    yield Section(attack.releases_title(m.budget))
    yield _releases(m)
    yield Text(attack.experiment(m.picture, m.budget))
    yield from _best_test(m, tested)
    yield from _failure(m, tested)
    yield from _rounds(m)
    yield Section(_KEPT)
    yield Controls("audit", ("audit.bug",))
    yield Notice(attack.no_bug(m.why_no_bug))
    verdict = attack.audited(honest, broken, m.bug or "", m.draws, tested.drawn)
    yield Text(verdict)
    bars = {"audit shows at least": honest.epsilon}
    if broken is not None:
        bars["with the mistake planted"] = broken.epsilon
    drawn = attacker.audits(m.attacked, m.draws.case.epsilon, bars)
    kinds = ("true",) if m.bug is None else ("true", m.bug)
    values = {"attacked": m.attacked, "kinds": kinds, "count": tested.drawn, "level": LEVEL}
    yield _figure("audit", drawn, _KEPT, verdict, FigureRecipe("privacy.audit", values))
    yield OnScreen((Text(attack.try_this()),))
    about = attack.PAPERS, attack.about(m.attacked.method), attack.FORMULAS
    yield sources.fold(m.settings, lambda: about, sources.LIMITS)


def _releases(m: Privacy) -> Figure:
    drawn, title = attacker.releases(m.picture), attack.releases_title(m.budget)
    recipe = FigureRecipe("privacy.releases", {"budget": m.budget, "seed": m.settings["seed"]})
    return Figure("releases figure", drawn, title, "dppca-releases", code=lambda: recipe)


def _figure(
    name: str, payload: dict[str, Any], title: str, says: str, recipe: FigureRecipe, **more: Any
) -> Figure:
    return Figure(
        name=f"{name} figure",
        payload=payload,
        title=title,
        stem=f"dppca-{name}",
        alt_text=says,
        code=lambda: recipe,
        **more,
    )


def _best_test(m: Privacy, tested: Attack) -> Blocks:
    yield Section("The attacker's best test")
    yield Controls("attack", _OF_ATTACK)
    chosen, measured = attack.chosen(tested, m.budget), attack.measured(tested)
    yield Text(chosen)
    values = {"attacked": m.attacked, "alarms": tested.alarms, "count": tested.drawn, "level": LEVEL}
    figure = partial(_figure, recipe=FigureRecipe("privacy.best_test", values), table=tested.readings)
    readings, errors = attacker.readings(tested, m.budget), attacker.errors(tested, m.attacked)
    left = figure("readings", readings, "What the attacker reads", chosen)
    right = figure("errors", errors, "The attacker's errors", f"{chosen} {measured}")
    yield Columns(((left,), (right,)))
    yield Text(measured)
    yield Note(attack.attacked(m.attacked.method, m.settings))


def _failure(m: Privacy, tested: Attack) -> Blocks:
    yield Section("What δ lets happen")
    words = accounting.failure(m.patients, m.budget)
    yield Text(words)
    deltas = [float(option) for option in CHOICES["delta"].options]
    values: dict[str, Any] = {"n": m.patients, "least": deltas[0], "most": deltas[-1]}
    drawn = accountings.published(tables.failure(**values), m.patients, m.budget.delta)
    title, recipe = "Patients whom the worst mechanism publishes", FigureRecipe("privacy.failure", values)
    yield _figure("failure", drawn, title, words, recipe)
    yield Note(accounting.beyond(tested, m.budget))


def _rounds(m: Privacy) -> Blocks:
    yield Section(_ROUNDS)
    costs = m.costs
    words = accounting.rounds(costs, m.budget)
    yield Text(words)
    values = {"budget": m.budget, "sensitivity": costs.sensitivity, "steps": costs.steps, "rounds": ROUNDS}

    def figure(quantity: str) -> Figure:
        drawn = accountings.against_rounds(costs, quantity)
        recipe = FigureRecipe("privacy.accounting", values | {"quantity": quantity})
        return _figure(quantity, drawn, _ROUNDS, words, recipe)

    yield Columns(tuple((figure(quantity),) for quantity in accounting.QUANTITIES))
    yield Table(accounting.charges(costs))
    yield Note(accounting.moves(costs, m.settings["k"]))


def _plain(m: Privacy) -> Blocks:
    yield Headline(plain.headline(m.draws))
    yield _ON_TELEPHONE
    yield _releases(m)
    yield Text(plain.releases(m.picture))
    yield Text(plain.failure(m.budget.delta))
    yield OnScreen((Text(plain.TRY_THIS),))
    yield sources.fold(m.settings, partial(_about, m), sources.LIMITS, phrases.FOLD)


def _about(m: Privacy) -> Iterator[str]:
    """Yield the fold's paragraphs; the attack is measured only once the fold is open."""
    yield f"The promise: {promise_text(m.budget)}."
    if m.attack is not None:
        yield attack.three_odds(m.attack, m.draws)
    yield attack.about(m.attacked.method)
    yield attack.PAPERS


def _frame(m: Privacy) -> Frame:
    return Frame(
        settings=settings_in_words(m.settings, (*USED, *_OF_ATTACK, "audit.bug")),
        promise=attack.guarantee(m.draws),
        limits=(text.large_delta(m.budget.delta, m.patients), attack.NOBODYS_DATA, sources.LIMITS),
        made=sources.made(m.settings["seed"]),
    )


def _plain_frame(m: Privacy) -> Frame:
    return Frame(
        settings=settings_in_words(m.settings, ("epsilon", "delta", "n")),
        promise=plain.headline(m.draws),
        limits=(phrases.delta_too_large(m.budget.delta, m.patients), attack.NOBODYS_DATA),
        made=sources.today(),
    )
