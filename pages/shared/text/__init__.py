"""Form text for screens: numbers, labels and phrases about privacy. No Streamlit here."""
# ruff: noqa: F403 -- this module gathers the names of the others

from pages.shared.text.labels import *
from pages.shared.text.markdown import *
from pages.shared.text.numbers import *
from pages.shared.text.populations import *
from pages.shared.text.privacy_phrases import *
