"""What the front page shows at some settings: its results, the methods side by side, and its figure."""

from collections.abc import Iterator
from typing import Any

from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.results import Key, Results
from pages.explore.explorer import plain_figure, side_by_side
from pages.explore.explorer.picture import picture
from pages.shared.background import cache
from pages.shared.charts import explorer_summary
from pages.shared.plain import rows
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings


class ExplorerView:
    """Hold the page at these settings; in plain view what it hides is as we advise it.

    Args:
        settings: Of the page.
    """

    def __init__(self, settings: Settings) -> None:
        self.plain = settings["view"] == "plain"
        self.settings = rows.advised(settings) if self.plain else settings
        self.experiment, self.epsilon = to_experiment.about_shown(self.settings)
        self.results: Results = cache.results(self.experiment)
        chosen = trusts.shown(self.experiment, self.epsilon) if self.plain else None
        self.shown = chosen or side_by_side.methods(self.experiment, self.epsilon, settings)

    def first(self) -> Iterator[None]:
        """Measure what a first view needs, in steps."""
        return self.results.steps(self.results.first(self.epsilon, self.shown))

    def next_cell(self) -> Key | None:
        """Return the cell to measure next; None where the view is complete."""
        if self.plain:
            return trusts.next_missing(self.results, self.epsilon)
        return self.results.next_missing(self.epsilon, self.settings["slow"])

    def payload(self) -> dict[str, Any]:
        """Return everything that the component draws."""
        build = plain_figure.build if self.plain else _build
        drawn = explorer_summary.payload(
            self.results, self.epsilon, self.settings, self.shown, build, self.next_cell
        )
        return drawn | ({"progress": plain_figure.MORE if drawn["progress"] else ""} if self.plain else {})


def _build(results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
    return explorer_summary.explorer_figure(results, settings, beside, picture(results, settings))
