"""Show a page that is added by this folder alone, with a setting of its own."""

from pages.learn.new_page import document
from pages.shared.document import streamlit
from pages.shared.settings import widgets

streamlit.show(document.at(widgets.settings()))
