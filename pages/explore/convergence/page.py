"""How the error falls round by round, for several values of one parameter, and where it comes to stand."""

import streamlit as st

from dppca_core.experiments.sweeps.iterate_table import by_round
from pages.explore.convergence import charts, curves, text
from pages.shared.background import cache, refresh, sweep_jobs, sweep_status
from pages.shared.figure import component
from pages.shared.reports import downloads, sources
from pages.shared.settings import to_experiment, widgets

PLACE = "convergence"

st.title("How fast does it converge?")
st.markdown(
    "The error after every round, for several values of one setting: how much a round gains, and where "
    "noise and sampling stop it."
)
widgets.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    widgets.notices()
for column, key in zip(st.columns(3), ("family", "traced", "layout"), strict=True):
    with column:
        widgets.choose(key)
settings = widgets.settings()
family = curves.family(settings)
with st.container():
    for sentence in text.notes(family, settings):
        st.caption(sentence)
job = sweep_jobs.start(PLACE, family.recipe)


def panels() -> None:
    """What has been measured so far."""
    found = curves.readings(family, settings, job.table())
    said = text.headline(family, found, settings)
    st.markdown(f"**{said}**")
    drawn = charts.figure(family, found, settings)
    component.figure(drawn, key=f"{settings['layout']} figure", says=said)
    with st.container(height=72, border=False):  # the same height with the bar as without
        sweep_status.show(job, PLACE)
        if job.state == "complete":
            st.caption(text.measured(job.progress.total, settings))
    st.table(text.table(family, found, settings), hide_index=True, border="horizontal")
    st.caption(text.below_table(found, settings))


refresh.while_more(panels, lambda: job.running)

if settings["view"] == "researcher":
    st.header("How the factor and the plateau are read off")
    st.markdown(text.FORMULAS)
st.markdown(f"**Try this:** {text.try_this(settings)}")
downloads.downloads(
    lambda: by_round(job.table()),
    lambda: charts.figure(family, curves.readings(family, settings, job.table()), settings),
    "dppca-convergence",
)
experiment, epsilon = to_experiment.from_settings(settings)
sources.page(cache.results(experiment), epsilon, settings, measured=text.about(settings))
