"""Show what privacy costs, measured live, by the method recommended for whom the hospitals trust."""

from pages.explore.explorer import document
from pages.shared.document import streamlit
from pages.shared.settings import widgets

streamlit.show(document.at(widgets.settings()))
