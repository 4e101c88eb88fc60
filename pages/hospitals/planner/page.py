"""Plan a study: the patients, privacy or hospitals that an error needs, and a paragraph for a protocol."""

from functools import partial

import streamlit as st

from dppca_core.experiments.planning.evaluations import EVALUATIONS
from pages.hospitals.planner import (
    charts,
    controls,
    figure_code,
    plain,
    protocol_paragraph,
    report,
    table,
    text,
    view,
)
from pages.shared.background import engine, refresh, sessions
from pages.shared.figure import component
from pages.shared.reports import html_report, sources, take_along
from pages.shared.settings import widgets

if widgets.settings()["view"] == "plain":
    plain.render()
    st.stop()
settings = controls.choose_population(widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS))
controls.choose(settings, "plan.of", "plan.trust", "plan.way", "plan.tuned")
controls.stop(settings)
chosen, next_missing = view.focus(settings), partial(view.next_missing, settings)


def panels() -> None:
    """Render the answer, the chart and the table, with what has been evaluated and simulated so far."""
    if widgets.moved():  # by a button in this fragment
        st.rerun()
    simulations = controls.simulated(settings)
    headline = text.headline(settings, simulations)
    widgets.headline(headline, "epsilon", "providers")
    drawn = view.drawn(settings)
    figure = charts.figure(drawn, settings, simulations)
    component.figure(figure, key="plan figure", says=headline)
    take_along.menu(
        *("plan figure", "dppca-plan", text.TITLE, lambda: figure),
        table=lambda: charts.table(settings, simulations),
        code=lambda: figure_code.plans(settings),
    )
    st.caption(text.below_chart(settings, drawn.reaching))
    controls.confirm(settings)
    st.table(table.table(settings, simulations), hide_index=True, border="horizontal")
    st.caption(text.below_table(settings))
    st.markdown(text.recommended(settings))
    st.header(text.PARAGRAPH_TITLE)
    paragraph = protocol_paragraph.paragraph(settings, simulations.get(chosen))
    st.code(paragraph, language=None, wrap_lines=True)
    if next_missing() is not None:
        engine.engine().complete(sessions.visitor(), EVALUATIONS, next_missing)


refresh.while_more(panels, lambda: controls.running(settings) or next_missing() is not None)
controls.assumptions(settings)
st.markdown(f"**Try this:** {text.try_this(settings)}")
# Read the simulations now: a download is built outside of the visitor's session, which alone knows them.
current = controls.simulated(settings)
build = partial(report.build, settings, current, html_report.link(widgets.settings(), "planner"))
html_report.button(build, "dppca-plan")
sources.foot(settings, partial(text.about, settings), text.FORMULA)
