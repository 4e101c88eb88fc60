"""Compare all numbers that pages show of the same thing, at random settings of the sliders.

    python -m benchmarks.one_number [--seed 0] [--settings 60]

Numbers are read from the sentences and tables of the pages' own functions, after all runs have ended. Pages
disagree where their texts differ, but that Plain view writes no share above 99.99 % in full. *Differences*
and *Your data* have patients of their own, so that only the two views of the former are compared. The
decision of *Providers* has 40 runs, so that of it only what is not measured is compared.

Printed is each disagreement with the link that opens its setting, and then a line for each thing, with the
pages that show it. Also printed is where more trust is predicted to err more, or measured to do so beyond the
95 % intervals of both medians.
"""

import argparse
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments import Axis, sweep
from dppca_core.experiments.collaboration.experiment import ALL
from dppca_core.experiments.collaboration.protocols import ALONE
from dppca_core.experiments.decision.decision import JoiningDecision
from dppca_core.experiments.decision.rule import median_interval
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.planning.evaluations import EVALUATIONS
from dppca_core.experiments.planning.planning import PLANNED_METHODS, StudyPlan
from dppca_core.experiments.sweeps import of_experiment
from dppca_core.experiments.sweeps.blas import use_one_thread
from dppca_core.methods import METHODS
from dppca_core.records import RELEASED
from pages.explore.explorer import sentences
from pages.explore.explorer.model import Explorer, PlainExplorer
from pages.explore.methods.model.measure import ComparisonMeasure, spreads
from pages.explore.methods.sentences import notes as methods_notes
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences import methods as planner_methods
from pages.hospitals.planner.sentences.numbers import number
from pages.hospitals.planner.settings import ERRORS
from pages.hospitals.providers import document as providers_document
from pages.hospitals.providers.model import compared as providers_view
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.hospitals.providers.sentences import compared as providers_sentences
from pages.hospitals.providers.sentences import decision as providers_decision
from pages.learn.privacy.model import Privacy
from pages.learn.privacy.sentences import attack as privacy_sentences
from pages.learn.privacy.sentences import plain as privacy_in_plain
from pages.learn.story.model import ALONE as LONE
from pages.learn.story.model import Story, under
from pages.learn.story.sentences import steps as story_steps
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts import Scale, explorer
from pages.shared.charts import explorer_text as chart_text
from pages.shared.plain import phrases, share_bars
from pages.shared.settings import catalogue, to_experiment
from pages.shared.settings.catalogue import CHOICES, Settings

NONE, NO_NUMBER = "none, near a guess", "no number"
JOIN, ALONE_IS_BETTER, NO_DIFFERENCE, NEITHER = "joining helps", "worse", "no difference", "neither helps"
_METRICS = {"share": "share recovered", "sin": "error"}
_DRAWN = {  # what is drawn, with the least and the most of it
    "epsilon": (0.1, 10.0),
    "delta": (1e-8, 1e-3),
    "n": (200, 1_000_000),
    "providers": (1, 75),
    "d": (10, 300),
    "k": (1, 6),
    "s": (2, 60),
    "s_hat": (2, 100),
    "spike": (20.0, 100.0),
    "bulk": (1.0, 50.0),
    "largest_share": (0.0, 0.7),
    "seed": (0, 99),
}


class Shown(NamedTuple):
    """Hold what a page shows of a thing, in words; case: under which trust, or of which hospital."""

    thing: str
    page: str
    words: str
    case: str = ""


def random_settings(seed: int, index: int) -> Settings:
    rng = np.random.default_rng([seed, index])
    drawn: Settings = {}
    for key, (least, most) in _DRAWN.items():
        drawn[key] = rng.choice([each for each in CHOICES[key].numbers if least <= each <= most]).item()
    drawn |= {"trust": str(rng.choice(TRUSTS)), "plan.target": rng.choice(ERRORS[3:9]).item()}
    if rng.random() < 0.15:
        drawn["s_hat"] = RELEASED
    return catalogue.reconcile(catalogue.defaults_with(drawn), tuple(drawn))[0]


