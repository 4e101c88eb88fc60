"""Show what the best attacker learns about one patient, the role of delta and of rounds, and an audit."""

from pages.learn.privacy import document
from pages.shared.document import streamlit
from pages.shared.settings import widgets

streamlit.show(document.at(widgets.settings()))
