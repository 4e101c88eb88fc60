"""The router: page configuration, the menu built from the folders, the shared controls."""

from pathlib import Path

import streamlit as st

from pages.shared import sidebar, sign_in, worker

HERE = Path(__file__).parent
SECTIONS = ("explore", "hospitals", "learn")
TITLE = "What privacy costs in PCA"
# In this order; other pages follow by name.
FIRST = (
    "explorer",
    "convergence",
    "bounds",
    "methods",
    "providers",
    "differences",
    "your_data",
    "planner",
    "story",
)


def place(page: Path) -> tuple[int, str]:
    """Where a page stands in its section of the menu."""
    return (FIRST.index(page.stem) if page.stem in FIRST else len(FIRST), page.stem)


sign_in.ask(TITLE)
menu = {
    section.capitalize(): [
        st.Page(page, title=page.stem.replace("_", " ").capitalize(), default=page.stem == "explorer")
        for page in sorted((HERE / section).glob("*.py"), key=place)
    ]
    for section in SECTIONS
    if (HERE / section).is_dir()
}
page = st.navigation(menu)
st.set_page_config(f"{page.title} · {TITLE}", str(HERE / "shared" / "icon.svg"), layout="wide")
with worker.completer().yielding():  # a visitor waits: the worker measures on when the page is there
    sidebar.render(page.url_path)
    page.run()
