"""The settings of the methods page. No Streamlit here.

A sweep runs all methods that are compared at several values of one setting.
"""

from collections.abc import Mapping

from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.methods import METHODS
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among, switch

_FIRST = (
    *("two_stage", "two_stage_sealed", "two_stage_own_noise"),  # mostly the recommended of each trust
    *("dps_pca", "dpdis_pca", "analyze_gauss", "analyze_gauss_sparse", "cape", "ldp_pca"),
)
SWEEPS = ("epsilon", "delta", "n", "d", "k", "s", "providers")
PANELS = {
    "error": "Error",
    "time": "Time per fit",
    "bytes": "Bytes sent",
    "needed": "Patients needed",
    "frontier": "Privacy against error",
}


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    titles = {name: method.title for name, method in METHODS.items()}
    over = {key: shared[key].label for key in SWEEPS}
    # Of `compare.target` patients are counted; of `compare.release` at `compare.at` one release is shown.
    targets = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    return [
        *(switch(f"use.{name}", title, name in _FIRST) for name, title in titles.items()),
        among("compare.over", "Swept", over, link_words={"epsilon": "eps", "providers": "hospitals"}),
        among("compare.panel", "Shown", PANELS),
        Choice("compare.target", "Error wanted", "Error wanted", targets, 0.1),
        among("compare.release", "One release of", titles, "dps_pca"),
        Choice("compare.at", "at ε", "at ε", EPSILONS, 1.0),
    ]


PANEL = Panel(full_only=True)
