"""Describe whether to join: the decision for a board; for researchers every protocol and what it sends."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from dppca_core.dossier.papers import archive, dossier
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.providers import charts
from pages.hospitals.providers.document import paper
from pages.hospitals.providers.model import compared as model
from pages.hospitals.providers.model import hospitals
from pages.hospitals.providers.model.decision import Decided, JoiningBoard
from pages.hospitals.providers.sentences import cases, compared, decision, surroundings
from pages.hospitals.providers.settings import USES
from pages.shared import text
from pages.shared.background import cache, failed_runs
from pages.shared.document.blocks import (
    Blocks,
    Columns,
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
    Save,
    Section,
    Table,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.plain import decisions, phrases, rows
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.scenes import typed_losses, typed_sizes

_STEM = "dppca-joining"


def at(settings: Settings, names: Sequence[str] = ()) -> Document:
    """Return the page at these settings, in the view that they name.

    names: what somebody called the hospitals, in their order, "" where nobody did.
    """
    board = JoiningBoard(settings, names)
    if settings["view"] == "plain":
        described = partial(_plain, board), partial(_plain_frame, board)
        introduction = decision.INTRODUCTION
    else:
        recipe, adjustments = model.to_setting(settings)
        described = partial(_full, board, recipe, adjustments), partial(_frame, board, recipe)
        introduction = surroundings.INTRODUCTION
    steps = () if settings["view"] == "plain" else surroundings.STEPS
    stem = _STEM if settings["view"] == "plain" or settings["join.panel"] == "gain" else "dppca-bytes"
    return Document(decision.TITLE, introduction, stem, *described, steps=steps, complete=board.complete)


def _main_settings(settings: Settings) -> Controls:
    """Return the main settings of a telephone, which has no sidebar, but for what the table decides."""
    plain = settings["view"] == "plain"
    shown = (
        *(() if plain and typed_losses(settings) else ("epsilon",)),
        *(() if typed_sizes(settings) else ("providers",)),
    )
    return Controls("main settings", shown, on_telephone=True)


def _plain(board: JoiningBoard) -> Blocks:
    yield OnScreen((Note(hospitals.note(board.settings)),))  # of the table above
    yield _main_settings(board.settings)
    yield Live("decision", partial(_decision, board), board.measuring)
    yield Section(decision.WHAT_IF)
    yield from _cases(board)
    yield from _papers(board)
    several = len(board.setting.hospitals) > 1
    yield OnScreen((Text(decision.TRY if several else decision.TRY_SEVERAL),))
    yield sources.fold(board.settings, partial(_about, board), sources.LIMITS, phrases.FOLD)


def _decision(board: JoiningBoard) -> Blocks:
    """Yield the verdict and what it rests on, as far as it is measured."""
    headline = decision.headline(board)
    yield failed_runs.notice(board.failed)
    yield Headline(headline)
    yield Text(decision.numbers(board))
    shares = board.bars()
    yield Figure(
        *("joining figure", rows.figure(shares), decision.TITLE, _STEM),
        says=f"{headline} {rows.description(shares)}",
        code=board.code,
    )
    yield Note(decisions.note(rows.begins(shares.rows), board.setting.repeats))
    yield Note(decision.progress(board))
    if board.decision is None or len(board.setting.hospitals) == 1:
        return
    yield Section(decision.BY_TRUST)
    yield Table(decision.by_trust(board))
    yield Note(decision.reading(board))
    yield Section(decision.BY_HOSPITAL)
    groups = board.groups()
    if groups is not None:
        yield Table(decision.by_hospital(board, groups))
        yield Note(decision.between(groups))
    yield Section(decision.TURNS)
    yield Text(decision.turns(board))


def _cases(board: JoiningBoard) -> Blocks:
    """Yield what may happen; what follows from runs is measured once its fold is open."""

    def cautious() -> Blocks:
        hospital, after = board.cautious
        yield Text(cases.cautious(board, hospital, after))
        yield _then("cautious", after)

    def leaves() -> Blocks:
        leaving = board.leaving
        if leaving is None:
            yield Text(cases.NOBODY_LEFT)
            return
        hospital, after = leaving
        yield Text(cases.leaves(board, hospital))
        yield _then("leaves", after)

    by_name: dict[str, Callable[[], Blocks]] = {
        **{"cautious": cautious, "leaves": leaves},
        "breached": lambda: [_listed(cases.BREACHED)],
        "cheats": lambda: [_listed(cases.CHEATS)],
        "colludes": lambda: [_listed(cases.colludes(board))],
        "withdraws": lambda: [_listed(cases.WITHDRAWS)],
    }
    for name, blocks in by_name.items():
        if len(board.setting.hospitals) > 1 or name == "withdraws":
            yield Fold(cases.TITLES[name], f"if {name}", blocks)


def _papers(board: JoiningBoard) -> Blocks:
    """Yield the page to sign and the dossier behind it, once there is a verdict on joining others."""
    if board.decision is None or len(board.setting.hospitals) == 1:
        return

    def signed() -> str:
        return paper.paper(board.agreement, sources.made(board.setting.seed)).html()

    def filled() -> bytes:
        return archive({**dossier(board.agreement), "paper.html": signed()})

    yield OnScreen((Section(decision.PAPERS), Text(decision.ABOUT_PAPERS)))
    yield Columns(
        (
            (Save("One page to sign (HTML)", "dppca-paper.html", signed, "text/html"),),
            (Save("The dossier behind it (ZIP)", "dppca-dossier.zip", filled, "application/zip"),),
        )
    )


def _then(name: str, after: Decided) -> Live:
    return Live(f"then {name}", lambda: [Text(cases.then(after))], after.measuring)


def _listed(lines: Iterable[str]) -> Text:
    return Text("\n".join(f"- {line}" for line in lines))


def _about(board: JoiningBoard) -> Iterable[str]:
    yield decision.how_decided(board)
    if board.decision is not None:
        yield decision.evidence_list(board)


def _full(board: JoiningBoard, recipe: CollaborationSetting, adjustments: Sequence[str]) -> Blocks:
    settings, results = board.settings, cache.collaboration_results(recipe)
    missing = partial(model.next_cell, results, settings)
    yield _main_settings(settings)
    yield Note("\n\n".join(adjustments))
    yield Live(
        "protocols",
        partial(_compared, results, settings),
        Measuring(results, missing, partial(model.first, results, settings)),
    )
    yield from _choices(results, settings)
    yield Section(surroundings.EVIDENCE)
    yield Live("evidence", partial(_evidence, board), board.measuring)
    yield OnScreen((Text(f"**Try this:** {surroundings.try_this(recipe, settings)}"),))
    experiment, epsilon = to_experiment.from_settings(settings)
    about = f"{compared.about(recipe)}\n\n{decision.how_decided(board)}"
    yield sources.of_results(cache.results(experiment), epsilon, settings, measured=about)


def _choices(results: CollaborationResults, settings: Settings) -> Blocks:
    """Yield the button that measures slow protocols or leaves them out, and what is compared."""
    if settings["all_methods"] and results.slow:
        seconds = sum(results.recipe.seconds(PROTOCOLS[key]) for key in results.slow)
        titles = [compared.title(PROTOCOLS[key], results.recipe) for key in results.slow]
        label, note = surroundings.slow(titles, seconds, settings["slow"])
        yield Controls("slow methods", (Press(label, "slow", not settings["slow"], note),))
    yield Controls("all_methods", ("all_methods", "join.trust", "join.rank"))


def _compared(results: CollaborationResults, settings: Settings) -> Blocks:
    """Yield the errors or the bytes of every protocol, with what has been measured so far."""
    recipe, grouped = results.recipe, model.rows(results, settings)
    # A cell begins with its protocol.
    yield failed_runs.notice(results.failed, lambda cell: compared.title(PROTOCOLS[cell[0]], recipe))
    if settings["join.panel"] == "gain":
        headline, numbers = compared.sentences(results, settings)
        notes, name = compared.notes(results, settings, grouped), "joining"
        figure, table_name = charts.gains(results, grouped, settings), "collaboration.gains"
    else:
        headline, numbers = compared.bytes_line(grouped, recipe), ""
        notes, name = compared.BYTES_NOTE, "bytes"
        figure, table_name = charts.sent(results, grouped, settings), "collaboration.sent"
    yield Headline(headline)
    if figure["data"][-1]["x"]:  # a figure without a row has no points, and is not shown
        yield Figure(
            *(f"{name} figure", figure, decision.TITLE, f"dppca-{name}"),
            says=f"{headline} {numbers}".strip(),
            table=results.table,
            code=lambda: FigureRecipe(table_name, {"setting": recipe}),
        )
    yield Text(numbers)
    if name == "bytes":
        yield Table(compared.table(results, settings), wide=True)
    yield Note(notes)


def _evidence(board: JoiningBoard) -> Blocks:
    """Yield the verdict of plain view, and the runs, methods and intervals behind it."""
    yield failed_runs.notice(board.failed)
    yield Text(f"{USES[board.setting.use]}: {decision.headline(board)} {decision.turns(board)}")
    yield Note(decision.progress(board))
    if board.decision is not None:
        yield Table(decision.evidence(board), wide=True)
        yield Note(surroundings.EVIDENCE_NOTE)


def _plain_frame(board: JoiningBoard) -> Frame:
    settings = board.settings
    members = ("Hospitals", decision.hospitals_in_words(board))
    shared = settings_in_words(settings, without=("epsilon", "n", "providers", "largest_share"))
    measuring = "" if board.decision is not None else text.MEASURING
    return Frame(
        settings=[members, ("What the pattern is for", USES[board.setting.use]), *shared],
        promise=text.odds(board.ours.epsilon, board.setting.delta),
        limits=(
            decision.likeness(board),
            decision.large_delta(board),
            *decision.LIMITS,
            decision.guess(board),
            measuring,
        ),
        made=sources.today(),
    )


def _frame(board: JoiningBoard, recipe: CollaborationSetting) -> Frame:
    settings = board.settings
    experiment, epsilon = model.to_experiment_of(settings)
    members = ("Hospitals", decision.hospitals_in_words(board))
    return Frame(
        settings=[members, *settings_in_words(settings, first=("join.panel", "join.trust", "join.rank"))],
        promise=text.odds(epsilon, experiment.delta),
        limits=(*sources.limits(experiment), *decision.LIMITS),
        made=sources.made(recipe.seed),
    )
