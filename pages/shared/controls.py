"""The shared controls: widgets bound to the link, and what they are set to."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dppca_core.datasets import TABLES, Table
from pages.shared import choices
from pages.shared.choices import CHOICES, PRESETS, SYNTHETIC, Choice, Settings

_SEEN = "settings of the last run"
_SAID = "sentences about what was changed"
_CORRECTED = "settings that replace those of the link"
_ADDRESS_LAGS = "the address bar still shows the link as it was"

_MAIN = ("eps", "delta", "n", "N", "d", "k", "s", "shat")
_MORE = ("T", "burn", "noise", "share", "accounting", "neighbours", "scaling", "spike", "bulk")
_MORE = (*_MORE, "start", "repeats", "seed", "metric", "scale")
_FIXED_BY_TABLE = ("n", "d", "s", "spike", "bulk", "scaling")
_ENDS = "private ↔ accurate"


def _open_link() -> tuple[Settings, list[str]]:
    """What a visit's link asks for: the nearest possible settings, and what was changed."""
    asked, said = choices.read_link(st.query_params.to_dict())
    now, gave_way = choices.reconcile(choices.defaults() | asked)
    return now, said + gave_way


def _correct_link(asked: dict[str, str], now: Settings, said: list[str]) -> None:
    """Once the widgets exist: run again with the possible settings where the link's text says otherwise.

    Streamlit lets a link's text win when a widget is first made, and our value from the second run on.
    """
    texts = {key: choice.text(now[key]) for key, choice in CHOICES.items()}
    if any(key in asked and asked[key] != text for key, text in texts.items()) or said:
        st.session_state[_CORRECTED] = (now, said)
        st.rerun()


def _keep_possible() -> tuple[Settings, list[str]]:
    """Before the widgets are made: settings that became impossible give way, aloud."""
    before: Settings = st.session_state[_SEEN]
    if _CORRECTED in st.session_state:
        possible, said = st.session_state.pop(_CORRECTED)
        st.session_state[_ADDRESS_LAGS] = True
    else:
        if st.session_state.pop(_ADDRESS_LAGS, False):
            for key in CHOICES:  # assigned once more, now that Streamlit knows the widgets: it
                if key in st.session_state:  # then writes them into the address bar
                    st.session_state[key] = st.session_state[key]
        now = {key: st.session_state.get(key, before[key]) for key in CHOICES}
        moved = next((key for key in CHOICES if now[key] != before[key]), None)
        possible, said = choices.reconcile(now, moved)
        if moved is None:  # the page refreshed itself: what was said still stands
            said = st.session_state[_SAID]
    for key, value in possible.items():
        # A control that was not on screen has lost its widget's value, but not its setting.
        if st.session_state.get(key, CHOICES[key].default) != value:
            st.session_state[key] = value
    return possible, said


def _apply_preset() -> None:
    wanted = choices.defaults() | {"view": st.session_state["view"]}
    wanted |= PRESETS.get(st.session_state["preset"], {})
    for key, value in wanted.items():
        st.session_state[key] = value
    st.session_state[_SEEN] = wanted


def _label(choice: Choice, plain: bool, fixed: str | None) -> str:
    words = choice.plain if plain else choice.label
    if fixed:
        return f"{words} :gray[· {fixed}]"
    return f"{words} :gray[· {_ENDS}]" if choice.key in ("eps", "delta") else words


def _widget(key: str, plain: bool, table: Table | None, fixed: str | None) -> None:
    choice = CHOICES[key]
    if table and key in _FIXED_BY_TABLE:
        label = f"{choice.plain if plain else choice.label} :gray[· fixed by the table]"
        shown = {"n": f"{table.n:,}", "d": str(table.d), "s": "all count"}.get(key, "does not apply")
        st.text_input(label, shown, disabled=True, key=f"{key} of {table.name}")
        return
    make = st.select_slider if choice.numeric else st.selectbox
    own: dict[str, Any] = {"value": choice.default} if choice.numeric else {"index": 0}
    make(
        _label(choice, plain, fixed),
        choice.options,
        key=key,
        bind="query-params",
        format_func=choice.text,
        disabled=fixed is not None,
        help=choice.help or None,
        **own,
    )


def _why_fixed(key: str, settings: Settings, table: Table | None) -> str | None:
    """Why a control is greyed, in a few words; None when it is free."""
    if key == "share":
        return "no method here depends on it"
    if key == "N" and settings["noise"] == "secure-aggregation":
        return "secure aggregation: N costs nothing"
    if key == "burn" and settings["shat"] >= (table.d if table else settings["d"]):
        return "nothing is thresholded"
    return None


def render() -> None:
    """The sidebar. Afterwards `settings()` is possible and complete."""
    opening = _SEEN not in st.session_state
    asked = st.query_params.to_dict()  # before the widgets take what they understand out of it
    now, said = _open_link() if opening else _keep_possible()
    st.session_state[_SEEN], st.session_state[_SAID] = now, said
    plain, table = now["view"] == "board", TABLES.get(now["data"])
    with st.sidebar:
        st.selectbox(
            *("Start from", list(PRESETS)),
            key="preset",
            index=None,
            placeholder="a preset ...",
            on_change=_apply_preset,
        )
        _widget("data", plain, None, None)
        for key in _MAIN:
            _widget(key, plain, table, _why_fixed(key, now, table))
        more = st.expander("More settings", key="more", on_change="rerun")
        with more:
            for key in _MORE:
                # A closed drawer sends only what is off its default, which a link must carry.
                if more.open or now[key] != CHOICES[key].default:
                    _widget(key, plain, table, _why_fixed(key, now, table))
    if opening:
        _correct_link(asked, now, said)


def view_switches() -> None:
    """Detail, ghost and loadings: what is shown, not what is measured."""
    view = CHOICES["view"]
    left, middle, right = st.columns([3, 2, 2], vertical_alignment="center")
    left.segmented_control(
        *("Detail", view.options),
        key="view",
        bind="query-params",
        default=view.default,
        format_func=view.text,
        label_visibility="collapsed",
        required=True,
    )
    middle.toggle("Hold the previous setting as a ghost", key="ghost", bind="query-params")
    right.toggle("Show the loadings found", key="loadings", bind="query-params")


def settings() -> Settings:
    """What every control is set to, possible together."""
    return dict(st.session_state[_SEEN])


def notices() -> None:
    """One sentence for each setting that had to give way, and the note on delta."""
    said = st.session_state[_SAID]
    if said:
        st.info("  \n".join(said))
    now = settings()
    table = TABLES.get(now["data"])
    n = table.n if table else now["n"]
    if now["delta"] > 1 / n:
        chance = choices.number(now["delta"])
        st.caption(
            f"δ = {chance} is above 1/n: a method that publishes each record outright with "
            f"probability {chance} would keep this guarantee."
        )


def on_table() -> bool:
    """Whether a real table is shown."""
    return bool(settings()["data"] != SYNTHETIC)
