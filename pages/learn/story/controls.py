"""Show the steps of the story in a row, along which arrow keys move."""

import streamlit as st

from pages.learn.story.settings import STEPS
from pages.shared.settings import editions
from pages.shared.settings.widgets import set_to, settings, show_word_control

_KEY, _NEWEST = "story.step", "story.step newest"


def step_through() -> None:
    """Show the steps in a row, between two buttons that move by one, as the arrow keys do.

    While a slider or a box has the focus, arrow keys move that instead (tested in the browser).
    """
    step = st.session_state[_NEWEST] = settings()[_KEY]
    move = editions.finished_by_next_run(_move_step)
    st.button("Back", on_click=move, args=(-1,), disabled=step == 1, shortcut="Left", key=f"{_KEY} back")
    show_word_control(_KEY)
    st.button("Next", on_click=move, args=(1,), disabled=step == STEPS, shortcut="Right", key=f"{_KEY} on")


def _move_step(by: int) -> None:
    """Move by so many steps, -1 or 1, from the step that the last press led to.

    That step is kept in the session: the settings may be older, since a press interrupts the run that would
    apply the one before it.
    """
    newest = min(max(st.session_state[_NEWEST] + by, 1), STEPS)
    set_to(_KEY, newest)
    st.session_state[_NEWEST] = newest  # last, since all of this is done again where it is interrupted
