"""Methods against each other: error, time, bytes, patients needed, and the frontier of privacy and error."""

import streamlit as st

from pages.explore.methods import (
    controls,
    hints,
    other_packages,
    release_panel,
    sweeps,
    text,
)
from pages.explore.methods import (
    panels as page_panels,
)
from pages.shared.background import cache, refresh, sweep_status
from pages.shared.charts import explorer_summary
from pages.shared.figure import component
from pages.shared.reports import sources
from pages.shared.settings import to_experiment, widgets

st.title("Compared to what?")
st.markdown(
    "The same patients given to every method you choose: what each errs, takes, sends and asks you to trust."
)
widgets.view_switches(("view",))
with st.container():
    widgets.notices()
settings = widgets.settings()
experiment, epsilon = to_experiment.from_settings(settings | {"start": "random"})  # sweeps know no other
found = cache.results(experiment)
controls.choose(settings)
methods = [name for name in controls.used(settings) if name not in found.skipped]
panel = settings["compare.panel"]
of, place, said = sweeps.of_panel(found, epsilon, methods, settings)
if said:
    st.info(said)


def panels() -> None:
    """What has been measured so far, drawn."""
    if st.session_state.pop(controls.PICKED_POINT, False):
        st.rerun()
    job, asked = controls.jobs(place, of)
    table = controls.tables(job, asked)
    progress = controls.progress(of, job)
    if table is None:
        slot = st.container()
        slot.markdown("None of these methods is quick here: measure one at its button.")
    elif panel == "needed":
        slot = page_panels.needed(found, of, table, settings, progress)
    elif panel == "frontier":
        picked = page_panels.picked
        slot = page_panels.frontier(found, table, methods, settings, picked, progress)
    else:
        slot = page_panels.against(found, of, table, epsilon, settings, progress)
    with slot:
        controls.ask(place, of, asked)
    if job is not None and job.recipe == of.live:
        sweep_status.show(job, place)


if of is not None:
    refresh.while_more(panels, lambda: controls.measuring(of, *controls.jobs(place, of)))
if of is not None and panel == "frontier":
    name = controls.release(settings, methods)
    release_panel.show(found, name, settings["compare.at"], settings)
st.caption(text.notes(found, controls.used(settings), settings))
board = settings["view"] == "board"
st.caption(
    explorer_summary.printed_plainly(found, epsilon)
    if board
    else explorer_summary.printed(found, epsilon, methods)
)
st.header("Against packages that can be installed")
try:
    beside = other_packages.said(settings["neighbours"], board)
except ValueError as reason:
    st.info(f"Nothing to compare with here: {reason}.")
else:
    st.markdown(beside)
    component.figure(
        other_packages.figure(settings["neighbours"], board),
        key="peers figure",
        save="dppca-packages",
        says=beside,
    )
    st.caption(other_packages.notes(settings["neighbours"], board))
st.markdown(f"**Try this:** {hints.try_this(settings)}")
sources.page(found, epsilon, settings, runs=text.runs(of))
