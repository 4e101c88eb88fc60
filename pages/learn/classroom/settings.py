"""The settings of the class's page: it has none."""

from pages.shared.settings.of_pages import Panel

PANEL = Panel(hidden=True)
