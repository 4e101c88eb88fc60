"""Define the settings of the page on messages. No Streamlit here."""

from dppca_core.experiments.collaboration.experiment import MOST_HOSPITALS
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.transcript import MESSAGE_PROTOCOLS
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, Value, among


def settings(shared: dict[str, Choice]) -> list[Choice]:
    """Return the page's own settings: the panel, the run, and the messages shown."""
    panels = {
        "rounds": "Round by round",
        "sees": "What the server sees",
        "pair": "Two who compare messages",
    }
    sources = {
        "simulated": "simulated here",
        "stored": "a stored run over a network",
        "own": "a record of your own",
    }
    protocols: dict[Value, str] = {key: PROTOCOLS[key].title for key in MESSAGE_PROTOCOLS}
    hospitals = tuple(range(1, MOST_HOSPITALS + 1))
    return [
        among("sees.panel", "Shown", panels),
        among("join.source", "Run", sources),
        Choice("join.way", "Protocol", "Protocol", MESSAGE_PROTOCOLS, "dps_pca", protocols),
        Choice("join.hospital", "Hospital", "Hospital", hospitals, 1),
        Choice("join.other", "and hospital", "and hospital", hospitals, 2),
        # A round beyond the last shows the last.
        Choice("join.round", "Round", "Round", tuple(range(1, 51)), 50),
    ]


PANEL = Panel(
    opens="Large study",
    full_only=True,
    decided={"trust": "the protocol says", "provider_noise": "the protocol says", "start": "always random"},
)
