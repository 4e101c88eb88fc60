"""Write the Python that gives the numbers of a paper's figure, as stored."""

from dppca_core.experiments.papers import Figure
from pages.shared.reports import python_code

_STORED = """
from dppca_core.experiments import sweep
from dppca_core.experiments.papers import FIGURES, recipe, stored

figure = FIGURES[$key]
run = figure.runs[$index]
runs = stored(run.recipe).table  # sweep(recipe(run.recipe)) runs it anew, which may take hours
table = figure.curves(run, runs)
print(table)
"""
_FORMULA = """
from dppca_core.experiments.papers import FIGURES

figure = FIGURES[$key]
table = figure.curves(figure.runs[$index])
print(table)
"""


def curves(figure: Figure, index: int) -> str:
    """Return the code of a figure's run."""
    template = _STORED if figure.runs[index].recipe else _FORMULA
    return python_code.program(template, key=figure.key, index=index)
