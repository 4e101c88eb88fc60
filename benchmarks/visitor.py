"""Act as a visitor as the server sees one: a websocket that speaks Streamlit's own messages.

It holds the widgets' values and the link, asks again by itself where a page refreshes itself, and keeps the
messages that the server will only refer to later. It counts from a press of the hospitals' slider until a
figure of that setting has come, and notes every message that shows an error or somebody else's setting:
visitors are told apart by their number of patients.
"""

import asyncio
import random
import re
import time
import urllib.request
from contextlib import suppress
from urllib.parse import parse_qsl

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from pages.learn.classroom import lesson_file

EVERY_SECONDS = 2.0
PATIENCE_SECONDS = 60.0
HOSPITALS = tuple(range(2, 11))
_SENTENCE = re.compile(rb"With ([0-9,]+) patients in (\d+) hospitals?")


class Visitor:
    """Run one session whose hospitals' slider goes to and fro.

    patients: as the page writes it, "20,000"; it tells visitors apart. seed: visitors with the same one
    share what is measured. `answered` is set once the page, as it was asked for last, is there.
    """

    def __init__(self, patients: str, hospitals: int, seed: int = 0) -> None:
        self.took: list[float] = []  # seconds of each press
        self.faults: list[str] = []
        self._patients, self._hospitals = patients, hospitals
        self._values: dict[str, str] = {}  # of each slider, by its id
        self._slider = ""
        self._pressed: list[str] = []  # buttons, by their ids, which count for one run
        self._known: dict[str, ForwardMsg] = {}  # by the hash that the server refers to later
        self._step = 1
        self.opened = 0.0  # seconds until the page was there
        self.answered = asyncio.Event()
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self.session = ""  # Streamlit's name of it
        self._page = ""
        self._name = ""  # of a page other than the first
        link = f"n={patients.replace(',', '%2C')}&N={hospitals}&seed={seed}"
        self._link = f"preset=large-study&{link}"

    async def stay(
        self,
        address: str,
        seconds: float,
        late: float = 0.0,
        every: float = EVERY_SECONDS,
        most: int | None = None,
    ) -> None:
        """Open the page and press the slider again and again, until the time is over or a fault is noted.

        late: seconds to wait before opening the page. every: seconds between an answer and the next press.
        """
        await asyncio.sleep(late)
        where = address.replace("http", "ws", 1) + "_stcore/stream"
        try:
            async with connect(where, subprotocols=["streamlit"], max_size=None, compression=None) as wire:
                listening = asyncio.create_task(self._listen(wire))
                self.opened = await self._ask(wire)
                ends = time.monotonic() + seconds
                while not self.faults and time.monotonic() < ends and len(self.took) != most:
                    await asyncio.sleep(every)
                    self._press()
                    self.took.append(await self._ask(wire))
                self._rest()
                listening.cancel()
        except (OSError, ConnectionClosed) as reason:
            self.faults.append(f"the connection broke: {reason}")

    def _press(self) -> None:
        if not HOSPITALS[0] <= self._hospitals + self._step <= HOSPITALS[-1]:
            self._step = -self._step
        self._hospitals += self._step
        self._values[self._slider] = str(self._hospitals)

    async def _ask(self, wire: ClientConnection) -> float:
        """Have the page run as it is set now; return the seconds until it was answered."""
        self._rest()
        self.answered.clear()
        began = time.monotonic()
        await self._send(wire)
        self._pressed.clear()
        try:
            await asyncio.wait_for(self.answered.wait(), PATIENCE_SECONDS)
        except TimeoutError:
            self.faults.append(f"no answer: {self._name or 'first page'}?{self._link}")
        return time.monotonic() - began

    async def _send(self, wire: ClientConnection, fragment: str = "") -> None:
        """Send what a browser sends to have a script run; fragment: a part that refreshes itself."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string = self._link
        asked.fragment_id = fragment
        asked.is_auto_rerun = bool(fragment)
        asked.page_script_hash = self._page
        asked.page_name = "" if self._page else self._name
        asked.cached_message_hashes.extend(self._known)
        for name, value in self._values.items():
            state = asked.widget_states.widgets.add()
            state.id = name
            state.string_array_value.data.append(value)
        for name in () if fragment else self._pressed:
            state = asked.widget_states.widgets.add()
            state.id, state.trigger_value = name, True
        await wire.send(message.SerializeToString())

    async def _listen(self, wire: ClientConnection) -> None:
        """Read messages until the connection ends; the server sends some only once, then their hash."""
        with suppress(ConnectionClosed):
            async for raw in wire:
                message = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
                if message.WhichOneof("type") == "ref_hash":
                    message = self._known[message.ref_hash]
                elif message.metadata.cacheable:
                    self._known[message.hash] = message
                self._read(message, wire)

    def _read(self, message: ForwardMsg, wire: ClientConnection) -> None:
        """Do what a browser does with a message: keep the link, refresh parts of the page, see elements."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page = message.new_session.page_script_hash
            self.session = message.new_session.initialize.session_id
        elif kind == "page_info_changed":
            self._link = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._refresh(wire, message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            if task := self._refreshing.pop(message.stop_auto_rerun.fragment_id, None):
                task.cancel()
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._see(message.delta.new_element)

    def _see(self, element: Element) -> None:
        """Note an error, a slider, or a figure: it is the answer, or a fault if of another's patients."""
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.faults.append(element.exception.message)
        elif kind == "slider":
            self._hold(element.slider)
        elif kind == "bidi_component":
            figures = set(_SENTENCE.findall(element.bidi_component.SerializeToString()))
            if any(patients.decode() != self._patients for patients, _ in figures):
                self.faults.append(f"a figure of somebody else: {figures}")
            elif figures == {(self._patients.encode(), str(self._hospitals).encode())}:
                self.answered.set()

    def _hold(self, slider: Slider) -> None:
        if slider.set_value:
            self._values[slider.id] = slider.raw_value[0]
        if slider.label.startswith("Hospitals"):
            self._slider = slider.id

    def _refresh(self, wire: ClientConnection, fragment: str, seconds: float) -> None:
        async def again() -> None:
            while True:
                await asyncio.sleep(seconds)
                await self._send(wire, fragment)

        self._rest()
        self._refreshing[fragment] = asyncio.create_task(again())

    def _rest(self) -> None:
        """Refresh nothing: a run of the whole page sends again what refreshes itself."""
        for task in self._refreshing.values():
            task.cancel()
        self._refreshing.clear()


class Caller(Visitor):
    """Open a page by its name and press nothing; it is answered once the whole page is there."""

    def __init__(self, page: str, link: str = "") -> None:
        patients = dict(parse_qsl(link)).get("n", "100000")
        super().__init__(f"{int(patients):,}", 5)
        self._name, self._link = page, link or self._link

    def _read(self, message: ForwardMsg, wire: ClientConnection) -> None:
        super()._read(message, wire)
        if message.WhichOneof("type") == "script_finished":
            self.answered.set()


class Pupil(Caller):
    """Open a page by its name, fetch the file of the lesson, and leave."""

    async def stay(
        self, address: str, seconds: float, late: float = 0.0, every: float = 0.0, most: int | None = 0
    ) -> None:
        await super().stay(address, seconds, late, every, most)
        began = time.monotonic()
        await asyncio.to_thread(_fetch, address + lesson_file.PATH.lstrip("/"))
        self.took.append(time.monotonic() - began)


def _fetch(address: str) -> None:
    with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:
        answer.read()


class Wanderer(Visitor):
    """Move sliders at random on a page that a link opens; a move is answered once the whole page has run."""

    def __init__(self, page: str, link: str, seed: int) -> None:
        super().__init__("", 5)
        self._name, self._link = page, link
        self._choices = random.Random(seed)
        self._sliders: dict[str, tuple[str, ...]] = {}  # options of those that the page shows, by their id

    def _press(self) -> None:
        if not self._sliders:  # such as a link to a table, on which nothing can be moved
            return
        moved = self._choices.choice(list(self._sliders))
        self._values[moved] = self._choices.choice(self._sliders[moved])
        self._sliders.clear()  # the page will show them again

    def _read(self, message: ForwardMsg, wire: ClientConnection) -> None:
        super()._read(message, wire)
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self._page = message.navigation.page_script_hash
        elif kind == "script_finished" and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self.answered.set()  # the whole page has run

    def _see(self, element: Element) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.faults.append(element.exception.message)
        elif kind == "slider":
            self._hold(element.slider)
            if len(element.slider.options) > 1 and not element.slider.disabled:
                self._sliders[element.slider.id] = tuple(element.slider.options)


class Demanding(Wanderer):
    """Ask for all that a page measures only if it is asked for, and move nothing."""

    def __init__(self, page: str, link: str) -> None:
        super().__init__(page, link, seed=0)
        self._offered: list[str] = []

    def _press(self) -> None:
        self._pressed, self._offered = self._offered, []

    def _see(self, element: Element) -> None:
        super()._see(element)
        if element.WhichOneof("type") == "button" and element.button.label == "Measure it":
            self._offered.append(element.button.id)
