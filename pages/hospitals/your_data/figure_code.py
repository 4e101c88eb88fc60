"""Return the recipes from which code computes this page's figures again, outside of the page.

A recipe names a function of `dppca_core.experiments.figure_tables.own_table` and its arguments. What the page
does not put into code, as the dictionary and a release, it names by the file that the visitor has downloaded.
Nothing private is here. A twin is the rehearsal of a release on invented patients (`twin_runs.Twin`); its
others are rehearsals of the same release on further populations.
"""

from collections.abc import Mapping
from dataclasses import replace

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.populations.dictionary_twin import DictionaryTwin
from pages.hospitals.your_data.twin_runs import Twin, predicted_at

_DICTIONARY, _RELEASE = "dictionary.json", "release.json"  # of "Save the dictionary"; of the ZIP


def _without_dictionary(twin: Twin) -> tuple[ExplorerExperiment, float]:
    """Return a twin's experiment without the dictionary, which code reads from its file, and a spread.

    The spread is how far numbers spread, as `DictionaryTwin` has it; 0 where no row follows the dictionary.
    """
    population = twin.experiment.population
    if isinstance(population, DictionaryTwin):
        return replace(twin.experiment, population=population.latent), population.spread
    return twin.experiment, 0.0


def rehearsal(by_trust: Mapping[str, Twin]) -> FigureRecipe:
    """Return the recipe of the rehearsal's figure: the errors under each trust, on all its populations."""
    if any(twin.in_closed_form for twin in by_trust.values()):
        return _predicted(by_trust)
    twins = tuple(
        (f"{trust}, {each.pattern.title}", *_without_dictionary(each), each.request.mean_share > 0)
        for trust, twin in by_trust.items()
        for each in twin.rehearsed
    )
    epsilon = next(iter(by_trust.values())).epsilon
    values = {"dictionary": _DICTIONARY, "twins": twins, "epsilons": (epsilon,), "metric": "share"}
    return FigureRecipe("own_table.rehearsal", values)


def _predicted(by_trust: Mapping[str, Twin]) -> FigureRecipe:
    populations = tuple(
        (f"{trust}, {each.pattern.title}", trust, each.request.method, budget, numbers)
        for trust, twin in by_trust.items()
        for each in twin.rehearsed
        for _, budget, numbers in (predicted_at(each),)
    )
    return FigureRecipe("own_table.predicted", {"populations": populations})


# The recipe that reads a release from its bundle.
RELEASED = FigureRecipe("own_table.released", {"release": _RELEASE})
