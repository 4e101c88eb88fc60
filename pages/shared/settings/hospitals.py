"""Turn settings into the hospitals of a decision: those of the sliders or of a cohort, or typed ones.

A link has sizes and privacy losses as text, such as "400-300-100", and no names.
"""

from collections.abc import Sequence

from dppca_core.experiments.collaboration.site_experiment import HEART
from dppca_core.experiments.decision.hospitals import JoiningExperiment, JoiningHospital
from dppca_core.populations import clinical
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.populations.differing import DifferingHospitals
from pages.shared.settings import scenes, to_experiment
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.scenes import typed_losses, typed_sizes

OURS = "Ours"


def default_name(index: int) -> str:
    return f"Hospital {chr(ord('A') + index) if index < 26 else index + 1}"


def differing(settings: Settings) -> DifferingHospitals | None:
    if not scenes.differ(settings):
        return None
    if settings["sites.data"] == HEART:
        return DifferingHospitals("heart")
    differ = settings["sites.differ"]
    return DifferingHospitals(
        strength=settings["sites.strength"],
        differences=clinical.DIFFERENCES if differ == "all" else (differ,),
        seed=settings["seed"],
    )


def sizes(settings: Settings) -> tuple[int, ...]:
    if typed := typed_sizes(settings):
        return typed
    population = differing(settings)
    return population.sizes(settings["n"]) if population else to_experiment.from_settings(settings)[0].sizes


def ours(settings: Settings) -> int:
    return min(int(settings["join.ours"]), len(sizes(settings))) - 1


def named(settings: Settings, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what the hospitals are called; names: those typed, "" for others. Real ones have their own."""
    count, our = len(sizes(settings)), ours(settings)
    if settings["sites.data"] == HEART:
        return DifferingHospitals("heart").names(count)
    typed = (*names[:count], *[""] * (count - len(names)))
    return tuple(name or (OURS if i == our else default_name(i)) for i, name in enumerate(typed))


def joining(settings: Settings) -> tuple[JoiningHospital, ...]:
    """Return the hospitals, whose names are not those that somebody typed: caches keep them."""
    losses = typed_losses(settings)
    return tuple(
        JoiningHospital(name, size, losses[i] if i < len(losses) else settings["epsilon"])
        for i, (name, size) in enumerate(zip(named(settings), sizes(settings), strict=True))
    )


def to_setting(settings: Settings) -> JoiningExperiment:
    experiment, _ = to_experiment.from_settings(settings)
    population = experiment.population
    assert not isinstance(population, DictionaryTwin)  # of a visitor's table, which no link has
    k, s_hat = experiment.k, experiment.s_hat
    if different := differing(settings):
        population, k = different, different.k
        s_hat = min(max(s_hat, k), different.d)
    return JoiningExperiment(
        joining(settings),
        ours=ours(settings),
        population=population,
        k=k,
        delta=experiment.delta,
        use=settings["join.use"],
        s_hat=None if experiment.choose_rows else s_hat,
        seed=experiment.seed,
    )
