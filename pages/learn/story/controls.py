"""Show the steps of the story in a row, along which arrow keys move."""

import streamlit as st

from pages.shared.settings.catalogue import CHOICES
from pages.shared.settings.widgets import remember, set_to, settings


def step_through(key: str, before: str, after: str) -> None:
    """Show the options of a control in a row, between two buttons that move by one, as the arrow keys do.

    While a slider or a box has the focus, arrow keys move that instead (tested in the browser).
    """
    options = CHOICES[key].options
    at = options.index(settings()[key])
    st.session_state[_newest(key)] = settings()[key]
    st.button(before, on_click=_step, args=(key, -1), disabled=at == 0, shortcut="Left", key=f"{key} back")
    st.segmented_control(
        *(CHOICES[key].plain, options),
        default=options[at],
        key=key,
        label_visibility="collapsed",
        required=True,
        on_change=remember,
        args=(key,),
    )
    last = at == len(options) - 1
    st.button(after, on_click=_step, args=(key, 1), disabled=last, shortcut="Right", key=f"{key} on")


def _newest(key: str) -> str:
    return f"{key} newest"


def _step(key: str, by: int) -> None:
    """Move by so many options from where the last press left the control.

    The settings may be older, since a press interrupts the run that would read them. So may the row of
    options, which the browser sends as it was before the last press.
    """
    options, now = CHOICES[key].options, st.session_state[_newest(key)]
    st.session_state[_newest(key)] = options[min(max(options.index(now) + by, 0), len(options) - 1)]
    set_to(key, st.session_state[_newest(key)])
