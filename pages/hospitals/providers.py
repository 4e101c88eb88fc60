"""Hospitals that join or stay alone: who errs least, who sees what, and what travels."""

import streamlit as st

from pages.shared import (
    cached,
    controls,
    join_controls,
    join_panels,
    join_tries,
    join_words,
    joins,
    origins,
    round_panels,
    scenes,
)

st.title("Who sees what?")
st.markdown(
    "The same patients in the same hospitals: what each can find by joining, by whom they trust, or by "
    "staying alone, and what leaves a hospital on the way."
)
controls.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    controls.notices()
controls.choose_panel("join.panel")
settings = controls.settings()
recipe, said = joins.recipe(settings)
with st.container():
    for sentence in said:
        st.caption(sentence)
panel = settings["join.panel"]
if panel not in ("rounds", "sees") or settings["join.source"] == "simulated":
    join_controls.sizes(recipe, settings)
if panel == "rounds":
    round_panels.rounds(recipe, settings)
elif panel == "sees":
    round_panels.sees(recipe, settings)
elif panel == "pair":
    round_panels.pair(recipe, settings)
else:
    join_controls.choose_compared()
    join_panels.compared(cached.outcomes(recipe), settings)
st.markdown(f"**Try this:** {join_tries.try_this(recipe, settings)}")
scene, epsilon = scenes.of(settings)
origins.page(cached.results(scene), epsilon, settings, measured=join_words.about(recipe))
