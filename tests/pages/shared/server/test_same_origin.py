"""Test that a started server refuses pages of other sites, and asks nothing outside."""

import asyncio
import socket
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
import tornado.httpclient
import tornado.websocket
from starlette.datastructures import Headers
from streamlit import config

from pages.shared.server import same_origin
from scripts.started import started

WATCHED = """
import socket
for name in ("getaddrinfo", "gethostbyname"):
    def asked(host, *rest, real=getattr(socket, name), **more):
        if host not in (None, "", "localhost", "127.0.0.1", "::1"):
            print("LOOKED UP", host, flush=True)
        return real(host, *rest, **more)
    setattr(socket, name, asked)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[str, object]]:
    folder = tmp_path_factory.mktemp("watched")
    (folder / "sitecustomize.py").write_text(WATCHED)  # Python runs it first
    log = folder / "log"
    with started("app.py", log, PYTHONPATH=str(folder)) as (address, _):
        yield address, log


def connected(address: str, **headers: str) -> bool:
    request = tornado.httpclient.HTTPRequest(
        address.replace("http", "ws", 1) + "_stcore/stream", headers=headers, request_timeout=20
    )

    async def ask() -> bool:
        try:
            socket = await tornado.websocket.websocket_connect(request)
            socket.close()
            while await socket.read_message() is not None:
                pass
        except tornado.httpclient.HTTPClientError as refused:
            if refused.code != 403:
                raise
            return False
        return True

    return asyncio.run(ask())


def test_only_its_own_pages_get_a_socket(server):
    """Another site's pages get none, nor do those that call this address by their own name."""
    address, log = server
    port = address.rstrip("/").rpartition(":")[2]
    assert connected(address)
    assert connected(address, Origin=address)
    assert connected(address, Origin=f"http://localhost:{port}", Host=f"localhost:{port}")
    assert not connected(address, Origin="http://evil.example")
    assert not connected(address, Origin="null")
    assert not connected(address, Origin="http://127.0.0.1:1")
    assert connected(address, Origin="http://localhost:1", Host="localhost:1")
    assert not connected(address, Origin=f"http://evil.example:{port}", Host=f"evil.example:{port}")
    with urlopen(Request(address + "_stcore/host-config", headers={"Origin": "http://evil.example"})) as got:
        assert got.status == 200 and "Access-Control-Allow-Origin" not in got.headers
    assert "LOOKED UP" not in log.read_text()
    assert "external IP" not in log.read_text()


