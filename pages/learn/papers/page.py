"""Every figure and table of the papers: what is printed, our stored run, and running it again here."""

import json
import platform

import streamlit as st

from dppca_core.experiments import Recipe
from dppca_core.experiments.papers import FIGURES, Figure, Finding, PaperRun
from dppca_core.experiments.sweeps import recipe_file
from pages.learn.papers import chart_descriptions, charts, recipe_to_settings, results
from pages.learn.papers.results import Result
from pages.shared import text
from pages.shared.background import refresh, sweep_jobs, sweep_status
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings import catalogue, widgets


def figure_chosen() -> None:
    """Another figure starts at its first run."""
    widgets.set_to("figure", st.session_state["figure"])
    widgets.set_to("run", 0)


def row_chosen() -> None:
    """A row of the overview opens its figure and run."""
    rows = st.session_state["overview"]["selection"]["rows"]
    if rows:
        row = results.overview().iloc[rows[0]]
        widgets.set_to("figure", row["key"])
        widgets.set_to("run", int(row["run"]))


def offer(run: PaperRun, chosen: Recipe) -> None:
    """The buttons that run it again, with the seed and the time it takes."""
    st.markdown("**Run it again here**")
    left, middle, right = st.columns([2, 2, 2], vertical_alignment="bottom")
    seed = widgets.settings()["seed"]
    for column, quick, words in ((left, True, "A quick version"), (middle, False, "All of it")):
        wanted = results.again(chosen, quick, seed)
        column.button(
            f"{words} (about {sweep_status.duration(results.expected(wanted))})",
            key=f"again {quick}",
            on_click=sweep_jobs.start,
            args=(results.place(run), wanted),
            width="stretch",
        )
    with right:
        widgets.choose("seed")


def panel(figure: Figure, run: PaperRun, kept: Result, chosen: Recipe | None) -> None:
    """The chart with both runs, how the second one stands, and what both say."""
    second = results.rerun(figure, run)
    drawn = charts.comparison(figure, chosen, kept.curves, second)
    verdict = results.verdict(figure.key, figure.runs.index(run))
    says = chart_descriptions.paper(f"{figure.title}: {verdict}", kept.curves, charts.Y_TITLES[figure.metric])
    component.figure(drawn, key="paper figure", says=says)
    place = results.place(run)
    job = sweep_jobs.at(place) if run.recipe else None
    if job is None:
        return
    if job.state == "again":  # "Go on" was pressed
        sweep_jobs.start(place, job.recipe)
        st.rerun()
    sweep_status.show(job, place)
    if second is not None and not job.running:
        said = f"Seed {job.recipe.seed}, {len(job.table()):,} runs"
        if job.state == "complete":
            own = figure.verdict(run, job.table())
            st.markdown(f"**{said}: this one {results.words(figure, own)}.**")
            findings(own.findings)
        st.markdown(results.agreement(kept.curves, second))


def rerunning(run: PaperRun) -> bool:
    """Return whether this run is under way again for the visitor."""
    job = sweep_jobs.at(results.place(run)) if run.recipe else None
    return job is not None and job.running


def findings(found: tuple[Finding, ...]) -> None:
    """Each condition, ticked or crossed, with its numbers; a board sees the conditions alone."""
    plain = widgets.settings()["view"] == "board"
    lines = []
    for one in found:
        numbers = "" if plain else f" {text.sentence(one.sentence)}."
        lines.append(f"{'✓ holds:' if one.holds else '✗ fails:'} **{text.sentence(one.check)}.**{numbers}")
    st.markdown(text.symbols("  \n".join(lines)))


