"""Define the settings of the explorer. No Streamlit here."""

from pages.shared.settings.setting import Choice, Value


def settings(shared: dict[str, Choice]) -> list[Choice]:
    """Return the explorer's own settings: what its first panel shows, and whether all methods are shown."""
    panels: dict[Value, str] = {"picture": "Picture", "rounds": "Round by round"}
    return [
        Choice(
            *("first_panel", *("First panel",) * 2, tuple(panels), "picture", panels),
            link_name="first",
        ),
        Choice(
            *("all_methods", *("All methods",) * 2, (False, True), False),
            help="Beside the recommended one of each trust, DPS-PCA as published, and the answers without "
            "privacy.",
            link_name="all",
        ),
    ]
