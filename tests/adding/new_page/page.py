"""Show a page that is added by this folder alone, with a setting of its own."""

import streamlit as st

from pages.shared.settings import widgets

st.title("A new page")
st.markdown("It has one setting of its own.")
widgets.view_switches(("view",))
widgets.notices()
widgets.show_control("new.depth")
st.markdown(f"The depth is {widgets.settings()['new.depth']}.")
