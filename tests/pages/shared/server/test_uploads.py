"""Test that files are taken only where a page asks for one and there is room, and that none stays behind.

What a server holds is counted in Streamlit's own store of files (`uploads` of benchmarks.soak_app).
"""

import ast
import asyncio
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext, suppress

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from streamlit.runtime.scriptrunner import RerunData, RerunException, StopException
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from benchmarks import soak
from benchmarks.visitor import Caller
from pages.shared.background import memory, sessions
from pages.shared.server import uploads
from scripts.started import ROOT, started
from tests.pages.shared.server.test_sign_in import AUTH
from tests.waiting import PATIENCE_SECONDS, Clock, eventually

MB = 2**20
LARGEST = 4  # MB of a file, on the servers of this module
KEPT = 2  # seconds for which they keep a session to which nobody has come back
SETTINGS = {
    "STREAMLIT_SERVER_MAX_UPLOAD_SIZE": str(LARGEST),
    "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT),
}
FILE = LARGEST * MB - 1_000  # bytes of a large file: Streamlit counts what a body has beside it
TAKEN, NOT_ASKED, STALLED, TOO_LARGE, FULL = 204, 403, 408, 413, 503
GONE = b"the browser has gone"
HEAD = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
TAIL = b"\r\n--b--\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with started(ROOT / "benchmarks" / "soak_app.py", **SETTINGS) as (address, _):
        yield address


@asynccontextmanager
async def visiting(address: str, page: str) -> AsyncIterator[Caller]:
    caller = Caller(page)
    staying = asyncio.create_task(caller.stay(address, PATIENCE_SECONDS, every=PATIENCE_SECONDS))
    await asyncio.wait_for(caller.answered.wait(), PATIENCE_SECONDS)
    yield caller
    staying.cancel()
    with suppress(asyncio.CancelledError):
        await staying


