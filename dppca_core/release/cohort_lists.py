"""The list of cohorts of one visitor, in memory, and that of a folder of ledgers.

Each line on disk has its number and a digest, as those of a ledger: a changed, moved or missing one is
noticed, and so is a list or a secret that is gone while the other is there. What is gone from the end of the
list is not noticed: a table that came last is asked about again, as a new one is, or still pays into the
account that it joined; one that was known before it joined another account has its own again.
"""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from dppca_core.release import journal
from dppca_core.release.cohorts import DAMAGED, Cohorts
from dppca_core.release.ledger_records import deduplicated, seal
from dppca_core.release.lines import Line, Lines, LinesInMemory

_HEADER = {"kind": "list", "version": 1}


class CohortsInMemory(LinesInMemory, Cohorts):
    """Keep the list for one visitor. All visitors of this process share the secret, which no disk has."""

    secret = secrets.token_bytes(32)

    def __init__(self) -> None:
        super().__init__()
        self.sketches: LinesInMemory = LinesInMemory()

    def take_over(self, former: "CohortsInMemory") -> None:
        """Put the list of a former session before this one's."""
        before = former.sketches._kept
        moved = [
            {**line, "sketch": line["sketch"] + len(before)} if "sketch" in line else line
            for line in self._kept
        ]
        self._kept, self.sketches._kept = [*former._kept, *moved], [*before, *self.sketches._kept]


class ListOnDisk(Lines):
    """Keep a list in a file. Methods raise ValueError for a line that is damaged or out of its place.

    check: raises KeyError, TypeError or ValueError for a line that is not of this list.
    """

    def __init__(self, path: Path, check: Callable[[Line], None] = lambda line: None) -> None:
        self._path, self._check = path, check

    def exclusive(self) -> AbstractContextManager[Any]:
        return journal.locked(self._path)

    def _lines(self) -> list[Line]:
        try:
            lines = [line for _, line in deduplicated(journal.read(self._path))]
            for line in lines:
                self._check(line)
                if "line" not in line or "digest" not in line:
                    raise ValueError
        except (KeyError, TypeError, ValueError):
            raise ValueError(DAMAGED.format(name=self._path.name)) from None
        return lines

    def _append(self, *lines: Line) -> None:
        before = len(self._lines())
        if lines:
            journal.append(self._path, *(seal(before + i, line) for i, line in enumerate(lines, 1)))


class CohortsOnDisk(ListOnDisk, Cohorts):
    """Keep the list in a folder of ledgers: cohorts.index, cohorts.sketches and cohorts.secret.

    The first line is written before the secret, so that a secret without a list means that the list is gone.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "cohorts.index", _check_line)
        self.sketches = ListOnDisk(folder / "cohorts.sketches")
        self._hidden = folder / "cohorts.secret"

    @property
    def secret(self) -> bytes:
        if not self._hidden.exists():
            with self.exclusive():
                if not self._hidden.exists():
                    self._begin()
        secret = self._hidden.read_bytes()
        if len(secret) != 32:
            raise ValueError(DAMAGED.format(name=self._hidden.name))
        return secret

    def _begin(self) -> None:
        if len(self._lines()) > 1:  # its sketches cannot be compared any more
            raise ValueError(DAMAGED.format(name=self._hidden.name))
        if not self._lines():
            self._append(dict(_HEADER))
        journal.replace(self._hidden, secrets.token_bytes(32))

    def _lines(self) -> list[Line]:
        begun = self._hidden.exists()  # asked first: the list is written before it
        lines = super()._lines()
        if (begun and not lines) or (lines and lines[0] | _HEADER != lines[0]):
            raise ValueError(DAMAGED.format(name=self._path.name))
        return lines


_FIELDS: dict[str, dict[str, type]] = {
    "list": {"version": int},
    "extract": {
        "keys": list,
        "rows": int,
        "columns": int,
        "owner": str,
        "patients": bool,
        "sketch": int,
        "at": str,
    },
    "joined": {"keys": list},
    "name": {"key": str, "name": str, "owner": str},
    "rows": {"key": str, "rows": list},
}


def _check_line(line: Line) -> None:
    """Raise KeyError or TypeError for a line that this version does not know, as a later one may write."""
    for name, kind in _FIELDS[line["kind"]].items():
        if not isinstance(line[name], kind):
            raise TypeError
