"""Route to the pages: page configuration, the menu, the shared controls."""

import streamlit as st

from pages import order
from pages.shared.background import engine
from pages.shared.server import sign_in, uploads
from pages.shared.settings import sidebar

TITLE = "What privacy costs in PCA"

sign_in.ask(TITLE)
menu = {
    group: [
        st.Page(
            page,
            title=order.title(page),
            url_path=page.parent.name,
            default=page.parent.name == order.FIRST,
        )
        for page in pages
    ]
    for group, pages in order.menu().items()
}
page = st.navigation(menu, position="top")
st.set_page_config(f"{page.title} · {TITLE}", str(order.HERE / "shared" / "icon.svg"), layout="wide")
with engine.engine().yielding(), uploads.page():  # the page runs before the engine's next step
    sidebar.render(page.url_path)
    page.run()
