"""Choose the methods that stand side by side on the front page. No Streamlit here."""

from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.methods import METHODS
from pages.shared.settings.catalogue import Settings
from pages.shared.text.recommended import recommended

# The answers without privacy that a visitor compares with, and the published method that the page is about.
_ALWAYS = ("pca", "sparse_pca", "sparse_pca_shrunk", "local_pca", "dps_pca")


def methods(experiment: ExplorerExperiment, epsilon: float, settings: Settings) -> tuple[str, ...]:
    """Return all methods, or those recommended under each trust with the published one and the references."""
    if settings["all_methods"]:
        return tuple(METHODS)
    best = {recommended(experiment, epsilon, trust).method for trust in TRUSTS}
    return tuple(name for name in METHODS if name in best or name in (*_ALWAYS, experiment.method))
