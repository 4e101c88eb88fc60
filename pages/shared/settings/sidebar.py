"""Show the sidebar: presets and the sliders that pages share, and why a page does not use one of them."""

import streamlit as st

from dppca_core.datasets import TABLES
from dppca_core.populations import stated_text
from pages.shared.settings import catalogue, in_context, of_pages, stated_numbers, widget_keys
from pages.shared.settings.catalogue import CHOICES, PRESETS, STATED, Settings
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.widgets import label_with_ends, set_all, settings, show, show_numbers, update


def render(page: str) -> None:
    """Apply what was moved, set the link, and show the sidebar unless the page's panel is hidden.

    Call it before `widgets.settings`, which returns what this has applied. page: the page's name in links.
    """
    panel = of_pages.panel(page)
    now = update(panel.opens, panel.full_only, panel.hidden)
    plain, chosen = now["view"] == "plain", now["preset"]
    # Presets that set delta reproduce papers, which plain view leaves out.
    left_out = {*(("delta",) if plain else ()), *(() if panel.differing else ("sites.data",))}
    names = [name for name, preset in PRESETS.items() if not left_out & preset.keys()]
    if chosen not in names or catalogue.reconcile(catalogue.with_preset(now, chosen))[0] != now:
        chosen = None  # a slider has moved since
    if panel.hidden:
        return
    with st.sidebar, st.container(key="shared-settings"):
        st.selectbox(
            "Start from",
            names,
            index=names.index(chosen) if chosen else None,
            placeholder="Start from a preset ...",
            label_visibility="collapsed",
            **widget_keys.widget_arguments("preset", chosen, _apply_preset),
        )
        main, others = of_pages.panel_keys(plain)
        unused = [key for key in (*main, *others) if _why_unused(key, now, panel)]
        for key in main:
            if key not in (*unused, *panel.beside):
                _widget(key, now, panel)
            if key == "epsilon":
                in_context.show_published_releases(plain)
        more = st.expander("More settings", key="more", on_change="rerun")
        if more.open:
            with more:
                # What this page does not use comes last; plain view leaves it out.
                for key in (*(key for key in others if key not in unused), *(() if plain else unused)):
                    _widget(key, now, panel)


def _apply_preset(name: str) -> None:
    set_all(catalogue.with_preset(settings(), name))


def _stated(now: Settings, used: bool) -> None:
    """Show the field for eigenvalues or correlations, with what is wrong with its text or what it states."""
    numbers = now["stated"]
    refused = show_numbers("stated", now["view"] == "plain", disabled=not used)
    d = catalogue.sizes(now)[1]
    if refused:
        st.error(refused)
    elif stated_text.is_table(numbers):
        st.caption(f"Correlations of {d} features.")
    else:
        most, least = stated_text.ends(numbers)
        st.caption(
            f"{stated_text.features(numbers)} eigenvalues of {d} features, from {most:g} to {least:g}."
        )
    if not refused and not stated_numbers.fits_link(numbers):
        st.caption("They are too long for a link: whoever opens yours pastes them again.")


def _widget(key: str, now: Settings, panel: Panel) -> None:
    """Show a control, with the reason where the page does not use it; or, in its place, what decides it."""
    choice, plain = CHOICES[key], now["view"] == "plain"
    held, why_unused = panel.held(now), _why_unused(key, now, panel)
    if key == "stated":
        if now["data"] == STATED:
            _stated(now, why_unused is None)
        return
    table = TABLES.get(now["data"])
    if table and key in catalogue.FIXED_BY_TABLE:
        sizes = {"n": f"{table.n:,}", "d": str(table.d), "s": "all count"}
        held = {key: (sizes.get(key, "does not apply"), "fixed by the table"), **held}
    elif (
        now["data"] == STATED and key in catalogue.fixed(now) and (key != "d" or catalogue.states_table(now))
    ):
        sizes = {"d": str(catalogue.sizes(now)[1]), "s": "all count"}
        held = {key: (sizes.get(key, "does not apply"), "by your numbers"), **held}
    if key in held:  # something else decides the setting: show its value and what decides it
        shown, why = held[key]
        label = f"{choice.name(plain)} · {why}"
        st.text_input(label, shown, disabled=True, key=f"{key} held at {shown}")
        return
    called = "Trust" if key == "trust" else choice.name(plain)  # on one line with the reason
    name = f"{called} · {why_unused}" if why_unused else label_with_ends(choice, plain)
    # The options of "data" say by themselves what is chosen, so that its label is hidden.
    label = "collapsed" if key == "data" and not why_unused else "visible"
    show(key, name, plain, disabled=why_unused is not None, help=choice.help or None, label_visibility=label)


def _why_unused(key: str, now: Settings, panel: Panel) -> str | None:
    """Return why a page does not use a control, in a few words; None when it does."""
    if now["view"] == "plain" and key in panel.plain_uses:
        return None
    if panel.unused is not None and (reasons := panel.unused(now)) is not None:
        return reasons.get(key)  # the page itself knows what makes no difference on it
    if key == "burn_in" and catalogue.rows_kept(now) >= catalogue.sizes(now)[1]:  # all features are kept
        return "nothing is thresholded"
    return panel.decided.get(key)
