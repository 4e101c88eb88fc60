"""Say which method the core recommends at an experiment's public numbers. Imported where it is needed."""

from dppca_core.bounds.recommendation import Recommendation, recommend
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import SIGNAL
from pages.shared.text import percent


def _signal(experiment: ExplorerExperiment) -> float:
    population = experiment.population
    return population.signal if isinstance(population, SpikedModel) else SIGNAL


def declared(experiment: ExplorerExperiment) -> str:
    """Return what a recommendation takes as declared."""
    return f"the declared share of variance in the components ({percent(_signal(experiment))})"


def recommended(experiment: ExplorerExperiment, epsilon: float, trust: str) -> Recommendation:
    """Return which method the core recommends under a trust, from public numbers alone, and why."""
    return recommend(
        trust,
        n=experiment.n,
        d=experiment.d,
        k=experiment.k,
        budget=Budget(epsilon, experiment.delta, experiment.neighbours),
        s_hat=None if experiment.choose_rows else experiment.s_hat,
        providers=experiment.providers,
        signal=_signal(experiment),
    )