def explorer_full(settings: Settings) -> Iterator[Shown]:
    page = "explorer, Full"
    for trust in TRUSTS:
        opened = settings | {"trust": trust, "method": catalogue.RECOMMENDED}
        for metric, thing in _METRICS.items():
            view = Explorer(opened | {"metric": metric})
            results, epsilon = view.results, view.epsilon
            names = (view.experiment.method, NO_PRIVACY)
            results.try_cells((name, epsilon, r) for name in names for r in range(results.repeats_of(name)))
            bounds = explorer.bounds_at(results, epsilon, theorem=False)
            said = chart_text.words(results, epsilon, Scale(results, view.settings), bounds, names)
            value = found(r"(?:recovers|with error) (.+?)(?: of the pattern|\. )", said["sentence"])
            yield Shown(thing, page, value, trust)
            yield Shown(f"{thing}, guess", page, found(r"A random guess has (.+)\.$", said["sentence"]))
            if "Without privacy it is" in said["sentence"]:  # else it has no measurable cost
                free = found(r"Without privacy it is (.+?)\. A", said["sentence"])
                yield Shown(f"{thing}, no privacy", page, free)
            if metric == "share":
                spread = said["tiles"][0][1].removesuffix(" in 8 of 10 runs").replace(" %", "")
                yield Shown("share recovered, 8 of 10 runs", page, spread, trust)
        yield Shown("attacker, at most", page, said["odds"])
        title = METHODS[view.experiment.method].title
        assert title in said["sentence"]
        why = sentences.why(view.experiment, epsilon, trust)
        yield Shown("method measured", page, title, trust)
        yield Shown("method recommended", page, NONE if "near a guess" in why else title, trust)


def explorer_in_plain(settings: Settings) -> Iterator[Shown]:
    page, trust = "explorer, Plain", settings["trust"]
    view = PlainExplorer(settings | {"view": "plain"})
    results = view.results
    results.try_cells((name, view.epsilon, r) for name in view.shown for r in range(results.repeats_of(name)))
    shares = share_bars.shares(results, view.epsilon, trust, view.shown)
    yield from of_rows(page, shares, view.experiment.k)
    sentence = sentences.headline(results, shares, trust)
    yield Shown("share recovered", page, found(r"recovers? (.+?) of the pattern", sentence), trust)
    yield Shown("attacker, at most", page, text.odds(view.epsilon, view.experiment.delta))


def of_rows(page: str, shares: share_bars.Shares, k: int) -> Iterator[Shown]:
    described, folded = share_bars.description(shares), share_bars.table(shares, k)
    for row in shares.rows:
        if row.trust:
            shown = found(rf"{re.escape(row.label)}: (.+?)[;.] ", described)
            yield Shown("share recovered", page, shown, row.trust)
            line = found(rf"\| {re.escape(row.label)} \| (.+) \|", folded).split(" | ")
            yield Shown("method measured", page, line[0], row.trust)
            if row.reach:  # it is left out where both ends read alike
                spread = row.reach.strip(" ()%")
                yield Shown("share recovered, 8 of 10 runs", page, spread, row.trust)
    if text.NO_COST not in described:  # else the number stands nowhere
        yield Shown("share recovered, no privacy", page, found(r"No privacy: (.+?)\. A", described))
    yield Shown("share recovered, guess", page, found(r"A random guess would score (.+?)\.$", described))


def story(settings: Settings) -> Iterator[Shown]:
    """Return the numbers of the story's steps 4, 7 and 8."""
    page = "story"
    shown_story = Story(settings | {"view": "plain"}, (8,))
    while shown_story.decision is None:
        shown_story.try_cell(*shown_story.next_missing())
    together = {trust: shown_story.here.median(under(trust)) for trust in TRUSTS}
    yield from of_decision(page, shown_story.decision, shown_story.here.median(LONE), together)
    for trust in TRUSTS:
        yield Shown(
            "method measured", page, METHODS[shown_story.here.cells.runs.plan(trust).method].title, trust
        )
    yield Shown(
        "share recovered, guess", page, found(r"would score (.+?)\.$", story_steps.a_guess(shown_story))
    )
    yield Shown("attacker, of 40", page, luck(story_steps.attack(shown_story).sentences))
    yield Shown("attacker, at most", page, story_steps.promise(shown_story))


def of_decision(
    page: str, decision: JoiningDecision, alone: float, together: Mapping[str, float]
) -> Iterator[Shown]:
    """Return the verdict and the shares of 40 runs on which it rests, those together by trust."""
    yield Shown("verdict", page, decision.answer)
    yield Shown("share recovered alone, 40 runs", page, phrases.percent(alone))
    for trust, share in together.items():
        yield Shown("share recovered, 40 runs", page, phrases.percent(share), trust)


