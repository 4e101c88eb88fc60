"""Compare methods by error, time, bytes and patients needed, and by which is best at each privacy loss."""

from functools import partial

import streamlit as st

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.no_privacy import NO_PRIVACY
from pages.explore.methods import controls, other_packages, panels, sweeps, text
from pages.explore.methods.charts import ComparisonMeasure, SweepRuns
from pages.shared.background import cache, refresh, sweep_status
from pages.shared.charts import explorer_text
from pages.shared.document import streamlit
from pages.shared.reports import sources, take_along
from pages.shared.settings import to_experiment, widgets

settings = widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS)
neighbours = settings["neighbours"]
experiment, epsilon = to_experiment.from_settings(settings | {"start": "random"})  # sweeps know no other
results = cache.results(experiment)
controls.choose(settings)
methods = [name for name in controls.used(settings) if name not in results.skipped]
panel = settings["compare.panel"]
measure = ComparisonMeasure(results, settings, panel)
sweep, slot = sweeps.for_panel(results, methods, settings)
note = text.note(sweep, methods, settings)
if note:
    st.info(note)


def render() -> None:
    """Show the chosen panel of what has been measured so far; called again while more comes.

    Below it, in `below`, stand the heavy methods: the progress of each, or its button.
    """
    # A click ran this part alone; the release below it belongs to the whole page.
    if st.session_state.pop(controls.PICKED_POINT, False):
        st.rerun()
    jobs = controls.jobs(slot, sweep)
    table = controls.table(jobs)
    progress = controls.progress(sweep, jobs)
    if table is None:
        below = st.container()
        below.markdown(text.NOTHING_QUICK)
    else:
        show = {"needed": panels.needed, "frontier": panels.frontier}.get(panel, panels.against)
        unit = jobs[controls.UNIT].table() if controls.UNIT in jobs else table.iloc[:0]
        below = show(SweepRuns(measure, sweep, table, methods, progress, unit))
    with below:
        controls.show_heavy(slot, sweep, jobs)
    live = jobs.get(controls.LIVE)
    if live is not None and live.recipe == sweep.live:
        sweep_status.show(live, slot)


def reference() -> None:
    """Show the error without privacy: one number, whichever methods are chosen."""
    st.caption(text.without_privacy(results, settings))


if sweep is not None:
    refresh.while_more(render, lambda: any(job.running for job in controls.jobs(slot, sweep).values()))
    if panel == "frontier":
        name = controls.choose_release(methods)
        panels.release(measure, name)
refresh.while_cells_come(reference, results, partial(results.next_of, NO_PRIVACY))
st.markdown(text.recommended(experiment, epsilon, settings["trust"]))
st.caption(text.notes(results, controls.used(settings), settings))
st.caption(explorer_text.printed(results, epsilon, methods))
st.header("Against packages that can be installed")
try:
    finding = other_packages.finding(neighbours)
except ValueError as reason:
    st.info(f"Nothing to compare with here: {reason}.")
else:
    st.markdown(finding)
    figure = other_packages.figure(neighbours)
    take_along.show(
        *(figure, "peers figure", "dppca-packages", "Against packages that can be installed"),
        says=finding,
        code=lambda: FigureRecipe("sweeps.packages", {"neighbours": neighbours}),
    )
    st.caption(other_packages.notes(neighbours))
st.markdown(f"**Try this:** {text.try_this(panel)}")
streamlit.show_block(sources.of_results(results, epsilon, settings, runs=text.runs(sweep)))
