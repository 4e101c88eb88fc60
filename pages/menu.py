"""Route to the pages: page configuration, the menu built from the folders, the shared controls."""

from pathlib import Path

import streamlit as st

from pages.shared.background import engine
from pages.shared.server import sign_in
from pages.shared.settings import sidebar

HERE = Path(__file__).parent
SECTIONS = ("explore", "hospitals", "learn")
TITLE = "What privacy costs in PCA"
# The menu's order; other pages follow by name.
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


def menu_order(page: Path) -> tuple[int, str]:
    """Return a page's sort key in its section of the menu."""
    name = page.parent.name
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)


sign_in.ask(TITLE)
menu = {
    section.capitalize(): [
        st.Page(
            page,
            title=page.parent.name.replace("_", " ").capitalize(),
            url_path=page.parent.name,
            default=page.parent.name == "explorer",
        )
        for page in sorted((HERE / section).glob("*/page.py"), key=menu_order)
    ]
    for section in SECTIONS
    if (HERE / section).is_dir()
}
page = st.navigation(menu)
st.set_page_config(f"{page.title} · {TITLE}", str(HERE / "shared" / "icon.svg"), layout="wide")
with engine.engine().yielding():  # the page runs before the engine's next step
    sidebar.render(page.url_path)
    page.run()
