"""Keep results for all visitors within a bound on their bytes, keyed by recipes, which hold no private data.

A cell is one measured run, and a store holds the cells of one recipe, measured as pages need them. `CELLS`
has these stores, tables of complete sweeps, and figures drawn from cells.
Whatever grows with features, patients or hospitals is in a `ByteCache`, here or in the core. Entries of the
other caches stay small whatever is asked for. docs/server.md has the sum, and test_cache.py adds it up.
"""

import gc
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any, TypeVar

import streamlit as st

from dppca_core.byte_cache import ByteCache, return_large_at_once, return_memory
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration import transcript as transcripts
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.site_experiment import SiteExperiment
from dppca_core.experiments.decision.cells import JoiningCells
from dppca_core.experiments.decision.hospitals import JoiningExperiment
from dppca_core.experiments.demonstrations.attacks import PORTION, AttackDraws, AttackExperiment
from dppca_core.experiments.explorer.closed_forms import evaluate
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.regime_map import RegimeMap, regime_map
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.blas import use_one_thread
from dppca_core.records import Bound
from pages.shared.background import memory, turns
from pages.shared.settings import catalogue, to_experiment

Recipe = TypeVar("Recipe", bound=Hashable)
Store = TypeVar("Store", bound=CellStore[Any, Any])

MB = 2**20
VIEW_BYTES = 2**16  # of a store without its cells and without arrays that grow with the features
CELL_BYTES = 1_500  # of a measured cell, or of a hospital in a comparison, with its errors in each round
CELLS = ByteCache(175 * MB)
# Of runs larger than the limit the newest is kept.
TRANSCRIPTS = ByteCache(64 * MB, largest=transcripts.MOST_BYTES)

_LARGE = 16 * MB  # bytes of a run above which it is alone, and its temporary memory is returned
_PORTION_BYTES = 2 * 8 * PORTION  # of one portion of draws, of both cohorts
_one_simulation = Lock()


def results(experiment: ExplorerExperiment) -> Results:
    basis_bytes = 8 * experiment.d * (experiment.k + 1)  # of the truth, with its eigenvalues
    return _cells(Results, experiment, CELL_BYTES + 16 * experiment.iterations, basis_bytes)


def site_results(recipe: SiteExperiment) -> SiteResults:
    return _cells(SiteResults, recipe, CELL_BYTES)


def collaboration_results(recipe: CollaborationExperiment) -> CollaborationResults:
    return _cells(CollaborationResults, recipe, CELL_BYTES, 8 * recipe.d * (recipe.k + 1))


def joining_cells(setting: JoiningExperiment) -> JoiningCells:
    return _cells(JoiningCells, setting, CELL_BYTES)


def attack_draws(setting: AttackExperiment) -> AttackDraws:
    """Return the store of releases to attack and to audit, which it draws in portions; empty at first."""
    return _cells(AttackDraws, setting, _PORTION_BYTES)


def _cells(make: Callable[[Recipe], Store], recipe: Recipe, cell_bytes: int, more_bytes: int = 0) -> Store:
    """Return the one store of this recipe, made unless it is kept; more_bytes: of what is no cell."""
    size = VIEW_BYTES + more_bytes
    return CELLS.get(recipe, lambda: make(recipe), size, lambda store: cell_bytes * store.done)


def transcript(recipe: CollaborationExperiment, protocol: str) -> transcripts.Transcript:
    """Return a protocol's simulated run with its messages. Raises MemoryError if it is too large now."""
    size = transcripts.kept_bytes(recipe, PROTOCOLS[protocol])

    needed = size + transcripts.passing_bytes(recipe, PROTOCOLS[protocol])

    def simulate() -> transcripts.Transcript:
        with _one_large_run() if needed > _LARGE else nullcontext():
            memory.check_run(needed, memory.available())
            run = transcripts.simulate(recipe, protocol)
            if needed > _LARGE:
                return_memory()  # the simulation's own arrays
            return run

    result: transcripts.Transcript = TRANSCRIPTS.get((recipe, protocol), simulate, size)
    return result


@contextmanager
def _one_large_run() -> Iterator[None]:
    """Let one run be simulated at a time, as each may allocate a gigabyte; others' pages go on meanwhile."""
    with turns.TURNS.given_away():
        _one_simulation.acquire()
    try:
        yield
    finally:
        _one_simulation.release()


@st.cache_resource(max_entries=512, show_spinner=False)
def bounds(
    experiment: ExplorerExperiment, name: str, tau: float, constants: tuple[tuple[str, float], ...]
) -> tuple[Bound, ...]:
    """Return the bound BOUNDS[name] at each of EPSILONS; tau as in `Setting`, constants: (name, value)."""
    cells = results(experiment)
    return tuple(evaluate(cells, name, epsilon, tau=tau, **dict(constants)) for epsilon in EPSILONS)


@st.cache_resource(max_entries=32, show_spinner=False)
def regimes(
    experiment: ExplorerExperiment, by: str, tau: float, constants: tuple[tuple[str, float], ...]
) -> RegimeMap:
    """Return the map of which error dominates at each n and epsilon, `by` "closed form" or "theorem"."""
    return regime_map(results(experiment), by, tau, **dict(constants))


def keep_first_view() -> None:
    """Count the default experiment as just used, so that the first visitor after a quiet time finds it."""
    CELLS.peek(to_experiment.from_settings_with_method(catalogue.defaults())[0])  # [0]: the experiment


def warm_up() -> None:
    """Set what the whole process needs, and measure what the front page opens at.

    That is one BLAS thread, memory that goes back once freed, and modules without garbage collection.
    """
    use_one_thread()
    return_large_at_once()
    sys.setswitchinterval(0.001)  # what sends answers then waits less for a page that computes
    experiment, epsilon = to_experiment.from_settings_with_method(catalogue.defaults(catalogue.SMALL_STUDY))
    cells = results(experiment)
    cells.try_cells(cells.first(epsilon))
    gc.collect()
    gc.freeze()
