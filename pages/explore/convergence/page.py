"""Show the error by round, for several values of one parameter, and where it stops falling."""

from pages.explore.convergence import document
from pages.shared.document import streamlit
from pages.shared.settings import widgets

streamlit.show(document.at(widgets.settings()))
