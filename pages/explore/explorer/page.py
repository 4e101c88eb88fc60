"""The front page: what privacy costs, live, for one population and every fast method."""

from functools import partial

import streamlit as st

from dppca_core.experiments.explorer.experiment import EPSILONS, TRACED
from dppca_core.experiments.explorer.results import run_seconds
from dppca_core.methods import METHODS
from pages.explore.explorer import exercises, hints, report
from pages.shared.background import cache, engine, failed_runs, prefetch, refresh
from pages.shared.charts import explorer_summary, loadings
from pages.shared.charts import loadings as charts_loadings
from pages.shared.figure import component
from pages.shared.reports import downloads, html_report, sources
from pages.shared.settings import to_experiment, widgets

st.title("What does privacy cost?")
st.markdown(
    "How far the directions found by private, distributed, sparse PCA are from the true ones, "
    "measured again at every move of a slider."
)
widgets.view_switches()
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    widgets.notices()
settings = widgets.settings()
experiment, epsilon = to_experiment.from_settings(settings)
found = cache.results(experiment)


def keep_scrubbed() -> None:
    """The epsilon that was scrubbed to becomes the page's own."""
    widgets.set_to("epsilon", EPSILONS[int(st.session_state["live"]["use"])])


def panels() -> None:
    """Show what has been measured so far."""
    if st.session_state["epsilon"] != epsilon:  # kept from the scrub: only this fragment knows so far
        st.rerun()
    payload = explorer_summary.payload(found, epsilon, settings)
    component.figure(payload | prefetch.link(settings), key="live", on_use=keep_scrubbed)
    if settings["loadings"] and (TRACED, epsilon, 0) in found.cells:
        st.markdown("**Loadings of one release, turned onto the true ones**")
        drawn = loadings.loadings(found, found.estimate(TRACED, epsilon, 0).basis)
        component.figure(drawn, key="loadings figure", says=charts_loadings.description(drawn))
    failed_runs.of_methods(found)


def first_look() -> None:
    """Measure what a first look needs."""
    for _ in engine.at_first(found.steps(found.first(epsilon))):
        st.session_state.get("epsilon")  # Streamlit leaves off here when the visitor has moved on


next_cell = partial(found.next_missing, epsilon, settings["slow"])
refresh.while_cells_come(panels, found, next_cell, first_look)
prefetch.begin(settings, widgets.last_move())

widgets.slow(
    [METHODS[name].title for name in found.slow],
    sum(run_seconds(name, experiment.d, experiment.k, experiment.providers) for name in found.slow),
)
st.markdown(f"**Try this:** {hints.try_this(settings)}")
with st.expander(exercises.TITLE):
    st.markdown(exercises.markdown(settings["view"] == "board"))
beside = downloads.downloads(
    found.table, lambda: explorer_summary.payload(found, epsilon, settings), "dppca-explorer"
)
with beside:
    build = partial(report.build, found, epsilon, settings, html_report.link(settings))
    html_report.button(build, "dppca-explorer", width="stretch")
sources.page(found, epsilon, settings)
