"""Give a widget its key: another one, of its next edition, whenever we change what it shows.

A browser reports what all its widgets show. Where it has not drawn our last run yet, that is what they showed
before our change. Had the widget kept its key, that report would count as the visitor's choice.

A callback may be interrupted, too: Streamlit ends a run for a newer one wherever the run asks it for
something, and the newer one does not call the callback of a move that the ended one has taken over.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

_SHOWN = "what each widget shows, and its edition"
_LAST_MOVED = "widget moved last"
_BEGUN = "callbacks that have begun"


def _key(widget: str, edition: int) -> str:
    return f"{widget} {edition}" if edition else widget


def key(widget: str, value: Any, follows: bool = True) -> str:
    """Return a widget's key, a new one if we changed its value; not if a move waits (`follows` is False)."""
    editions = st.session_state.setdefault(_SHOWN, {})
    shown, edition = editions.get(widget, (value, 0))
    if shown != value and follows:
        if widget == st.session_state.get(_LAST_MOVED):  # under another key it would lose the focus
            st.session_state[_key(widget, edition)] = value
        else:
            edition += 1
        shown = value
    editions[widget] = shown, edition
    return _key(widget, edition)


def _moved_to(widget: str, key: str) -> Any:
    """Return to what a visitor has moved the widget of this key; None if nobody has.

    After a run that the browser missed, Streamlit may report a widget that is no longer there as moved: under
    an outdated key, or with the value that it showed.
    """
    shown, edition = st.session_state.get(_SHOWN, {}).get(widget, (None, 0))
    if key != _key(widget, edition) or key not in st.session_state or st.session_state[key] == shown:
        return None
    return st.session_state[key]


def widget_arguments(
    widget: str, value: Any, then: Callable[[Any], None], follows: bool = True
) -> dict[str, Any]:
    """Return the arguments that bind a widget, which shows this value, to what is done once it is moved.

    then: Called with the value that it is moved to, before the next run. follows: as `key` has it.
    """
    widget_key = key(widget, value, follows)

    def act() -> None:
        new_value = _moved_to(widget, widget_key)
        if new_value is None:
            return
        then(new_value)
        _, edition = st.session_state[_SHOWN][widget]
        st.session_state[_LAST_MOVED] = widget
        st.session_state[_SHOWN][widget] = (
            new_value,
            edition,
        )  # last, as an interrupted callback is called again

    return {"key": widget_key, "on_change": finished_by_next_run(act)}


def finished_by_next_run(act: Callable[..., None]) -> Callable[..., None]:
    """Return a callback that calls `act`; where that is interrupted, the newer run calls it again.

    So `act` must have the same effect when it is called twice.
    """
    begun = st.session_state.setdefault(_BEGUN, [])

    def callback(*arguments: Any) -> None:
        begun.append(partial(act, *arguments))
        finish()

    return callback


def finish() -> None:
    """Call the callbacks that have begun and not ended, before a run reads the settings."""
    begun: list[Callable[[], None]] = st.session_state.get(_BEGUN, [])
    while begun:
        try:
            begun[0]()
        except Exception:  # a fault drops it; an interruption is none of these and keeps it
            begun.pop(0)
            raise
        begun.pop(0)


def forget_moved_widget() -> None:
    """Forget which widget moved last, as a setting was changed by other means: it may get a new key."""
    st.session_state.pop(_LAST_MOVED, None)
