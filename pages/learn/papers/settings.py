"""The settings of the papers page."""

from collections.abc import Mapping

from dppca_core.experiments.papers import FIGURES
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    titles = {key: f"{figure.paper.rsplit(',', 1)[0]} · {figure.title}" for key, figure in FIGURES.items()}
    most = max(len(figure.runs) for figure in FIGURES.values())
    return [
        among("figure", "Figure or table", titles),
        Choice("run", "Run", "Run", tuple(range(most)), 0),
    ]


PANEL = Panel(full_only=True, hidden=True)  # no shared settings: recipes have their own
