"""The router: page configuration, the menu built from the folders, the shared controls."""

from pathlib import Path

import streamlit as st

from pages.shared import controls

HERE = Path(__file__).parent
SECTIONS = ("explore", "hospitals", "learn")

st.set_page_config("What privacy costs in PCA", str(HERE / "shared" / "icon.svg"), layout="wide")
menu = {
    section.capitalize(): [
        st.Page(page, title=page.stem.replace("_", " ").capitalize(), default=page.stem == "explorer")
        for page in sorted((HERE / section).glob("*.py"))
    ]
    for section in SECTIONS
    if (HERE / section).is_dir()
}
page = st.navigation(menu)
controls.render()
page.run()
