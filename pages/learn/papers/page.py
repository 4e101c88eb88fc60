"""Show every figure and table of four papers as printed, as stored by us, and as run again here."""

from dppca_core.experiments.papers import FIGURES
from pages.learn.papers import document
from pages.learn.papers.model import RemadeFigure
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.settings import widgets


def choose() -> None:
    shown = RemadeFigure(widgets.settings())
    widgets.show_select_box("figure", list(FIGURES), also={"run": 0})
    titles = [text.symbols(run.title) for run in shown.figure.runs]
    if len(titles) > 1:
        options = {"options": range(len(titles)), "default": shown.index, "format_func": titles.__getitem__}
        widgets.show_word_control("run", widget=f"run of {shown.figure.key}", **options)


streamlit.show(document.at(widgets.settings()), choose)