def answer(address: str, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    try:
        with urlopen(Request(address + path, headers=headers)) as got:
            return got.status, got.read().decode("utf-8", "replace"), dict(got.headers.items())
    except HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode(), dict(refused.headers.items())


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", 200),
        ("privacy", 200),
        ("healthz", 200),
        ("elsewhere/healthz", 404),
        ("ahead", 200),
        ("assets/plotly.min.js", 200),
        ("_stcore/health", 200),
        ("_stcore/metrics", 404),
        ("_stcore/%6detrics/", 404),
        ("media/none.csv", 404),
        ("..%2f..%2fetc/passwd", 400),
    ],
)
def test_every_answer_forbids_frames_and_guesses_and_hides_metrics(server, path, status):
    """A frame of any answer, or a script read from a download, would be another site's too."""
    address, _ = server
    got, _, headers = answer(address, path)
    lower = {name.lower(): value for name, value in headers.items()}
    assert got == status
    assert lower["content-security-policy"] == "frame-ancestors 'self'"
    assert lower["x-frame-options"] == "SAMEORIGIN"
    assert lower["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["", "healthz", "ahead", "_stcore/health"])
def test_no_page_answers_under_a_name_that_is_not_its_own(server, path):
    address, _ = server
    status, body, headers = answer(address, path, Host="evil.example")
    assert status == 403 and "server.allowedHosts" in body
    assert {name.lower() for name in headers} >= {"x-frame-options", "content-security-policy"}
    assert answer(address, path, Host="localhost:1")[0] == 200


def test_a_failure_carries_the_headers_and_is_still_logged():
    """The server makes its own answer to an exception outside this layer."""

    async def broken(scope, receive, send):
        raise ZeroDivisionError

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": "/", "method": "GET", "headers": [(b"host", b"127.0.0.1")]}
    with pytest.raises(ZeroDivisionError):
        asyncio.run(same_origin.SameOrigin(broken)(scope, None, send))
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 500 and headers[b"x-content-type-options"] == b"nosniff"


@pytest.mark.parametrize("name", [b"J\xfcrg", "Jürg".encode()], ids=["Latin-1", "UTF-8"])
def test_a_header_beyond_ascii_does_not_end_the_handshake(server, name):
    """A proxy may pass on who signed in. Needs the websockets that requirements.txt names."""
    address, _ = server
    assert handshake(address, b"X-Forwarded-User: " + name).startswith(b"HTTP/1.1 101")


@pytest.mark.parametrize("name", [b"J\xfcrg", "Jürg".encode(), b"a b"], ids=["Latin-1", "UTF-8", "blank"])
def test_a_protocol_that_cannot_be_is_refused_and_answered(server, name):
    """The answer is whole, with its headers, and without a fault in the log."""
    address, log = server
    body = handshake(address, b"Sec-WebSocket-Protocol: streamlit, " + name)
    assert body.startswith(b"HTTP/1.1 400 ") and b"invalid Sec-WebSocket-Protocol" in body and body.isascii()
    for header in (b"frame-ancestors 'self'", b"X-Frame-Options: SAMEORIGIN", b"nosniff"):
        assert header in body
    assert "UnicodeEncodeError" not in log.read_text()


def handshake(address: str, header: bytes) -> bytes:
    to = urlsplit(address)
    lines = [
        b"GET /_stcore/stream HTTP/1.1",
        b"Host: " + to.netloc.encode(),
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        b"Sec-WebSocket-Version: 13",
        header,
    ]
    with socket.create_connection((to.hostname, to.port), timeout=20) as wire:
        wire.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
        return wire.recv(4096)


@pytest.mark.parametrize(
    ("origin", "host", "foreign"),
    [
        ("http://127.0.0.1:8501", "127.0.0.1:8501", False),
        ("http://localhost:8501", "127.0.0.1:8501", False),
        ("http://127.0.0.1:9999", "127.0.0.1:8501", True),  # another user's page on this machine
        ("http://127.0.0.1", "127.0.0.1:8501", True),
        ("http://127.0.0.1:9999", "127.0.0.1:9999", False),  # a development proxy that sets Host right
        ("https://pca.example.org", "pca.example.org", False),
        ("https://named.example.org", "127.0.0.1:8501", False),  # behind a proxy that keeps its own name
        ("https://named.example.org:9999", "127.0.0.1:8501", True),
        ("https://friend.example.org", "127.0.0.1:8501", False),
        ("http://friend.example.org", "127.0.0.1:8501", True),
        ("https://friend.example.org:444", "127.0.0.1:8501", True),
        ("http://bare.example.org", "127.0.0.1:8501", False),
        ("https://bare.example.org", "127.0.0.1:8501", False),
        ("https://pca.example.org.evil.example", "pca.example.org", True),
        ("http://127.0.0.1:port", "127.0.0.1:8501", True),
        ("http://[", "127.0.0.1:8501", True),
        ("", "127.0.0.1:8501", True),
    ],
)
def test_who_is_foreign(monkeypatch, origin, host, foreign):
    settings = {
        "browser.serverAddress": "named.example.org",
        "browser.serverPort": 8501,
        "server.corsAllowedOrigins": ["https://friend.example.org", "bare.example.org"],
    }
    monkeypatch.setattr(config, "get_option", settings.get)
    monkeypatch.setattr(config, "is_manually_set", lambda name: False)
    assert same_origin.is_foreign(Headers({"origin": origin, "host": host})) == foreign
    assert not same_origin.is_foreign(Headers({"host": host}))


def test_a_named_port_is_the_only_one(monkeypatch):
    """Where browser.serverPort is set, no other port of that name is the proxy's."""
    settings = {
        "browser.serverAddress": "named.example.org",
        "browser.serverPort": 8443,
        "server.corsAllowedOrigins": [],
    }
    monkeypatch.setattr(config, "get_option", settings.get)
    monkeypatch.setattr(config, "is_manually_set", lambda name: True)
    for port, foreign in (("8443", False), ("443", True)):
        asked = Headers({"origin": f"https://named.example.org:{port}", "host": "127.0.0.1:8501"})
        assert same_origin.is_foreign(asked) == foreign
