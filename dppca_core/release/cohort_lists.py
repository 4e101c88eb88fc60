"""The list of cohorts of one visitor, in memory, and that of a folder of ledgers.

Each line on disk has its number and a digest, as those of a ledger: a changed, moved or missing one is
noticed, and so is a list or a secret that is gone while the other is there. What is gone from the end of the
list is not noticed: a table that came last is asked about again, as a new one is, or still pays into the
account that it joined; one that was known before it joined another account has its own again.
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dppca_core.release import journal
from dppca_core.release.cohorts import DAMAGED, Cohorts
from dppca_core.release.ledger_records import deduplicated, seal
from dppca_core.release.lines import Line, LinesInMemory

_HEADER = {"kind": "list", "version": 1}


class CohortsInMemory(LinesInMemory, Cohorts):
    """Keep the list for one visitor. All visitors of this process share the secret, which no disk has."""

    _SECRET = secrets.token_bytes(32)

    def __init__(self) -> None:
        super().__init__()
        self._sketched: list[Line] = []

    @property
    def secret(self) -> bytes:
        return self._SECRET

    def _sketches(self) -> Sequence[Line]:
        return self._sketched

    def _append_sketch(self, line: Line) -> int:
        self._sketched.append(line)
        return len(self._sketched)

    def take_over(self, former: "CohortsInMemory") -> None:
        """Put the list of a former session before this one's."""
        moved = [
            {**line, "sketch": line["sketch"] + len(former._sketched)} if "sketch" in line else line
            for line in self._kept
        ]
        self._kept, self._sketched = [*former._kept, *moved], [*former._sketched, *self._sketched]


class CohortsOnDisk(Cohorts):
    """Keep the list in a folder of ledgers: cohorts.index, cohorts.sketches and cohorts.secret.

    The first line is written before the secret, so that a secret without a list means that the list is gone.
    """

    def __init__(self, folder: Path) -> None:
        self._index, self._kept, self._hidden = (
            folder / f"cohorts.{name}" for name in ("index", "sketches", "secret")
        )

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

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with journal.locked(self._index):
            yield

    def _lines(self) -> list[Line]:
        begun = self._hidden.exists()  # asked first: the list is written before it
        lines = _checked(self._index, _check_line)
        if (begun and not lines) or (lines and lines[0] | _HEADER != lines[0]):
            raise ValueError(DAMAGED.format(name=self._index.name))
        return lines

    def _sketches(self) -> Sequence[Line]:
        return _checked(self._kept, lambda line: None)

    def _append(self, *lines: Line) -> None:
        _append(self._index, self._lines(), lines)

    def _append_sketch(self, line: Line) -> int:
        kept = self._sketches()
        _append(self._kept, kept, (line,))
        return len(kept) + 1


def _append(path: Path, before: Sequence[Line], lines: Sequence[Line]) -> None:
    if lines:
        journal.append(path, *(seal(len(before) + i, line) for i, line in enumerate(lines, 1)))


def _checked(path: Path, check: Callable[[Line], None]) -> list[Line]:
    """Return the lines of a list. Raises ValueError for one that is damaged or out of its place."""
    try:
        lines = [line for _, line in deduplicated(journal.read(path))]
        for line in lines:
            check(line)
            if "line" not in line or "digest" not in line:
                raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError(DAMAGED.format(name=path.name)) from None
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
