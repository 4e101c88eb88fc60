"""Route to the pages: page configuration, the menu built from the folders, the shared controls."""

from pathlib import Path

import streamlit as st

from pages.shared.background import engine
from pages.shared.server import sign_in
from pages.shared.settings import sidebar

HERE = Path(__file__).parent
TITLE = "What privacy costs in PCA"
SECTIONS = {  # with the pages that come first; others follow by name
    "explore": ("explorer", "convergence", "bounds", "methods"),
    "hospitals": ("providers", "differences", "your_data", "planner"),
    "learn": ("story",),
}


def pages_of(section: str) -> list[Path]:
    """Return the files of a section's pages in the menu's order."""
    first, files = SECTIONS[section], sorted((HERE / section).glob("*/page.py"))
    return sorted(files, key=lambda file: (*first, file.parent.name).index(file.parent.name))


sign_in.ask(TITLE)
menu = {
    section.capitalize(): [
        st.Page(
            page,
            title=page.parent.name.replace("_", " ").capitalize(),
            url_path=page.parent.name,
            default=page.parent.name == "explorer",
        )
        for page in pages_of(section)
    ]
    for section in SECTIONS
}
page = st.navigation(menu, position="top")
st.set_page_config(f"{page.title} · {TITLE}", str(HERE / "shared" / "icon.svg"), layout="wide")
with engine.engine().yielding():  # the page runs before the engine's next step
    sidebar.render(page.url_path)
    page.run()
