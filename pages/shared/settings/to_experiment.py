"""Turn the controls' settings into the core's objects."""

from typing import Any

from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.populations.spiked import SpikedModel
from pages.shared.settings.catalogue import Settings, defaults

START_ERROR = 0.1  # the start "near the truth": inside what Assumption B.6 asks at kappa = 10


def from_settings(settings: Settings) -> tuple[ExplorerExperiment, float]:
    """Return the experiment and the epsilon that these (already possible) settings describe."""
    table = TABLES.get(settings["data"])
    population: SpikedModel | str = settings["data"]
    if table is None:
        population = SpikedModel(
            d=settings["d"],
            k=settings["k"],
            s=settings["s"],
            spike=settings["spike"],
            bulk=(0.0, settings["bulk"]),
            seed=settings["seed"],
        )
    experiment = ExplorerExperiment(
        population=population,
        n=table.n if table else settings["n"],
        k=settings["k"],
        s_hat=settings["s_hat"],
        delta=settings["delta"],
        providers=settings["providers"],
        largest_share=settings["largest_share"],
        iterations=settings["iterations"],
        burn_in=settings["burn_in"],
        provider_noise=settings["provider_noise"],
        neighbours=settings["neighbours"],
        accounting=settings["accounting"],
        failure=0.5 if settings["scaling"] == "largest" else 0.01,
        repeats=settings["repeats"],
        seed=settings["seed"],
        energy=settings["metric"] == "energy",
        start_error=START_ERROR if settings["start"] == "near" else None,
    )
    return experiment, settings["epsilon"]


def runs(experiment: ExplorerExperiment) -> dict[str, Any]:
    """Return the arguments of `Recipe` that all recipes of this experiment's runs share."""
    names = ("s_hat", "providers", "largest_share", "iterations", "burn_in", "provider_noise")
    names = (*names, "neighbours", "accounting", "failure", "seed")
    return {name: getattr(experiment, name) for name in names}


def default() -> tuple[ExplorerExperiment, float]:
    """Return the experiment and the epsilon that the front page opens with."""
    return from_settings(defaults())
