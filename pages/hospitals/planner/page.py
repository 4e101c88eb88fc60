"""How many patients, how much privacy or how many hospitals an error takes, and a sentence for a protocol."""

from functools import partial

import streamlit as st

from pages.hospitals.planner import charts, controls, protocol_paragraph, report, sources, table, text, view
from pages.shared.background import refresh
from pages.shared.figure import component
from pages.shared.reports import downloads, html_report
from pages.shared.settings import widgets

st.title("How many patients does it take?")
st.markdown(
    "What a study must have to reach a target: patients, privacy or hospitals, at once by formula, and then "
    "confirmed by running the method."
)
widgets.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    widgets.notices()
settings = widgets.settings()
controls.choose(settings)
controls.stop(settings)
drawn, chosen = view.drawn(settings), view.focus(settings)


def panels() -> None:
    """The answer, the chart and the table, with what has been simulated so far."""
    if widgets.moved():  # by a button in here
        st.rerun()
    read = controls.simulated(settings)
    said = text.headline(settings, read)
    st.markdown(f"**{said}**")
    figure = charts.figure(drawn, settings, read)
    component.figure(figure, key="plan figure", save="dppca-plan", says=said)
    st.caption(text.below_chart(settings))
    controls.confirm(settings)
    st.table(table.table(settings, read), hide_index=True, border="horizontal")
    st.caption(table.notes(settings))
    st.header("For a protocol or an ethics application")
    st.code(protocol_paragraph.paragraph(settings, read.get(chosen)), language=None, wrap_lines=True)


refresh.while_more(panels, lambda: controls.running(settings))
controls.assumptions(settings)
st.markdown(f"**Try this:** {text.try_this(settings)}")
# Read now: a download is built outside of the visitor's session, which knows of no simulation.
read_now = controls.simulated(settings)
beside = downloads.downloads(
    lambda: charts.table(drawn, settings, chosen),
    lambda: charts.figure(drawn, settings, read_now),
    "dppca-plan",
)
with beside:
    build = partial(report.build, settings, read_now, html_report.link(settings, "planner"))
    html_report.button(build, "dppca-plan", width="stretch")
sources.page(settings)
