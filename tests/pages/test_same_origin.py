"""A started server and pages of other sites: refused, without a look at the outside."""

import asyncio
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest
import tornado.httpclient
import tornado.websocket
from starlette.datastructures import Headers
from streamlit import config

from pages.shared import same_origin
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
    """The dashboard, printing each name that it looks up."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "sitecustomize.py").write_text(WATCHED)  # Python runs it first
    log = folder / "log"
    with started("app.py", log, PYTHONPATH=str(folder)) as (address, _):
        yield address, log


def connected(address: str, **headers: str) -> bool:
    """Whether a socket opens."""
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
    """Not another site's, nor one that calls this address by its own name; and no name is looked up."""
    address, log = server
    port = address.rstrip("/").rpartition(":")[2]
    assert connected(address)
    assert connected(address, Origin=address)
    assert connected(address, Origin=f"http://localhost:{port}", Host=f"localhost:{port}")
    assert not connected(address, Origin="http://evil.example")
    assert not connected(address, Origin="null")
    assert not connected(address, Origin=f"http://evil.example:{port}", Host=f"evil.example:{port}")
    with urlopen(Request(address + "_stcore/host-config", headers={"Origin": "http://evil.example"})) as got:
        assert got.status == 200 and "Access-Control-Allow-Origin" not in got.headers
    assert "LOOKED UP" not in log.read_text()
    assert "external IP" not in log.read_text()


@pytest.mark.parametrize(
    ("origin", "host", "foreign"),
    [
        ("http://127.0.0.1:8501", "127.0.0.1:8501", False),
        ("https://pca.example.org", "pca.example.org", False),
        ("https://named.example.org", "127.0.0.1:8501", False),  # behind a proxy that keeps its own name
        ("https://friend.example.org", "127.0.0.1:8501", False),
        ("https://pca.example.org.evil.example", "pca.example.org", True),
        ("http://[", "127.0.0.1:8501", True),
        ("", "127.0.0.1:8501", True),
    ],
)
def test_who_is_foreign(monkeypatch, origin, host, foreign):
    settings = {
        "browser.serverAddress": "named.example.org",
        "server.corsAllowedOrigins": ["https://friend.example.org"],
    }
    monkeypatch.setattr(config, "get_option", settings.get)
    assert same_origin.foreign(Headers({"origin": origin, "host": host})) == foreign
    assert not same_origin.foreign(Headers({"host": host}))
