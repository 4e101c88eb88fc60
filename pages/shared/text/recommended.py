"""Say what the core's recommendation takes as declared. Imported where it is needed."""

from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.trusts import recommended, signal
from pages.shared.text import percent

__all__ = ["declared", "recommended"]


def declared(experiment: ExplorerExperiment) -> str:
    """Return what a recommendation takes as declared."""
    return f"components that are declared to carry {percent(signal(experiment))} of the variance"
