"""The front page: what privacy costs, live, for one population and every fast method."""

from functools import partial

import streamlit as st

from dppca_core.experiments.live import run_seconds
from dppca_core.experiments.scene import EPSILONS, TRACED
from dppca_core.methods import METHODS
from pages.shared import (
    ahead,
    cached,
    controls,
    exercises,
    explore_tries,
    explorer_report,
    exports,
    failed_runs,
    live,
    loading_charts,
    origins,
    readout,
    report,
    scenes,
    spoken,
    worker,
)

st.title("What does privacy cost?")
st.markdown(
    "How far the directions found by private, distributed, sparse PCA are from the true ones, "
    "measured again at every move of a slider."
)
controls.view_switches()
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    controls.notices()
settings = controls.settings()
scene, epsilon = scenes.of(settings)
found = cached.results(scene)


def keep_scrubbed() -> None:
    """The epsilon that was scrubbed to becomes the page's own."""
    controls.set_to("eps", EPSILONS[int(st.session_state["live"]["use"])])


def panels() -> None:
    """Measure what a first look needs, show it, and let the rest come."""
    if st.session_state["eps"] != epsilon:  # kept from the scrub: only this fragment knows so far
        st.rerun()
    if not begun:  # refreshes leave it to the worker, or both would wait for each other
        for _ in worker.at_first(found.steps(found.first(epsilon))):
            st.session_state.get("eps")  # Streamlit leaves off here when the visitor has moved on
    payload = readout.payload(found, epsilon, settings)
    live.figure(payload | ahead.link(settings), key="live", on_use=keep_scrubbed)
    if settings["loadings"] and (TRACED, epsilon, 0) in found.cells:
        st.markdown("**Loadings of one release, turned onto the true ones**")
        drawn = loading_charts.loadings(found, found.estimate(TRACED, epsilon, 0).basis)
        live.figure(drawn, key="loadings figure", says=spoken.loadings(drawn))
    if not begun:
        begun.append(True)
        ahead.begin(settings, controls.last_move())
    failed_runs.of_methods(found)
    if not payload["complete"]:
        worker.look(found, lambda: found.next_missing(epsilon, settings["slow"]))
    elif refreshing:
        st.rerun()  # complete: the page need not refresh itself any more


begun: list[bool] = []  # in the run of the whole page, not at its refreshes
refreshing = found.next_missing(epsilon, settings["slow"]) is not None
st.fragment(panels, run_every=worker.refresh_seconds() if refreshing else None)()

controls.slow(
    [METHODS[name].title for name in found.slow],
    sum(run_seconds(name, scene.d, scene.k, scene.providers) for name in found.slow),
)
st.markdown(f"**Try this:** {explore_tries.explorer(settings)}")
with st.expander(exercises.TITLE):
    st.markdown(exercises.markdown(settings["view"] == "board"))
beside = exports.downloads(found.table, lambda: readout.payload(found, epsilon, settings), "dppca-explorer")
with beside:
    build = partial(explorer_report.build, found, epsilon, settings, report.link(settings))
    report.button(build, "dppca-explorer", width="stretch")
origins.page(found, epsilon, settings)
