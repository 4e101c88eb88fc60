"""Route to the pages: page configuration, the menu, the shared controls."""

from pathlib import Path

import streamlit as st

from pages import order
from pages.shared.background import engine, turns
from pages.shared.server import sign_in, uploads
from pages.shared.settings import sidebar

TITLE = "What privacy costs in PCA"


def listed(page: Path) -> st.Page:
    name = page.parent.name
    return st.Page(page, title=order.title(page), url_path=name, default=name == order.FIRST)


sign_in.ask(TITLE)
menu = {group: [listed(page) for page in pages] for group, pages in order.menu().items()}
page = st.navigation(menu, position="top")
st.set_page_config(f"{page.title} · {TITLE}", str(order.HERE / "shared" / "icon.svg"), layout="wide")
with turns.TURNS.taken(), engine.engine().yielding(), uploads.page():  # before the engine's next step
    name = page.url_path or order.FIRST  # the first page has no path
    sidebar.render(name)
    page.run()