def source(figure: Figure, run: PaperRun, kept: Result, chosen: Recipe | None) -> None:
    """Paper, notes, command, versions, seed and date."""
    with st.expander("Where this comes from"):
        notes = "\n".join(f"- {note}" for note in figure.notes)
        st.markdown(f"**{figure.paper}, {figure.title}.**\n{text.symbols(notes)}")
        if kept.source is None:
            st.caption(kept.absent or "A formula: nothing is drawn at random.")
            return
        versions = ", ".join(f"{name} {value}" for name, value in kept.source.versions.items())
        told = f"Stored {kept.source.date} by `{kept.source.command}`"
        st.markdown(f"{told}; seed {kept.source.seed}; {versions}.")
        st.caption(f"Recipe {kept.source.fingerprint}. This page runs on Python {platform.python_version()}.")
        st.markdown("Without a screen, on all cores or a cluster:")
        st.code(
            f"python -m dppca_core.experiments data/recipes/{run.recipe}.json --out {run.recipe}.csv", "bash"
        )
        if chosen is not None:
            st.code(json.dumps(recipe_file.to_dict(chosen), indent=1), language="json")


def vary(chosen: Recipe) -> None:
    """Take the recipe's settings to the explorer, where its sliders can express them."""
    asked = recipe_to_settings.of_recipe(chosen)
    if asked is not None and st.button("Vary it in the explorer", key="vary"):
        widgets.set_all(widgets.settings() | asked)
        st.switch_page("explore/explorer/page.py")


st.title("Do we get what the papers got?")
everything = results.overview()
reproduced, ran = results.counts()
st.markdown(
    f"The figures and tables of the four papers, run again: {reproduced} of {ran} runs come out as printed, "
    "in every number and claim that was checked, some at the changed parameters that their titles name; the "
    "others say why not."
)
widgets.view_switches(("view",))
widgets.notices()
settings = widgets.settings()
words = catalogue.CHOICES["figure"]
st.selectbox(
    *(words.label, words.options, words.options.index(settings["figure"])),
    key="figure",
    format_func=words.text,
    on_change=figure_chosen,
)
figure = FIGURES[settings["figure"]]
index = min(settings["run"], len(figure.runs) - 1)
if len(figure.runs) > 1:
    st.segmented_control(
        "PaperRun",
        range(len(figure.runs)),
        default=index,
        key=f"run of {figure.key}",
        format_func=lambda place: text.symbols(figure.runs[place].title),
        label_visibility="collapsed",
        required=True,
        on_change=lambda: widgets.set_to("run", st.session_state[f"run of {figure.key}"]),
    )
run = figure.runs[index]
kept = results.result(figure.key, index)
chosen, why_not = results.recipe_of(run)
st.header(f"{figure.title}: {results.verdict(figure.key, index)}")
left, right = st.columns(2)
first = "Claimed" if results.beyond(figure) else "Printed"
left.markdown(text.symbols(f"**{first}.** {text.sentence(figure.shows)} {text.sentence(figure.claim)}"))
because = kept.absent or kept.verdict.because or "Every condition below holds."
right.markdown(text.symbols(f"**Found ({run.title}).** {text.sentence(because)}"))
refresh.while_more(lambda: panel(figure, run, kept, chosen), lambda: rerunning(run))
wanted = results.needed(figure, kept)
if wanted is not None:
    st.dataframe(wanted, hide_index=True)
if kept.verdict.findings:
    st.markdown("**What was checked on the stored run**")
    findings(kept.verdict.findings)
if chosen is not None:
    offer(run, chosen)
    vary(chosen)
elif run.recipe:
    st.info(why_not)
st.markdown(
    "**Try this:** run all of it again with another seed: the crosses fall within the bars of the stored "
    "run. A quick version has wider bars of its own, and decides less."
    if chosen is not None
    else "**Try this:** choose another figure below and run it again with a seed of your own."
)
downloads.downloads(
    lambda: kept.source.table if kept.source else kept.curves,
    lambda: charts.comparison(figure, chosen, kept.curves),
    figure.key,
    text.symbols(f"{figure.paper}, {figure.title}: {run.title}"),
)
st.header("All figures and tables")
st.dataframe(
    everything,
    column_order=("paper", "figure", "what was run", "verdict"),
    hide_index=True,
    height="content",
    key="overview",
    on_select=row_chosen,
    selection_mode="single-row",
)
source(figure, run, kept, chosen)
