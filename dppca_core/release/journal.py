"""An append-only file of JSON lines that survives a crash: what is written is on the disk before we go on.

Hospitals of a federated run keep theirs in it (`examples/flower/hospital.py`). It is text, and no database,
because its owner checks it by eye.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from dppca_core.accounts.book import sync_folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, a file beside it, once all other processes of this machine have let it go."""
    with open_private(path.with_name(path.name + ".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(path: Path) -> list[dict[str, Any]]:
    """Return all lines, in order; none where there is no file.

    A part of a line at the end was being written when the machine stopped: nothing followed from it, and it
    is left out. Raises ValueError for anything else that is not an object in JSON.
    """
    return _split(path.name, path.read_bytes())[0] if path.exists() else []


def _split(name: str, data: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """Return the lines of a file's bytes, and the bytes of an unfinished line at the end, or none."""
    *whole, last = data.split(b"\n")
    objects = []
    for number, line in enumerate([*whole, last], 1):
        json_value = _read_object(line)
        if json_value is not None:
            objects.append(json_value)
        elif number > len(whole) and (not last or _is_unfinished(last)):  # after the last line's end
            return objects, last
        else:
            raise ValueError(f"line {number} of {name} cannot be read: mend or restore it first")
    return objects, b""


def _read_object(line: bytes) -> dict[str, Any] | None:
    try:
        json_value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return json_value if isinstance(json_value, dict) else None


def _is_unfinished(piece: bytes) -> bool:
    """Return True for the beginning of a line: one object, not closed, in `append`'s characters."""
    text = piece.decode("ascii", errors="replace")
    if not text.startswith("{") or not text.isprintable() or not text.isascii():
        return False
    try:
        json.JSONDecoder().raw_decode(text)
    except RecursionError:
        return False
    except ValueError:  # no whole object, so it is still open
        return True
    return False  # an object, and more after it: lines that ran together


def append(path: Path, *json_value: dict[str, Any]) -> None:
    """Append lines, all of them on the disk when this returns. The caller holds the lock.

    Raises ValueError, and writes nothing, for what JSON cannot hold or after lines that `read` refuses;
    OSError where the disk refuses, as when it is full: then the file is as it was, without a part of a line.
    """
    data = b"".join(
        json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n" for record in json_value
    )
    with open_private(path, "a+") as file:
        file.seek(0)
        before = file.read()
        _, unfinished = _split(path.name, before)
        if unfinished:  # a crash left a part of a line: nothing followed from it, so it goes
            before = before.removesuffix(unfinished)
            file.truncate(len(before))
        elif before and not before.endswith(b"\n"):  # a crash left a whole line without its end: it counts
            data = b"\n" + data
        try:
            write(file, data)
        except OSError:
            file.truncate(len(before))
            raise
    sync_folder(path.parent)


def write(file: FileIO, data: bytes) -> None:
    """Write all bytes to an unbuffered file; they are on the disk when this returns."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) or 0 :]
    os.fsync(file.fileno())


def open_private(path: Path, mode: str) -> FileIO:
    """Open a file that nobody but its owner can read, and make its folder so, if there is none.

    It is unbuffered, so that closing it has nothing left to write that could fail.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FileIO(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))
