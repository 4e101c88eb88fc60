"""Turn the controls' settings into the core's objects."""

from collections.abc import Sequence
from dataclasses import replace

from dppca_core.datasets import TABLES
from dppca_core.experiments import Axis, Recipe
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.explorer.trusts import recommended
from dppca_core.experiments.sweeps import of_experiment
from dppca_core.methods import METHODS
from dppca_core.populations import stated_text
from dppca_core.populations.spiked import SpikedModel
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import RELEASED
from pages.shared.settings.catalogue import GAUSSIAN, RECOMMENDED, STATED, Settings, rows_kept, sizes

START_ERROR = 0.1  # the start "near the truth": inside what Assumption B.6 asks at kappa = 10


def from_settings(settings: Settings) -> tuple[ExplorerExperiment, float]:
    experiment = ExplorerExperiment(
        population=_population(settings),
        n=sizes(settings)[0],
        # A bound that some row exceeds with chance 1/2 is about the median length of the largest row.
        failure=0.5 if settings["scaling"] == "largest" else 0.01,
        energy=settings["metric"] == "energy",
        start_error=START_ERROR if settings["start"] == "near" else None,
        **{name: settings[name] for name in ("k", "delta", "repeats", *of_experiment.COMMON)}
        | {"s_hat": rows_kept(settings)},
        choose_rows=settings["s_hat"] == RELEASED,
    )
    return experiment, settings["epsilon"]


def _population(settings: Settings) -> Synthetic | str:
    if settings["data"] in TABLES:
        return str(settings["data"])
    tails = None if settings["tails"] == GAUSSIAN else float(settings["tails"])
    common = {name: settings[name] for name in ("k", "s", "seed")} | {"tails": tails}
    if settings["data"] == STATED:
        d = sizes(settings)[1]
        return stated_text.population(settings["stated"], d=d, bulk=settings["bulk"], **common)
    of_spikes = {name: settings[name] for name in ("d", "spike", "fall", "correlation")}
    return SpikedModel(bulk=(0.0, settings["bulk"]), **of_spikes, **common)


def over_epsilon(experiment: ExplorerExperiment, epsilon: float, methods: Sequence[str]) -> Recipe | None:
    """Return the sweep of an experiment's runs over epsilon; None for a start near the truth, never swept."""
    if experiment.start_error is not None:
        return None
    k = experiment.k if experiment.table else None  # a model has its own
    return of_experiment.recipe(experiment, epsilon, methods, Axis("epsilon", EPSILONS), k=k)


def method_shown(experiment: ExplorerExperiment, epsilon: float, settings: Settings) -> str:
    """Return the method chosen, if it follows a slider under the trust, else the one recommended there."""
    chosen = str(settings["method"])
    if chosen != RECOMMENDED and chosen in selectable(experiment, settings["trust"]):
        return chosen
    return recommended(experiment, epsilon, settings["trust"]).method


def selectable(experiment: ExplorerExperiment, trust: str) -> list[str]:
    return [name for name in Results(experiment).live_methods if METHODS[name].trust == trust]


def from_settings_with_method(settings: Settings) -> tuple[ExplorerExperiment, float]:
    experiment, epsilon = from_settings(settings)
    return replace(experiment, method=method_shown(experiment, epsilon, settings)), epsilon
