"""Define the settings of the providers page. No Streamlit here."""

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import MOST_HOSPITALS
from dppca_core.experiments.collaboration.transcript import CARRIED
from pages.hospitals.providers.sizes import Sizes
from pages.shared import text
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, Value

_RANKS = (*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000, 2000)


def settings(shared: dict[str, Choice]) -> list[Choice]:
    """Return the page's own settings: the panel, hospitals' sizes, and the protocol and messages shown."""
    trusts = {"all": "everybody"} | text.JOIN_TITLES
    panels = {
        "gain": "Joining or alone",
        "travel": "What travels",
        "rounds": "Round by round",
        "sees": "What the server sees",
        "pair": "Two who compare messages",
    }
    sources = {
        "simulated": "simulated here",
        "stored": "a stored run over a network",
        "own": "a record of your own",
    }
    hospitals = tuple(range(1, MOST_HOSPITALS + 1))
    return [
        Choice("join.panel", "Shown", "Shown", tuple(panels), "gain", panels),
        Sizes("join.sizes", "Hospitals' sizes", "Hospitals' sizes", ("",), "", {"": "those of the sliders"}),
        Choice("join.rank", "R, directions DPdisPCA sends", "Directions DPdisPCA sends", _RANKS, 10),
        Choice("join.source", "Run", "Run", tuple(sources), "simulated", sources),
        Choice("join.way", "Way", "Way", CARRIED, "dps_pca", text.JOIN_WAYS),
        Choice("join.hospital", "Hospital", "Hospital", hospitals, 1),
        Choice("join.other", "and hospital", "and hospital", hospitals, 2),
        # A round beyond the last shows the last.
        Choice("join.round", "Round", "Round", tuple(range(1, 51)), 50),
        Choice("join.trust", "Compared", "Compared", tuple(trusts), "all", trusts),
    ]


def typed_sizes(settings: dict[str, Value]) -> tuple[int, ...]:
    """Return the sizes typed hospital by hospital; none if nothing is typed or a table has fewer patients."""
    typed = settings["join.sizes"]
    sizes = tuple(int(size) for size in typed.split("-")) if typed else ()
    table = TABLES.get(settings["data"])
    return () if table and sum(sizes) > table.n else sizes


def _held(settings: dict[str, Value]) -> dict[str, tuple[str, str]]:
    sizes = typed_sizes(settings)
    if not sizes:
        return {}
    total = sum(sizes)
    share = text.percent(max(sizes) / total)
    values = {"n": f"{total:,}", "providers": str(len(sizes)), "largest_share": share}
    return {key: (value, "set by the sizes") for key, value in values.items()}


PANEL = Panel(
    decided={
        **{"trust": "all are compared", "provider_noise": "all kinds are on the page"},
        "start": "always random here",
    },
    plain_uses=("trust",),
    held=_held,
)
