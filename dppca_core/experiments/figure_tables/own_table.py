"""Tables of the figures of a visitor's table, from files that the visitor has: each argument names one.

A rehearsal is of invented rows, and a release is read, never drawn again. `dictionary` and `release` are
paths: of the public description of the table's columns, and of what was released.

A twin is a population of invented rows. It is given with an experiment, whose population is the twin itself
where the spread is 0. Else that population, a spiked model, is the Gaussian from which rows are made that
the dictionary allows (`DictionaryTwin`); spread is the standard deviation of its numbers in half ranges, and
centred says whether rows are taken about their mean.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.bounds import stated_spectra
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.subspace_metrics import runs_in_unit
from dppca_core.populations.dictionary_twin import FITTED, DictionaryTwin, dictionary_cells
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.tables import Schema


def rehearsal(
    dictionary: str,
    twins: tuple[tuple[str, ExplorerExperiment, float, bool], ...],
    epsilons: tuple[float, ...],
    metric: str,
) -> pd.DataFrame:
    """Return the 10, 50 and 90 % quantiles of the error on invented rows, by population and epsilon.

    `twins` are (name, experiment, spread, centred).
    """
    schema, rows = Schema.from_json(Path(dictionary).read_bytes()), {}
    for name, experiment, spread, centred in twins:
        latent = experiment.population
        if spread and isinstance(latent, SpikedModel):  # the Gaussian beneath the invented rows
            fitted = "" if experiment.fitted is None else FITTED[experiment.fitted.standardised]
            twin = DictionaryTwin(dictionary_cells(schema), schema.bound, latent, centred, spread, fitted)
            experiment = replace(experiment, population=twin)
        results = Results(experiment)
        for epsilon in epsilons:
            cells = [results.cell(experiment.method, epsilon, repeat) for repeat in range(experiment.repeats)]
            sines, angles = np.array([(cell.sin[-1], cell.angle[-1]) for cell in cells]).T
            errors = runs_in_unit(metric, sines, angles, experiment.k)
            rows[name, epsilon] = np.quantile(errors, [0.1, 0.5, 0.9])
    return pd.DataFrame(rows, [0.1, 0.5, 0.9]).T


def predicted(populations: tuple[tuple[str, str, str, Budget, dict[str, Any]], ...]) -> pd.DataFrame:
    """Return the predicted median of sin Theta, by population.

    populations: each with its name, whom hospitals trust, the method, what the budget leaves for it, and the
    other arguments of `stated_spectra.predicted_errors`.
    """
    errors = {
        name: stated_spectra.predicted_errors(trust, budget=budget, **numbers)[0][method]
        for name, trust, method, budget, numbers in populations
    }
    return pd.DataFrame(pd.Series(errors, name="sin Theta"))


def released(release: str) -> pd.DataFrame:
    """Return a release's components, a column each; blank where a loading is below two stds of its noise."""
    document = json.loads(Path(release).read_text("utf-8"))
    table = pd.DataFrame(document["components"], columns=document["features"]).T
    noise = pd.DataFrame(document["noise of components"], columns=document["features"]).T
    return table.where(table.abs() >= 2 * noise)
