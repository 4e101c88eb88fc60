"""What has been evaluated of plans, for all visitors: closed forms that take longer than a frame.

The closed form of two stages simulates small runs, and rounds are tuned by such runs. A page shows what is
there, and has the rest evaluated beside it.
"""

from collections.abc import Iterable
from threading import Lock
from typing import Any

from dppca_core.experiments.cells import CellStore

MOST = 4096  # evaluations that are kept, at some kilobytes each
Evaluation = tuple[Any, ...]  # a function and its arguments


class Evaluations(CellStore[Evaluation, Any]):
    """Hold the values of function calls; a cell is the function and its arguments. The oldest go first."""

    def __init__(self) -> None:
        super().__init__()
        self._evaluating: dict[Evaluation, Lock] = {}

    def measure(self, cell: Evaluation) -> Any:
        """Call the function, or wait for the thread that is calling it, and return the value.

        Without the lock a report that is written while its page is open would repeat what takes seconds.
        """
        with self._evaluating.setdefault(cell, Lock()):
            if cell in self.cells:
                return self.cells[cell]
            try:
                function, *arguments = cell
                value = function(*arguments)
                # Dictionaries list the oldest first: make room for one more.
                for store in (self.cells, self.failed):
                    for oldest in list(store)[: max(len(store) + 1 - MOST, 0)]:
                        store.pop(oldest, None)
                self.cells[cell] = value
            finally:
                self._evaluating.pop(cell, None)
            return value

    def wanted(self, *view: Any) -> Iterable[Evaluation]:
        """Return the evaluations of a view: they are its arguments."""
        return view


EVALUATIONS = Evaluations()
