"""Test on uvicorn itself that a browser which has gone is no fault of the program; other faults are."""

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

import app
from pages.shared.server.closed_tabs import closed_tabs
from tests.waiting import PATIENCE_SECONDS, eventually

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@contextmanager
def serving(served: Starlette, **options: float) -> Iterator[int]:
    config = uvicorn.Config(served, port=0, ws="websockets-sansio", log_config=None, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert eventually(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)


def reset(wire: socket.socket) -> None:
    """Close as a browser that is killed: the next message meets a connection that is no more."""
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


def opened(wire: socket.socket) -> None:
    assert wire.recv(4096).startswith(b"HTTP/1.1 101")


def opened_and_reset(wire: socket.socket) -> None:
    opened(wire)
    reset(wire)


@pytest.mark.parametrize(
    "leaves",
    [
        pytest.param(reset, id="before it is accepted"),
        pytest.param(opened_and_reset, id="while messages are sent"),
        pytest.param(opened, id="answering no ping"),
    ],
)
@pytest.mark.parametrize(
    ("middleware", "error"), [([Middleware(closed_tabs)], WebSocketDisconnect), ([], RuntimeError)]
)
def test_a_browser_that_has_gone_is_told_as_such(leaves, middleware, error, caplog):
    """Streamlit takes the one error for a visitor who has left, and logs a traceback of the other."""
    asked, gone, raised = threading.Event(), threading.Event(), []

    async def send_until_it_raises(wire: WebSocket) -> None:
        asked.set()
        while leaves is reset and not gone.is_set():
            await asyncio.sleep(0.01)
        try:
            await wire.accept()
            while True:
                await wire.send_bytes(b"a figure")
                await asyncio.sleep(0.001)
        except Exception as reason:
            raised.append(reason)
            raise

    served = Starlette(routes=[WebSocketRoute("/", send_until_it_raises)], middleware=middleware)
    with (
        serving(served, ws_ping_interval=0.1, ws_ping_timeout=0.1) as port,
        socket.create_connection(("127.0.0.1", port)) as wire,
    ):
        wire.sendall(HANDSHAKE)
        assert asked.wait(PATIENCE_SECONDS)
        leaves(wire)
        time.sleep(0.1)  # until the server has heard of it
        gone.set()
        assert eventually(lambda: raised)
    assert [type(each) for each in raised] == [error]
    assert ("Exception in ASGI application" in caplog.text) == (error is RuntimeError)


@pytest.mark.parametrize("middleware", [[Middleware(closed_tabs)], []], ids=["told", "not told"])
def test_an_upload_that_is_broken_off_is_no_fault(middleware, caplog):
    begun, ended = threading.Event(), threading.Event()

    async def read(request: Request) -> Response:
        begun.set()
        try:
            await request.body()
        finally:
            ended.set()
        return Response()

    served = Starlette(routes=[Route("/", read, methods=["PUT"])], middleware=middleware)
    with serving(served) as port, socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
        assert begun.wait(PATIENCE_SECONDS)
        reset(wire)
        assert ended.wait(PATIENCE_SECONDS)
    assert ("Exception in ASGI application" in caplog.text) == (not middleware)


def test_the_dashboard_is_told():
    assert closed_tabs in [each.cls for each in app.MIDDLEWARE]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("websocket", RuntimeError("dictionary changed size during iteration")),
        ("websocket", ValueError("the handler is closed")),
        ("http", RuntimeError("the handler is closed")),
    ],
)
def test_any_other_error_is_raised_as_it_is(kind, error):
    async def fails(scope, receive, send):
        await send({"type": f"{kind}.send"})

    async def send(message):
        raise error

    with pytest.raises(type(error)) as caught:
        asyncio.run(closed_tabs(fails)({"type": kind}, None, send))
    assert caught.value is error
