"""Name the tables of this page's figures, from files that a visitor has. Nothing private is here."""

from dataclasses import replace

from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.populations.dictionary_twin import DictionaryTwin
from pages.hospitals.your_data.rehearsal import Twin, first_runs, predicted_at
from pages.shared.charts.metric_axis import error_unit

_DICTIONARY, _RELEASE = "dictionary.json", "release.json"  # of "Save the dictionary"; of the ZIP


def twin_scores(twin: Twin, patients: float, cells: int, std: float) -> FigureRecipe:
    """Return the table of where invented patients lie on two components."""
    experiment, spread = _without_dictionary(twin)
    given = experiment, spread, twin.request.mean_share > 0
    values = {"dictionary": _DICTIONARY, "twin": given, "epsilon": twin.epsilon, "patients": float(patients)}
    return FigureRecipe("own_table.twin_scores", values | {"cells": cells, "std": std})


def _without_dictionary(twin: Twin) -> tuple[ExplorerExperiment, float]:
    """Return a twin's experiment on the Gaussian beneath its rows, and their spread; 0 where it is alone."""
    population = twin.experiment.population
    if isinstance(population, DictionaryTwin):
        return replace(twin.experiment, population=population.latent), population.spread
    return twin.experiment, 0.0


def rehearsal(twin: Twin, *epsilons: float) -> FigureRecipe:
    """Return the table of what a release errs on its populations; epsilons: all of the figure where none."""
    if twin.in_closed_form:
        return _predicted(twin)
    twins = []
    for each in (twin, *twin.others):
        (experiment, spread), repeats = _without_dictionary(each), first_runs(each)
        if not epsilons and each is twin:
            repeats = experiment.repeats
        twins.append((each.pattern.title, experiment, spread, repeats))
    values = {"dictionary": _DICTIONARY, "twins": tuple(twins), "centred": twin.request.mean_share > 0}
    values |= {"epsilons": tuple(epsilons or EPSILONS), "metric": error_unit(twin.settings)}
    return FigureRecipe("own_table.rehearsal", values)


def _predicted(twin: Twin) -> FigureRecipe:
    trust = predicted_at(twin)[0]
    populations = tuple((each.pattern.title, predicted_at(each)[2]) for each in (twin, *twin.others))
    budgets = tuple((epsilon, twin.experiment.budget(epsilon)) for epsilon in EPSILONS)
    values = {"trust": trust, "method": twin.request.method, "populations": populations, "budgets": budgets}
    return FigureRecipe("own_table.predicted", values)


# Tables that read a release from its bundle, and a released picture.
RELEASED = FigureRecipe("own_table.released", {"release": _RELEASE})
SCORES = FigureRecipe("own_table.scores", {"picture": "scores.json"})  # of "Download the picture"
# Tables that the owner alone may see, from the owner's own files: the spectrum, and rows on two components.
_OWN = {"dictionary": _DICTIONARY, "rows": "your-table.csv"}
SPECTRUM = FigureRecipe("own_table.spectrum", _OWN)
BIPLOT = FigureRecipe("own_table.biplot", _OWN | {"release": _RELEASE})
