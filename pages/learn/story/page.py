"""Give a talk for a hospital's board in eight steps, each with one chart and at most two controls."""

from functools import partial
from pathlib import Path

import streamlit as st

from pages.learn.story import document
from pages.learn.story.sentences import steps
from pages.learn.story.settings import STEPS, step_controls
from pages.shared.document import streamlit
from pages.shared.settings import hospitals, in_context, newcomer, scene_buttons, widget_keys, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

_STEP, _NEWEST, _PRESENT = "story.step", "story.step newest", "story.present"
_HERE = Path(__file__).parent / "document"
_present_button = st.components.v2.component(
    "dppca.present",
    html='<button type="button"></button>',
    js=(_HERE / "present.js").read_text(encoding="utf-8"),
    css=(_HERE / "present.css").read_text(encoding="utf-8"),
)


def show_controls(settings: Settings) -> None:
    step = settings[_STEP]
    newcomer.introduction("story", steps.FIRST_VISIT, over=step > 1)
    with st.container(key="story-steps", horizontal=True, vertical_alignment="center"):
        step_through(settings)
    if step == 1:
        scene_buttons.show_scenes(settings)
    st.header(steps.QUESTIONS[step - 1], anchor=False)
    keys = step_controls(step, settings)
    with st.container(key="story-controls", horizontal=True, vertical_alignment="bottom"):
        for key in keys:
            show_control(key, settings)
        if step in (1, 7, STEPS):
            widgets.show_word_control("join.use", width="content")
        if "epsilon" in keys:
            in_context.show_published_releases(plain=True)
    if step in (4, 5, 6, STEPS) and "epsilon" not in keys:
        st.caption(steps.LOSSES_TYPED)


def show_control(key: str, settings: Settings) -> None:
    if key == "join.ours":
        count = len(hospitals.sizes(settings))
        widgets.show_select_box(key, range(1, count + 1), min(settings[key], count))
    else:
        widgets.show(key, CHOICES[key].plain, plain=True)


def step_through(settings: Settings) -> None:
    """Show the steps between two buttons, also for the arrow keys unless a slider or a box has the focus."""
    step = st.session_state[_NEWEST] = settings[_STEP]
    move = widget_keys.finished_by_next_run(move_step)
    st.button("Back", on_click=move, args=(-1,), disabled=step == 1, shortcut="Left", key=f"{_STEP} back")
    widgets.show_word_control(_STEP)
    st.button("Next", on_click=move, args=(1,), disabled=step == STEPS, shortcut="Right", key=f"{_STEP} on")
    _present_button(key=_PRESENT, data={"on": settings[_PRESENT]}, on_present_change=present)
    if settings[_PRESENT]:
        st.html('<i class="presented"></i>')  # by which the style knows


def move_step(by: int) -> None:
    """Move from the last press's step, kept in the session: a press interrupts the run that applies it."""
    newest = min(max(st.session_state[_NEWEST] + by, 1), STEPS)
    widgets.set_to(_STEP, newest)
    st.session_state[_NEWEST] = newest  # last, since all of this is done again where it is interrupted


def present() -> None:
    widgets.set_to(_PRESENT, st.session_state[_PRESENT]["present"] is True)


st.html(_HERE / "story.css")
settings = widgets.settings()
streamlit.show(document.at(settings), above=partial(show_controls, settings))
