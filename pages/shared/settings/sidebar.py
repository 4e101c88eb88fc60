"""Show the sidebar: presets and the sliders that pages share, and why a page disables one of them."""

from __future__ import annotations

import streamlit as st

from dppca_core.datasets import TABLES, Table
from pages.shared.settings import catalogue, of_pages
from pages.shared.settings.catalogue import CHOICES, PRESETS, Settings
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.widgets import label_with_ends, set_all, settings, show, update

_MAIN = ("epsilon", "delta", "n", "providers", "d", "k", "s", "s_hat")
_MORE = (
    *("iterations", "burn_in", "provider_noise", "largest_share", "accounting", "neighbours", "scaling"),
    *("spike", "bulk", "start", "repeats", "seed", "metric", "scale"),
)
# These change what is shown, not what is measured, so presets do not set them.
_SHOWN = ("view", "ghost", "loadings", "slow", *catalogue.PAGE_KEYS)


def render(page: str) -> None:
    """Show the sidebar and set the link of this screen; afterwards `widgets.settings()` is possible.

    A page whose panel has a sentence instead shows no sliders.
    """
    now = update()
    chosen = st.session_state.get("preset")
    if chosen is not None and catalogue.reconcile(_preset(chosen, now))[0] != now:
        st.session_state["preset"] = None  # a slider has moved since
    panel = of_pages.panel(page)
    plain, table = now["view"] == "board", None if panel.unused else TABLES.get(now["data"])
    if panel.instead:
        st.sidebar.caption(panel.instead)
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
            _widget(key, plain, _held(key, now, panel), _why_fixed(key, now, table, panel))
        more = st.expander("More settings", key="more", on_change="rerun")
        if more.open:
            with more:
                for key in _MORE:
                    _widget(key, plain, _held(key, now, panel), _why_fixed(key, now, table, panel))


def _preset(name: str, now: Settings) -> Settings:
    """Return all settings of a preset; detail, ghost and loadings stay as they are now."""
    return catalogue.defaults() | {key: now[key] for key in _SHOWN} | PRESETS[name]


def _apply_preset() -> None:
    name = st.session_state.get("preset")
    if name is not None:
        set_all(_preset(name, settings()))


def _widget(key: str, plain: bool, held: tuple[str, str] | None, fixed: str | None) -> None:
    choice = CHOICES[key]
    if held is not None:
        shown, why = held
        label = f"{choice.name(plain)} · {why}"
        st.text_input(label, shown, disabled=True, key=f"{key} held at {shown}")
        return
    name = f"{choice.name(plain)} · {fixed}" if fixed else label_with_ends(choice, plain)
    show(key, name, plain, disabled=fixed is not None, help=choice.help or None)


def _held(key: str, now: Settings, panel: Panel) -> tuple[str, str] | None:
    """Return what a control that something else decides shows, and what decides it; None if it is free."""
    held = panel.held(now)
    if key in held:
        return held[key]
    table = TABLES.get(now["data"])
    if table and key in catalogue.FIXED_BY_TABLE:
        shown = {"n": f"{table.n:,}", "d": str(table.d), "s": "all count"}
        return shown.get(key, "does not apply"), "fixed by the table"
    return None


def _why_fixed(key: str, settings: Settings, table: Table | None, panel: Panel) -> str | None:
    """Return why a control is greyed, in a few words; None when it is free."""
    if panel.unused is not None:
        return panel.unused(settings).get(key)
    if key in panel.decided:
        return panel.decided[key]
    if key == "burn_in" and settings["s_hat"] >= (table.d if table else settings["d"]):
        return "nothing is thresholded"
    return None
