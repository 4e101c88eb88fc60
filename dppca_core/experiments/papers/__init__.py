"""The figures and tables of the papers: recipes, stored results, printed claims, and computed verdicts."""

from dppca_core.experiments.papers import figure_file
from dppca_core.experiments.papers.figure import Figure, Finding, Outcome, PaperRun, Verdict
from dppca_core.experiments.papers.results import Stored, recipe, stored, thinned

PAPERS = ("ge", "imtiaz", "wang-xu", "cai", "beyond")  # in the order of the menu
FIGURES: dict[str, Figure] = {figure.key: figure for paper in PAPERS for figure in figure_file.read(paper)}

__all__ = [
    "FIGURES",
    "Figure",
    "Finding",
    "Outcome",
    "PaperRun",
    "Stored",
    "Verdict",
    "recipe",
    "stored",
    "thinned",
]
