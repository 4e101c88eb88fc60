"""Write the Python that gives the error by round for every value of a family."""

from pages.explore.convergence.curves import Family
from pages.shared.charts.metric_axis import error_unit
from pages.shared.reports import python_code
from pages.shared.settings.catalogue import Settings

_TRAJECTORIES = """
from dppca_core.experiments import sweep
from dppca_core.experiments.sweeps.iterate_table import by_round

recipe = $recipe
runs = by_round(sweep(recipe))
runs["shown"] = $shown
table = runs.groupby([$key, "round"])["shown"].quantile([0.1, 0.5, 0.9]).unstack()
print(table)
"""


def trajectories(family: Family, settings: Settings) -> str:
    """Return the code of the page's figure, in the error that is on screen."""
    k = 'runs["k"]' if family.key == "k" else str(settings["k"])
    shown = python_code.error(error_unit(settings), 'runs["sin_theta"]', 'runs["largest_angle"]', k=k)
    template = _TRAJECTORIES.replace("$shown", shown)
    return python_code.program(template, recipe=family.recipe, key=family.key)
