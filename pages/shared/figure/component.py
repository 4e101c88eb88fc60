"""The live figure: a component of our own over Plotly.react (chart.html, chart.css and the scripts below).

Streamlit's own chart is built anew on every change, which loses zoom and costs about 20 ms more; and the
scrub must answer without the server.
"""

import itertools
import secrets
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shared import text

_SERVER = secrets.token_hex(4)  # one that was started anew counts from one
_turns = itertools.count(1)
_HERE = Path(__file__).parent
SCRIPTS = ("layout.js", "keyboard.js", "prefetch.js", "chart.js")  # one module: the last exports
_mount = st.components.v2.component(
    "dppca.live",
    html=(_HERE / "chart.html").read_text(encoding="utf-8"),
    css=(_HERE / "chart.css").read_text(encoding="utf-8"),
    js="".join((_HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    isolate_styles=False,
)


def _nothing() -> None:
    """For a figure that answers no gesture."""


def figure(
    payload: dict[str, Any],
    key: str,
    on_use: Callable[[], None] | None = None,
    on_pick: Callable[[], None] | None = None,
    save: str = "",
    says: str = "",
) -> None:
    """Show a figure of `charts`; `on_use` is called when a scrubbed frame is kept, `on_pick` at a click.

    Frames are of the explorer's epsilons, or with "play" in the payload of rounds, which can play; where
    little motion is preferred each press shows one more. Unless "kept" is False, one can be kept: its index
    is then in st.session_state[key]["use"]; of the point that was clicked, "pick" holds its trace's uid as
    "name", and "x". save: what the figure is called as a file. says: its main finding in a sentence or two,
    for those who do not see it; frames have their own ("spoken", else "sentence"). `turn` tells the browser
    what this server sent last: a count, since clocks are set back. Raises ValueError for a figure that says
    nothing.
    """
    if not says and not payload.get("words"):
        raise ValueError(f"{key} must say its main finding, for those who do not see it")
    payload = (
        payload
        | {"picks": on_pick is not None, "says": text.unmarked(says)}
        | ({"filename": save} if save else {})
    )
    if "scene" not in payload:  # a figure without frames is told apart by what it shows
        payload = payload | {"scene": f"{zlib.crc32(repr(payload).encode()):08x}"}
    payload = payload | {"turn": [_SERVER, next(_turns)]}
    _mount(key=key, data=payload, on_use_change=on_use or _nothing, on_pick_change=on_pick or _nothing)


def layout_script() -> str:
    """Return the JavaScript that places a figure's parts, which reports use as well."""
    return (_HERE / "layout.js").read_text(encoding="utf-8")
