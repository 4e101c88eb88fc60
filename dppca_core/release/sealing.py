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
_FILE = "drawn.secret"


def derived(secret: bytes, purpose: str) -> bytes:
    """Return a key of 32 bytes for one purpose. It tells nothing of the secret, or of other keys."""
    return HKDF(SHA256(), _SECRET_BYTES, salt=None, info=f"dppca {purpose}".encode()).derive(secret)


class Seal:
    """Encrypt and decrypt for one purpose."""

    def __init__(self, secret: bytes, purpose: str) -> None:
        self._cipher = AESGCM(derived(secret, purpose))

    def close(self, plain: bytes, place: str) -> bytes:
        """Return the text encrypted, which opens at this place only."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, plain, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """Return the text. Raises ValueError for anything that was not sealed for this place."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            raise ValueError("it was sealed for another place or under another secret") from None


def folder_secret(folder: Path) -> bytes:
    """Return the secret of a folder, drawn when it is asked for first: two who do so at once get the same.

    Raises ValueError for a file that is no secret, OSError where the disk refuses.
    """
    path = folder / _FILE
    if not path.exists():
        with journal.locked(path):
            if not path.exists():  # or the other was first
                journal.replace(path, secrets.token_bytes(_SECRET_BYTES))
    secret = path.read_bytes()
    if len(secret) != _SECRET_BYTES:
        raise ValueError(f"{_FILE} was changed: restore it first")
    return secret
