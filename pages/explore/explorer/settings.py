"""Define the settings of the explorer. No Streamlit here."""

from pages.shared.settings.setting import Choice


def settings(shared: dict[str, Choice]) -> list[Choice]:
    """Return the explorer's own setting: whether all methods stand side by side."""
    return [
        Choice(
            *("all_methods", *("All methods",) * 2, (False, True), False),
            help="Beside the recommended one of each trust, DPS-PCA, and the answers without privacy.",
            link_name="all",
        )
    ]
