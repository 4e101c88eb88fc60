"""Hold the front page at some settings: its results, the methods side by side, and its figure."""

from collections.abc import Iterator
from typing import Any

from dppca_core.experiments.explorer.results import Key, Results
from pages.explore.explorer import side_by_side
from pages.explore.explorer.picture import picture
from pages.shared.background import cache
from pages.shared.charts import explorer_summary
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings


class ExplorerView:
    """Hold the page at these settings.

    Args:
        settings: Of the page.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.experiment, self.epsilon = to_experiment.about_shown(settings)
        self.results: Results = cache.results(self.experiment)
        self.shown = side_by_side.methods(self.experiment, self.epsilon, settings)

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
