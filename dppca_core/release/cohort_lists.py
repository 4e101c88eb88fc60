"""The list of cohorts of one visitor, in memory, and that of a folder of ledgers.

`cohorts` says what a cohort is and which lines the list has. Two more things belong to it: a second list, of
the sketches by which tables are compared, and a secret key for sketches and for the digests of owners.

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
    """Keep the list for one visitor, in memory."""

    # One for all visitors of this process, so that a session can take over another's list; never on a disk.
    secret = secrets.token_bytes(32)

    def __init__(self) -> None:
        super().__init__()
        self.sketches: LinesInMemory = LinesInMemory()

    def take_over(self, former: "CohortsInMemory") -> None:
        """Put the list and the sketches of a former session of the same visitor before this one's."""
        before = former.sketches._kept
        # Lines name their sketch by its number, which grows by the number of sketches put before it.
        renumbered = [
            {**line, "sketch": line["sketch"] + len(before)} if "sketch" in line else line
            for line in self._kept
        ]
        self._kept, self.sketches._kept = [*former._kept, *renumbered], [*before, *self.sketches._kept]


class ListOnDisk(Lines):
    """Keep a list in a file. Methods raise ValueError for a line that is damaged or out of its place.

    check: called with each line that is read; raises KeyError, TypeError or ValueError for one that does not
    belong into this list.
    """

    def __init__(self, path: Path, check: Callable[[Line], None] = lambda line: None) -> None:
        self._path, self._check = path, check

    def exclusive(self) -> AbstractContextManager[Any]:
        """Return a lock as a context, in which no other process writes the list."""
        return journal.locked(self._path)

    def _lines(self) -> list[Line]:
        """Return all lines, checked one by one."""
        try:
            lines = [line for _, line in deduplicated(journal.read(self._path))]
            for line in lines:
                self._check(line)
                # `deduplicated` lets lines without number and digest pass, since old ledgers have such.
                if "line" not in line or "digest" not in line:
                    raise ValueError
        except (KeyError, TypeError, ValueError):
            raise ValueError(DAMAGED.format(name=self._path.name)) from None
        return lines

    def _append(self, *lines: Line) -> None:
        """Append lines, each with its number and digest. The caller is in `exclusive`."""
        before = len(self._lines())  # read also with nothing to append: a damaged list is refused
        if lines:
            journal.append(self._path, *(seal(before + i, line) for i, line in enumerate(lines, 1)))


class CohortsOnDisk(ListOnDisk, Cohorts):
    """Keep the list in a folder of ledgers: cohorts.index, cohorts.sketches and cohorts.secret.

    The first line of cohorts.index, `_HEADER`, is written before the secret is drawn. So a secret without a
    list means that the list was lost, and a list of tables without a secret that the secret was.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "cohorts.index", _check_line)
        self.sketches = ListOnDisk(folder / "cohorts.sketches")
        self._secret_path = folder / "cohorts.secret"

    @property
    def secret(self) -> bytes:
        """Return the secret of sketches and owners, 32 bytes, which is drawn when it is first asked for."""
        if not self._secret_path.exists():
            with self.exclusive():
                if not self._secret_path.exists():  # else another process drew it while this one waited
                    self._begin()
        secret = self._secret_path.read_bytes()
        if len(secret) != 32:
            raise ValueError(DAMAGED.format(name=self._secret_path.name))
        return secret

    def _begin(self) -> None:
        """Write the first line and a new secret. Raises ValueError where the list has tables already."""
        if len(self._lines()) > 1:  # the secret was lost: these tables' sketches cannot be compared any more
            raise ValueError(DAMAGED.format(name=self._secret_path.name))
        if not self._lines():
            self._append(dict(_HEADER))
        journal.replace(self._secret_path, secrets.token_bytes(32))

    def _lines(self) -> list[Line]:
        """Return all lines. Raises ValueError too where the list is gone but its secret is there."""
        # Look for the secret first: it is written last, so one that is there promises a list. If the list
        # was read first, another process could write both in between, and the list would seem lost.
        begun = self._secret_path.exists()
        lines = super()._lines()
        # The first line must hold all that `_HEADER` holds.
        if (begun and not lines) or (lines and lines[0] | _HEADER != lines[0]):
            raise ValueError(DAMAGED.format(name=self._path.name))
        return lines


# The fields that each kind of line must have, with their types.
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
    """Raise KeyError for an unknown kind of line or a missing field, TypeError for a field of another type.

    A later version of this program may write lines that this one does not know.
    """
    for name, kind in _FIELDS[line["kind"]].items():
        if not isinstance(line[name], kind):
            raise TypeError
