"""Define the setting of the new page. No Streamlit here."""

from collections.abc import Mapping

from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the page's own setting."""
    return [Choice("new.depth", "Depth", "Depth", (1, 2, 3), 2)]


PANEL = Panel(decided={"provider_noise": "none is added here"})
PRESETS = {"Deep (new page)": {"new.depth": 3}}
