"""An append-only file of JSON lines that survives a crash: what is written is on the disk before we go on."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with a file, among all processes of this machine that ask; waits for the others."""
    with _owners(path.with_name(path.name + ".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(path: Path) -> list[dict[str, Any]]:
    """All lines, in order; none where there is no file.

    A part of a line at the end was being written when the machine stopped: nothing followed from it, and it
    is left out. Raises ValueError for any other line that is not an object in JSON.
    """
    if not path.exists():
        return []
    *whole, last = path.read_bytes().split(b"\n")
    found = []
    for number, line in enumerate(whole, 1):
        plain = _object(line)
        if plain is None:
            raise ValueError(f"line {number} of {path.name} cannot be read: mend or restore it first")
        found.append(plain)
    plain = _object(last)
    return found if plain is None else [*found, plain]


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None


def append(path: Path, *plain: dict[str, Any]) -> None:
    """More lines, all of them on the disk when this returns. The caller holds the lock.

    Raises ValueError, and writes nothing, for what JSON cannot hold; OSError where the disk refuses, as when
    it is full: then the file is as it was, without a part of a line.
    """
    line = b"".join(json.dumps(one, separators=(",", ":"), allow_nan=False).encode() + b"\n" for one in plain)
    with _owners(path, "a+") as file:
        file.seek(0)
        before = file.read()
        last = before[before.rfind(b"\n") + 1 :]
        if last and _object(last) is not None:  # all of a line but its end
            line = b"\n" + line
        elif last:  # what a crash left of a line
            before = before.removesuffix(last)
            file.truncate(len(before))
        try:
            write(file, line)
        except OSError:
            file.truncate(len(before))
            raise
    sync_folder(path.parent)


def replace(path: Path, data: bytes) -> None:
    """A whole file at once: after a crash, or on a full disk, it is there in full, or as it was before."""
    draft = path.with_name(path.name + ".draft")
    try:
        with _owners(draft, "w") as file:
            write(file, data)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write(file: FileIO, data: bytes) -> None:
    """All of it, on the disk when this returns: unbuffered, so that closing has nothing left to write.

    Raises OSError where the disk refuses; a part may be written.
    """
    left = memoryview(data)
    while left:
        left = left[file.write(left) or 0 :]
    os.fsync(file.fileno())


def _owners(path: Path, mode: str) -> FileIO:
    """A file that nobody but its owner reads, in such a folder where there was none; unbuffered."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FileIO(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))


def sync_folder(folder: Path) -> None:
    """A new file's name is on the disk only once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
