"""Tables of the figures of a visitor's table, from files that the visitor has: each argument names one.

A rehearsal is of invented rows, and a release is read, never drawn again. What its owner alone may see is
computed from the owner's own file, and is not private.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dppca_core import tables
from dppca_core.bounds import stated_spectra
from dppca_core.experiments.demonstrations import twin_scores as scores_of_twins
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.moments import clip_rows
from dppca_core.numerics.subspace_metrics import runs_in_unit
from dppca_core.populations.dictionary_twin import DictionaryTwin, dictionary_cells
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.tables import Schema


def rehearsal(
    dictionary: str,
    twins: tuple[tuple[str, ExplorerExperiment, float, int], ...],
    centred: bool,
    epsilons: tuple[float, ...],
    metric: str,
) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the error on invented rows, by population and epsilon.

    `twins` are (name, experiment, spread, runs): with a spread, rows are what the dictionary allows.
    """
    schema, rows = Schema.from_json(Path(dictionary).read_text("utf-8")), {}
    for name, experiment, spread, repeats in twins:
        latent = experiment.population
        if spread and isinstance(latent, SpikedModel):  # the Gaussian beneath the invented rows
            twin = DictionaryTwin(dictionary_cells(schema), schema.bound, latent, centred, spread)
            experiment = replace(experiment, population=twin)
        results = Results(experiment)
        for epsilon in epsilons:
            cells = [results.cell(experiment.method, epsilon, repeat) for repeat in range(repeats)]
            sines, angles = np.array([(cell.sin[-1], cell.angle[-1]) for cell in cells]).T
            errors = runs_in_unit(metric, sines, angles, experiment.k)
            rows[name, epsilon] = np.quantile(errors, [0.1, 0.5, 0.9])
    return pd.DataFrame(rows, [0.1, 0.5, 0.9]).T


def twin_scores(
    dictionary: str,
    twin: tuple[ExplorerExperiment, float, bool],
    epsilon: float,
    patients: float,
    cells: int,
    std: float,
) -> pd.DataFrame:
    """Return how many invented patients lie where on two components: with noise of this std, and without.

    `twin` is (experiment, spread, centred): with a spread, rows are what the dictionary allows.
    """
    experiment, spread, centred = twin
    schema, latent = Schema.from_json(Path(dictionary).read_text("utf-8")), experiment.population
    if spread and isinstance(latent, SpikedModel):  # the Gaussian beneath the invented rows
        rows = DictionaryTwin(dictionary_cells(schema), schema.bound, latent, centred, spread)
        experiment = replace(experiment, population=rows)
    seen = scores_of_twins.scores(Results(experiment), epsilon)
    drawn = scores_of_twins.picture(seen.scores, seen.eigenvalues, patients, cells, std)
    both = {
        "as released": pd.DataFrame(np.maximum(drawn.noisy, 0)),
        "without noise": pd.DataFrame(drawn.exact),
    }
    return pd.concat(both, names=["picture", "first component"])


def predicted(
    trust: str,
    method: str,
    populations: tuple[tuple[str, dict[str, Any]], ...],
    budgets: tuple[tuple[float, Budget], ...],
) -> pd.DataFrame:
    """Return the predicted sin Theta in half of the runs, by epsilon and population."""
    errors = {}
    for name, numbers in populations:
        for epsilon, budget in budgets:
            errors[name, epsilon] = stated_spectra.predicted(trust, budget=budget, **numbers)[0][method]
    return pd.DataFrame(pd.Series(errors).unstack(0))


def released(release: str) -> pd.DataFrame:
    """Return a release's components; blank where a loading may be noise."""
    document = json.loads(Path(release).read_text("utf-8"))
    table = pd.DataFrame(document["components"], columns=document["features"]).T
    noise = pd.DataFrame(document["noise of components"], columns=document["features"]).T
    return table.where(table.abs() >= 2 * noise)


def scores(picture: str) -> pd.DataFrame:
    """Return the counts of a released picture: by group and first component, a column a second component."""
    document = json.loads(Path(picture).read_text("utf-8"))
    counts = np.maximum(document["counts"], 0)
    groups = [group or "all" for group in document["groups"] or ["all"]]
    return pd.concat([pd.DataFrame(count) for count in counts], keys=groups, names=["group", "first"])


def spectrum(dictionary: str, rows: str) -> pd.DataFrame:
    """Return the eigenvalues of the owner's rows about their mean and about mid-range: not private."""
    schema = Schema.from_json(Path(dictionary).read_text("utf-8"))
    raw = tables.read(Path(rows).read_bytes(), rows)
    held = clip_rows(tables.encode(schema, raw.table, raw.decimal_comma).rows, schema.bound)
    mean, moment = held.mean(axis=0), held.T @ held
    matrices = {"at the mean": moment / len(held) - np.outer(mean, mean), "at mid-range": moment / raw.n}
    return pd.DataFrame({name: np.linalg.eigvalsh(matrix)[::-1] for name, matrix in matrices.items()})


def biplot(dictionary: str, rows: str, release: str) -> pd.DataFrame:
    """Return the owner's rows on the first two released components: not private."""
    schema = Schema.from_json(Path(dictionary).read_text("utf-8"))
    raw = tables.read(Path(rows).read_bytes(), rows)
    held = clip_rows(tables.encode(schema, raw.table, raw.decimal_comma).rows, schema.bound)
    document = json.loads(Path(release).read_text("utf-8"))
    return pd.DataFrame(held @ np.array(document["components"][:2]).T)