def providers_full(settings: Settings) -> Iterator[Shown]:
    page = "providers, Full"
    recipe, _ = providers_view.to_setting(settings)
    results = cache.collaboration_results(recipe)
    experiment, epsilon = providers_view.to_experiment_of(settings)
    keys = {trusts.recommended(experiment, epsilon, trust).method for trust in TRUSTS}
    lone = {
        hospital: trusts.recommended_alone(experiment, epsilon, recipe.sizes[hospital]).method
        for hospital in recipe.hospitals
    }
    cells = [(key, ALL) for key in keys]
    for hospital, method in lone.items():
        cells += [(ALONE[method].key, hospital), (f"alone, {NO_PRIVACY}", hospital)]
    for key, hospital in cells:
        for repeat in range(results.repeats_of(key)):
            results.try_cell(key, hospital, repeat)
    for metric, thing in _METRICS.items():
        shown = settings | {"view": "full", "metric": metric}
        sentence = providers_sentences.numbers(results, shown)
        yield Shown(f"{thing}, guess", page, found(r"[Rr]andom guess: (.+?)\.(?: |$)", sentence))
        if len(recipe.sizes) == 1:
            continue
        for trust, words in text.JOINING.items():
            begins = rf"{words}: (?:error |share recovered )?"
            yield Shown(thing, page, found(rf"{begins}(.+?) \(", sentence), trust)
            name = found(rf"{begins}.+? \((.+?)\)\.", sentence)
            recommended = NONE if name.startswith("near a guess") else name
            yield Shown("method recommended", page, recommended, trust)
        alone = r"(?:One of them|The largest) alone, to publish: (.+?)(?:, the smallest .+?)?\. For"
        yield Shown(f"{thing}, largest alone, published", page, found(alone, sentence))
        kept = r"For its own use, without privacy: (.+?)(?:, the smallest .+?)?\. A random"
        yield Shown(f"{thing}, largest alone, own use", page, found(kept, sentence))


def providers_in_plain(settings: Settings) -> Iterator[Shown]:
    """Return the numbers of *Providers* in Plain view that other pages show as well, not those of 40 runs."""
    page = "providers, Plain"
    plain = settings | {"view": "plain"}
    board = JoiningBoard(plain)
    while board.decision is None:
        board.cells.try_cell(*board.cells.next_missing(board.brief))
    table = providers_decision.evidence(board)
    for trust, title in zip(share_bars.LOOKS, table["method"], strict=True):
        yield Shown("method measured", page, title, trust)
    runs = board.cells.runs
    together = {trust: float(np.median(runs.together(trust))) for trust in TRUSTS}
    yield from of_decision(page, board.decision, float(np.median(runs.alone())), together)
    frame = providers_document.at(plain).frame()
    yield Shown("attacker, at most", page, frame.promise)
    guess = next(limit for limit in frame.limits if "random guess" in limit)
    yield Shown("share recovered, guess", page, found(r"would score (.+?)\.$", guess))


def methods_full(settings: Settings) -> Iterator[Shown]:
    """Return the numbers of *Methods* in Full view: what is recommended, and a sweep at this setting."""
    page = "methods, Full"
    experiment, epsilon = to_experiment.from_settings(settings | {"start": "random"})
    listed = methods_notes.recommended(experiment, epsilon, settings["trust"])
    names = {}
    for trust in TRUSTS:
        reason = found(rf"\*?\*?{text.trust_heading(trust)}\. (.+)", listed)
        recommended = NONE if "near a guess" in reason else found(r"(.+?)\. Its predicted", reason)
        yield Shown("method recommended", page, recommended, trust)
        names[trust] = trusts.recommended(experiment, epsilon, trust).method
    key = settings["compare.over"]
    along = Axis(key, (settings[key],))
    methods, repeats = sorted(set(names.values())), experiment.repeats
    table = sweep(of_experiment.comparison(experiment, epsilon, methods, along, repeats))
    results = cache.results(experiment)
    for metric, thing in _METRICS.items():
        measure = ComparisonMeasure(results, settings | {"view": "full", "metric": metric}, "error")
        measured = spreads(table, measure, list(names.values()), key)
        for trust, name in names.items():
            yield Shown(thing, page, measure.text(float(measured[name][1][1, 0])), trust)
        yield Shown(f"{thing}, guess", page, measure.text(measure.guess(key, settings[key])))


def planner(settings: Settings) -> Iterator[Shown]:
    plain = PlainPlanner(settings | {"view": "plain"})
    for evaluation in plain.wanted():
        if evaluation[0] is StudyPlan.answer:  # the others are a chart's, and a cautious hospital's
            EVALUATIONS.try_cell(*evaluation)
    full = Planner(settings | {"view": "full", "plan.trust": "any"})
    table = planner_methods.table(full).set_index("method")
    (column,) = (each for each in table if each.startswith("patients"))
    numbers = {trust: number(needed, full.asked) for trust, needed in plain.known.items()}
    for trust, name, _ in full.by_trust():
        cell = table[column][PLANNED_METHODS[name].title]
        words = re.sub(r"^≤ | \(uncertain\)$", "", cell)
        yield Shown("patients needed", "planner, Full", words if words[0].isdigit() else NO_NUMBER, trust)
        yield Shown("patients needed", "planner, Plain", numbers.get(trust, NO_NUMBER), trust)


