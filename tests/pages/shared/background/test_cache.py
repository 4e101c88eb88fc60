"""Test, by counting bytes, that what is kept for visitors stays within the stated number."""

import gc
import re
import sys
import weakref
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dppca_core import datasets
from dppca_core.byte_cache import ByteCache
from dppca_core.experiments import Axis, Recipe, draws, variant
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.site_experiment import SiteExperiment
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.populations import clinical, elliptical, gaussian_patients, site_summaries
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from pages.shared.background import cache as cached
from pages.shared.background import sweep_jobs
from pages.shared.background.engine import Engine


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(cached, "CELLS", ByteCache(cached.CELLS.most))


MODEL = SpikedModel(d=40, k=3, s=8, seed=5)
ALLIANCE = CollaborationExperiment(
    MODEL, (300, 500, 200), 3, 12, 6, Budget(1.0, 1e-6), iterations=6, repeats=2, seed=5
)


def counted(value: object, known: dict[int, object] | None = None) -> int:
    """Return the bytes of all that is reached from a value; of a view the whole array that it keeps.

    known: what was counted, held so that no identity is used twice meanwhile.
    """
    known = {} if known is None else known
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    if id(value) in known or value is None or isinstance(value, (type, SpikedModel)):
        return 0
    known[id(value)] = value
    if isinstance(value, np.ndarray):
        return value.nbytes + 112
    if isinstance(value, (str, bytes)):
        return len(value) + 49
    if isinstance(value, Mapping):
        return 104 + sum(counted(k, known) + counted(v, known) + 24 for k, v in value.items())
    if isinstance(value, (tuple, list, set, frozenset)):
        return 56 + sum(counted(item, known) + 8 for item in value)
    if isinstance(value, CellStore):
        return 64 + counted(vars(value), known)
    if is_dataclass(value):
        names = {field.name for field in fields(value)} | set(getattr(value, "__dict__", {}))
        return 64 + sum(counted(getattr(value, name), known) for name in names)
    return 32


def kept(view: object) -> int:
    return cached.CELLS._held[view][1]


CACHES = {
    "runs message by message": cached.TRANSCRIPTS,
    "hospitals' own moments": draws.ASSIGNED,
    "patients drawn": draws.DRAWS,
    "populations": elliptical.VECTORS,
    "populations' roots": elliptical.ROOTS,
    "eigenvalues of clipped rows": elliptical.CLIPPED,
    "second moments": draws.MOMENTS,
    "rows of drawn patients": gaussian_patients.SAMPLES,
    "populations of hospitals that differ": clinical.HOSPITALS,
    "patients of hospitals that differ": clinical.PATIENTS,
    "rows of hospitals that differ": site_summaries.ROWS,
    "what runs are measured against": draws.TRUTHS,
    "cells that were measured, sweeps' tables, and figures": cached.CELLS,
}
OPTIONAL = {"optional tables": datasets.ROWS, "their hospitals": datasets.COHORTS}
SMALL_BYTES = 144 * 2**20  # bound on all caches whose entries do not grow, and on rows of sweeps
MOST_BYTES = 2192 * 2**20  # bound on everything kept for visitors, except optional tables


def test_all_caches_together_stay_below_the_number_that_is_stated():
    caches = sum(cache.most for cache in CACHES.values())
    assert caches + SMALL_BYTES <= MOST_BYTES
    page = (Path(__file__).parents[4] / "docs" / "server.md").read_text(encoding="utf-8")
    assert f"at most {MOST_BYTES // 2**20:,} MB" in page
    optional = sum(cache.most for cache in OPTIONAL.values())
    assert f"{optional // 2**20:,} MB more" in page
    for name, cache in CACHES.items():
        assert re.search(rf"\| {name} \| {cache.most // 2**20:,} \|", page), name


def test_every_cache_of_a_module_is_in_the_sum():
    ours = (module for name, module in sys.modules.items() if name.startswith(("dppca_core.", "pages.")))
    kept = {id(value): value for module in ours for value in vars(module).values()}
    bytes_of = [value.most for value in kept.values() if isinstance(value, ByteCache)]
    assert sorted(bytes_of) == sorted(cache.most for cache in (*CACHES.values(), *OPTIONAL.values()))


