"""Describe whether to join: the decision for a board; for researchers every protocol and what it sends."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from dppca_core.dossier.papers import archive, dossier
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.site_experiment import SYNTHETIC
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.providers.charts import protocols as charts
from pages.hospitals.providers.document import differing, paper
from pages.hospitals.providers.model import by_mail as model_by_mail
from pages.hospitals.providers.model import compared as model
from pages.hospitals.providers.model import hospitals
from pages.hospitals.providers.model.decision import Decided, JoiningBoard
from pages.hospitals.providers.sentences import by_mail, cases, compared, decision, surroundings
from pages.hospitals.providers.sentences.differing import WHOSE
from pages.hospitals.providers.settings import USES, unused
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
    Interactive,
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
from pages.shared.plain import decisions, phrases, share_bars
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.scenes import ALIKE, differ, typed_losses, typed_sizes

_STEM = "dppca-joining"


def at(
    settings: Settings, names: Sequence[str] = (), plan_by_mail: Callable[[JoiningBoard], None] | None = None
) -> Document:
    """Return the page in the view that is set.

    names: what somebody called the hospitals, or "". plan_by_mail: asks on a screen for what a plan needs.
    """
    board = JoiningBoard(settings, names)
    of_board = partial(Document, decision.TITLE, decision.INTRODUCTION, _STEM, complete=board.complete)
    if settings["view"] == "plain":
        return of_board(partial(_plain, board, plan_by_mail), partial(_plain_frame, board))
    if differ(settings):
        return of_board(partial(_full_differing, board), partial(_frame_differing, board))
    recipe, adjustments = model.to_setting(settings)
    return Document(
        decision.TITLE,
        surroundings.INTRODUCTION,
        stem=_STEM if settings["join.panel"] == "gain" else "dppca-bytes",
        blocks=partial(_full, board, recipe, adjustments),
        frame=partial(_frame, board, recipe),
        steps=surroundings.STEPS,
        complete=board.complete,
    )


def _main_settings(settings: Settings) -> Controls:
    """Return the main settings of a telephone, which has no sidebar, but for what the table decides."""
    plain = settings["view"] == "plain"
    size = {ALIKE: "providers", SYNTHETIC: "n"}.get(settings["sites.data"])  # real hospitals are as they are
    shown = [] if plain and typed_losses(settings) else ["epsilon"]
    if size is not None and not typed_sizes(settings):
        shown.append(size)
    return Controls("main settings", tuple(shown), on_telephone=True)


def _plain(board: JoiningBoard, plan_by_mail: Callable[[JoiningBoard], None] | None) -> Blocks:
    yield OnScreen((Note(hospitals.note(board.settings)),))  # of the table above
    yield _main_settings(board.settings)
    yield Live("decision", partial(_decision, board), board.measuring)
    yield Section(decision.WHAT_IF)
    yield from _cases(board)
    yield from _papers(board)
    yield from _by_mail(board, plan_by_mail)
    yield OnScreen((Text(decision.try_this(board)),))
    yield sources.fold(board.settings, partial(_about, board), sources.LIMITS, phrases.FOLD)


def _answer(board: JoiningBoard) -> Blocks:
    yield failed_runs.notice(board.failed)
    yield Headline(decision.headline(board))
    yield Text(decision.numbers(board))
    yield Note(" ".join(WHOSE.get(board.settings["sites.data"], ())))


def _decision(board: JoiningBoard) -> Blocks:
    yield from _answer(board)
    headline, shares = decision.headline(board), board.bars()
    yield Figure(
        "joining figure",
        share_bars.figure(shares),
        title=decision.TITLE,
        stem=_STEM,
        alt_text=f"{headline} {share_bars.description(shares)}",
        code=board.code,
    )
    yield Note(decisions.note(share_bars.begins(shares.rows), board.repeats))
    yield Note(decision.progress(board))
    if board.decision is None or len(board.setting.hospitals) == 1:
        return
    yield Section(decision.BY_TRUST)
    yield Table(decision.by_trust(board))
    yield Note(decision.reading(board))
    yield from _by_hospital(board)
    yield Section(decision.TURNS)
    yield Text(decision.turns(board))


def _by_hospital(board: JoiningBoard) -> Blocks:
    yield Section(decision.BY_HOSPITAL)
    groups = board.groups()
    if groups is not None:
        yield Table(decision.by_hospital(board, groups))
        yield Note(decision.between(groups))


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
        "cautious": cautious,
        "leaves": leaves,
        "breached": lambda: [_listed(cases.BREACHED)],
        "cheats": lambda: [_listed(cases.cheats(board))],
        "colludes": lambda: [_listed(cases.colludes(board))],
        "withdraws": lambda: [_listed(cases.WITHDRAWS)],
    }
    for name, blocks in by_name.items():
        if len(board.setting.hospitals) > 1 or name == "withdraws":
            yield Fold(cases.TITLES[name], f"if {name}", blocks)


def _papers(board: JoiningBoard) -> Blocks:
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


def _by_mail(board: JoiningBoard, ask: Callable[[JoiningBoard], None] | None) -> Blocks:
    """Yield whether a study by mail is for these hospitals; where it is, `ask` makes its plan."""
    if board.decision is None or len(board.setting.hospitals) == 1:
        return
    if not model_by_mail.is_advised(board):
        yield OnScreen((Note(by_mail.why_not(board.decision.answer)),))
        return
    yield OnScreen((Text(by_mail.ADVISED), *(() if ask is None else (Interactive(partial(ask, board)),))))


def _then(name: str, after: Decided) -> Live:
    return Live(f"then {name}", lambda: [Text(cases.then(after))], after.measuring)


def _listed(lines: Iterable[str]) -> Text:
    return Text("\n".join(f"- {line}" for line in lines))


def _about(board: JoiningBoard) -> Iterable[str]:
    yield decision.how_decided(board)
    if board.decision is not None:
        yield decision.evidence_list(board)


def _full(board: JoiningBoard, recipe: CollaborationExperiment, adjustments: Sequence[str]) -> Blocks:
    settings, results = board.settings, cache.collaboration_results(recipe)
    missing = partial(model.next_cell, results, settings)
    yield _main_settings(settings)
    yield Note("\n\n".join(adjustments))
    yield Live("answer", partial(_answer, board), board.measuring)
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


def _full_differing(board: JoiningBoard) -> Blocks:
    shown = differing.view(board.settings)
    yield _main_settings(board.settings)
    yield Live("answer", partial(_answer, board), board.measuring)
    yield from differing.compared(shown)
    yield Section(surroundings.EVIDENCE)
    yield Live("evidence", partial(_evidence, board), board.measuring)
    yield OnScreen((Text(decision.try_this(board)),))
    yield differing.origins(shown, decision.how_decided(board))


def _choices(results: CollaborationResults, settings: Settings) -> Blocks:
    if settings["all_methods"] and results.slow:
        seconds = sum(results.recipe.seconds(PROTOCOLS[key]) for key in results.slow)
        titles = [compared.title(PROTOCOLS[key], results.recipe) for key in results.slow]
        label, note = surroundings.slow(titles, seconds, settings["slow"])
        yield Controls("slow methods", (Press(label, "slow", not settings["slow"], note),))
    yield Controls("all_methods", ("all_methods", "join.trust", "join.rank"))


def _compared(results: CollaborationResults, settings: Settings) -> Blocks:
    recipe, grouped = results.recipe, model.rows(results, settings)
    # A cell begins with its protocol.
    yield failed_runs.notice(results.failed, lambda cell: compared.title(PROTOCOLS[cell[0]], recipe))
    if settings["join.panel"] == "gain":
        finding = compared.numbers(results, settings)
        notes, name = compared.notes(results, settings, grouped), "joining"
        figure, table_name = charts.gains(results, grouped, settings), "collaboration.gains"
    else:
        finding = compared.bytes_line(grouped, recipe)
        notes, name = compared.BYTES_NOTE, "bytes"
        figure, table_name = charts.sent(results, grouped, settings), "collaboration.sent"
    if figure["data"][-1]["x"]:  # a figure without a row has no points, and is not shown
        yield Figure(
            f"{name} figure",
            figure,
            title=decision.TITLE,
            stem=f"dppca-{name}",
            alt_text=finding,
            table=results.table,
            code=lambda: FigureRecipe(table_name, {"setting": recipe}),
        )
    yield Text(finding)
    if name == "bytes":
        yield Table(compared.table(results, settings), wide=True)
    yield Note(notes)


def _evidence(board: JoiningBoard) -> Blocks:
    yield Text(decision.turns(board))
    yield Note(decision.progress(board))
    if board.decision is not None:
        yield Table(decision.evidence(board), wide=True)
        yield Note(f"{surroundings.EVIDENCE_NOTE} {decision.claimed(board)}".strip())
        if differ(board.settings):
            yield from _by_hospital(board)


def _plain_frame(board: JoiningBoard) -> Frame:
    settings = board.settings
    members = ("Hospitals", decision.hospitals_in_words(board))
    left_out = {"epsilon", "n", "providers", "largest_share", *(unused(settings) or ())} - {"trust"}
    shared = settings_in_words(settings, first=_of_the_population(settings), without=left_out)
    measuring = "" if board.decision is not None else text.MEASURING
    return Frame(
        settings=[members, ("What the pattern is for", USES[board.setting.use]), *shared],
        promise=text.odds(board.ours.epsilon, board.setting.delta),
        limits=(
            decision.likeness(board),
            *WHOSE.get(settings["sites.data"], ()),
            decision.large_delta(board),
            *decision.LIMITS,
            decision.guess(board),
            measuring,
        ),
        made=sources.today(),
    )


def _frame(board: JoiningBoard, recipe: CollaborationExperiment) -> Frame:
    settings = board.settings
    experiment, epsilon = model.to_experiment_of(settings)
    members = ("Hospitals", decision.hospitals_in_words(board))
    return Frame(
        settings=[members, *settings_in_words(settings, first=("join.panel", "join.trust", "join.rank"))],
        promise=text.odds(epsilon, experiment.delta),
        limits=(*sources.limits(experiment), *decision.LIMITS),
        made=sources.made(recipe.seed),
    )


def _frame_differing(board: JoiningBoard) -> Frame:
    settings, delta = board.settings, board.setting.delta
    members = ("Hospitals", decision.hospitals_in_words(board))
    compared = ("sites.method", "sites.kind", "sites.share", "sites.against")
    shown = settings_in_words(
        settings | {"sites.kind": differing.view(settings).kind},
        first=(*_of_the_population(settings), *compared),
        without=unused(settings) or (),
    )
    return Frame(
        settings=[members, *shown],
        promise=text.odds(settings["epsilon"], delta),
        limits=(
            decision.likeness(board),
            *WHOSE[settings["sites.data"]],
            text.large_delta(delta, board.setting.n),
            *decision.LIMITS,
            sources.LIMITS,
        ),
        made=sources.made(board.setting.seed),
    )


def _of_the_population(settings: Settings) -> tuple[str, ...]:
    """Return the settings of hospitals that differ: none where they are alike."""
    simulated = {SYNTHETIC: ("sites.strength", "sites.differ")}
    return ("sites.data", *simulated.get(settings["sites.data"], ())) if differ(settings) else ()
