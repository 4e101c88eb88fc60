"""Start a server and headless Chromium, driven by Playwright."""

import os
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache, partialmethod
from typing import Any, TypeVar

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    FilePayload,
    Page,
    TimeoutError,
    ViewportSize,
    expect,
)

from pages import order
from scripts.started import COMPLETE, PLAYED, chromium, serving
from tests.waiting import PATIENCE_SECONDS

# Settings that are measured in a second or two, for tests of the page and not of its numbers.
SMALL = "repeats=1&d=30&n=10000&k=2&s=6&shat=10"

DESK: ViewportSize = {"width": 1440, "height": 900}
FAILED = pytest.StashKey[bool]()  # whether any part of a test has failed
AT_REST = "[data-test-script-state=notRunning]"  # while it runs a script, Streamlit may drop a press
TRIES = 4  # of what Streamlit may drop
POLLING = 50  # milliseconds between looks at a page that something is waited for on
PATIENCE_MS = 1000 * PATIENCE_SECONDS
expect.set_options(timeout=PATIENCE_MS)
# A machine that stands still for seconds loses no connection: Streamlit's page reports each as an error.
os.environ["STREAMLIT_SERVER_WEBSOCKET_PING_INTERVAL"] = f"{PATIENCE_SECONDS:.0f}"


# While something is waited for, Streamlit's bars shimmer and its icons turn, and Chromium draws each frame.
STILL = """addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '*, ::before, ::after { animation: none !important; transition: none !important }';
  document.head.append(style);
})"""
# Not at every frame, which Chromium would then draw for nothing.
Page.wait_for_function = partialmethod(Page.wait_for_function, polling=POLLING)  # type: ignore[method-assign]

# A page lives for seconds here: code made faster for later is wasted, and a small heap is cleared too often.
SHORT_LIVED = "--js-flags=--no-opt --single-threaded-gc --min-semi-space-size=64"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium("--process-per-site", SHORT_LIVED) as running:
        yield running


SERVERS = ExitStack()


@cache
def shared_server() -> str:
    """Return the address of a server for all workers.

    What one worker has measured, the others draw at once.
    """
    return SERVERS.enter_context(serving())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["address"] = shared_server()


def pytest_unconfigure() -> None:
    SERVERS.close()


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> str:
    started = getattr(request.config, "workerinput", {}).get("address") or shared_server()
    with urllib.request.urlopen(f"{started}healthz") as answer:
        assert answer.read() == b"ok"
    return started


@pytest.fixture(scope="session")
def tabs(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """Yield what tabs are opened in: as long as its first is open, they share one process.

    That has compiled Streamlit's and Plotly's scripts, which takes a new process two seconds.
    """
    context = patient(browser.new_context())
    context.new_page().goto(f"{address}healthz")
    yield context
    context.close()


@pytest.fixture
def newcomer(tabs: BrowserContext) -> BrowserContext:
    """Return where a visitor opens tabs whose browser holds nothing of an earlier visit, but one thing.

    The noises have played by themselves, so that the explorer's picture stands still.
    """
    tabs.clear_cookies()
    tabs.pages[0].evaluate(f"localStorage.clear(), {PLAYED}")
    return tabs


MENU = {  # group of each page, as the menu names both
    order.title(page): group for group, pages in order.menu().items() for page in pages
}


def go_to(page: Page, name: str) -> None:
    """Open another page by the menu on top."""
    if not MENU[name]:
        page.get_by_test_id("stTopNavLink").filter(has_text=name).click()
        return
    page.get_by_test_id("stTopNavSection").filter(has_text=MENU[name]).click()
    page.get_by_test_id("stTopNavDropdownLink").filter(has_text=name).click()


def open_own_data(page: Page, url: str) -> None:
    """Open the page of own tables, and wait for the end of its first run."""
    page.goto(url)
    page.locator("input[type=file]").nth(1).wait_for(state="attached")
    page.wait_for_selector(AT_REST)


def choose_file(
    page: Page, uploader: int, name: str, data: bytes, taken: str, kind: str = "text/csv"
) -> None:
    """Choose a file until the page says that it has it: Streamlit may lose one that comes as a run ends.

    taken: Words of the page that has the file, and not of the page before.
    """
    file: FilePayload = {"name": name, "mimeType": kind, "buffer": data}
    place = page.locator("input[type=file]").nth(uploader)
    for _ in range(TRIES):
        place.wait_for(state="attached")
        page.wait_for_selector(AT_REST)
        place.set_input_files(file)
        with suppress(TimeoutError):
            page.get_by_text(taken).first.wait_for(timeout=PATIENCE_MS / TRIES)
            return
    raise AssertionError(f"{name} was not taken")


def downloaded(page: Page, label: str) -> bytes:
    """Press until a file comes: Streamlit drops a click, or its file, that meets the end of a run."""
    for _ in range(3):
        with suppress(Error):
            with page.expect_download(timeout=250 * PATIENCE_SECONDS) as file:
                page.get_by_role("button", name=label).click()
            return file.value.path().read_bytes()
    raise AssertionError(f"{label} brought no file")


Waits = TypeVar("Waits", Page, BrowserContext)


def patient(made: Waits) -> Waits:
    """Return the page or context, set to wait as long as a busy machine takes, and for nothing that moves."""
    made.set_default_timeout(PATIENCE_MS)
    made.add_init_script(STILL)
    return made


class Watched:
    """Open a page and keep its console errors, script errors and requests."""

    def __init__(self, tabs: BrowserContext, viewport: ViewportSize = DESK, **media: Any) -> None:
        self.page = tabs.new_page()
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(**media)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))

    def open(self, url: str) -> "Watched":
        """Wait for the first answer: most of what is tested needs no more."""
        self.page.goto(url)
        self.page.locator(".dppca-live[data-drawn]").first.wait_for()
        return self

    def settle(self) -> None:
        """Wait until everything that the setting needs has been measured and drawn."""
        self.page.wait_for_selector(COMPLETE)

    def drawn(self) -> list[Any]:
        """Return what the figure's traces hold, as Plotly drew them."""
        return self.page.evaluate(
            "document.querySelector('.dppca-live .chart').data.map(t => [t.name, t.x, t.y])"
        )

    def sentence(self) -> str:
        return self.page.locator(".dppca-live .sentence").first.inner_text().replace("\xa0", " ")

    def press(self, label: str, key: str) -> None:
        """Press a key on the slider whose label starts so; return when the server's answer is drawn."""
        live = "document.querySelector('.dppca-live')?.dataset"
        before = self.page.evaluate(f"[{live}.drawn, {live}.answered]")
        self.page.get_by_role("slider", name=label).first.press(key)
        self.page.wait_for_function(
            f"([drawn, answered]) => ![drawn, undefined].includes({live}?.drawn)"
            f" && {live}.answered !== answered",
            arg=before,
        )

    def remote(self) -> list[str]:
        """Return the requests that left this machine."""
        inside = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:")
        return [url for url in self.requests if not url.startswith(inside)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def watched(newcomer: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(**options: Any) -> Watched:
        made.append(Watched(newcomer, **options))
        return made[-1]

    yield make
    left = [url for watch in made for url in watch.remote()]
    for watch in made:
        if request.node.stash.get(FAILED, False):
            print(watch.page.url, watch.errors, watch.page.inner_text("body"), sep="\n")
        watch.page.close()
    assert left == [], "requests that left this machine"
