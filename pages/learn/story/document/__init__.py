"""Describe the story: a step on the screen, all eight in a file, and the speaker's notes on paper."""

from collections.abc import Iterable
from functools import partial

from dppca_core.methods import METHODS
from pages.learn.story import charts
from pages.learn.story.model import TRUSTS, Story
from pages.learn.story.sentences import glossary, steps
from pages.learn.story.sentences.glossary import StepText
from pages.learn.story.sentences.notes import NOTES, until
from pages.learn.story.settings import STEPS
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.document.blocks import (
    Block,
    Blocks,
    Columns,
    Controls,
    Figure,
    Fold,
    Frame,
    Headline,
    Live,
    Note,
    OnScreen,
    Save,
    Section,
    Text,
    Visit,
)
from pages.shared.document.html import Document
from pages.shared.plain import decisions, phrases
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings.catalogue import Settings

_STEM = "dppca-story"
_DECIDES = "hospitals/providers/page.py"
_ALL = range(1, STEPS + 1)


def at(settings: Settings) -> Document:
    settings = settings | {"view": "plain"}
    story, whole = Story(settings, (settings["story.step"],)), Story(settings, _ALL)
    return Document(
        title=steps.TITLE,
        question=steps.opening(story),
        stem=_STEM,
        blocks=partial(_blocks, story, whole),
        frame=partial(_frame, whole),
        switches=(),
        complete=whole.complete,
    )


def _blocks(story: Story, whole: Story) -> Blocks:
    step = story.steps[0]
    yield OnScreen((Live("story", partial(_step, story, step), story.measuring),))
    if step == STEPS:
        yield Controls("visit", (Visit(steps.VISIT, _DECIDES, {}),))
    notes = partial(_notes, whole)
    yield Fold(
        steps.ALL_STEPS, "all steps", lambda: [Live("all", partial(_every_step, whole), whole.measuring)]
    )
    yield Save(steps.NOTES, f"{_STEM}-notes.html", notes, "text/html")
    yield sources.fold(story.settings, partial(_about, story), sources.LIMITS, phrases.FOLD)


def _step(story: Story, step: int) -> Blocks:
    wording = steps.of_step(story, step)
    yield failed_runs.notice(story.failed)
    yield Headline(wording.finding)
    terms = "\n".join(f"- **{term}:** {words}" for term, words in wording.glosses)
    figure = _figure(story, step, wording)
    yield Columns(
        ((Text("  \n".join(wording.more)), Note(_reading(figure, wording)), Text(terms)), (figure,))
    )
    if not story.settings["story.present"]:
        yield OnScreen((Text(f"**Try this:** {wording.try_this}" if wording.try_this else ""),))


def _figure(story: Story, step: int, wording: StepText, again: str = "") -> Figure:
    return Figure(
        name=f"story {step}{again}",
        payload=charts.of_step(story, step),
        title=steps.QUESTIONS[step - 1],
        stem=f"{_STEM}-{step}",
        alt_text=wording.sentences,
        code=partial(story.code, step),
    )


def _reading(figure: Figure, wording: StepText) -> str:
    start = figure.payload["layout"]["xaxis"].get("range", [0])[0]
    return f"{steps.begins(start)}{wording.chart}" if wording.bars else wording.chart


def _every_step(story: Story) -> Blocks:
    for step in _ALL:
        wording = steps.of_step(story, step)
        yield Section(f"{step}. {steps.QUESTIONS[step - 1]}")
        yield Text(f"**{wording.finding}**")
        yield Text("  \n".join(wording.more))
        figure = _figure(story, step, wording, " again")
        yield figure
        yield Note(_reading(figure, wording))


def _notes(story: Story) -> str:
    """Return the speaker's notes as a file that prints."""
    story.complete()

    def blocks() -> Iterable[Block]:
        for step, note in enumerate(NOTES, start=1):
            wording = steps.of_step(story, step)
            yield Section(f"{step}. {steps.QUESTIONS[step - 1]}")
            yield Text(f"**On the screen:** {wording.finding} {' '.join(wording.more)}")
            yield Text(f"**Say** ({note.seconds} seconds, until {until(step)}): {note.say}")
            yield Text(f"**Likely question:** {note.question}")
            yield Text(f"**Answer:** {note.answer}")

    return Document(
        title="Speaker notes",
        question=steps.opening(story),
        stem="",
        blocks=blocks,
        frame=partial(_frame, story),
    ).html()


def _about(story: Story) -> Iterable[str]:
    used = (
        f"{text.JOINING[trust]}: {METHODS[story.here.cells.runs.plan(trust).method].title}"
        for trust in TRUSTS
    )
    yield f"**Shown here.** {'; '.join(used)}."
    yield from steps.ABOUT


def _frame(story: Story) -> Frame:
    terms = (f"{term}: {words}" for term, words in glossary.GLOSSARY)
    purpose = ("What the pattern is for", decisions.PURPOSES[story.setting.use])
    sizes = sorted(story.setting.sizes)
    who = f"{story.count}, of {sizes[0]:,} to {sizes[-1]:,} patients; ours has {story.ours.patients:,}"
    known = settings_in_words(story.settings, ("epsilon", "delta", "d", "k", "trust"))
    return Frame(
        settings=[("Hospitals", who), purpose, *known],
        promise=f"{steps.promise(story)} {steps.failure(story)}",
        limits=(*steps.limits(story), *terms),
        made=sources.made(story.setting.seed),
    )
