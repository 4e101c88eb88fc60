"""The file of the lesson as it is handed out: whole, packed, its address, and how fast a class has it."""

import gzip
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

import segno

from pages.shared.server.base_path import base_path

PATH = "/lesson.html"  # below the server's path
_FILE = Path(__file__).with_name("lesson.html")
DOWNLOADS, WIRE = 200, 100e6  # telephones of a lecture hall, and the bits per second that reach it
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}


@lru_cache(maxsize=1)
def whole() -> bytes:
    return _FILE.read_bytes()


@lru_cache(maxsize=1)
def packed() -> bytes:
    return gzip.compress(whole(), compresslevel=9, mtime=0)


def seconds() -> float:
    """Return how long DOWNLOADS at once take, at least, over a wire of WIRE bits per second."""
    return DOWNLOADS * 8 * len(packed()) / WIRE


def address(url: str | None) -> str:
    """Return the address at which others open the file; empty where only this machine has the dashboard."""
    site = urlsplit(url or "")
    if not site.hostname or site.hostname in _THIS_MACHINE:
        return ""
    return f"{site.scheme}://{site.netloc}{base_path()}{PATH}"


def qr_code(link: str) -> str:
    """Return a link as a QR code: an SVG that is dark on white in either theme."""
    return str(segno.make(link, error="m").svg_inline(scale=6, dark="#000", light="#fff"))
