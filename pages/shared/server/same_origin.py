"""Refuse requests of other sites' pages and to other host names, and keep those sites from framing answers.

Streamlit refuses the socket of a foreign page too, but it first asks the internet for its own address.
"""

import os
from functools import wraps
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed
from websockets.http11 import Response
from websockets.server import ServerProtocol

METRICS = "DPPCA_METRICS"  # the environment variable that opens Streamlit's page of metrics
WRONG_NAME = "This server does not answer under that name. Its owner can add it to server.allowedHosts.\n"
# Forbid other sites to frame an answer, and browsers to guess its type.
_FRAMES = {"Content-Security-Policy": "frame-ancestors 'self'"}  # Streamlit frames its own components
_GUARDS = {"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff"}
_THIS_MACHINE = {"localhost", "127.0.0.1", "0.0.0.0"}
_PORTS = {"http": 80, "https": 443}


class SameOrigin:
    """Wrap the app: sockets for the dashboard's own pages only, answers to server.allowedHosts only."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer_http(scope, receive, send)
        elif scope["type"] == "websocket" and is_foreign(Headers(scope=scope)):
            await WebSocketClose()(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _answer_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                answered = MutableHeaders(scope=message)
                for name, value in _FRAMES.items():  # an answer may have another policy as well
                    answered.append(name, value)
                answered.update(_GUARDS)
            await send(message)

        headers = Headers(scope=scope)
        if not is_host_allowed(headers.get("host")):
            await PlainTextResponse(WRONG_NAME, status_code=403)(scope, receive, send_guarded)
            return
        if scope["path"].rstrip("/").endswith("/_stcore/metrics") and not os.environ.get(METRICS):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send_guarded)
            return
        if is_foreign(headers):
            # Without this header the answer does not allow another site to read it.
            scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"origin"]
        try:
            await self.app(scope, receive, send_guarded)
        except Exception:
            # The server logs the exception, but its own answer would lack the headers.
            if not started:
                answer = PlainTextResponse("Internal Server Error", status_code=500)
                await answer(scope, receive, send_guarded)
            raise


def answer_refused_handshakes() -> None:
    """Patch the library websockets so that a handshake it refuses is answered, with our protective headers.

    Its own answer quotes what was wrong, and raises where that is not ASCII, as a protocol's name may be.
    """
    original = ServerProtocol.reject
    if hasattr(original, "__wrapped__"):  # it was patched before
        return

    @wraps(original)
    def reject(self: ServerProtocol, status: int, text: str) -> Response:
        response = original(self, status, text.encode("ascii", "replace").decode())
        response.headers.update(_FRAMES | _GUARDS)
        return response

    ServerProtocol.reject = reject  # type: ignore[method-assign]


def is_foreign(headers: Headers) -> bool:
    """Return whether a request's Origin is a site other than this server and those that its settings allow.

    Another port of the same machine is another site: another user of that machine may serve it.
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        site = urlsplit(origin)
        name, port = site.hostname, site.port or _PORTS.get(site.scheme)
    except ValueError:  # an origin that cannot be read is foreign
        return True
    if site.netloc == headers.get("host"):
        return False
    return name is None or not (_serves(name, port, site.scheme) or _allows(name, port, site.scheme))


def _serves(name: str, port: int | None, scheme: str) -> bool:
    """Return whether the dashboard itself is at this name and port, or behind a proxy there."""
    named = config.get_option("browser.serverAddress")
    if name in _THIS_MACHINE | {named} and port == config.get_option("browser.serverPort"):
        return True
    # A proxy under another name listens on the scheme's usual port.
    behind = name == named and name not in _THIS_MACHINE
    return behind and not config.is_manually_set("browser.serverPort") and port == _PORTS.get(scheme)


def _allows(name: str, port: int | None, scheme: str) -> bool:
    """Return whether server.corsAllowedOrigins has this site; a name without a port means the usual ports."""
    for known in config.get_option("server.corsAllowedOrigins"):
        site = urlsplit(known if "//" in known else f"//{known}")
        usual = _PORTS.get(site.scheme or scheme)
        if site.hostname == name and site.scheme in ("", scheme) and (site.port or usual) == port:
            return True
    return False
