"""The store of cells looks a view through once, however often it is asked for the next cell."""

import itertools

import numpy as np
import pytest

from dppca_core.experiments.cells import CellStore


class Counted(CellStore[tuple[int], int]):
    """Hold a hundred cells, of which some fail as told, and count how many were named."""

    def __init__(self, errors: dict[int, Exception] | None = None) -> None:
        super().__init__()
        self.errors = errors or {}
        self.named = 0

    def measure(self, cell: tuple[int]) -> int:
        if cell[0] in self.errors:
            raise self.errors.pop(cell[0])
        return cell[0]

    def wanted(self, backwards: bool = False):
        for number in reversed(range(100)) if backwards else range(100):
            self.named += 1
            yield (number,)


def test_a_view_is_looked_through_once():
    store = Counted()
    measured = []
    while (cell := store.next_missing()) is not None:
        assert store.next_missing() == cell
        store.try_cell(*cell)
        measured.append(cell[0])
    assert measured == list(range(100)) and store.named == 100


@pytest.mark.parametrize("seed", range(3))
def test_it_names_the_cell_that_a_whole_look_finds_first(seed):
    """Cells come from elsewhere too, views alternate, and what lacked memory comes again at the end."""
    rng = np.random.default_rng(seed)
    store = Counted({3: MemoryError(), 50: ValueError("too large"), 97: MemoryError()})
    for turn in itertools.count():
        backwards = bool(turn // 5 % 2)
        cell = store.next_missing(backwards)
        assert cell == store.first_missing(store.wanted(backwards))
        if cell is None:
            break
        store.try_cell(*cell)
        store.try_cell(int(rng.integers(100)))
    assert store.done == 100 and store.next_missing() is None and list(store.failed) == [(50,)]


def test_a_cell_that_failed_and_is_measured_later_counts_once_and_is_not_tried_again():
    store = Counted({3: MemoryError()})
    store.try_cell(3)
    assert store.cell(3) == 3 and store.done == 1 and not store.failed
    while (cell := store.next_missing()) is not None:
        store.try_cell(*cell)
    looks = store.named
    assert store.next_missing() is None and store.named == looks


def test_a_view_that_cannot_be_named_is_not_complete_and_spoils_no_other():
    store = Counted()
    for cell in ((0,), (1,)):
        assert store.next_missing() == cell
        whole = store.wanted
        store.wanted = lambda backwards: ([].pop() for _ in range(2))
        for _ in range(2):
            with pytest.raises(IndexError):
                store.next_missing(True)
        store.wanted = whole
        store.try_cell(*cell)
