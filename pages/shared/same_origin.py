"""What pages of other sites ask for is refused here.

Streamlit refuses it too, but asks the internet for its own address first, in case that is where it came from.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config

_THIS_MACHINE = {"localhost", "127.0.0.1", "0.0.0.0"}


class SameOrigin:
    """No socket for another site's page; of its other requests nobody learns where they came from."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and foreign(Headers(scope=scope)):
            if scope["type"] == "websocket":
                await WebSocketClose()(scope, receive, send)
                return
            # Without the header the answer has no leave for another site to read it.
            scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"origin"]
        await self.app(scope, receive, send)


def foreign(headers: Headers) -> bool:
    """Whether a page asks whose site is not the one asked, and not among those that the settings name."""
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        asking = urlsplit(origin)
        name = asking.hostname
    except ValueError:
        return True
    return asking.netloc != headers.get("host") and name not in _known()


def _known() -> set[str | None]:
    named = [config.get_option("browser.serverAddress"), *config.get_option("server.corsAllowedOrigins")]
    return _THIS_MACHINE | {urlsplit(one if "//" in one else f"//{one}").hostname for one in named}
