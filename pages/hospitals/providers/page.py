"""Hospitals that join or stay alone: who errs least, who sees what, and what travels."""

import streamlit as st

from pages.hospitals.providers import controls, gain_panels, gain_text, hints, run_panels, view
from pages.shared.background import cache
from pages.shared.reports import sources
from pages.shared.settings import to_experiment, widgets

st.title("Who sees what?")
st.markdown(
    "The same patients in the same hospitals: what each can find by joining, by whom they trust, or by "
    "staying alone, and what leaves a hospital on the way."
)
widgets.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    widgets.notices()
widgets.choose_panel("join.panel")
settings = widgets.settings()
recipe, said = view.recipe(settings)
with st.container():
    for sentence in said:
        st.caption(sentence)
panel = settings["join.panel"]
if panel not in ("rounds", "sees") or settings["join.source"] == "simulated":
    controls.sizes(recipe, settings)
if panel == "rounds":
    run_panels.rounds(recipe, settings)
elif panel == "sees":
    run_panels.sees(recipe, settings)
elif panel == "pair":
    run_panels.pair(recipe, settings)
else:
    controls.choose_compared()
    gain_panels.compared(cache.collaboration_results(recipe), settings)
st.markdown(f"**Try this:** {hints.try_this(recipe, settings)}")
experiment, epsilon = to_experiment.from_settings(settings)
sources.page(cache.results(experiment), epsilon, settings, measured=gain_text.about(recipe))
