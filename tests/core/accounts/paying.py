"""Tables that pay, and releases that have begun to draw, for tests of what is released."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dppca_core import Release
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, BookTable, Payer, ReleaseSteps
from dppca_core.arrays import Array

KEY = "0123456789abcdef"
TABLE = BookTable(KEY, 120, ("age", "weight"))
HALF = (Release(7.2),)  # epsilon = .487 at 1e-5
ONE = (Release(3.75),)  # epsilon = .994 at 1e-5


def payer(
    limit: float = 1e9, path: Path | None = None, neighbours: str = "replace-one", **more: Any
) -> Payer:
    """Return what pays for a table with a limit at delta 1e-5, from a book in memory or this file."""
    made = Book(path).payer(more.get("table", TABLE), more.get("owner"))
    made.set_limit(Limit(limit, more.get("delta", 1e-5), neighbours))
    return made


def begun(asked: dict[str, Any] | None = None, path: Path | None = None) -> ReleaseSteps:
    pays = payer(path=path)
    drawn = pays.drawn(pays.pay("a release", HALF, asked=asked or {}).id)
    assert drawn is not None
    return drawn


class DictSteps(ReleaseSteps):
    """Keep the steps of one release in a dictionary: for laws of noise, which need many releases."""

    def __init__(self) -> None:
        super().__init__(Book(), "")
        self.kept: dict[str, Array] = {}

    def once(self, step: str, draw: Callable[[], Array]) -> Array:
        if step not in self.kept:
            self.kept[step] = draw()
        return self.kept[step]
