"""Return the recipes from which code computes this page's figures again, outside of the page.

A recipe names a function of `dppca_core.experiments.figure_tables.own_table` and its arguments. What the page
does not put into code, as the dictionary and a release, it names by the file that the visitor has downloaded.
Nothing private is here. A twin is the rehearsal of a release on invented patients (`rehearsal.Twin`); its
others are rehearsals of the same release on further populations.
"""

from dataclasses import replace

from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.populations.dictionary_twin import DictionaryTwin
from pages.hospitals.your_data.rehearsal import Twin, predicted_at
from pages.shared.charts.metric_axis import error_unit

_DICTIONARY, _RELEASE = "dictionary.json", "release.json"  # of "Save the dictionary"; of the ZIP


def _without_dictionary(twin: Twin) -> tuple[ExplorerExperiment, float]:
    """Return a twin's experiment without the dictionary, which code reads from its file, and a spread.

    The spread is how far numbers spread, as `DictionaryTwin` has it. Where invented rows follow the
    dictionary, the experiment's population becomes the Gaussian that they are made from. Else the experiment
    stays and the spread is 0.
    """
    population = twin.experiment.population
    if isinstance(population, DictionaryTwin):
        return replace(twin.experiment, population=population.latent), population.spread
    return twin.experiment, 0.0


def rehearsal(twin: Twin, *epsilons: float) -> FigureRecipe:
    """Return the recipe of the rehearsal's figure: the errors of a release on its populations.

    epsilons: at which; without any, all EPSILONS of the figure.
    """
    if twin.in_closed_form:
        return _predicted(twin)
    twins = tuple((each.pattern.title, *_without_dictionary(each)) for each in (twin, *twin.others))
    values = {"dictionary": _DICTIONARY, "twins": twins, "centred": twin.request.mean_share > 0}
    values |= {"epsilons": tuple(epsilons or EPSILONS), "metric": error_unit(twin.settings)}
    return FigureRecipe("own_table.rehearsal", values)


def _predicted(twin: Twin) -> FigureRecipe:
    """Return the recipe of the rehearsal's figure where its errors are predicted by closed forms."""
    trust, *_ = predicted_at(twin)
    # Of each population the title, and the numbers by which its error is predicted.
    populations = tuple((each.pattern.title, predicted_at(each)[2]) for each in (twin, *twin.others))
    budgets = tuple((epsilon, twin.experiment.budget(epsilon)) for epsilon in EPSILONS)
    values = {"trust": trust, "method": twin.request.method, "populations": populations, "budgets": budgets}
    return FigureRecipe("own_table.predicted", values)


# The recipe that reads a release from its bundle.
RELEASED = FigureRecipe("own_table.released", {"release": _RELEASE})
