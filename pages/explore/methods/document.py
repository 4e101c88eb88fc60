"""Describe the comparison of methods: their answer, figure and facts, and the same against packages."""

from functools import lru_cache, partial
from typing import Any

from dppca_core.experiments import Recipe
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.sweeps import run_cells
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.methods import METHODS
from pages.explore.methods import charts
from pages.explore.methods.model import frontier as hulls
from pages.explore.methods.model import sweeps
from pages.explore.methods.model.comparison import LIVE, MethodsCompared
from pages.explore.methods.model.measure import SweepRuns, facts
from pages.explore.methods.sentences import findings, notes
from pages.shared import text
from pages.shared.charts import explorer_text, factor, loadings
from pages.shared.document.blocks import (
    Asked,
    Block,
    Blocks,
    Choose,
    Controls,
    Figure,
    Frame,
    Headline,
    Live,
    Measuring,
    Note,
    Notice,
    OnScreen,
    Picks,
    Running,
    Section,
    Start,
    Table,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings import swept
from pages.shared.settings.catalogue import Settings


def at(settings: Settings) -> Document:
    m = MethodsCompared(settings)
    return Document(
        title=notes.TITLE,
        question=notes.INTRODUCTION,
        stem="dppca-methods",
        blocks=partial(_blocks, m),
        frame=partial(_frame, m),
        steps=notes.STEPS,
    )


def _blocks(m: MethodsCompared) -> Blocks:
    yield Notice(notes.note(m.sweep, m.methods, m.settings))
    if m.sweep is not None:
        yield Controls("main settings", ("epsilon", "n"), on_telephone=True)
        yield Live("methods", partial(_measured, m), m.running)
        begun = m.jobs()
        for name, recipe in m.sweep.heavy.items():
            if name not in begun:
                label = notes.start(name, run_cells.total_seconds(recipe))
                yield Controls(f"start {name}", (Start(label, m.heavy_slot(name), recipe),))
        if m.panel == "frontier":
            yield Controls("release", (Choose("compare.release", tuple(m.methods)), "compare.at"))
            yield from _chosen_release(m)
    reference = Measuring(m.results, partial(m.results.next_of, NO_PRIVACY))
    yield Live("no privacy", lambda: [Note(notes.without_privacy(m.results, m.settings))], reference)
    yield Text(notes.recommended(m.experiment, m.epsilon, m.settings["trust"]))
    yield Note(notes.notes(m.results, m.chosen, m.settings))
    yield Note(explorer_text.printed(m.results, m.epsilon, m.methods))
    yield from _against_packages(m.settings["neighbours"])
    yield OnScreen((Text(f"**Try this:** {notes.try_this(m.panel)}"),))
    yield sources.of_results(m.results, m.epsilon, m.settings, runs=notes.runs(m.sweep))


def _measured(m: MethodsCompared) -> Blocks:
    jobs = m.jobs()
    runs = m.runs(jobs)
    if runs is None:
        yield Text(notes.NOTHING_QUICK)
        return
    yield from {"needed": _needed, "frontier": _frontier}.get(m.panel, _against)(runs)
    for name, recipe in runs.sweep.heavy.items():
        if name in jobs:
            complete = jobs[name].state == "complete"
            yield Note("" if complete else f"{METHODS[name].title}, {recipe.repeats} repeats:")
            yield Running(jobs[name], m.heavy_slot(name))
    if LIVE in jobs and jobs[LIVE].recipe == runs.sweep.live:
        yield Running(jobs[LIVE], m.slot)


def _against(runs: SweepRuns) -> Blocks:
    measure, sweep = runs.measure, runs.sweep
    finding = findings.compared(measure, runs.here(measure), sweep.over, sweep.here)
    failures, scaled = (notes.failures(runs.table), notes.of_scaling(runs)) if measure.errs else ("", "")
    left_out = swept.left_out(sweep.over, sweep.left_out)
    caption = (notes.drawn(measure, sweep), *left_out, failures, scaled, runs.progress)
    beside = sweeps.on_unit_rows(sweep, runs.table) if measure.errs and not runs.unit.empty else None
    yield Headline(finding)
    yield _figure(
        runs,
        charts.against(runs),
        name="methods figure",
        stem=f"dppca-{measure.panel}",
        finding=finding,
        code="against",
        values=_axes(runs),
        beside=beside,
    )
    yield Note(". ".join(part.rstrip(".") for part in caption if part) + ".")
    yield Text("**The same methods at the current setting**")
    yield Table(facts(runs), wide=True)


def _needed(runs: SweepRuns) -> Blocks:
    """Yield how many patients each method needs, once it has runs at every n: some alone mislead."""
    measure, grid, table = runs.measure, runs.sweep.values, runs.table
    target = measure.settings["compare.target"]
    # The table has ||sin Theta||, and the target may be set for another multiple of it.
    values = {"target": target / factor(measure.settings), "seed": measure.results.experiment.seed}
    # Keep the rows of methods ("label") that have runs at every number of patients.
    complete = table.groupby("label")["n"].transform("nunique") == len(grid)
    estimates = patients_needed(table[complete], **values)
    finding = findings.needed(estimates, measure.wanted(target))
    drawn = charts.needed(estimates, measure, grid, len(runs.methods))
    yield Headline(finding)
    yield _figure(
        runs,
        drawn,
        name="needed figure",
        stem="dppca-patients-needed",
        finding=finding,
        code="needed",
        values=values,
    )
    yield Note(f"{notes.grid(grid)} {notes.no_energy(measure.settings)}{runs.progress}")


def _frontier(runs: SweepRuns) -> Blocks:
    measure = runs.measure
    off = hulls.off_hull(measure.results.experiment, runs.methods)
    hull = hulls.hull(runs.table, measure, [name for name in runs.methods if name not in off])
    finding = findings.frontier(hull)
    yield Headline(finding)
    yield _figure(
        runs,
        charts.frontier(runs, hull),
        name="frontier figure",
        stem="dppca-frontier",
        finding=finding,
        code="against",
        values=_axes(runs),
        on_pick=Picks("compare.release", "compare.at"),
    )
    beside = f"{notes.off_hull(off)} {notes.no_energy(measure.settings)}{runs.progress}"
    yield Note(f"{notes.FRONTIER_HELP} {beside}")


def _axes(runs: SweepRuns) -> dict[str, Any]:
    measure, k = runs.measure, runs.measure.results.experiment.k
    return {"over": runs.sweep.over, "column": measure.column, "k": k, "metric": measure.metric}


def _figure(
    runs: SweepRuns,
    drawn: dict[str, Any],
    *,
    name: str,
    stem: str,
    finding: str,
    code: str,
    values: dict[str, Any],
    beside: Recipe | None = None,
    on_pick: Picks | None = None,
) -> Figure:
    """Return a figure of a sweep; beside: the recipe of published methods on rows of length 1, if drawn."""
    recipes = sweeps.recipes_with(runs.sweep, set(runs.table["method"]))
    both = (*recipes, *([beside] if beside else ()))
    return Figure(
        name=name,
        payload=drawn,
        title=notes.TITLE,
        stem=stem,
        alt_text=finding,
        table=lambda: runs.table,
        code=lambda: FigureRecipe(f"sweeps.{code}", {"recipes": both} | values),
        recipe=lambda: recipes[0] if len(recipes) == 1 else None,  # the menu has a place for one recipe
        on_pick=on_pick,
    )


def _chosen_release(m: MethodsCompared) -> Blocks:
    if m.release_seconds:
        label = f"Draw one release of {METHODS[m.released].title}, about {text.duration(m.release_seconds)}"
        yield Asked(label, "draw release", partial(_release, m))
    else:
        yield from _release(m)


def _release(m: MethodsCompared) -> Blocks:
    name, epsilon, title = m.released, m.settings["compare.at"], METHODS[m.released].title
    try:
        estimate, error = m.release()
    except ValueError as reason:
        yield Notice(f"{title} has no release here: {reason}.")
        return
    drawn = loadings.loadings(m.results, estimate.basis)
    release = {"experiment": m.experiment, "method": name, "epsilon": epsilon}
    yield Text(notes.release(name, epsilon, error, estimate))
    yield Note(notes.true_epsilon(explorer_text.other_epsilon(m.experiment, name, epsilon)))
    yield Figure(
        name="release figure",
        payload=drawn,
        title=f"One release of {title}",
        stem="dppca-release",
        alt_text=loadings.description(drawn),
        code=lambda: FigureRecipe("explorer.loadings", release),
    )
    yield Note(notes.LOADINGS_NOTE)


def _against_packages(neighbours: str) -> Blocks:
    yield Section(notes.PACKAGES)
    try:
        yield from _with_packages(neighbours)
    except ValueError as reason:
        yield Notice(f"Nothing to compare with here: {reason}.")


@lru_cache(maxsize=2)  # whatever the settings are
def _with_packages(neighbours: str) -> tuple[Block, ...]:
    finding = findings.against_packages(neighbours)
    figure = Figure(
        name="peers figure",
        payload=charts.against_packages(neighbours),
        title=notes.PACKAGES,
        stem="dppca-packages",
        alt_text=finding,
        code=lambda: FigureRecipe("sweeps.packages", {"neighbours": neighbours}),
    )
    return Text(finding), figure, Note(notes.of_packages(neighbours))


def _frame(m: MethodsCompared) -> Frame:
    progress = m.progress(m.jobs())
    return Frame(
        settings=settings_in_words(m.settings),
        promise=notes.promise(m.experiment, m.epsilon),
        limits=(
            text.large_delta(m.experiment.delta, m.experiment.n),
            f"Made while measuring went on: {progress.rstrip('.')}." if progress else "",
            sources.LIMITS,
        ),
        made=sources.made(m.experiment.seed),
    )