def privacy(settings: Settings) -> Iterator[Shown]:
    m = Privacy(settings)
    yield Shown("attacker, of 40", "privacy, Full", luck(privacy_sentences.experiment(m.picture, m.budget)))
    yield Shown("attacker, of 40", "privacy, Plain", luck(privacy_in_plain.releases(m.picture)))
    yield Shown("attacker, at most", "privacy, Full", privacy_sentences.headline(m.draws))
    yield Shown("attacker, at most", "privacy, Plain", privacy_in_plain.headline(m.draws))


def found(pattern: str, sentence: str) -> str:
    match = re.search(pattern, sentence)
    if match is None:
        raise ValueError(f"no {pattern!r} in {sentence!r}")
    return match[1]


def luck(sentence: str) -> str:
    return found(r"(right \d+ times in \d+; chance gives \d+ to \d+)", sentence)


PAGES: tuple[Callable[[Settings], Iterator[Shown]], ...] = (
    explorer_full,
    explorer_in_plain,
    story,
    providers_full,
    providers_in_plain,
    methods_full,
    planner,
    privacy,
)


class Disagreement(NamedTuple):
    """Hold what pages show of one thing at one setting, where they differ: the pages by what they show."""

    thing: str
    case: str
    link: str
    pages: dict[str, list[str]]

    def __str__(self) -> str:
        shown = "; ".join(f"{words} ({', '.join(pages)})" for words, pages in self.pages.items())
        case = f", {self.case}" if self.case else ""
        return f"- {self.thing}{case}: {shown}. [{self.link}](?{self.link})"


def link(settings: Settings) -> str:
    return urlencode(catalogue.to_link(settings))


def compared(settings: Settings) -> dict[tuple[str, str], list[Shown]]:
    """Return what every page shows at these settings, by thing and case."""
    by_thing = defaultdict[tuple[str, str], list[Shown]](list)
    for page in PAGES:
        for shown in page(settings):
            by_thing[shown.thing, shown.case].append(shown)
    return by_thing


def disagreements(settings: Settings, by_thing: Mapping[tuple[str, str], list[Shown]]) -> list[Disagreement]:
    result = []
    for (thing, case), each in by_thing.items():
        pages = defaultdict[str, set[str]](set)
        for shown in each:
            pages[_as_in_plain(shown.words) if thing.startswith("share") else shown.words].add(shown.page)
        if len(pages) > 1:
            named = {words: sorted(names) for words, names in pages.items()}
            result.append(Disagreement(thing, case, link(settings), named))
    return result


def _as_in_plain(shares: str) -> str:
    """Return shares as a page in Plain view writes them: none above 99.99 % in full."""
    return re.sub(r"(?:over )?99\.99\d+", "over 99.99", shares)


def rises(settings: Settings) -> list[str]:
    """Return where more trust is predicted to err more, or errs more beyond the intervals of both medians."""
    lines, before, opens = [], (math.inf, math.inf), f"[{link(settings)}](?{link(settings)})"
    for trust in reversed(TRUSTS):  # from the least
        view = Explorer(settings | {"trust": trust, "method": catalogue.RECOMMENDED, "metric": "sin"})
        predicted = trusts.recommended(view.experiment, view.epsilon, trust).error
        cells = view.results.measured(view.experiment.method, view.epsilon)
        low, high = median_interval(np.array([cell.sin[-1] for cell in cells]), level=0.95)
        if predicted > before[0]:
            lines.append(f"- predicted error, {trust}: {predicted:.4g} after {before[0]:.4g}. {opens}")
        if low > before[1]:
            lines.append(f"- measured error, {trust}: at least {low:.4g} after {before[1]:.4g}. {opens}")
        before = predicted, high
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", type=int, default=60)
    arguments = parser.parse_args()
    use_one_thread()
    pages, settings_of, differing = defaultdict[str, set[str]](set), Counter[str](), Counter[str]()
    for index in range(arguments.settings):
        settings = random_settings(arguments.seed, index)
        by_thing = compared(settings)
        for (thing, _), each in by_thing.items():
            pages[thing] |= {shown.page for shown in each}
        settings_of.update({thing for thing, _ in by_thing})
        found_here = disagreements(settings, by_thing)
        differing.update(each.thing for each in found_here)
        for line in (*found_here, *rises(settings)):
            print(line, flush=True)
    print("\n| thing | pages | settings compared | disagreements |\n|---|---|---|---|")
    for thing, names in sorted(pages.items()):
        print(f"| {thing} | {', '.join(sorted(names))} | {settings_of[thing]} | {differing[thing]} |")


if __name__ == "__main__":
    main()