class Sending:
    """Send one file in two halves, over a connection of its own."""

    def __init__(self, address: str, visitor: str, file_id: str, size: int) -> None:
        self._address, self._path = address, f"/_stcore/upload_file/{visitor}/{file_id}"
        self._half = bytes(size // 2)

    async def begin(self) -> None:
        with urllib.request.urlopen(f"{self._address}_stcore/health") as answer:
            cookie = answer.headers["Set-Cookie"].split(";")[0]
        token, length = cookie.split("=", 1)[1].strip('"'), len(HEAD) + 2 * len(self._half) + len(TAIL)
        lines = (
            f"PUT {self._path} HTTP/1.1",
            "Host: 127.0.0.1",
            f"Content-Length: {length}",
            "Content-Type: multipart/form-data; boundary=b",
            "Connection: close",
            f"Cookie: {cookie}",
            f"X-Xsrftoken: {token}",
            "",
            "",
        )
        port = int(self._address.strip("/").rpartition(":")[2])
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        self._writer.write("\r\n".join(lines).encode() + HEAD + self._half)
        await self._writer.drain()

    async def end(self) -> int:
        self._writer.write(self._half + TAIL)
        with suppress(ConnectionError):  # a body is not read to its end where its page has gone
            await self._writer.drain()
        status = await self._reader.readline()
        self._writer.close()
        return int(status.split()[1])

    def abort(self) -> None:
        self._writer.transport.abort()


async def sent(address: str, visitor: str, files: int, size: int) -> list[int]:
    statuses = []
    for i in range(files):
        sending = Sending(address, visitor, f"file{i}", size)
        await sending.begin()
        statuses.append(await sending.end())
    return statuses


def test_nobody_sends_files_before_signing_in(tmp_path):
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(AUTH.format("a" * 32, "b" * 32))
    asks_to_sign_in = SETTINGS | {"STREAMLIT_SECRETS_FILES": str(secrets)}

    async def attack(address: str) -> list[int]:
        async with visiting(address, "your_data") as stranger:
            return await sent(address, stranger.session, 24, MB)

    with started(ROOT / "benchmarks" / "soak_app.py", **asks_to_sign_in) as (address, _):
        assert asyncio.run(attack(address)) == [NOT_ASKED] * 24
        assert soak.held(address).uploads == 0


def test_only_a_page_that_shows_an_uploader_takes_files(server):
    async def send_to(page: str) -> list[int]:
        async with visiting(server, page) as visitor:
            return await sent(server, visitor.session, 1, MB)

    assert asyncio.run(send_to("papers")) == [NOT_ASKED]
    assert asyncio.run(send_to("your_data")) == [TAKEN]


def test_files_go_with_the_session_that_streamlit_drops(server):
    """They go though no other session ends, and a file whose body ends after that is not kept."""

    async def leave() -> tuple[int, int]:
        async with visiting(server, "your_data") as visitor:
            assert await sent(server, visitor.session, 2, MB) == [TAKEN] * 2
            late = Sending(server, visitor.session, "late", MB)
            await late.begin()
            held = soak.held(server).uploads
        assert await asyncio.to_thread(eventually, lambda: soak.held(server).uploads == 0)
        return held, await late.end()

    assert eventually(lambda: soak.held(server).uploads == 0)  # of other visitors
    assert asyncio.run(leave()) == (2 * MB, NOT_ASKED)
    assert soak.held(server).uploads == 0


def test_files_that_come_at_the_same_time_have_room_together(server):
    """For two of the largest; when they have ended, or broken off, the next has room."""

    async def at_once() -> list[int]:
        async with visiting(server, "your_data") as visitor:
            sending = [Sending(server, visitor.session, f"file{i}", FILE) for i in range(6)]
            for file in sending:
                await file.begin()
            await asyncio.to_thread(soak.held, server)  # when it answers, it has read the heads of all
            sending[0].abort()
            statuses = [await file.end() for file in sending[1:]]
            assert soak.held(server).uploads == FILE
            statuses += await sent(server, visitor.session, 2, FILE)
            assert soak.held(server).uploads == 2 * FILE
            return statuses

    assert asyncio.run(at_once()) == [TAKEN, *[TOO_LARGE] * 4, TAKEN, TOO_LARGE]


class Store:
    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        self.uploaded_file_mgr = self

    def get_files(self, visitor: str, ids: list[str]) -> list[UploadedFileRec]:
        kept = ((name, self.files.get((visitor, name))) for name in ids)
        return [UploadedFileRec(name, "f.csv", "text/csv", data) for name, data in kept if data is not None]

    def remove_session_files(self, visitor: str) -> None:
        self.files = {key: data for key, data in self.files.items() if key[0] != visitor}


@pytest.fixture
def store(monkeypatch) -> Store:
    """Replace Streamlit's store, with nobody on this server; the visitor "ann" opens pages."""
    made = Store()
    monkeypatch.setattr(uploads.Runtime, "instance", lambda: made)
    monkeypatch.setattr(uploads, "_visitors", {})
    monkeypatch.setattr(sessions, "visitor", lambda: "ann")
    monkeypatch.setattr(memory, "available", lambda: None)
    return made


def show(uploader: bool, ends: BaseException | None = None) -> None:
    """Run a page for "ann", with an uploader or without, which ends by an exception where one is given."""
    with suppress(type(ends)) if ends else nullcontext(), uploads.page():
        if uploader:
            uploads.ask("A table", ["csv"], "file")
        if ends is not None:
            raise ends


async def put(
    store: Store,
    pieces: list[bytes | asyncio.Event],
    length: int | None = None,
    who: str = "ann",
    **scope: str,
) -> int:
    """Send a body in pieces to the gate, whose app keeps the file. Return the status, 0 without an answer.

    pieces: at an event the next waits for it. length: that is stated. scope: other parts of the request.
    """
    left, statuses = list(pieces), [0]

    async def keep(scope, receive, send):
        body, more, status = b"", True, TAKEN
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body, more = body + message["body"], message["more_body"]
            store.files[who, "1"] = body
        except HTTPException as refusal:  # as Starlette's own middleware, between the two, answers it
            status = refusal.status_code
        await send({"type": "http.response.start", "status": status, "headers": []})

    async def receive():
        if isinstance(left[0], asyncio.Event):
            await left.pop(0).wait()
        piece = left.pop(0)
        if piece == GONE:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def send(message):
        statuses[0] = message.get("status", statuses[0])

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    asked = {"type": "http", "method": "PUT", "path": f"/_stcore/upload_file/{who}/1", "headers": headers}
    await uploads.Uploads(keep)(asked | scope, receive, send)
    return statuses[0]


def status(*given, **named) -> int:
    return asyncio.run(put(*given, **named))


def test_an_uploader_is_shown_until_a_run_ends_without_it(store):
    """Only then are its files dropped: not after a run that was interrupted, nor where a page stops early."""
    assert status(store, [b"x"]) == NOT_ASKED
    show(uploader=False)
    assert status(store, [b"x"]) == NOT_ASKED
    show(uploader=True)
    assert status(store, [b"x"]) == TAKEN
    show(uploader=False, ends=RerunException(RerunData()))
    assert status(store, [b"x"]) == TAKEN
    for ends in (StopException(), ValueError()):
        show(uploader=False, ends=ends)
        assert status(store, [b"y"]) == NOT_ASKED and store.files == {("ann", "1"): b"x"}
        show(uploader=True, ends=ends)
        assert status(store, [b"x"]) == TAKEN
    show(uploader=False)
    assert store.files == {} and status(store, [b"x"]) == NOT_ASKED


@pytest.mark.parametrize("pieces", [[b"x", b"y"], [b"xy"]], ids=["meanwhile", "at the end"])
def test_a_file_of_a_page_that_was_left_meanwhile_is_not_kept(store, pieces):
    async def leave() -> int:
        gate = asyncio.Event()
        sending = asyncio.create_task(put(store, [*pieces[:-1], gate, pieces[-1]]))
        await asyncio.sleep(0)
        show(uploader=False)
        gate.set()
        return await sending

    show(uploader=True)
    assert asyncio.run(leave()) == NOT_ASKED and not store.files


def test_who_has_left_sends_nothing(store, monkeypatch):
    show(uploader=True)
    monkeypatch.setattr(sessions, "is_connected", lambda who: False)
    assert status(store, [b"x"]) == NOT_ASKED


def test_the_files_of_a_session_that_was_dropped_before_go_too(store, monkeypatch):
    """Streamlit holds no more than 128 sessions, and cannot close one that it has dropped."""
    show(uploader=True)
    assert status(store, [b"x"]) == TAKEN
    store.close_session = lambda who: None
    uploads.close_left()
    assert store.files
    clock = Clock()
    monkeypatch.setattr(sessions, "time", clock)
    monkeypatch.setattr(sessions, "is_connected", lambda who: False)
    uploads.close_left()
    clock.now += sessions.KEPT_SECONDS
    uploads.close_left()
    assert not store.files


def test_the_memory_that_is_free_bounds_all_files_together(store, monkeypatch):
    """Files may hold half of it, without the spare; each takes 2.25 of its size until its body has ended."""
    free = 1_000 * MB

    def available() -> int:
        return free - sum(map(len, store.files.values()))

    monkeypatch.setattr(memory, "available", available)
    for who in ("bob", "ann"):
        monkeypatch.setattr(sessions, "visitor", lambda who=who: who)
        show(uploader=True)
    most = int((free - memory.SPARE_BYTES) / 2 / 2.25)
    assert status(store, [b"x"], most + 1) == FULL

    async def both() -> tuple[int, int, int]:
        gate = asyncio.Event()
        first = asyncio.create_task(put(store, [gate, bytes(100 * MB)], 100 * MB))
        await asyncio.sleep(0)
        second = await put(store, [b"y"], most - 100 * MB + 1, "bob")
        third = await put(store, [b"z"], most - 100 * MB, "bob")
        gate.set()
        return await first, second, third

    assert asyncio.run(both()) == (TAKEN, FULL, TAKEN)
    held = 101 * MB  # the third file counts for at least one
    left = int(((available() + held - memory.SPARE_BYTES) / 2 - held) / 2.25)
    assert status(store, [b"x"], left + 1, "bob") == FULL
    assert status(store, [b"x"], left, "bob") == TAKEN
    monkeypatch.setattr(memory, "available", lambda: None)  # where nobody knows it, a visitor's bound counts
    assert status(store, [b"x"], most, "bob") == TAKEN


def test_small_files_do_not_come_by_the_million(store, monkeypatch):
    monkeypatch.setattr(uploads, "_largest", lambda: 4 * MB)
    show(uploader=True)
    statuses = []
    for i in range(12):
        statuses.append(status(store, [b"x"], 1, path=f"/_stcore/upload_file/ann/{i}"))
        store.files["ann", str(i)] = b"x"
    assert statuses == [TAKEN] * 10 + [TOO_LARGE] * 2


@pytest.mark.parametrize(
    ("ending", "answer"), [(b"", TAKEN), (GONE, 0), (None, STALLED)], ids=["ends", "breaks off", "stalls"]
)
def test_room_is_given_back_however_a_body_ends(store, monkeypatch, ending, answer):
    monkeypatch.setattr(uploads, "_largest", lambda: 4 * MB)
    monkeypatch.setattr(uploads, "STALLED_SECONDS", 0.01)
    show(uploader=True)
    for _ in range(5):
        rest = [asyncio.Event(), b""] if ending is None else [ending]
        assert status(store, [b"x", *rest], 4 * MB) == answer
        store.files.clear()


def test_a_body_that_does_not_state_its_length_takes_the_room_of_the_largest(store):
    async def three() -> list[int]:
        gate = asyncio.Event()
        sending = [asyncio.create_task(put(store, [gate, b"x"])) for _ in range(2)]
        await asyncio.sleep(0)
        third = await put(store, [b"x"])
        gate.set()
        return [*await asyncio.gather(*sending), third]

    show(uploader=True)
    assert asyncio.run(three()) == [TAKEN, TAKEN, TOO_LARGE]


@pytest.mark.parametrize("before", ["", "/dp/tools"])
def test_what_is_no_upload_passes(store, before):
    path = f"{before}/_stcore/upload_file/ann/1"
    assert status(store, [b"x"], path=path) == NOT_ASKED
    assert status(store, [b"x"], path=path, method="DELETE") == TAKEN
    assert status(store, [b"x"], path=f"{before}/_stcore/health") == TAKEN


def test_every_page_asks_for_files_here():
    """Streamlit's other elements that take files would send theirs to the same address."""
    takes = {"file_uploader", "camera_input", "audio_input", "chat_input"}
    asking = {
        path.name
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in takes
    }
    assert asking == {"uploads.py"}


def test_the_limit_stands_beside_the_uploader(screen, monkeypatch):
    page = screen("hospitals/your_data/page.py")
    assert uploads.limits(200 * MB, None) in page.captions and "400 MB" in page.captions
    monkeypatch.setattr(memory, "available", lambda: memory.SPARE_BYTES + 45 * MB)
    page.run()
    assert "It has room for 10 MB now." in page.captions
    page = screen("hospitals/who_sees_what/page.py", **{"sees.panel": "rounds", "join.source": "own"})
    assert "400 MB" in page.captions
