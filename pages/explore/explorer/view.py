"""Hold the front page at some settings: its results, the methods side by side, and its figure."""

from collections.abc import Iterator
from typing import Any

from dppca_core import datasets
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Key, Results
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import SpikedModel
from pages.explore.explorer.directions import Directions
from pages.explore.explorer.first_panel import FirstPanel
from pages.explore.explorer.table_pictures import Components, Scores
from pages.shared.background import cache
from pages.shared.charts import explorer_summary
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

# A hospital alone, and the published method that the page is about.
_ALWAYS = ("local_pca", "dps_pca")


def side_by_side(experiment: ExplorerExperiment, epsilon: float, settings: Settings) -> tuple[str, ...]:
    """Return all methods, or those recommended under each trust with the published one and the references."""
    if settings["all_methods"]:
        return tuple(METHODS)
    names = (*trusts.shown(experiment, epsilon), *_ALWAYS, experiment.method)
    return tuple(name for name in METHODS if name in names)


def picture(results: Results, settings: Settings, colour: str = "") -> FirstPanel | None:
    """Return the picture; None where iterates are asked for, or patients are those of a dictionary's twin.

    colour: of what is private, in plain view: there no method is named.
    """
    population = results.experiment.population
    if settings["first_panel"] != "picture":
        return None
    if isinstance(population, SpikedModel):
        return Directions(results, colour)
    if isinstance(population, str):
        who = "private" if colour else METHODS[results.experiment.method].title
        return (Components if datasets.table(population).image else Scores)(results, who)
    return None


class ExplorerView:
    """Hold the page at these settings.

    Args:
        settings: Of the page.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.experiment, self.epsilon = to_experiment.about_shown(settings)
        self.results: Results = cache.results(self.experiment)
        self.shown = side_by_side(self.experiment, self.epsilon, settings)

    def first(self) -> Iterator[None]:
        """Measure what a first view needs, in steps."""
        return self.results.steps(self.results.first(self.epsilon, self.shown))

    def next_cell(self) -> Key | None:
        """Return the cell to measure next; None where the view is complete."""
        return self.results.next_missing(self.epsilon, self.settings["slow"])

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return the figure with its frames and its text; beside: the methods side by side."""
        return explorer_summary.explorer_figure(results, settings, beside, picture(results, settings))

    def payload(self) -> dict[str, Any]:
        """Return everything that the component draws."""
        return explorer_summary.payload(
            *(self.results, self.epsilon, self.settings, self.shown), self.figure, self.next_cell
        )
