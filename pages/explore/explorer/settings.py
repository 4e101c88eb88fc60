"""Define the settings of the explorer. No Streamlit here."""

from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among, switch


def settings(shared: dict[str, Choice]) -> list[Choice]:
    panels = {"picture": "Picture", "rounds": "Round by round"}
    return [
        among("first_panel", "First panel", panels, link_name="first"),
        switch(
            "all_methods",
            "All methods",
            help="Beside the recommended one of each trust, DPS-PCA as published, and the answers without "
            "privacy.",
            link_name="all",
        ),
    ]


PANEL = Panel(beside=("epsilon",))  # the figure's own slider
