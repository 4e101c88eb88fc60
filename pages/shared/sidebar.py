"""The sidebar: presets and sliders that pages share, and why one of them cannot be moved on a page."""

from __future__ import annotations

import streamlit as st

from dppca_core.datasets import TABLES, Table
from pages.shared import choices, privacy_view, site_view, text
from pages.shared.choices import CHOICES, PRESETS, Settings
from pages.shared.controls import named, offer, settings, settle, take

_MAIN = ("eps", "delta", "n", "N", "d", "k", "s", "shat")
_MORE = ("T", "burn", "noise", "share", "accounting", "neighbours", "scaling", "spike", "bulk")
_MORE = (*_MORE, "start", "repeats", "seed", "metric", "scale")
# What is shown, not what is measured: presets leave it alone.
_SHOWN = ("view", "ghost", "loadings", "slow", *choices.PAGE_KEYS)
# Pages on which some sliders make no difference.
_UNUSED = {"differences": site_view.unused, "privacy": privacy_view.unused}
_WITH_SIZES = "providers"  # the page that has a table of hospitals' sizes
_ON_THE_PAGE = {  # what a page sets itself
    _WITH_SIZES: {"noise": "all kinds are on the page", "start": "always random here"},
    "planner": {"noise": "follows whom you trust", "start": "always random here"},
}
_WITHOUT_SLIDERS = {
    "papers": "This page runs the papers' own settings. The sliders are on the other pages.",
    "your_data": "The settings of this page are beside what they decide. The sliders are elsewhere.",
    "story": "Two settings are on each step. Others are as on the other pages, or held as told below.",
}


def render(page: str) -> None:
    """The sidebar, and the link that restores this screen. Afterwards `controls.settings()` is possible.

    A page that has its settings from elsewhere is without the sliders.
    """
    now = settle()
    chosen = st.session_state.get("preset")
    if chosen is not None and choices.reconcile(_preset(chosen, now))[0] != now:
        st.session_state["preset"] = None  # the sliders have left it
    plain, table = now["view"] == "board", None if page in _UNUSED else TABLES.get(now["data"])
    if page in _WITHOUT_SLIDERS:
        st.sidebar.caption(_WITHOUT_SLIDERS[page])
        return
    with st.sidebar:
        st.selectbox(
            *("Start from", list(PRESETS)),
            key="preset",
            index=None,
            placeholder="a preset ...",
            on_change=_apply_preset,
        )
        for key in ("data", *_MAIN):
            _widget(key, plain, _held(key, now, page), _why_fixed(key, now, table, page))
        more = st.expander("More settings", key="more", on_change="rerun")
        if more.open:
            with more:
                for key in _MORE:
                    _widget(key, plain, _held(key, now, page), _why_fixed(key, now, table, page))


def _preset(name: str, now: Settings) -> Settings:
    """All settings of a preset; detail, ghost and loadings stay as they are now."""
    return choices.defaults() | {key: now[key] for key in _SHOWN} | PRESETS[name]


def _apply_preset() -> None:
    name = st.session_state["preset"]
    if name is not None:
        take(_preset(name, settings()))


def _widget(key: str, plain: bool, held: tuple[str, str] | None, fixed: str | None) -> None:
    choice = CHOICES[key]
    if held is not None:
        shown, why = held
        label = f"{choice.name(plain)} · {why}"
        st.text_input(label, shown, disabled=True, key=f"{key} held at {shown}")
        return
    name = f"{choice.name(plain)} · {fixed}" if fixed else named(choice, plain)
    offer(key, name, plain, disabled=fixed is not None, help=choice.help or None)


def _held(key: str, now: Settings, page: str) -> tuple[str, str] | None:
    """What a control that something else decides shows, and what decides; None for one that can be moved."""
    sizes = choices.own_sizes(now) if page == _WITH_SIZES else ()
    if sizes and key in ("n", "N", "share"):
        total = sum(sizes)
        shown = {"n": f"{total:,}", "N": str(len(sizes)), "share": text.percent(max(sizes) / total)}
        return shown[key], "set by the sizes"
    table = TABLES.get(now["data"])
    if table and key in choices.FIXED_BY_TABLE:
        shown = {"n": f"{table.n:,}", "d": str(table.d), "s": "all count"}
        return shown.get(key, "does not apply"), "fixed by the table"
    return None


def _why_fixed(key: str, settings: Settings, table: Table | None, page: str) -> str | None:
    """Why a control is greyed, in a few words; None when it is free."""
    if page in _UNUSED:
        return _UNUSED[page](settings).get(key)
    if key in _ON_THE_PAGE.get(page, {}):
        return _ON_THE_PAGE[page][key]
    if key == "burn" and settings["shat"] >= (table.d if table else settings["d"]):
        return "nothing is thresholded"
    return None
