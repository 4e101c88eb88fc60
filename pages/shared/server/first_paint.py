"""Put the dashboard's style sheet, its first script and an outline of the page into each HTML answer.

A style that came later, from Streamlit's script, would make the page's first elements jump.
"""

from collections.abc import Mapping
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.shared.server.base_path import base_path
from pages.shared.settings import of_pages

_HERE = Path(__file__).parents[1]
_STYLE = (_HERE / "page.css").read_text(encoding="utf-8")
_SCRIPT = (_HERE / "first_paint.js").read_text(encoding="utf-8")
_HEAD = f"<style>{_STYLE}</style><script>{_SCRIPT}</script></head>".encode()
_ROOT = b'<div id="root">'


def page_outline(name: str, title: str) -> bytes:
    """Return HTML that stands for a page until it is drawn: its title (empty if unknown) and grey boxes."""
    side = "<aside></aside>" if title and not of_pages.panel(name).hidden else ""
    parts = f"<section><h1>{title}</h1><i></i><i></i><b></b></section>"
    return f'<div id="first-paint" aria-hidden="true">{side}{parts}</div>'.encode()


class FirstPaint:
    """Add style sheet, script and outline to each HTML answer of the app that this middleware wraps.

    A file, whose path ends in .html, stays as it is. titles: each page's title by its name in links, that of
    the front page, opened without a name, first.
    """

    def __init__(self, app: ASGIApp, titles: Mapping[str, str]) -> None:
        self.app, self.titles = app, titles

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and not scope["path"].endswith(".html")
        if not is_page or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        # An answer that is compressed has no head to add to.
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        start: Message | None = None  # of the answer, held back until its new length is known
        body = b""

        async def send_styled(message: Message) -> None:
            """Send a message of the app, or collect it if it is part of a page, which is sent as a whole."""
            nonlocal start, body
            if message["type"] == "http.response.start":
                if Headers(raw=message["headers"]).get("content-type", "").startswith("text/html"):
                    start = message
                    return
            elif start is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body", False):
                    return
                page = scope["path"].removeprefix(base_path()).strip("/") or next(iter(self.titles))
                outline = page_outline(page, self.titles.get(page, ""))
                whole = body.replace(b"</head>", _HEAD, 1).replace(_ROOT, outline + _ROOT, 1)
                headers = MutableHeaders(scope=start)
                for name in ("etag", "last-modified"):  # of the page without the style sheet
                    del headers[name]
                if "content-length" in headers and whole:  # an answer to HEAD states the length of another
                    headers["content-length"] = str(len(whole))
                await send(start)
                message, start = {**message, "body": whole}, None
            await send(message)

        await self.app(scope, receive, send_styled)
