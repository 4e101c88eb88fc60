"""Act as visitors with real browsers, who open one page after the other and press keys on its sliders.

They share one headless Chromium. A press is answered once the page has run with it; then the slider still
holds what it was pressed to. A page that reports an error, an exception that is shown, a connection that is
lost and a press without an answer are faults.
"""

import asyncio
import os
import random
import time
from collections.abc import Sequence

from playwright.async_api import Browser, Error, Locator, Page, async_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.visitor import PATIENCE_SECONDS
from scripts.started import FLAGS, PLAYED

_MOVES = 5  # on a page, before the next
_SLIDERS = "[data-testid=stSlider] input[type=range]:not([disabled])"
_FAULTY = (
    "[data-testid=stException], [data-testid=stConnectionStatus], [role=dialog]:has-text('Connection error')"
)


class Browsing:
    """Hold one visitor: the seconds of each opened page and of each press, and what went wrong."""

    def __init__(self, seed: int, pages: Sequence[str]) -> None:
        self.took: list[float] = []
        self.openings: list[float] = []
        self.faults: list[str] = []
        self._choices, self._pages, self._at = random.Random(seed), pages, seed
        self._has_run = asyncio.Event()  # the whole page, since the last press

    @property
    def opened(self) -> float:
        return self.openings[0] if self.openings else 0.0

    async def stay(self, browser: Browser, address: str, seconds: float, late: float, every: float) -> None:
        """Look at one page after the other; late: seconds before the first, every: between two presses."""
        ends = time.monotonic() + seconds
        await asyncio.sleep(late)
        context = await browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(1e3 * PATIENCE_SECONDS)
        await context.add_init_script(PLAYED)
        page = await context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("websocket", lambda socket: socket.on("framereceived", self._read))
        while time.monotonic() < ends:
            name = self._pages[self._at % len(self._pages)]
            self._at += 1
            try:
                await self._visit(page, f"{address}{name}", ends, every)
            except (Error, TimeoutError) as error:
                self.faults.append(f"{name}: {type(error).__name__} {error}".splitlines()[0])
        await context.close()

    def _read(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            message = ForwardMsg.FromString(frame)
            if message.WhichOneof("type") == "script_finished" and not message.script_finished:
                self._has_run.set()  # 0: successfully, and not a part alone

    async def _answer(self, began: float) -> float:
        await asyncio.wait_for(self._has_run.wait(), PATIENCE_SECONDS)
        return time.monotonic() - began

    async def _visit(self, page: Page, url: str, ends: float, every: float) -> None:
        self._has_run.clear()
        began = time.monotonic()
        await page.goto(url)
        self.openings.append(await self._answer(began))
        for _ in range(_MOVES):
            await asyncio.sleep(every)
            if time.monotonic() > ends:
                break
            await self._press(page)
        self.faults += [f"{url}: {text}" for text in await page.locator(_FAULTY).all_inner_texts()]

    async def _press(self, page: Page) -> None:
        """Press an arrow key on any slider, and wait until the page has run."""
        sliders = page.locator(_SLIDERS)
        count = await sliders.count()
        if not count:
            return
        slider = sliders.nth(self._choices.randrange(count))
        name, before = await slider.get_attribute("aria-label"), await _value(slider)
        self._has_run.clear()
        await slider.press(self._choices.choice(("ArrowRight", "ArrowLeft")))
        pressed = await _value(slider)
        if pressed == before:  # it is at its end
            return
        self.took.append(await self._answer(time.monotonic()))
        if (shown := await _value(slider)) != pressed:
            self.faults.append(f"{page.url}: {name} {before} was pressed to {pressed}, and became {shown}")


async def _value(slider: Locator) -> str | None:
    return await slider.get_attribute("aria-valuetext")


async def browse(
    address: str, count: int, seconds: float, pages: Sequence[str], within: float, every: float
) -> list[Browsing]:
    """Let so many visitors look at pages in turn, each beginning with another; return them after.

    within: seconds in which they arrive, evenly. every: seconds between two presses.
    """
    async with async_playwright() as play:
        path = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
        browser = await play.chromium.launch(executable_path=path, args=FLAGS)
        visitors = [Browsing(i, pages) for i in range(count)]
        stays = (
            visitor.stay(browser, address, seconds, within * i / count, every)
            for i, visitor in enumerate(visitors)
        )
        await asyncio.gather(*stays)
        await browser.close()
    return visitors
