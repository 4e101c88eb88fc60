"""The figures and tables of the papers: recipes, stored results, printed claims, and computed verdicts."""

from dppca_core.experiments.papers import beyond, cai, ge, imtiaz, wang_xu, wang_xu_tables
from dppca_core.experiments.papers.figure import Check, Figure, Finding, PaperRun, Printed, Verdict
from dppca_core.experiments.papers.results import Stored, recipe, remake, shown, stored, thinned
from dppca_core.experiments.papers.summary import summary

FIGURES: dict[str, Figure] = {
    figure.key: figure
    for paper in (ge, imtiaz, wang_xu, wang_xu_tables, cai, beyond)
    for figure in paper.FIGURES
}

__all__ = [
    "FIGURES",
    "Check",
    "Figure",
    "Finding",
    "PaperRun",
    "Printed",
    "Stored",
    "Verdict",
    "recipe",
    "remake",
    "shown",
    "stored",
    "summary",
    "thinned",
]
