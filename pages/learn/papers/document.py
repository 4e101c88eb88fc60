"""Describe a figure of a paper: as printed, as stored by us, and as run again here."""

import json
from functools import partial

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.sweeps import recipe_file, run_cells
from pages.learn.papers import charts, model, sentences
from pages.learn.papers.model import RemadeFigure
from pages.shared import text
from pages.shared.document.blocks import (
    Blocks,
    Columns,
    Controls,
    Figure,
    Fold,
    Frame,
    Live,
    Note,
    Notice,
    OnScreen,
    Running,
    Section,
    Start,
    Table,
    Text,
    Visit,
)
from pages.shared.document.html import Document
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings


def at(settings: Settings) -> Document:
    m = RemadeFigure(settings)
    return Document(
        title=sentences.TITLE,
        question=sentences.introduction(model.counts()),
        stem="dppca-papers",
        blocks=partial(_blocks, m),
        frame=partial(_frame, m),
        steps=sentences.STEPS,
    )


def _blocks(m: RemadeFigure) -> Blocks:
    yield Section(m.heading)
    yield Note(f"Sizes: {model.sizes(m.run)}." if m.run.recipe else "")
    because = m.stored.absent or m.stored.verdict.because
    yield Columns(((Text(sentences.claim(m.figure)),), (Text(sentences.reason(m.run, because)),)))
    yield Live("paper", partial(_runs, m), m.running)
    needed = model.needed(m.figure, m.stored)
    if needed is not None:
        yield Table(needed, wide=True)
    if m.stored.verdict.findings:
        yield Text("**What was checked on the stored run**")
        yield Text(sentences.findings(m.stored.verdict.findings))
    yield from _run_again(m)
    yield OnScreen((Text(f"**Try this:** {sentences.try_this(m.recipe is not None)}"),))
    yield Section("All figures and tables")
    yield Note(sentences.VERDICTS)
    runs = model.overview()
    opened = [{"figure": key, "run": int(run)} for key, run in zip(runs["key"], runs["run"], strict=True)]
    yield Table(runs.drop(columns=["key", "run"]), wide=True, name="overview", on_row=opened)
    yield Fold("Where this comes from", "origins", partial(_origins, m))


def _runs(m: RemadeFigure) -> Blocks:
    job = m.job()
    second = m.figure.curves(m.run, job.table()) if job is not None and len(job.table()) else None
    curves = {"key": m.figure.key, "index": m.index}
    yield Figure(
        name="paper figure",
        payload=charts.comparison(m.figure, m.recipe, m.stored.curves, second),
        title=text.symbols(f"{m.figure.paper}, {m.figure.title}: {m.run.title}"),
        stem=m.figure.key,
        alt_text=sentences.paper(m.heading, m.stored.curves, charts.Y_TITLES[m.figure.metric]),
        table=lambda: m.stored.source.table if m.stored.source else m.stored.curves,
        code=None if m.stored.absent else lambda: FigureRecipe("papers.curves", curves),
        recipe=lambda: m.recipe,
    )
    if job is None:
        return
    yield Running(job, m.slot)
    if second is not None and not job.running:
        if job.state == "complete":
            verdict = m.figure.verdict(m.run, job.table())
            runs = f"Seed {job.recipe.seed}, {len(job.table()):,} runs"
            yield Text(f"**{runs}: {sentences.verdict(verdict)}.**")
            yield Text(sentences.findings(verdict.findings))
        yield Text(sentences.agreement(m.stored.curves, second))


def _run_again(m: RemadeFigure) -> Blocks:
    if m.recipe is None:
        yield Notice(m.why_not)
        return
    buttons = []
    for quick, label in ((True, "A quick version"), (False, "All of it")):
        second = model.second_recipe(m.recipe, quick, m.seed)
        about = text.duration(run_cells.total_seconds(second))
        buttons.append(Start(f"{label} (about {about})", m.slot, second))
    yield OnScreen((Text("**Run it again here**"), Controls("again", (*buttons, "seed"))))
    varied = model.explorer_settings(m.recipe)
    if varied is not None:
        yield Controls("vary", (Visit("Vary it in the explorer", "explore/explorer/page.py", varied),))


def _origins(m: RemadeFigure) -> Blocks:
    notes = "\n".join(f"- {note}" for note in m.figure.notes)
    yield Text(f"**{m.figure.paper}, {m.figure.title}.**\n{text.symbols(notes)}")
    if m.stored.source is None:
        yield Note(m.stored.absent or "A formula: nothing is drawn at random.")
        return
    name = m.run.recipe
    command = f"python -m dppca_core.experiments data/recipes/{name}.json --out {name}.csv"
    yield Text(sentences.stored(m.stored.source))
    yield Text(f"Without a screen, on all cores or a cluster:\n\n```bash\n{command}\n```")
    if m.recipe is not None:
        yield Text(f"```json\n{json.dumps(recipe_file.to_dict(m.recipe), indent=1)}\n```")


def _frame(m: RemadeFigure) -> Frame:
    return Frame(
        settings=[
            ("Figure or table", f"{m.figure.paper}, {m.figure.title}"),
            ("Run", text.symbols(m.run.title)),
        ],
        promise="",
        limits=(sources.LIMITS,),
        made=sources.today(),
    )
