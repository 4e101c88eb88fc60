"""Compare hospitals that join with hospitals that stay alone: who errs least, and who sees what."""

import streamlit as st

from pages.hospitals.providers import controls, gain_panels, gain_text, run_panels, view
from pages.hospitals.providers import text as page_text
from pages.shared.background import cache
from pages.shared.reports import sources
from pages.shared.settings import to_experiment, widgets

st.title("Who sees what?")
st.markdown(page_text.INTRODUCTION)
widgets.view_switches(("view",))
# Both containers are always there: a block more or less would move the figure, which would be rebuilt.
with st.container():
    widgets.notices()
widgets.choose_panel("join.panel")
settings = widgets.settings()
recipe, adjustments = view.recipe(settings)
with st.container():
    for sentence in adjustments:
        st.caption(sentence)
panel = settings["join.panel"]
if panel not in ("rounds", "sees") or settings["join.source"] == "simulated":
    controls.sizes(recipe, settings)
if panel in ("rounds", "sees"):
    run_panels.run(recipe, settings)
elif panel == "pair":
    run_panels.pair(recipe, settings)
else:
    widgets.choose_beside("join.trust", "join.rank")
    gain_panels.compared(cache.collaboration_results(recipe), settings)
st.markdown(f"**Try this:** {page_text.try_this(recipe, settings)}")
experiment, epsilon = to_experiment.from_settings(settings)
sources.page(cache.results(experiment), epsilon, settings, measured=gain_text.about(recipe))
