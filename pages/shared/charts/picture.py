"""Choose the picture in the front page's first panel. No Streamlit here."""

from dppca_core import datasets
from dppca_core.experiments.explorer.results import Results
from dppca_core.populations.spiked import SpikedModel
from pages.shared.charts.directions import Directions
from pages.shared.charts.first_panel import FirstPanel
from pages.shared.charts.table_pictures import Components, Scores
from pages.shared.settings.catalogue import Settings


def picture(results: Results, settings: Settings) -> FirstPanel | None:
    """Return the picture; None where iterates are asked for, or patients are those of a dictionary's twin."""
    population = results.experiment.population
    if settings["first_panel"] != "picture":
        return None
    if isinstance(population, SpikedModel):
        return Directions(results)
    if isinstance(population, str):
        return (Components if datasets.table(population).image else Scores)(results)
    return None
