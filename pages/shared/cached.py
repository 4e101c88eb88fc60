"""Results shared between visitors, keyed by recipes only."""

import gc
from dataclasses import replace

import streamlit as st

from dppca_core.bounds import BOUNDS
from dppca_core.experiments import neighbours
from dppca_core.experiments.alliances import Alliance
from dppca_core.experiments.attacks import Attacked, Draws
from dppca_core.experiments.joining import Measured
from dppca_core.experiments.live import Results
from dppca_core.experiments.neighbours import Picture
from dppca_core.experiments.one_thread import for_good
from dppca_core.experiments.outcomes import Outcomes
from dppca_core.experiments.regime_map import RegimeMap, regime_map
from dppca_core.experiments.scene import EPSILONS, Scene
from dppca_core.experiments.seen import Seen, simulate
from dppca_core.experiments.site_recipe import SiteRecipe
from dppca_core.types import Bound, Budget
from pages.shared import privacy_view, scenes
from pages.shared.privacy_view import Accounted


@st.cache_resource(max_entries=64, show_spinner=False)
def results(scene: Scene) -> Results:
    """The scene's cells, empty at first; a few hundred kilobytes when complete."""
    return Results(scene)


@st.cache_resource(max_entries=64, show_spinner=False)
def joined(of: SiteRecipe) -> Measured:
    """The cells of hospitals that differ, empty at first; under a megabyte with all strengths."""
    return Measured(of)


@st.cache_resource(max_entries=64, show_spinner=False)
def outcomes(recipe: Alliance) -> Outcomes:
    """What hospitals gain by joining, empty at first."""
    return Outcomes(recipe)


@st.cache_resource(max_entries=12, show_spinner=False)
def seen(recipe: Alliance, way: str) -> Seen:
    """One run message by message: up to half a gigabyte of them, by `seen.refused`; usually below one MB."""
    return simulate(recipe, way)


@st.cache_resource(max_entries=64, show_spinner=False)
def draws(of: Attacked) -> Draws:
    """Releases to attack and to audit, none at first; 16 bytes a draw, a few megabytes at most."""
    return Draws(of)


@st.cache_resource(max_entries=64, show_spinner=False)
def picture(budget: Budget, seed: int) -> Picture:
    """Two neighbouring data sets and their releases."""
    return neighbours.picture(budget, seed=seed)


@st.cache_resource(max_entries=64, show_spinner=False)
def accountings(budget: Budget, sensitivity: float, steps: int) -> Accounted:
    """What rounds cost by five accountings."""
    return privacy_view.accounted(budget, sensitivity, steps)


@st.cache_resource(max_entries=512, show_spinner=False)
def bounds(
    scene: Scene, name: str, tau: float, constants: tuple[tuple[str, float], ...]
) -> tuple[Bound, ...]:
    """One bound at every epsilon of the sweep."""
    found = results(scene)
    settings = (replace(found.setting(epsilon), tau=tau) for epsilon in EPSILONS)
    return tuple(BOUNDS[name](setting, **dict(constants)) for setting in settings)


@st.cache_resource(max_entries=32, show_spinner=False)
def regimes(scene: Scene, by: str, tau: float, constants: tuple[tuple[str, float], ...]) -> RegimeMap:
    """The map of the bounds page."""
    return regime_map(results(scene), by, tau, **dict(constants))


def warm_up() -> None:
    """Before the first visitor: one BLAS thread, the default scene measured, imports frozen."""
    for_good()
    scene, epsilon = scenes.default()
    found = results(scene)
    found.try_cells(found.first(epsilon))
    gc.collect()
    gc.freeze()
