"""Show a run message by message: what the server asks, what hospitals send, and what that tells."""

import streamlit as st

from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.who_sees_what import panels, run_text
from pages.shared.background import cache
from pages.shared.document import streamlit
from pages.shared.reports import sources
from pages.shared.settings import to_experiment, widgets

settings = widgets.head(run_text.TITLE, run_text.INTRODUCTION, run_text.STEPS)
widgets.show_panel_pills("sees.panel")
experiment, epsilon = to_experiment.from_settings(settings)
recipe = CollaborationSetting.from_experiment(experiment, epsilon, settings["join.rank"])
if settings["sees.panel"] == "pair":
    panels.pair(recipe, settings)
else:
    panels.run(recipe, settings)
st.markdown(f"**Try this:** {run_text.try_this(recipe, settings)}")
streamlit.show_blocks(
    [sources.of_results(cache.results(experiment), epsilon, settings, measured=run_text.ABOUT)]
)
