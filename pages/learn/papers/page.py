"""Show every figure and table of four papers as printed, as stored by us, and as run again here.

A figure has one or more runs: ours with the paper's parameters, and others. The result of each is stored.
A visitor may run one again: that second run is a job in the background, kept under `slot`.
"""

import json

import pandas as pd
import streamlit as st

from dppca_core.experiments import Recipe
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.papers import FIGURES, Figure, PaperRun
from dppca_core.experiments.sweeps import recipe_file, run_cells
from pages.learn.papers import charts, results
from pages.learn.papers import text as page_text
from pages.shared import text
from pages.shared.background import refresh, sweep_jobs, sweep_status
from pages.shared.reports import take_along
from pages.shared.settings import widgets


def choose_row(overview: pd.DataFrame) -> None:
    """Open the figure and the run of the row that the visitor selected in the overview."""
    rows = st.session_state["overview"]["selection"]["rows"]
    if rows:
        row = overview.iloc[rows[0]]
        widgets.set_to("figure", row["key"])
        widgets.set_to("run", int(row["run"]))


def run_buttons(recipe: Recipe) -> None:
    """Show buttons that start the second run, quick or whole, each with its estimated time, and its seed."""
    st.markdown("**Run it again here**")
    left, middle, right = st.columns([2, 2, 2], vertical_alignment="bottom")
    seed = widgets.settings()["seed"]
    for column, quick, label in ((left, True, "A quick version"), (middle, False, "All of it")):
        second = results.second_recipe(recipe, quick, seed)
        column.button(
            f"{label} (about {text.duration(run_cells.total_seconds(second))})",
            key=f"again {quick}",
            on_click=sweep_jobs.start,
            args=(slot, second),
            width="stretch",
        )
    with right:
        widgets.show_control("seed")


def panel(figure: Figure, run: PaperRun, stored: results.Result, recipe: Recipe | None) -> None:
    """Show the chart with both runs, how far the second one is, and its verdict.

    It is called again while the second run goes on. recipe: of the stored run; None for a formula, or where a
    table that it needs is absent. run: ours, whose stored result is `stored`.
    """
    job = sweep_jobs.at(slot)
    second = figure.curves(run, job.table()) if job is not None and len(job.table()) else None
    drawn = charts.comparison(figure, recipe, stored.curves, second)
    says = page_text.paper(heading, stored.curves, charts.Y_TITLES[figure.metric])
    curves = {"key": figure.key, "index": index}
    take_along.show(
        *(drawn, "paper figure", figure.key),  # the figure, its key, its files' name; then its title
        text.symbols(f"{figure.paper}, {figure.title}: {run.title}"),
        says=says,
        table=lambda: stored.source.table if stored.source else stored.curves,
        code=None if stored.absent else lambda: FigureRecipe("papers.curves", curves),
        recipe=lambda: recipe,
    )
    if job is None:
        return
    if job.state == "again":  # "Go on" was pressed
        sweep_jobs.start(slot, job.recipe)
        st.rerun()
    sweep_status.show(job, slot)
    if second is not None and not job.running:
        if job.state == "complete":
            verdict = figure.verdict(run, job.table())
            runs = f"Seed {job.recipe.seed}, {len(job.table()):,} runs"
            st.markdown(f"**{runs}: {page_text.verdict(verdict)}.**")
            st.markdown(page_text.findings(verdict.findings))
        st.markdown(page_text.agreement(stored.curves, second))


def is_running() -> bool:
    """Return whether the visitor's second run is under way."""
    job = sweep_jobs.at(slot)
    return job is not None and job.running


def source(figure: Figure, run: PaperRun, stored: results.Result, recipe: Recipe | None) -> None:
    """Show the paper and notes on it, and by which command, versions and seed the stored run was made."""
    with st.expander("Where this comes from"):
        notes = "\n".join(f"- {note}" for note in figure.notes)
        st.markdown(f"**{figure.paper}, {figure.title}.**\n{text.symbols(notes)}")
        if stored.source is None:
            st.caption(stored.absent or "A formula: nothing is drawn at random.")
            return
        st.markdown(page_text.stored(stored.source))
        st.markdown("Without a screen, on all cores or a cluster:")
        command = f"python -m dppca_core.experiments data/recipes/{run.recipe}.json --out {run.recipe}.csv"
        st.code(command, "bash")
        if recipe is not None:
            st.code(json.dumps(recipe_file.to_dict(recipe), indent=1), language="json")


overview = results.overview()
introduction = page_text.introduction(results.counts())
settings = widgets.head(page_text.TITLE, introduction, page_text.STEPS, instead="Explorer")
widgets.show_select_box("figure", list(FIGURES), also={"run": 0})
figure = FIGURES[settings["figure"]]
index = min(settings["run"], len(figure.runs) - 1)
if len(figure.runs) > 1:
    titles = [text.symbols(run.title) for run in figure.runs]
    shown = {"options": range(len(titles)), "default": index, "format_func": titles.__getitem__}
    widgets.show_word_control("run", widget=f"run of {figure.key}", **shown)
run = figure.runs[index]
slot = f"papers {run.recipe}"  # where the visitor's second run is kept
stored = results.result(figure.key, index)
recipe, why_not = results.recipe_of(run)
heading = f"{figure.title}: {results.verdict(figure.key, index)}"
st.header(heading)
if run.recipe:
    st.caption(f"Sizes: {results.sizes(run)}.")
left, right = st.columns(2)
left.markdown(page_text.claim(figure))
right.markdown(page_text.reason(run, stored.absent or stored.verdict.because))
refresh.while_more(lambda: panel(figure, run, stored, recipe), is_running)
needed = results.needed(figure, stored)
if needed is not None:
    st.dataframe(needed, hide_index=True)
if stored.verdict.findings:
    st.markdown("**What was checked on the stored run**")
    st.markdown(page_text.findings(stored.verdict.findings))
if recipe is not None:
    run_buttons(recipe)
    varied = results.explorer_settings(recipe)
    if varied is not None and st.button("Vary it in the explorer", key="vary"):
        widgets.set_all(widgets.settings() | varied)
        st.switch_page("explore/explorer/page.py")
elif why_not:
    st.info(why_not)
st.markdown(f"**Try this:** {page_text.try_this(recipe is not None)}")
st.header("All figures and tables")
st.caption(page_text.VERDICTS)
st.dataframe(
    overview,
    column_order=("paper", "figure", "what was run", "sizes", "verdict"),
    hide_index=True,
    height="content",
    key="overview",
    on_select=lambda: choose_row(overview),
    selection_mode="single-row",
)
source(figure, run, stored, recipe)
