"""The settings of the convergence page. No Streamlit here."""

from collections.abc import Mapping

from dppca_core.methods import METHODS
from pages.shared.settings.setting import Choice

FAMILIES = ("epsilon", "delta", "n", "providers", "d", "k", "s", "s_hat", "iterations")


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the page's own controls. Only methods with a number of iterations keep all their iterates."""
    titles = {name: method.title for name, method in METHODS.items() if "iterations" in method.uses}
    names = {key: shared[key].label for key in FAMILIES}
    plain = {key: shared[key].plain for key in FAMILIES}
    layouts = {"overlay": "one chart", "multiples": "side by side"}
    return [
        Choice(
            *("family", "Trajectories over", "Compare", FAMILIES, "epsilon", names),
            plain_words=plain,
            link_words={key: shared[key].parameter for key in FAMILIES},
        ),
        Choice("traced", "Method traced", "Method", tuple(titles), "dps_pca", titles),
        Choice("layout", "Layout", "Layout", tuple(layouts), "overlay", layouts),
    ]
