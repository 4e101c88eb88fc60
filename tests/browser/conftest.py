"""A started server and headless Chromium, driven by Playwright."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
COMPLETE = ".dppca-live[data-complete=true]"


@contextmanager
def serving(log: Path | None = None, **environment: str) -> Iterator[str]:
    """The dashboard on a free port, as a newcomer starts it; yields its address. log: what it prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with open(log, "w+b") if log else tempfile.TemporaryFile() as out:
        server = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=os.environ | environment
        )
        try:
            address = f"http://127.0.0.1:{port}/"
            for _ in range(300):
                try:
                    with urllib.request.urlopen(f"{address}healthz") as answer:
                        assert answer.read() == b"ok"
                    break
                except OSError:
                    out.seek(0)
                    assert server.poll() is None, out.read().decode()
                    time.sleep(0.1)
            yield address
        finally:
            server.terminate()
            server.wait()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        chromium = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
        running = play.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with serving() as started:
        yield started


class Watched:
    """A page whose console errors, script errors and requests are kept."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.page: Page = browser.new_page(**({"viewport": {"width": 1440, "height": 900}} | options))
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))

    def open(self, url: str) -> "Watched":
        self.page.goto(url)
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until everything that the setting needs has been measured and drawn."""
        self.page.wait_for_selector(COMPLETE, timeout=60_000)

    def drawn(self) -> list[Any]:
        """What the figure's traces hold, as Plotly drew them."""
        return self.page.evaluate(
            "document.querySelector('.dppca-live .chart').data.map(t => [t.name, t.x, t.y])"
        )

    def sentence(self) -> str:
        return self.page.locator(".dppca-live .sentence").first.inner_text()

    def press(self, label: str, key: str) -> None:
        """One key on the slider whose label starts so; returns when the answer is drawn."""
        before = self.page.locator(".dppca-live").first.get_attribute("data-drawn")
        self.page.get_by_role("slider", name=label).first.press(key)
        self.page.wait_for_function(
            "before => { const live = document.querySelector('.dppca-live');"
            " return live && live.dataset.drawn && live.dataset.drawn !== before; }",
            arg=before,
        )

    def remote(self) -> list[str]:
        """Requests that left this machine."""
        inside = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:")
        return [url for url in self.requests if not url.startswith(inside)]


@pytest.fixture
def watched(browser: Browser) -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(**options: Any) -> Watched:
        made.append(Watched(browser, **options))
        return made[-1]

    yield make
    for one in made:
        one.page.close()
