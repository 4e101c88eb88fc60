"""Write the Python that gives the numbers of the figures that compare methods."""

from dppca_core.experiments import Recipe
from pages.explore.methods.charts import ComparisonMeasure
from pages.explore.methods.sweeps import SweepSetting
from pages.shared.charts.metric_axis import factor
from pages.shared.reports import python_code

_AGAINST = """
import pandas as pd
from dppca_core.experiments import sweep

recipes = $recipes
runs = pd.concat([sweep(recipe) for recipe in recipes])
runs["shown"] = $shown
table = runs.groupby(["method", $over])["shown"].quantile([0.1, 0.5, 0.9]).unstack()
print(table)
"""
_NEEDED = """
import pandas as pd
from dppca_core.experiments import sweep
from dppca_core.experiments.sweeps.patients_needed import patients_needed

recipes = $recipes
runs = pd.concat([sweep(recipe) for recipe in recipes])
table = patients_needed(runs, $target, seed=$seed)
print(table)
"""
_PACKAGES = """
import json
import pandas as pd
from dppca_core.paths import DATA

record = json.loads((DATA / "peers.json").read_text(encoding="utf-8"))  # make bench-peers writes it
rows = pd.json_normalize(record["places"], "rows", ["population", "d", "n"])
rows = rows[rows["neighbours"].isin(["", $neighbours]) & (rows["population"] == "sparse population")]
table = rows.pivot_table("error.median", ["n", "d"], "recipe")
print(table)
"""


def against(measure: ComparisonMeasure, sweep: SweepSetting, recipes: tuple[Recipe, ...]) -> str:
    """Return the code of what is drawn against what is swept."""
    k = 'runs["k"]' if sweep.over == "k" else str(measure.results.experiment.k)
    values = f'runs["{measure.column}"]{python_code.times(measure.factor)}'
    if measure.errs:
        values = python_code.error(measure.metric, values, values, values, k)
    template = _AGAINST.replace("$shown", values)
    return python_code.program(template, over=sweep.over, recipes=list(recipes))


def needed(measure: ComparisonMeasure, sweep: SweepSetting, recipes: tuple[Recipe, ...]) -> str:
    """Return the code of the patients needed."""
    target = measure.settings["compare.target"] / factor(measure.settings)
    values = {"recipes": list(recipes), "target": target, "seed": measure.results.experiment.seed}
    return python_code.program(_NEEDED, **values)


def packages(neighbours: str) -> str:
    """Return the code of the comparison with packages, which was measured beforehand."""
    return python_code.program(_PACKAGES, neighbours=neighbours)
