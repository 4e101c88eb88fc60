"""What all controls are set to, bound to the link, and the widgets that pages set them by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from dppca_core.datasets import TABLES
from pages.shared import text
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import CHOICES, Settings
from pages.shared.settings.setting import Choice

_SEEN = "settings of the last run"
_SAID = "sentences about what was changed"
_MOVED = "settings moved since the last run"
_MOVE = "slider moved last, and by how much"

_ENDS = "private ↔ accurate"
_CONTROLS = {True: st.select_slider, False: st.selectbox}  # by whether the options are numbers


def _possible() -> tuple[Settings, list[str]]:
    """What the controls, or at first the link, ask for: the nearest possible, and what was changed."""
    if _SEEN not in st.session_state:
        return catalogue.open_link(st.query_params.to_dict())
    before: Settings = st.session_state[_SEEN]
    # Not from the widgets: one that leaves the screen, with a page or a drawer, forgets its value.
    now = before | st.session_state.get(_MOVED, {})
    moved = next((key for key in CHOICES if now[key] != before[key]), None)
    if moved is not None and CHOICES[moved].numeric:
        options = CHOICES[moved].options
        st.session_state[_MOVE] = moved, options.index(now[moved]) - options.index(before[moved])
    possible, sentences = catalogue.reconcile(now, moved)
    # Where nothing moved the page refreshed itself: what was said still stands.
    return possible, st.session_state[_SAID] if moved is None else sentences


def remember(key: str) -> None:
    """A widget was moved: its setting is what it shows now."""
    st.session_state.setdefault(_MOVED, {})[key] = st.session_state[key]


def set_to(key: str, value: object) -> None:
    """A setting that a page's own button moves."""
    st.session_state[key] = value
    remember(key)


def moved() -> bool:
    """Whether a fragment of the page has moved a setting, which only a run of the whole page takes up."""
    return _MOVED in st.session_state


def take(asked: Settings) -> None:
    """All settings at once: the nearest possible to these."""
    wanted, _ = catalogue.reconcile(asked)
    st.session_state[_SEEN], st.session_state[_SAID] = wanted, []
    st.session_state.pop(_MOVED, None)
    for key, value in wanted.items():
        st.session_state[key] = value


def named(choice: Choice, plain: bool) -> str:
    """What a control is called, and where its ends lead; without markup, which screen readers would read."""
    words = choice.name(plain)
    return f"{words} · {_ENDS}" if choice.key in ("epsilon", "delta") else words


def offer(key: str, name: str, plain: bool, **more: Any) -> None:
    """A control called so, its options in a board's words or not; `more` are the widget's other arguments.

    Each widget begins at its setting: a browser whose connection broke may have missed the run that set it,
    and takes what a widget begins at as chosen.
    """
    choice, now = CHOICES[key], settings()[key]
    begins = {"value": now} if choice.numeric else {"index": choice.options.index(now)}
    _CONTROLS[choice.numeric](
        *(name, choice.options),
        key=key,
        format_func=lambda value: choice.option(value, plain),
        on_change=remember,
        args=(key,),
        **begins,
        **more,
    )


def settle() -> Settings:
    """What the link and the widgets ask for, made possible; the link that restores it. Before any widget."""
    now, sentences = _possible()
    st.session_state[_SEEN], st.session_state[_SAID] = now, sentences
    # Each line may be the last: a quick hand has the run left off, and nothing may be lost by it.
    st.session_state.pop(_MOVED, None)
    for key, value in now.items():
        # One that shows its setting is left alone, or it would jump back under a quick hand.
        if st.session_state.get(key) != value:
            st.session_state[key] = value
    link = catalogue.to_link(now)
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)
    return now


def choose(key: str) -> None:
    """One of a page's own controls, where the page is now."""
    choice, now = CHOICES[key], settings()
    plain = now["view"] == "board"
    if isinstance(choice.default, bool):
        st.checkbox(choice.name(plain), now[key], key=key, on_change=remember, args=(key,))
    else:
        offer(key, named(choice, plain), plain, help=choice.help or None)


def view_switches(shown: Collection[str] = ("view", "ghost", "loadings")) -> None:
    """Detail, ghost and loadings: what is shown, not what is measured."""
    view, now = CHOICES["view"], settings()
    left, middle, right = st.columns([3, 2, 2], vertical_alignment="center")
    left.segmented_control(
        *("Detail", view.options),
        default=now["view"],
        key="view",
        format_func=view.text,
        label_visibility="collapsed",
        required=True,
        on_change=remember,
        args=("view",),
    )
    if "ghost" in shown:
        label = "Hold the previous setting as a ghost"
        middle.toggle(label, now["ghost"], key="ghost", on_change=remember, args=("ghost",))
    if "loadings" in shown:
        label = "Show the loadings found"
        right.toggle(label, now["loadings"], key="loadings", on_change=remember, args=("loadings",))


def settings() -> Settings:
    """What every control is set to, possible together."""
    return dict(st.session_state[_SEEN])


def last_move() -> tuple[str, int] | None:
    """The slider that was moved last, and by how many options."""
    move: tuple[str, int] | None = st.session_state.get(_MOVE)
    return move


def notices(plain: bool = False) -> None:
    """One sentence for each setting that had to give way, and, unless in plain words, the note on delta."""
    sentences = st.session_state[_SAID]
    if sentences:
        st.info("  \n".join(sentences).replace("*", r"\*"))
    now = settings()
    table = TABLES.get(now["data"])
    n = table.n if table else now["n"]
    large = text.large_delta(now["delta"], n, now["view"] == "board")
    if large and not plain:
        st.caption(large)


def choose_panel(key: str) -> None:
    """What a page shows of several things, as a row of pills."""
    choice = CHOICES[key]
    st.pills(
        *(choice.label, choice.options),
        default=settings()[key],
        key=key,
        format_func=choice.text,
        label_visibility="collapsed",
        required=True,
        wrap=True,
        on_change=remember,
        args=(key,),
    )


def choose_among(key: str, options: Sequence[str], shown: str) -> None:
    """One of those that are here now; the link keeps what was asked for, until that one is back."""
    choice = CHOICES[key]
    st.session_state[key] = shown
    st.selectbox(
        *(choice.label, options, options.index(shown)),
        key=key,
        format_func=choice.text,
        on_change=remember,
        args=(key,),
    )


def slow(titles: Sequence[str], seconds: float) -> None:
    """The button that measures what is too slow to be live, or leaves it out again; nothing for none."""
    if not titles:
        return
    asked = settings()["slow"]
    words = (
        "Leave out what is not live"
        if asked
        else f"Measure what is not live (about {max(seconds, 1):.0f} s a run)"
    )
    left, right = st.columns([2, 3], vertical_alignment="center")
    left.button(words, on_click=set_to, args=("slow", not asked), key="slow button")
    right.caption(f"Not live: {', '.join(titles)}.")
