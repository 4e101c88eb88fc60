"""The settings of the convergence page. No Streamlit here."""

from collections.abc import Mapping
from inspect import signature

from dppca_core.methods import METHODS
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among

FAMILIES = ("epsilon", "delta", "n", "providers", "d", "k", "s", "s_hat", "iterations")
# Two-stage methods choose features in a first stage and release the second moment of these alone. Stacked
# methods average over all rounds but the first few, whose number is their parameter "left_out".
TWO_STAGES = tuple(name for name, method in METHODS.items() if method.chooses_rows)
STACKED = tuple(name for name, method in METHODS.items() if "left_out" in signature(method.fit).parameters)


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the page's own controls; methods without rounds have no error by round."""
    iterative = [name for name, method in METHODS.items() if "iterations" in method.uses]
    titles = {name: METHODS[name].title for name in (*iterative, *TWO_STAGES, *STACKED)}
    names = {key: shared[key].label for key in FAMILIES}
    parameters = {key: shared[key].parameter for key in FAMILIES}
    return [
        among("family", "Trajectories over", names, link_words=parameters),
        among("traced", "Method traced", titles, "dps_pca"),
        among("layout", "Layout", {"overlay": "one chart", "multiples": "side by side"}),
    ]


PANEL = Panel(opens="Large study", full_only=True, decided={"trust": "comes with the method"})
