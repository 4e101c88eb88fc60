"""The synthetic twin: the explorer's own figure for as many invented patients, measured as often."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from dppca_core.experiments.live import EPSILONS
from pages.shared import cached, choices, controls, live, readout, scenes
from pages.shared.choices import CHOICES, Settings
from pages.shared.own.table import Prepared

REFRESH_SECONDS = 0.6
BULK = 10.0
_FEWEST = 4  # features of a twin: k below s, and s at most d


def settings_of(settings: Settings, n: int, d: int) -> Settings:
    """The explorer's settings of a population with these n and d, and the person's guesses.

    They may lie between its sliders' options; `nearest` does not.
    """
    k = min(settings["own.k"], max(d - 2, 1))
    s = min(max(settings["own.s"], k + 1), d)
    release = {key: settings[f"own.{key}"] for key in ("eps", "delta", "T", "burn")}
    return (
        choices.defaults()
        | release
        | {
            "view": settings["view"],
            "n": n,
            "d": d,
            "k": k,
            "s": s,
            "shat": min(max(settings["own.shat"], k + 1), d),
            "N": min(settings["own.N"], n),
            "spike": BULK * settings["own.ratio"],
            "bulk": BULK,
        }
    )


def nearest(wanted: Settings) -> Settings:
    """The explorer's options nearest to these settings, possible together."""
    snapped = {
        key: CHOICES[key].nearest(value) if CHOICES[key].numeric else value for key, value in wanted.items()
    }
    return choices.reconcile(snapped)[0]


def show(prepared: Prepared, settings: Settings) -> None:
    """The guesses, the figure, and the way to the explorer."""
    n, d = prepared.n, prepared.d
    if d < _FEWEST or n < len(prepared.groups):
        st.caption(f"A twin needs at least {_FEWEST} measurements.")
        return
    for column, key in zip(st.columns(2), ("own.ratio", "own.s"), strict=True):
        with column:
            controls.choose(key)
    wanted = settings_of(settings | {"own.N": len(prepared.groups)}, n, d)
    scene, epsilon = scenes.of(wanted)
    found = cached.results(scene)
    missing = found.next_missing(epsilon, False) is not None

    def panels() -> None:
        if controls.settings()["own.eps"] != epsilon:
            st.rerun()  # a scrub was kept: only this fragment knows so far
        for cell in found.missing(found.first(epsilon)):
            found.try_cell(*cell)
        payload = readout.payload(found, epsilon, wanted) | {"follow": "own-eps"}
        live.figure(payload, key="own twin", on_use=_keep_scrubbed)
        if not payload["complete"]:
            cached.look(found, lambda: found.next_missing(epsilon, False))
        elif missing:
            st.rerun()

    st.fragment(panels, run_every=REFRESH_SECONDS if missing else None)()
    link = urlencode(choices.to_link(nearest(wanted)))
    said = "Open the explorer with these settings"
    st.link_button(said, f"./?{link}", help="In a new tab: this table stays here.")
    st.caption(
        f"Invented patients, as many ({n:,}) and with as many measurements ({d:,}) as yours, whose "
        "pattern is your guess. No patient of yours has a part in this figure, so it costs nothing."
    )


def _keep_scrubbed() -> None:
    """The epsilon that was scrubbed to becomes the release's."""
    controls.set_to("own.eps", EPSILONS[int(st.session_state["own twin"]["use"])])
