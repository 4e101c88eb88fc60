"""Drive the installed Firefox by WebDriver BiDi: Playwright needs a Firefox of its own."""

import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from scripts.started import START_SECONDS, free_port

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """Open pages in one tab, and keep what goes wrong there and what it asks for."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._numbers = socket, itertools.count()
        self.events: list[dict[str, Any]] = []
        self.send("session.new", capabilities={})
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])

    def send(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (message := json.loads(self._socket.recv(timeout=START_SECONDS))).get("id") != number:
            self.events.append(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['message']}")
        return message["result"]

    def open(self, url: str, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        self.send("browsingContext.setViewport", context=self.tab, viewport=viewport)
        self.send("browsingContext.navigate", context=self.tab, url=url, wait="complete")

    def evaluate(self, script: str) -> Any:
        """Return what a script gives: a number, a text or a truth value."""
        target = {"context": self.tab}
        result = self.send("script.evaluate", expression=script, target=target, awaitPromise=True)
        if result["type"] == "exception":
            raise RuntimeError(result["exceptionDetails"]["text"])
        return result["result"].get("value")

    def press(self, keys: str) -> None:
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keys", "actions": actions}
        self.send("input.performActions", context=self.tab, actions=[source])


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start Firefox without a window and with a profile of its own, and yield what drives it."""
    port = free_port()
    with tempfile.TemporaryDirectory() as profile:
        command = [
            str(PROGRAM),
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port",
            str(port),
        ]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + START_SECONDS
            while True:
                with suppress(OSError, WebSocketException):
                    socket = connect(f"ws://127.0.0.1:{port}/session", proxy=None, max_size=None)
                    break
                if time.monotonic() > until:
                    raise RuntimeError("Firefox did not start")
                time.sleep(0.2)
            with socket:
                yield Firefox(socket)
        finally:
            running.terminate()
            running.wait()
