"""The store of measured cells, used by everything that is measured run by run beside a page.

A cell is one run, named by a tuple of what it is; the last element is mostly the repeat, which numbers runs
that differ in their random numbers only. A view is what a page shows at one setting of its controls. It is
given as the arguments of `wanted`, which lists the cells that it needs. A subclass defines how a cell is
measured, in which order a reader needs the cells of a view, and the rows of its table. A cell
that raises is treated alike in all stores: `failed` holds its reason, it counts as done, it is not tried
again, and nobody waits for it. Only a cell that lacked memory is tried once more, after all others, when the
memory may be free again. `dppca_core.experiments.replicas` measures cells in another process, in a replica of
their store.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from threading import Lock
from typing import Any, ClassVar, Generic, TypeVar

import pandas as pd

from dppca_core.experiments import failures

Key = TypeVar("Key", bound=tuple[Any, ...])
Value = TypeVar("Value")


class CellStore(ABC, Generic[Key, Value]):
    """Hold the values of the cells measured so far, and the reasons why others failed.

    Filling a store twice gives the same numbers. Several threads may share a store.

    Attributes:
        cells: The value of each measured cell, by key.
        failed: The reason why a cell has no answer, as a clause for a reader, by key.
        repeats: How many runs there are of a cell named without its repeat.
        made_from: The arguments that it was made from, and those with their names: the same make a replica.
        elsewhere: Keys that another process holds, which a replica need not measure.
        took: Seconds that the last cell of each kind (its first part) took.
        linked: Whether a cell may depend on the values of others, which a replica then needs.
    """

    linked: ClassVar[bool] = False
    made_from: tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]

    def __new__(cls, *arguments: Any, **named: Any) -> "CellStore[Key, Value]":
        store = super().__new__(cls)
        store.made_from = arguments, tuple(named.items())
        return store

    def __init__(self, repeats: int = 1) -> None:
        self.repeats = repeats
        self.cells: dict[Key, Value] = {}
        self.failed: dict[Key, str] = {}
        self.elsewhere: Collection[Key] = frozenset()
        self.took: dict[Any, float] = {}
        self._once_more: set[Key] = set()  # cells that lacked memory, each worth a second try
        # `next_missing` remembers how far it came in the cells of its last view: which view that was, the
        # cells not yet looked at, and the cell at which it stopped. The page and the thread that measures
        # beside it both ask, so a lock guards the three.
        self._view_asked: tuple[Any, ...] | None = None
        self._ahead: Iterator[Key] = iter(())
        self._next: Key | None = None
        self._looking = Lock()

    @abstractmethod
    def measure(self, cell: Key) -> Value:
        """Run a cell and return its value. Whatever it raises is kept as the cell's failure."""

    @abstractmethod
    def wanted(self, *view: Any) -> Iterable[Key]:
        """Return all cells that a view shows, in the order in which a reader needs them, done or not."""

    def records(self, cell: Key, value: Value) -> Iterator[dict[str, Any]]:
        yield {"cell": str(cell), "value": value}

    def key(self, cell: Any) -> Key:
        """Return the name under which a cell is kept, the same for all cells that are the same run."""
        key: Key = cell
        return key

    def cell(self, *cell: Any) -> Value:
        """Return a cell's value, measured now unless it was before. Raises what the run raises."""
        key = self.key(cell)
        if key not in self.cells:
            self.cells[key] = self.measure(key)
            self.failed.pop(key, None)
            self._once_more.discard(key)
        return self.cells[key]

    def try_cell(self, *cell: Any) -> None:
        """Measure a cell unless it was measured or has failed for good; keep the reason of what fails."""
        key = self.key(cell)
        if key in self.cells or (key in self.failed and key not in self._once_more):
            return
        try:
            self.cells[key] = self.measure(key)
        except Exception as error:
            self.note_failure(key, error)
        else:
            self.failed.pop(key, None)
            self._once_more.discard(key)

    def note_failure(self, key: Key, error: Exception) -> None:
        """Keep the reason why a cell has no answer; one that lacked memory is worth a second try."""
        reason, first_try = failures.reason(error), key not in self.failed
        # A refusal is no fault of the program, and a thousand cells that fail alike need one line.
        if not failures.refused(error) and reason not in list(self.failed.values()):
            failures.log("run", error)
        self.failed[key] = reason
        self._once_more.discard(key)
        if first_try and isinstance(error, MemoryError):
            self._once_more.add(key)

    def seconds(self, *cell: Any) -> float:
        """Estimate the seconds that `try_cell` takes: by default as long as the last cell of its kind."""
        return self.took.get(cell[0], 0.0)

    def answer_seconds(self, *cell: Any) -> float:
        """Estimate the seconds until a reader has an answer to which this cell is the first missing one."""
        return self.seconds(*cell)

    @property
    def answers(self) -> bool:
        """Return whether a reader has an answer: by default any cell is one."""
        return bool(self.cells or self.failed)

    def located(self, *cell: Any) -> tuple["CellStore[Any, Any]", tuple[Any, ...]]:
        """Return the store that measures a cell, and its name there: another one where a page has several."""
        return self, cell

    @property
    def states(self) -> tuple[dict[Any, Any], ...]:
        """Return what a replica shares with this store, alike where cells are `linked`."""
        return self.cells, self.failed

    def adopt(
        self, cell: tuple[Any, ...], states: Iterable[Mapping[Any, Any]], once_more: Collection[Any]
    ) -> None:
        """Take what a replica has measured for a cell, and beside it; once_more: what lacked memory there."""
        tried = set(self.failed)
        for state, new in zip(self.states, states, strict=True):
            state.update(new)
        for done in list(self.failed):
            if done in self.cells:
                self.failed.pop(done, None)
        self._once_more.discard(self.key(cell))
        self._once_more |= {key for key in once_more if key in self.failed and key not in tried}

    @property
    def once_more(self) -> frozenset[Key]:
        return frozenset(self._once_more)

    def missing(self, wanted: Iterable[Key]) -> list[Key]:
        done = (self.cells, self.failed, self.elsewhere)
        keys = ((cell, self.key(cell)) for cell in wanted)
        return [cell for cell, key in keys if not any(key in held for held in done)]

    def next_missing(self, *view: Any) -> Key | None:
        """Return the missing cell that the view needs first, or None where the view is complete.

        Asked about the same view again it continues where it stopped, as cells that are done stay so.
        """
        with self._looking:
            # Forget the view until the search has ended: an exception would leave it half-way.
            before, self._view_asked = self._view_asked, None
            if before != view:
                self._ahead = iter(self.wanted(*view))
                self._next = next(self._ahead, None)
            while self._next is not None and not self.missing([self._next]):
                self._next = next(self._ahead, None)
            self._view_asked = view
            if self._next is not None:
                return self._next
        return self.first_missing(self.wanted(*view)) if self._once_more else None

    def first_missing(self, wanted: Iterable[Key]) -> Key | None:
        """Return the first wanted cell that was not tried yet, else the first worth one more try, or None."""
        second_try = None
        for cell in wanted:
            key = self.key(cell)
            if key in self.cells:
                continue
            if key not in self.failed:
                return cell
            if second_try is None and key in self._once_more:
                second_try = cell
        return second_try

    def measured(self, *part: Any) -> list[Value]:
        """Return the values so far of all repeats, in their order. `part` is a cell's name but its repeat."""
        keys = (self.key((*part, repeat)) for repeat in range(self.repeats))
        return [self.cells[key] for key in keys if key in self.cells]

    @property
    def done(self) -> int:
        return len(self.cells) + len(self.failed)

    def table(self) -> pd.DataFrame:
        return pd.DataFrame([row for item in sorted(self.cells.items()) for row in self.records(*item)])
