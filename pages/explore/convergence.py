"""How the error falls round by round, for several values of one parameter, and where it comes to stand."""

import streamlit as st

from dppca_core.experiments.rounds import by_round
from pages.shared import (
    cached,
    controls,
    exports,
    jobs,
    live,
    origins,
    scenes,
    trajectories,
    trajectory_charts,
    trajectory_text,
)

REFRESH_SECONDS = 0.6  # while runs are still being measured
PLACE = "convergence"

st.title("How fast does it converge?")
st.markdown(
    "The error after every round, for several values of one setting: how much a round gains, and where "
    "noise and sampling stop it."
)
controls.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    controls.notices()
for column, key in zip(st.columns(3), ("family", "traced", "layout"), strict=True):
    with column:
        controls.choose(key)
settings = controls.settings()
family = trajectories.family(settings)
with st.container():
    for sentence in trajectory_text.notes(family, settings):
        st.caption(sentence)
job = jobs.start(PLACE, family.recipe)
refreshing = job.running


def panels() -> None:
    """What has been measured so far."""
    found = trajectories.readings(family, settings, job.table())
    said = trajectory_text.headline(family, found, settings)
    st.markdown(f"**{said}**")
    drawn = trajectory_charts.figure(family, found, settings)
    live.figure(drawn, key=f"{settings['layout']} figure", says=said)
    with st.container(height=72, border=False):  # the same height with the bar as without
        jobs.status(job, PLACE)
        if job.state == "complete":
            st.caption(trajectory_text.measured(job.progress.total, settings))
    st.table(trajectory_text.table(family, found, settings), hide_index=True, border="horizontal")
    st.caption(trajectory_text.below_table(found, settings))
    if refreshing and not job.running:
        st.rerun()  # complete: the page need not refresh itself any more


st.fragment(panels, run_every=REFRESH_SECONDS if refreshing else None)()

if settings["view"] == "researcher":
    st.header("How the factor and the plateau are read off")
    st.markdown(trajectory_text.FORMULAS)
st.markdown(f"**Try this:** {trajectory_text.try_this(settings)}")
exports.downloads(
    lambda: by_round(job.table()),
    lambda: trajectory_charts.figure(family, trajectories.readings(family, settings, job.table()), settings),
    "dppca-convergence",
)
scene, epsilon = scenes.of(settings)
origins.page(cached.results(scene), epsilon, settings, measured=trajectory_text.about(settings))
