"""Define the settings of the privacy page. No Streamlit here."""

from collections.abc import Mapping
from typing import Any

from dppca_core.auditing.cases.planted import METHODS_ATTACKED
from dppca_core.datasets import TABLES
from dppca_core.methods import METHODS
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among

FALSE_ALARMS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
NO_BUG = "none"


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    titles = {name: METHODS[name].title for name in METHODS_ATTACKED}
    shares = {share: f"{100 * share:g} %" for share in FALSE_ALARMS}
    bugs = {
        NO_BUG: "none",
        "half": "noise half as large",
        "sensitivity": "sensitivity 1 for √2",
        "shared": "one noise for two hospitals",
        "unclipped": "a record three times too long",
    }
    draws = (1000, 5000, 20_000)
    return [
        among("attack.method", "Messages of", titles, "dps_pca"),
        among("attack.alarms", "False alarms accepted", shares, 0.2, "False alarms the attacker accepts"),
        Choice("attack.draws", "Releases drawn", "Releases drawn", draws, 5000),
        among("audit.bug", "Planted bug", bugs, plain="Mistake planted"),
    ]


# The shared settings that the page reads.
USED = ("data", "epsilon", "delta", "n", "k", "iterations", "accounting", "neighbours", "seed")


def unused(settings: Mapping[str, Any]) -> dict[str, str]:
    reasons = {key: "not used here" for key in settings if key not in USED}
    if settings["data"] in TABLES:
        reasons["n"] = f"{TABLES[settings['data']].n:,} in the table"
    return reasons


PANEL = Panel(unused=unused)
