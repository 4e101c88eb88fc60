"""Choose the picture in the front page's first panel. No Streamlit here."""

from dppca_core import datasets
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import SpikedModel
from pages.explore.explorer.directions import Directions
from pages.explore.explorer.first_panel import FirstPanel
from pages.explore.explorer.table_pictures import Components, Scores
from pages.shared.settings.catalogue import Settings


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
