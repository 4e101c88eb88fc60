"""Keep finished releases on the disk for whoever has a token, and so that nobody else can read them.

Where no folder keeps ledgers, a release is in a visitor's session alone, which is forgotten. Its document is
kept here, encrypted (`sealing`) under a key that follows from a token which lies in the visitor's browser.
Without the token nothing opens, and the name of a file, which follows from it as well, does not tell it. A
copy goes once its release was downloaded, or after 30 days as soon as anything is kept or asked for.
"""

import errno
import hashlib
import json
import os
import stat
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dppca_core.release import journal, sealing

MOST_BYTES = 32 * 2**20  # of one release, encrypted
MOST_OF_A_TOKEN = 8  # releases for one token
MOST_TOGETHER = 256 * 2**20
_MOST_FILES = 4096
_KEPT_SECONDS = 30 * 24 * 3600.0
_LONGEST_TOKEN = 200


def default_folder() -> Path:
    """Return a folder of the server's user: under XDG_STATE_HOME, or else a temporary one."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if state:
        return Path(state) / "dppca" / "kept"
    return Path(tempfile.gettempdir()) / f"dppca-kept-{os.getuid()}"


class KeptReleases:
    """Keep, open and drop encrypted releases in a folder, each under the token of a visitor's browser tab.

    now: returns the time, in seconds since 1970.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        """Use a folder, which need not exist yet. now: returns the time, in seconds since 1970."""
        self._folder, self._now = folder, now

    def keep(self, token: str, name: str, plain: dict[str, Any]) -> bool:
        """Keep a release, as plain JSON, under a token and a name that tells it from others of that token.

        Returns whether it is kept: limits of number and size, or the disk, may refuse.
        """
        if not _is_token(token):
            return False
        path = self._path(token, name)
        packed = zlib.compress(json.dumps(plain, allow_nan=False).encode())
        sealed = _seal(token).close(packed, path.name)
        try:
            self._check_private()
            with journal.locked(self._folder / "kept"):  # one at a time, or two together could pass a limit
                others = {file: status for file, status in self._tidied().items() if file != path}
                together = sum(status.st_size for status in others.values())
                mine = sum(file.name.startswith(_file_prefix(token)) for file in others)
                fits = len(sealed) <= MOST_BYTES and together + len(sealed) <= MOST_TOGETHER
                if not fits or mine >= MOST_OF_A_TOKEN or len(others) >= _MOST_FILES:
                    return False
                journal.replace(path, sealed)
        except OSError:
            return False
        return True

    def opened(self, token: str) -> list[dict[str, Any]]:
        """Return the releases kept under a token, oldest first, as far as they can be read and decrypted."""
        opened = []
        if not _is_token(token) or not self._folder.is_dir():
            return []
        with suppress(OSError):
            self._check_private()
            files = self._tidied()
            for file in sorted(files, key=lambda file: files[file].st_mtime):
                if not file.name.startswith(_file_prefix(token)):
                    continue
                with suppress(ValueError, FileNotFoundError):  # it was damaged, or another tab has dropped it
                    packed = _seal(token).open(file.read_bytes(), file.name)
                    opened.append(json.loads(zlib.decompress(packed)))
        return opened

    def drop(self, token: str, name: str) -> None:
        """Drop what is kept under a token and a name."""
        with suppress(OSError):  # then it goes after 30 days
            self._path(token, name).unlink(missing_ok=True)

    def _path(self, token: str, name: str) -> Path:
        """Return the file of one release. Its name begins with what all files of the token begin with.

        name: tells the release from others of the token; a digest of it follows.
        """
        return self._folder / f"{_file_prefix(token)}.{hashlib.sha256(name.encode()).hexdigest()[:16]}.kept"

    def _tidied(self) -> dict[Path, os.stat_result]:
        """Delete what is older than 30 days, and return the other files with their sizes and times."""
        oldest, files = self._now() - _KEPT_SECONDS, {}
        for file in self._folder.glob("*.kept"):
            with suppress(FileNotFoundError):  # another has dropped it
                status = file.stat()
                if status.st_mtime < oldest:
                    file.unlink()
                else:
                    files[file] = status
        return files

    def _check_private(self) -> None:
        """Make the folder; raise OSError where it is another user's or others can read it, as in /tmp."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = self._folder.lstat()
        if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != os.getuid() or folder.st_mode & 0o077:
            raise PermissionError(errno.EPERM, "the folder must be its user's alone")


def _is_token(token: str) -> bool:
    """Return whether a text can be a token: ASCII, and neither empty nor longer than 200 characters."""
    return 0 < len(token) <= _LONGEST_TOKEN and token.isascii()  # a browser can send anything


def _file_prefix(token: str) -> str:
    """Return how the names of a token's files begin: derived from the token, and telling nothing of it."""
    return sealing.derived(token.encode(), "kept name").hex()


def _seal(token: str) -> sealing.Seal:
    """Return what encrypts a token's releases; its key follows from the token alone, and is nowhere kept."""
    return sealing.Seal(token.encode(), "kept release")
