"""Write the Python that gives the numbers of this page's figures, from files that a visitor has.

Nothing private is in it: rehearsals are of invented rows, a release is read and never drawn again, and what
its owner alone may see is computed from the owner's own file.
"""

from dataclasses import replace

from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.populations.dictionary_twin import DictionaryTwin
from pages.hospitals.your_data.rehearsal import Twin, first_runs, predicted_at
from pages.shared.charts.metric_axis import error_unit
from pages.shared.reports import python_code

_REHEARSAL = """
from dataclasses import replace
import numpy as np
import pandas as pd
from dppca_core.experiments.explorer.results import Results
from dppca_core.populations.dictionary_twin import DictionaryTwin, dictionary_cells
from dppca_core.tables import Schema

with open("dictionary.json", encoding="utf-8") as file:  # of "Save the dictionary"
    schema = Schema.from_json(file.read())
columns = dictionary_cells(schema)
quantiles = {}
for title, experiment, spread, repeats in $twins:
    if spread:  # rows that the dictionary allows, with this Gaussian beneath
        latent = experiment.population
        rows = DictionaryTwin(columns, schema.bound, latent, $centred, spread)
        experiment = replace(experiment, population=rows)
    results = Results(experiment)
    for epsilon in $epsilons:
        cells = [results.cell(experiment.method, epsilon, repeat) for repeat in range(repeats)]
        runs = [$error for cell in cells]
        quantiles[title, epsilon] = np.quantile(runs, [0.1, 0.5, 0.9])
table = pd.DataFrame(quantiles, [0.1, 0.5, 0.9]).T
print(table)
"""
_PREDICTED = """
import pandas as pd
from dppca_core.bounds.stated_spectra import predicted

errors = {}
for title, given in $populations:
    for epsilon, budget in $budgets:
        errors[title, epsilon] = predicted($trust, budget=budget, **given)[0][$method]
table = pd.Series(errors).unstack(0)  # sin Theta, in half of the runs
print(table)
"""
_RELEASED = """
import json
import pandas as pd

with open("release.json", encoding="utf-8") as file:  # of the ZIP that you downloaded
    release = json.load(file)
table = pd.DataFrame(release["components"], columns=release["features"]).T
noise = pd.DataFrame(release["noise of components"], columns=release["features"]).T
print(table.where(table.abs() >= 2 * noise))  # blank: it may be noise
"""
_SCORES = """
import json
import numpy as np

with open("scores.json", encoding="utf-8") as file:  # of "Download the picture"
    picture = json.load(file)
table = np.maximum(picture["counts"], 0)  # by group, first component, second component
print(picture["groups"], table, picture["noise of a cell"])
"""
_OWNER = """
import json
import numpy as np
import pandas as pd
from dppca_core import tables
from dppca_core.numerics.moments import clip_rows

with open("dictionary.json", encoding="utf-8") as file:
    schema = tables.Schema.from_json(file.read())
with open("your-table.csv", "rb") as file:
    raw = tables.read(file.read(), "your-table.csv")
with open("release.json", encoding="utf-8") as file:
    release = json.load(file)
rows = clip_rows(tables.encode(schema, raw.table, raw.decimal_comma).rows, schema.bound)
mean, moment = rows.mean(axis=0), rows.T @ rows
matrices = {"at the mean": moment / len(rows) - np.outer(mean, mean), "at mid-range": moment / raw.n}
table = pd.DataFrame({name: np.linalg.eigvalsh(matrix)[::-1] for name, matrix in matrices.items()})
print(table)  # not private, as all that follows
scores = rows @ np.array(release["components"][:2]).T
print(scores)
"""


def rehearsal(twin: Twin, *epsilons: float) -> str:
    """Return the code of what a release errs on its populations; epsilons: all of the figure where none."""
    if twin.in_closed_form:
        return _predicted(twin)
    twins = []
    for each in (twin, *twin.others):
        experiment, population = each.experiment, each.experiment.population
        spread, repeats = 0.0, first_runs(each)
        if isinstance(population, DictionaryTwin):
            experiment, spread = replace(experiment, population=population.latent), population.spread
        if not epsilons and each is twin:
            repeats = experiment.repeats
        twins.append((each.pattern.title, experiment, spread, repeats))
    runs = ("cell.sin[-1]", "cell.angle[-1]", "", str(twin.experiment.k))
    error = python_code.error(error_unit(twin.settings), *runs)
    template = _REHEARSAL.replace("$error", error)
    values = {"twins": twins, "centred": twin.request.mean_share > 0, "epsilons": epsilons or EPSILONS}
    return python_code.program(template, **values)


def _predicted(twin: Twin) -> str:
    populations = []
    for each in (twin, *twin.others):
        trust, _, given = predicted_at(each)
        populations.append((each.pattern.title, given))
    budgets = [(epsilon, twin.experiment.budget(epsilon)) for epsilon in EPSILONS]
    values = {"populations": populations, "budgets": budgets, "trust": trust, "method": twin.request.method}
    return python_code.program(_PREDICTED, **values)


def released() -> str:
    """Return the code that reads a release from its bundle."""
    return _RELEASED.lstrip()


def scores() -> str:
    """Return the code that reads a released picture."""
    return _SCORES.lstrip()


def owner_only() -> str:
    """Return the code of what the owner alone may see, from the owner's own files."""
    return _OWNER.lstrip()
