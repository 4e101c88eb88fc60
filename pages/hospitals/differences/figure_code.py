"""Write the Python that gives the numbers of hospitals that differ."""

from pages.hospitals.differences.view import SiteView
from pages.shared.reports import python_code

_STANDARDISING = """
from dppca_core.experiments.collaboration.joining import SiteResults

recipe = $recipe
results = SiteResults(recipe)
for cell in results.wanted($strength, $kind):  # (what, strength, standardised by, repeat)
    if cell[0] == "joined":
        results.try_cell(*cell)
runs = results.table().query("answer == 'joined' and hospital == @recipe.hospitals[0]")
errors = runs.groupby(["standardisation", "site_effect"], dropna=False)  # the joint answer is one for all
table = errors[["sin_theta_common", "sin_theta_common_without_privacy"]].quantile([0.1, 0.5, 0.9]).unstack()
print(table)
"""
_JOINING = """
from dppca_core.experiments.collaboration.joining import SiteResults

recipe, strength, kind = $recipe, $strength, $kind
results = SiteResults(recipe)
for repeat in range(recipe.repeats):
    for what in ("joined", "alone"):
        results.try_cell(what, strength, kind, repeat)
errors = results.table().set_index(["answer", "hospital"]).filter(regex="sin_theta|energy")
table = errors.groupby(level=[0, 1]).quantile([0.1, 0.5, 0.9]).unstack()
print(table)
"""
_MISSING = """
import pandas as pd
from dppca_core.populations import heart_disease

absent = heart_disease.absent()  # counted from the rows of a public table
table = pd.DataFrame({name: {key: each.share for key, each in rows.items()} for name, rows in absent.items()})
print(table)
"""


def standardising(view: SiteView) -> str:
    """Return the code of the joint errors by strength and by kind of standardisation."""
    return _program(_STANDARDISING, view)


def joining(view: SiteView) -> str:
    """Return the code of every hospital alone and joined."""
    return _program(_JOINING, view)


def missing() -> str:
    return python_code.program(_MISSING)


def _program(template: str, view: SiteView) -> str:
    return python_code.program(template, recipe=view.recipe, strength=view.strength, kind=view.kind)
