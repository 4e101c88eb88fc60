"""An append-only file of JSON lines that survives a crash: what is written is on the disk before we go on."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with a file, among all processes of this machine that ask; waits for the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read(path: Path) -> list[dict[str, Any]]:
    """All lines, in order; none where there is no file.

    A last line without its end was being written when the machine stopped: nothing followed from it, and it
    is left out. Raises ValueError for any other line that is not an object in JSON.
    """
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            plain = json.loads(line)
        except ValueError:
            plain = None
        if not isinstance(plain, dict):
            raise ValueError(f"line {number} of {path.name} cannot be read: mend or restore it first")
        found.append(plain)
    return found


def append(path: Path, plain: dict[str, Any]) -> None:
    """One more line, on the disk when this returns. The caller holds the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps(plain, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    with open(path, "a+b") as file:
        whole = file.seek(0, os.SEEK_END)
        if whole:
            file.seek(0)
            kept = file.read().rfind(b"\n") + 1
            if kept < whole:  # what a crash left of a line
                file.truncate(kept)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


def replace(path: Path, data: bytes) -> None:
    """A whole file at once: after a crash it is there in full, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".draft")
    with open(draft, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """A new file's name is on the disk only once its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
