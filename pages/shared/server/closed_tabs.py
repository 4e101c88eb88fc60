"""Let a tab that was closed be no fault: uvicorn and Streamlit would log a traceback of it."""

import re
from contextlib import suppress

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

# RuntimeErrors to a socket whose tab was closed, whose browser answered no ping, and that was not open yet.
_GONE = re.compile("the handler is closed$|after sending 'websocket.close'|but got 'websocket.accept'")


def closed_tabs(app: ASGIApp) -> ASGIApp:
    """Return the app without errors of browsers that have gone: a message to one raises WebSocketDisconnect.

    After an OSError, which ASGI asks for, Starlette would not read that the browser has disconnected.
    """

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_or_gone(message: Message) -> None:
            try:
                await send(message)
            except (OSError, RuntimeError) as error:
                if isinstance(error, OSError) or _GONE.search(str(error)):
                    raise WebSocketDisconnect(1006) from error
                raise

        with suppress(WebSocketDisconnect, ClientDisconnect):  # the latter of an upload that was broken off
            await app(scope, receive, send_or_gone if scope["type"] == "websocket" else send)

    return wrapped
