"""Show the live figure: a component of our own over Plotly.react (chart.html, chart.css and the scripts).

Streamlit's own chart is rebuilt on every change, which loses the zoom and costs about 20 ms more, and
scrubbing must work without the server.
"""

import itertools
import secrets
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import text
from pages.shared.figure import markup
from pages.shared.server.base_path import base_path
from pages.shared.settings import widget_keys

_SERVER = secrets.token_hex(4)  # tells the counts of two starts of the server apart
_message_numbers = itertools.count(1)  # of the messages to browsers
_preliminary = ContextVar("preliminary", default=False)
_HERE = Path(__file__).parent
# Joined to one module, whose exports are in the last file.
SCRIPTS = ("layout.js", "keyboard.js", "picture.js", "player.js", "prefetch.js", "chart.js")
_chart = st.components.v2.component(
    "dppca.live",
    html=str(markup.of_figure({}, ())),
    css=(_HERE / "chart.css").read_text(encoding="utf-8"),
    js="".join((_HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    isolate_styles=False,
)


def _nothing(_: Any) -> None:
    """Do nothing at an event."""


@contextmanager
def preliminary(more: bool) -> Iterator[None]:
    """Draw the figures shown within this context lighter, if `more` is to be measured for them."""
    token = _preliminary.set(more)
    try:
        yield
    finally:
        _preliminary.reset(token)


def figure(
    payload: dict[str, Any],
    key: str,
    on_use: Callable[[int], None] = _nothing,
    on_pick: Callable[[dict[str, Any]], None] = _nothing,
    on_move: Callable[[int], None] = _nothing,
    alt_text: str = "",
) -> None:
    """Show a figure of `charts`, through whose frames the browser's slider scrubs without the server.

    Frames are the explorer's epsilons or, with "play" in the payload, rounds, which a button plays; where
    reduced motion is preferred each press shows one more. A frame may have "axes", what it changes of them.
    If the payload has a "second" slider ("label", "options" and its index "at"), a telephone shows it.
    "order" counts messages, so that the browser leaves out one that comes late; a clock might be set back.

    What is called at an event must have the same effect when called twice
    (`widget_keys.finished_by_next_run`).

    Args:
        payload: The figure, with its frames.
        key: Its key in the session's state.
        on_use: Called with the index of the frame at which the slider was released.
        on_pick: Called at a click on a point, with its trace's uid as "name", and its "x".
        on_move: Called with the index to which the second slider was moved.
        alt_text: Its main finding in a sentence or two, for those who cannot see it; frames have their own
            ("alt_text", else "sentence").

    Raises:
        ValueError: The figure says nothing.
    """
    if not alt_text and not payload.get("words"):
        raise ValueError(f"{key} must say its main finding, for those who do not see it")
    sent = payload | {"uses": on_use is not _nothing, "picks": on_pick is not _nothing}
    sent["alt_text"] = text.unmarked(alt_text)
    if "scene" not in sent:  # what browsers tell figures apart by: without frames it is the content
        sent["scene"] = f"{zlib.crc32(repr(sent).encode()):08x}"
    sent |= {"key": key, "server": base_path()}
    sent.setdefault("complete", not _preliminary.get())
    sent["order"] = [_SERVER, next(_message_numbers)]
    acts: dict[str, Callable[[Any], None]] = {"use": on_use, "pick": on_pick, "move": on_move}
    callbacks: dict[str, Any] = {
        f"on_{event}_change": _callback(event, key, act) for event, act in acts.items()
    }
    _chart(key=key, data=sent, **callbacks)


def _callback(event: str, key: str, act: Callable[[Any], None]) -> Callable[[], None]:
    callback = widget_keys.finished_by_next_run(act)
    return lambda: callback(st.session_state[key][event])