@pytest.mark.parametrize("cache", [cached.CELLS, cached.TRANSCRIPTS], ids=["limit", "limit and largest"])
def test_no_cache_keeps_more_than_it_says(cache, monkeypatch):
    monkeypatch.setattr(cache, "_held", type(cache._held)())
    monkeypatch.setattr(cache, "_size", 0)
    for part in (1, 2, 3, cache.most, 1, 2, 2):
        cache.get(object(), object, cache.most // part)
        assert cache.size <= cache.most


@pytest.mark.parametrize("way", transcript.MESSAGE_PROTOCOLS)
def test_a_run_takes_no_more_than_it_is_counted_for(way):
    run = transcript.simulate(ALLIANCE, way)
    hidden = sum(
        array.nbytes for parts in run.noiseless for part in parts.values() for array in part.values()
    )
    assert hidden < counted(run) < transcript.kept_bytes(ALLIANCE, PROTOCOLS[way])


def test_the_largest_run_that_is_simulated_is_the_largest_that_is_kept():
    most = 0
    for d in (100, 500, 1000, 2000):
        for hospitals in (2, 10, 50, 200):
            for rounds in (1, 20, 50):
                setting = CollaborationExperiment(
                    SpikedModel(d=d, k=20, s=40), (9,) * hospitals, 20, 40, 40, Budget(1.0, 1e-6), rounds, 0
                )
                for key in transcript.MESSAGE_PROTOCOLS:
                    if transcript.why_refused(setting, PROTOCOLS[key]) is None:
                        most = max(most, transcript.kept_bytes(setting, PROTOCOLS[key]))
    assert 2**28 < most <= transcript.MOST_BYTES <= cached.TRANSCRIPTS.most


FAST = ("analyze_gauss", "analyze_gauss_sparse", "dpdis_pca", "dps_pca", "noisy_power", "pca")


def experiment(**changes: object) -> ExplorerExperiment:
    return ExplorerExperiment(
        MODEL, n=2000, k=3, providers=3, s_hat=12, iterations=6, delta=1e-5, repeats=2, seed=5, **changes
    )


@pytest.mark.parametrize("energy", [False, True])
def test_a_complete_view_takes_no_more_than_it_is_counted_for(energy):
    """It holds no matrix (d, d) either, and is counted again as it grows."""
    at = replace(experiment(), energy=energy)
    whole = cached.results(at)
    empty = kept(at)
    asked = [*whole.first(1.0), *whole.rest(1.0, slow=False)]
    whole.try_cells(cell for cell in asked if cell[0] in FAST)
    assert cached.results(at) is whole
    assert empty < counted(whole) < kept(at) < empty + 3 * counted(whole)
    assert 8 * MODEL.d**2 not in {array.nbytes for array in (whole.truth.basis, whole.truth.eigenvalues)}


def test_what_hospitals_gain_takes_no_more_than_it_is_counted_for():
    gained = cached.collaboration_results(ALLIANCE)
    for key in gained.wanted():
        gained.try_cell(*key)
    assert counted(cached.collaboration_results(ALLIANCE)) < cached.CELLS.size


def test_hospitals_that_differ_take_no_more_than_they_are_counted_for():
    site_experiment = SiteExperiment(repeats=1)
    measured = cached.site_results(site_experiment)
    for key in measured.wanted(1.0, site_experiment.kinds[0]):
        measured.try_cell(*key)
    assert counted(cached.site_results(site_experiment).cells) < cached.CELLS.size


def test_complete_sweeps_are_counted_for_what_they_take():
    kept = sweep_jobs.Jobs(Engine(), cached.CELLS)
    for seed in range(3):
        recipe = Recipe(
            population=MODEL, methods=(variant("pca"),), swept=(Axis("n", (100,)),), epsilon=1.0, seed=seed
        )
        job = sweep_jobs.Job(recipe, "", kept, ())
        job.complete_with(pd.DataFrame({"x": np.zeros(100_000)}))
        kept.keep(job)
        assert cached.CELLS.size >= (seed + 1) * 800_000


PAGE = "hospitals/who_sees_what/page.py"
LINK = {"repeats": "1", "d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "N": "3", "T": "4"}


@pytest.mark.parametrize("panel", ["rounds", "sees", "pair"])
def test_a_page_does_not_hold_a_run_that_the_cache_gave_up(screen, panel):
    """Streamlit holds a page's buttons as long as its visitor's session."""
    cached.TRANSCRIPTS.clear()
    page = screen(PAGE, **{"sees.panel": panel}, **LINK)
    runs = [weakref.ref(run) for run, *_ in cached.TRANSCRIPTS._held.values()]
    assert runs
    cached.TRANSCRIPTS.clear()
    gc.collect()
    assert not [run for run in runs if run() is not None]
    page.run()
    assert cached.TRANSCRIPTS.size > 0


def test_a_run_without_room_is_refused_in_one_sentence(screen, monkeypatch):
    cached.TRANSCRIPTS.clear()
    monkeypatch.setattr(cached.memory, "available", lambda: 2**28)
    page = screen(PAGE, **{"sees.panel": "rounds"}, **LINK)
    assert page.notices.startswith("This run takes")
    monkeypatch.undo()
    page.run()
    assert "This run takes" not in page.notices
