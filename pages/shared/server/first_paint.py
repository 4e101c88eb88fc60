"""Put the dashboard's style sheet into the page that a browser opens, before anything is drawn.

What a script sends as a style is applied after its first elements, which then jump.
"""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HERE = Path(__file__).parents[1]
_STYLE = (_HERE / "page.css").read_bytes()
_END = b"</head>"


class FirstPaint:
    """Add the style sheet to the head of each HTML answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        # An answer that is compressed has no head to add to.
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        begun: Message | None = None
        body = b""

        async def styled(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start":
                if Headers(raw=message["headers"]).get("content-type", "").startswith("text/html"):
                    begun = message
                    return
            elif begun is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body", False):
                    return
                whole = body.replace(_END, b"<style>" + _STYLE + b"</style>" + _END, 1)
                headers = MutableHeaders(scope=begun)
                for name in ("etag", "last-modified"):  # of the page without the style sheet
                    if name in headers:
                        del headers[name]
                if "content-length" in headers and whole:  # an answer to HEAD states the length of another
                    headers["content-length"] = str(len(whole))
                await send(begun)
                message, begun = {**message, "body": whole}, None
            await send(message)

        await self.app(scope, receive, styled)
