"""Take a file only from a visitor whose page shows an uploader, and only where there is room for it.

Streamlit takes files from everybody whose browser is connected, and holds them in memory. It forgets those of
a session that it closes, but not of one that it drops because nobody has come back to it.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import RerunException
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.shared.background import memory, sessions

FILES = 2  # of the largest size, for each visitor: one may come while the one that it replaces is still here
STALLED_SECONDS = 30.0  # a body of which nothing comes for this long is given up
_PASSING = 2.25  # bytes that a byte takes as it comes: the body, which grows by an eighth, and a copy
_LEAST_BYTES = 2**20  # that any file counts for, since Streamlit takes memory for each
_FRAMING_BYTES = 2**20  # that Streamlit allows a body beside its file
_LEFT_SECONDS = 0.95 * sessions.KEPT_SECONDS  # soon after that Streamlit drops a session without closing it
_PATH = re.compile(r"/_stcore/upload_file/([^/]+)/([^/]+)\Z")  # server.baseUrlPath may stand before it


@dataclass
class _Visitor:
    """Hold whether a visitor's page shows an uploader, and what they have sent.

    may_come_back: whether the session may go on. shown: whether the present run of the page has shown an
    uploader. files: the ids of those that were taken. arriving: the bytes of each that comes now.
    """

    may_come_back: Callable[[], bool]
    asked: bool = False
    shown: bool = False
    files: set[str] = field(default_factory=set)
    arriving: dict[object, int] = field(default_factory=dict)


_visitors: dict[str, _Visitor] = {}  # by Streamlit's name of the session
_lock = Lock()


@contextmanager
def page() -> Iterator[None]:
    """Run the whole page in this block; afterwards take files only if it has shown an uploader.

    Where it has not, the visitor's files are dropped, since no page can read them any more. Call it only for
    a visitor who has signed in, where this server asks for that.
    """
    name = sessions.visitor()
    with _lock:
        visitor = _visitors.setdefault(name, _Visitor(sessions.return_check(name, _LEFT_SECONDS)))
        visitor.shown = False
    try:
        yield
    except RerunException:  # until the next run, what was shown before still is
        raise
    except BaseException:
        visitor.asked = visitor.shown
        raise
    visitor.asked = visitor.shown
    if visitor.files and not visitor.asked:
        _drop_files(name)


def ask(
    label: str, types: Sequence[str], key: str, *, limits_shown: bool = True, **more: Any
) -> UploadedFile | None:
    """Show an uploader, and how much this server takes. Return the file that was uploaded, or None.

    label, key, more: as for `st.file_uploader`. types: the endings of the names of files that it takes.
    limits_shown: False where another uploader beside it says how much.
    """
    with _lock:
        visitor = _visitors.get(sessions.visitor())
        if visitor is not None:  # else there is no server, or the session was closed
            visitor.asked = visitor.shown = True
        room = _room()
    upload: UploadedFile | None = st.file_uploader(label, type=list(types), key=key, **more)
    if limits_shown:
        st.caption(limits(_largest(), room))
    return upload


def limits(largest: int, room: int | None) -> str:
    """Return how much a visitor may send in all, what a refusal means, and how little room there is now.

    largest: the bytes of the largest file. room: for how many more bytes there is room; None if unknown.
    """
    sentences = (
        f"Your files together may take {memory.megabytes(FILES * largest)}. "
        "A refused file turns red: it is too large (413), or the server is full (503)."
    )
    if room is None or room >= largest:
        return sentences
    return f"{sentences} It has room for {memory.megabytes(max(room, 0))} now."


def close_left() -> None:
    """Close the sessions to which nobody has come back, and drop their files; call it on the event loop."""
    with _lock:
        left = [name for name, visitor in _visitors.items() if not visitor.may_come_back()]
        for name in left:
            del _visitors[name]
    for name in left:
        Runtime.instance().close_session(name)
        _drop_files(name)  # Streamlit holds 128 sessions: it may have dropped this one before


class Uploads:
    """Wrap the app: take a file only where it is asked for, and reserve its room until its body has ended."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        target = _PATH.search(scope["path"]) if is_put else None
        if target is None:
            await self.app(scope, receive, send)
            return
        name, file_id = target.groups()
        body = object()  # names it among those that arrive
        try:
            _reserve(name, body, _stated_bytes(Headers(scope=scope)))
        except HTTPException as refusal:
            with suppress(TimeoutError):
                await _read_away(receive)
            await PlainTextResponse(refusal.detail, refusal.status_code)(scope, receive, send)
            return

        async def receive_expected() -> Message:
            try:
                message = await _next_piece(receive)
            except TimeoutError:
                raise HTTPException(408) from None
            if not _asked(name):
                raise HTTPException(403)
            return message

        try:
            with suppress(ClientDisconnect):  # nobody waits for an answer
                await self.app(scope, receive_expected, send)
        finally:
            _end(name, body, file_id)


async def _next_piece(receive: Receive) -> Message:
    return await asyncio.wait_for(receive(), STALLED_SECONDS)


async def _read_away(receive: Receive) -> None:
    """Read a body and keep nothing: a browser that cannot send all of it does not see why it was refused."""
    left = _largest() + _FRAMING_BYTES
    while left > 0:
        message = await _next_piece(receive)
        left = left - len(message.get("body", b"")) if message.get("more_body") else 0


def _largest() -> int:
    megabytes: int = st.get_option("server.maxUploadSize")
    return megabytes * 2**20


def _stated_bytes(headers: Headers) -> int:
    stated = headers.get("content-length", "")
    return int(stated) if stated.isdecimal() else _largest() + _FRAMING_BYTES


def _reserve(name: str, body: object, size: int) -> None:
    """Reserve room for a body. Raises HTTPException where none is asked for, or there is no room."""
    with _lock:
        visitor = _visitors.get(name)
        if visitor is None or not visitor.asked or not sessions.is_connected(name):
            raise HTTPException(403)
        size = max(size, _LEAST_BYTES)
        if _held(name) + sum(visitor.arriving.values()) + size > FILES * (_largest() + _FRAMING_BYTES):
            raise HTTPException(413)
        room = _room()
        if room is not None and size > room:
            raise HTTPException(503)
        visitor.arriving[body] = size


def _asked(name: str) -> bool:
    visitor = _visitors.get(name)
    return visitor is not None and visitor.asked


def _end(name: str, body: object, file_id: str) -> None:
    """Give the room of a body back; drop the file where it is not asked for any more."""
    with _lock:
        visitor = _visitors.get(name)
        if visitor is not None:
            visitor.arriving.pop(body, None)
            visitor.files.add(file_id)
    if not _asked(name):
        _drop_files(name)


def _room() -> int | None:
    """Return how many more bytes may come now, None where the memory left is unknown. The lock is held.

    Files take at most half of the memory that would be free without them: the other half is for reading them.
    """
    left = memory.available()
    if left is None:
        return None
    held = sum(map(_held, _visitors))
    arriving = sum(size for visitor in _visitors.values() for size in visitor.arriving.values())
    return int(((left + held - memory.SPARE_BYTES) / 2 - held) / _PASSING) - arriving


def _held(name: str) -> int:
    """Return the bytes that a visitor's files count for, and forget the ids of those that are gone."""
    files = _visitors[name].files
    kept = Runtime.instance().uploaded_file_mgr.get_files(name, list(files)) if files else ()
    files.intersection_update(record.file_id for record in kept)
    return sum(max(len(record.data), _LEAST_BYTES) for record in kept)


def _drop_files(name: str) -> None:
    Runtime.instance().uploaded_file_mgr.remove_session_files(name)
