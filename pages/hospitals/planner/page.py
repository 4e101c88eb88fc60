"""Plan a study: the patients, privacy or hospitals that an error needs, and a paragraph for a protocol."""

import streamlit as st

from dppca_core.experiments.planning.evaluations import EVALUATIONS
from pages.hospitals.planner import charts, controls, plain, report, text
from pages.hospitals.planner.protocol_paragraph import paragraph
from pages.hospitals.planner.view import Planner
from pages.shared.background import engine, refresh, sessions
from pages.shared.document import streamlit
from pages.shared.reports import html_report, sources, take_along
from pages.shared.settings import widgets

widgets.in_plain_view(plain.render)
planner = Planner(controls.choose_population(widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS)))
controls.choose(planner, "plan.of", "plan.trust", "plan.way", "plan.tuned")
controls.stop(planner)
shown = {"planner": planner}  # on the screen now: a download is built of it, outside of the visitor's session


def panels() -> None:
    """Render the answer, the chart and the table, with what has been evaluated and simulated so far."""
    # A button in this fragment may have set something, which only a run of the whole page applies.
    if widgets.has_pending_move():
        st.rerun()
    now = shown["planner"] = controls.with_simulations(planner)
    headline, details = text.headline(now), text.details(now)
    widgets.headline(headline, "epsilon", "providers")  # on a telephone with these two sliders
    drawn = now.drawn()
    take_along.show(
        *(charts.figure(drawn, now), "plan figure", "dppca-plan", text.TITLE),
        says=f"{headline} {details}".strip(),
        table=lambda: charts.table(now),
        code=now.code,
    )
    st.markdown(details)
    st.caption(text.below_chart(now, drawn))
    if now.settings["plan.trust"] == "any":
        widgets.show_control("all_methods")
    controls.confirm(now)
    st.table(text.table(now), hide_index=True, border="horizontal")
    st.caption(text.below_table(now))
    st.markdown(text.recommended(now))
    st.header(text.PARAGRAPH_TITLE)
    st.code(paragraph(now), language=None, wrap_lines=True)
    if planner.next_missing() is not None:
        engine.engine().complete(sessions.visitor(), EVALUATIONS, planner.next_missing)


refresh.while_more(panels, lambda: controls.start_or_continue(planner) or planner.next_missing() is not None)
controls.assumptions(planner)
st.markdown(f"**Try this:** {text.try_this(planner)}")
link = streamlit.link(widgets.settings())
html_report.button(lambda: report.build(shown["planner"], link), "dppca-plan")
streamlit.show_block(sources.fold(planner.settings, lambda: (*text.about(planner), text.FORMULA)))
