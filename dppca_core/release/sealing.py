"""Encrypt what is kept of paid releases: AES-256-GCM under keys that follow from a secret by HKDF-SHA256.

Whoever has the secret can read it, and nobody else. Each sealed text has its place: one that was moved or
changed, or was sealed under another secret, does not open.
"""

import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from dppca_core.release import journal

_NONCE_BYTES, _SECRET_BYTES = 12, 32
_SECRET_FILE = "drawn.secret"


def derived(secret: bytes, purpose: str) -> bytes:
    """Return a key of 32 bytes that follows from the secret, another one for each purpose, by HKDF.

    Whoever has one key learns nothing of the secret or of the keys for other purposes.
    """
    return HKDF(SHA256(), _SECRET_BYTES, salt=None, info=f"dppca {purpose}".encode()).derive(secret)


class Seal:
    """Encrypt and decrypt with the key that follows from a secret for one purpose (`derived`)."""

    def __init__(self, secret: bytes, purpose: str) -> None:
        """Derive the key. purpose: a name for what is sealed, so that other things have other keys."""
        self._cipher = AESGCM(derived(secret, purpose))

    def close(self, plain: bytes, place: str) -> bytes:
        """Return the text encrypted. It opens only under the same place, such as a file's name or a line.

        The place is authenticated and not stored (associated data of AES-GCM); the nonce stands in front.
        """
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """Return the text that `close` encrypted for this place. Raises ValueError for anything else."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            raise ValueError("it was sealed for another place or under another secret") from None


def folder_secret(folder: Path) -> bytes:
    """Return the secret of a folder, 32 bytes in a file, which is drawn when it is first asked for.

    Two processes that ask first at the same time get the same one.
    Raises ValueError for a file that is no secret, OSError where the disk refuses.
    """
    path = folder / _SECRET_FILE
    if not path.exists():
        with journal.locked(path):
            if not path.exists():  # else another process drew it while this one waited for the lock
                journal.replace(path, secrets.token_bytes(_SECRET_BYTES))
    secret = path.read_bytes()
    if len(secret) != _SECRET_BYTES:
        raise ValueError(f"{_SECRET_FILE} was changed: restore it first")
    return secret
