"""A run that raises is kept with its reason in every store of measured cells, and holds up no other run."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dppca_core import Budget, SpikedModel
from dppca_core.experiments import failures
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration import joining
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.site_experiment import HEART, SiteExperiment
from dppca_core.experiments.demonstrations import attacks
from dppca_core.experiments.demonstrations.attacks import PORTION, AttackDraws, AttackExperiment
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results

SECRET = "patient 17 weighs 71.3 kg"
ERRORS = {
    ValueError("k must be at most 5"): "k must be at most 5",
    MemoryError(SECRET): failures.NO_MEMORY,
    RuntimeError(SECRET): "the program failed with RuntimeError",
    KeyError(SECRET): "the program failed with KeyError",
}
MODEL = SpikedModel(d=20, k=2, s=5, spike=100.0, bulk=(0.0, 5.0), seed=2)


class Faulty:
    """Replace what a store calls to measure a cell: the second to fifth cells raise, each its own error."""

    def __init__(self, measure: Any) -> None:
        self.measure = measure
        self.met: list[object] = []
        self.calls: list[object] = []

    def __call__(self, cell: object, *arguments: Any) -> Any:
        self.calls.append(cell)
        if cell not in self.met:
            self.met.append(cell)
        index = self.met.index(cell) - 1
        if 0 <= index < len(ERRORS):
            raise list(ERRORS)[index]
        return self.measure(*arguments)


def live(monkeypatch):
    experiment = ExplorerExperiment(
        MODEL, n=5000, k=2, s_hat=8, delta=1e-5, providers=3, iterations=4, repeats=2
    )
    store = Results(experiment, ("pca", "sparse_pca"))
    faulty = Faulty(store.estimate)
    monkeypatch.setattr(store, "estimate", lambda *cell: faulty(cell, *cell))
    monkeypatch.setattr(store, "estimates", None)  # where runs together fail, each is tried by itself
    return store, store.next_missing, (1.0,), faulty


def outcomes(monkeypatch):
    store = CollaborationResults(
        CollaborationExperiment(MODEL, (400, 300), 2, 8, 4, Budget(1.0, 1e-5), repeats=2)
    )
    faulty = Faulty(store.measure)
    monkeypatch.setattr(store, "measure", lambda cell: faulty(cell, cell))
    return store, store.next_missing, (), faulty


def joined(monkeypatch):
    store = SiteResults(SiteExperiment(data=HEART, method="analyze_gauss_sparse", repeats=2))
    faulty = Faulty(joining.measure)
    monkeypatch.setattr(joining, "measure", lambda recipe, key: faulty(key, recipe, key))
    return store, store.next_missing, (0.0, "public"), faulty


def attacked(monkeypatch):
    store = AttackDraws(AttackExperiment("dps_pca", Budget(1.0, 1e-5), 2, 3, 0))
    faulty = Faulty(lambda: None)

    class Scaled(attacks.planted.Scaled):
        def __init__(self, seed: Any, noise_factor: float) -> None:
            if seed and seed[2] == 0:  # of the first cohort: once for each portion
                faulty(seed[1])
            super().__init__(seed, noise_factor)

    monkeypatch.setattr(attacks.planted, "Scaled", Scaled)
    return store, store.next_missing, ("true", 8 * PORTION), faulty


@pytest.mark.parametrize("kind", [live, outcomes, joined, attacked])
def test_every_failure_is_kept_with_its_reason_and_all_else_is_measured(kind, monkeypatch):
    """An error's text is shown only where the core refuses. What lacked memory is tried again, last."""
    store, missing, view, faulty = kind(monkeypatch)
    for _ in range(5000):
        if (cell := missing(*view)) is None:
            break
        store.try_cell(*cell)
    assert missing(*view) is None
    assert sorted(store.failed.values()) == sorted(ERRORS.values())
    lacked_memory = faulty.met[2]
    again = [cell for cell in faulty.met[1:5] if faulty.calls.count(cell) > 1]
    assert again == [lacked_memory] and faulty.calls[-1] == lacked_memory
    for cell in list(store.failed):  # asking once more does not run it
        count = len(faulty.calls)
        store.try_cell(*cell)
        assert len(faulty.calls) == count


class Letters(CellStore[tuple[str], str]):
    error: BaseException | None = None

    def measure(self, cell: tuple[str]) -> str:
        if self.error is not None:
            raise self.error
        return cell[0].upper()

    def wanted(self) -> list[tuple[str]]:
        return [("a",), ("b",)]


def test_a_run_that_finds_memory_later_has_not_failed():
    store = Letters()
    store.error = MemoryError()
    store.try_cell("a")
    assert store.failed == {("a",): failures.NO_MEMORY} and store.next_missing() == ("b",)
    store.error = None
    store.try_cell("b")
    assert store.next_missing() == ("a",) and store.missing(store.wanted()) == []
    store.try_cell("a")
    assert store.failed == {} and store.next_missing() is None
    assert store.table()["value"].tolist() == ["A", "B"]


def test_draws_without_those_that_failed_are_the_others(monkeypatch):
    store, missing, view, _ = attacked(monkeypatch)
    while (cell := missing(*view)) is not None:
        store.try_cell(*cell)
    honest = AttackDraws(replace(store.attacked))
    monkeypatch.undo()
    for portion in range(8):
        honest.try_cell("true", portion)
    failed = {portion for _, portion in store.failed}
    assert len(failed) == len(ERRORS)
    kept = np.repeat([portion not in failed for portion in range(8)], PORTION)
    for some, every in zip(store.readings(*view), honest.readings(*view), strict=True):
        np.testing.assert_array_equal(some, every[kept])


def test_the_log_names_what_failed_and_quotes_nothing(caplog):
    with caplog.at_level(logging.ERROR), failures.log_errors("here"):
        raise RuntimeError(SECRET)
    assert "here: RuntimeError in test_failures.py" in caplog.text
    assert SECRET not in "".join(record.getMessage() for record in caplog.records)


def test_what_ends_a_program_is_no_failure_of_a_run():
    store = Letters()
    store.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        store.try_cell("a")
    assert not store.failed


def test_a_refusal_is_known_by_its_very_type():
    """The text of a subclass may quote what it could not read."""
    assert failures.reason(UnicodeError(SECRET)) == "the program failed with UnicodeError"
    assert failures.reason(ValueError()) == "the program failed with ValueError"
    assert failures.reason(np.linalg.LinAlgError("no convergence")) == "no convergence"
