"""Methods against each other: error, time, bytes, patients needed, and the frontier of privacy and error."""

import streamlit as st

from pages.shared import (
    cached,
    comparison_controls,
    comparison_panels,
    comparison_words,
    comparisons,
    controls,
    explore_tries,
    jobs,
    live,
    origins,
    peers,
    readout,
    releases,
    scenes,
)

REFRESH_SECONDS = 0.6  # while runs are still being measured

st.title("Compared to what?")
st.markdown(
    "The same patients given to every method you choose: what each errs, takes, sends and asks you to trust."
)
controls.view_switches(("view",))
with st.container():
    controls.notices()
settings = controls.settings()
scene, epsilon = scenes.of(settings | {"start": "random"})  # sweeps know no other
found = cached.results(scene)
comparison_controls.choose(settings)
methods = [name for name in comparison_controls.used(settings) if name not in found.skipped]
panel = settings["compare.panel"]
of, place, said = comparisons.of_panel(found, epsilon, methods, settings)
if said:
    st.info(said)


def panels() -> None:
    """What has been measured so far, drawn."""
    if st.session_state.pop(comparison_controls.PICKED_POINT, False):
        st.rerun()
    job, asked = comparison_controls.measured(place, of), comparison_controls.heavy(place, of)
    table = comparison_controls.tables(job, asked)
    progress = comparison_controls.progress(of, job)
    if table is None:
        slot = st.container()
        slot.markdown("None of these methods is quick here: measure one at its button.")
    elif panel == "needed":
        slot = comparison_panels.needed(found, of, table, settings, progress)
    elif panel == "frontier":
        picked = comparison_panels.picked
        slot = comparison_panels.frontier(found, table, methods, settings, picked, progress)
    else:
        slot = comparison_panels.against(found, of, table, epsilon, settings, progress)
    with slot:
        comparison_controls.ask(place, of, asked)
    if job is not None and job.recipe == of.live:
        jobs.status(job, place)
    if comparison_controls.measuring(of, job, asked) != refreshing:
        st.rerun()


if of is not None:
    job, asked = comparison_controls.measured(place, of), comparison_controls.heavy(place, of)
    refreshing = comparison_controls.measuring(of, job, asked)
    st.fragment(panels, run_every=REFRESH_SECONDS if refreshing else None)()
if of is not None and panel == "frontier":
    name = comparison_controls.release(settings, methods)
    releases.show(found, name, settings["compare.at"], settings)
st.caption(comparison_words.notes(found, comparison_controls.used(settings), settings))
board = settings["view"] == "board"
st.caption(readout.printed_plainly(found, epsilon) if board else readout.printed(found, epsilon, methods))
st.header("Against packages that can be installed")
try:
    beside = peers.said(settings["neighbours"], board)
except ValueError as reason:
    st.info(f"Nothing to compare with here: {reason}.")
else:
    st.markdown(beside)
    live.figure(
        peers.figure(settings["neighbours"], board), key="peers figure", save="dppca-packages", says=beside
    )
    st.caption(peers.notes(settings["neighbours"], board))
st.markdown(f"**Try this:** {explore_tries.methods(settings)}")
origins.page(found, epsilon, settings, runs=comparison_words.runs(of))
