"""How many patients, how much privacy or how many hospitals an error takes, and a sentence for a protocol."""

from functools import partial

import streamlit as st

from pages.shared import (
    controls,
    exports,
    live,
    plan_charts,
    plan_controls,
    plan_origins,
    plan_protocol,
    plan_report,
    plan_table,
    plan_words,
    plans,
    report,
)

REFRESH_SECONDS = 0.6  # while a simulation runs

st.title("How many patients does it take?")
st.markdown(
    "What a study must have to reach a target: patients, privacy or hospitals, at once by formula, and then "
    "confirmed by running the method."
)
controls.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    controls.notices()
settings = controls.settings()
plan_controls.choose(settings)
plan_controls.stop(settings)
drawn, chosen = plans.drawn(settings), plans.focus(settings)


def panels() -> None:
    """The answer, the chart and the table, with what has been simulated so far."""
    if controls.moved():  # by a button in here
        st.rerun()
    read, running = plan_controls.simulated(settings)
    said = plan_words.headline(settings, read)
    st.markdown(f"**{said}**")
    figure = plan_charts.figure(drawn, settings, read)
    live.figure(figure, key="plan figure", save="dppca-plan", says=said)
    st.caption(plan_words.below_chart(settings))
    plan_controls.confirm(settings)
    st.table(plan_table.table(settings, read), hide_index=True, border="horizontal")
    st.caption(plan_table.notes(settings))
    st.header("For a protocol or an ethics application")
    st.code(plan_protocol.paragraph(settings, read.get(chosen)), language=None, wrap_lines=True)
    if running != refreshing:
        st.rerun()


refreshing = plan_controls.running(settings)
st.fragment(panels, run_every=REFRESH_SECONDS if refreshing else None)()
plan_controls.assumptions(settings)
st.markdown(f"**Try this:** {plan_words.try_this(settings)}")
# Read now: a download is built outside of the visitor's session, which knows of no simulation.
read_now, _ = plan_controls.simulated(settings)
beside = exports.downloads(
    lambda: plan_charts.table(drawn, settings, chosen),
    lambda: plan_charts.figure(drawn, settings, read_now),
    "dppca-plan",
)
with beside:
    build = partial(plan_report.build, settings, read_now, report.link(settings, "planner"))
    report.button(build, "dppca-plan", width="stretch")
plan_origins.page(settings)
