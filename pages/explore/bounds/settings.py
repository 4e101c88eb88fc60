"""The settings of the bounds page. No Streamlit here."""

from collections.abc import Mapping

from dppca_core.bounds import BOUNDS
from dppca_core.methods import METHODS
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among, switch

SIN_BOUNDS = tuple(name for name, rule in BOUNDS.items() if rule.measure == "sin")
_FIRST_BOUNDS = ("ge2018", "dps_prediction", "gaussian_floor", "sparse_minimax")


def _around(default: float) -> tuple[float, ...]:
    # 1, 2, 5 in every decade from 10^-4 to 10^4.
    steps = {float(f"{digit}e{power}") for power in range(-4, 4) for digit in (1, 2, 5)}
    return tuple(sorted(steps | {1e4, default}))


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the page's own controls; `<bound>.<constant>` is a constant that a paper leaves open."""
    titles = {name: method.title for name, method in METHODS.items()}
    regions = {"closed form": "by the closed form", "theorem": "by Theorem 4.3"}
    choices = [
        among("of", "Method measured", titles, "dps_pca"),
        among("map", "Regions", regions),
        switch("figure2", "Draw Figure 2 of Ge et al."),
        Choice(
            key="tau",
            label="Theorem 4.3's τ",
            plain="Theorem's slack",
            options=(1.0, 2.0, 2.5, 3.0, 3.3, 4.0, 5.0, 6.0),
            default=3.3,
        ),
    ]
    for name in SIN_BOUNDS:
        choices.append(switch(f"show.{name}", BOUNDS[name].title, name in _FIRST_BOUNDS))
        for constant, default in BOUNDS[name].constants.items():
            symbol = BOUNDS[name].symbols[constant]
            options = _around(float(default))
            choices.append(Choice(f"{name}.{constant}", symbol, symbol, options, float(default)))
    return choices


PRESETS = {"Ge et al. Fig. 2 (bounds page)": {"delta": 0.01, "figure2": True}}


PANEL = Panel(opens="Large study", full_only=True, decided={"trust": "each bound has its own"})
