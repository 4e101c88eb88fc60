"""The figures and tables of the papers: recipes, stored results, printed claims, and computed verdicts."""

from dppca_core.experiments.papers import beyond, cai, ge, imtiaz, wang_xu
from dppca_core.experiments.papers.figure import Figure, Finding, PaperRun, Verdict
from dppca_core.experiments.papers.results import Stored, recipe, stored, thinned

FIGURES: dict[str, Figure] = {
    figure.key: figure for paper in (ge, imtiaz, wang_xu, cai, beyond) for figure in paper.FIGURES
}

__all__ = ["FIGURES", "Figure", "Finding", "PaperRun", "Stored", "Verdict", "recipe", "stored", "thinned"]
