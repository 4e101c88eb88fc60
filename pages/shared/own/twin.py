"""The synthetic twin: the explorer's own figure for as many invented patients, measured as often."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dppca_core import spectrum_release
from dppca_core.experiments.scene import EPSILONS
from dppca_core.ledger_lines import Account
from dppca_core.spectrum_release import Spectrum
from dppca_core.types import Budget
from pages.shared import cached, choices, controls, live, readout, scenes, worker
from pages.shared.choices import CHOICES, Settings
from pages.shared.own import confirm, price_words, session, unit_words, words
from pages.shared.own.order import Order
from pages.shared.own.session import Own
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


def figure(prepared: Prepared, settings: Settings) -> Callable[[], dict[str, Any]] | None:
    """How the twin's figure is built, for a file; None where there is no twin. It holds no table."""
    n, d, hospitals = prepared.n, prepared.d, len(prepared.sizes)
    if d < _FEWEST or n < hospitals:
        return None
    wanted = settings_of(settings | {"own.N": hospitals}, n, d)
    scene, epsilon = scenes.of(wanted)
    found = cached.results(scene)
    return lambda: readout.payload(found, epsilon, wanted)


def show(prepared: Prepared, account: Account | None, settings: Settings) -> None:
    """The guesses, the figure, the way to the explorer, and eigenvalues of one's own for a slice."""
    n, d = prepared.n, prepared.d
    if d < _FEWEST or n < len(prepared.sizes):
        st.caption(f"A twin needs at least {_FEWEST} measurements.")
        return
    spectrum = _shaped(prepared, settings)
    for column, key in zip(st.columns(2), ("own.ratio", "own.s"), strict=True):
        with column:
            controls.choose(key)
    wanted = settings_of(settings | {"own.N": len(prepared.sizes)}, n, d)
    scene, epsilon = scenes.of(wanted)
    found = cached.results(scene)
    missing = found.next_missing(epsilon, False) is not None
    begun: list[bool] = []  # in the run of the whole page, not at its refreshes

    def panels() -> None:
        if controls.settings()["own.eps"] != epsilon:
            st.rerun()  # a scrub was kept: only this fragment knows so far
        for _ in () if begun else worker.at_first(found.steps(found.first(epsilon))):
            pass
        begun.append(True)
        payload = readout.payload(found, epsilon, wanted) | {"follow": "own-eps"}
        live.figure(payload, key="own twin", on_use=_keep_scrubbed)
        if not payload["complete"]:
            worker.look(found, lambda: found.next_missing(epsilon, False))
        elif missing:
            st.rerun()

    st.fragment(panels, run_every=REFRESH_SECONDS if missing else None)()
    link = urlencode(choices.to_link(nearest(wanted)))
    said = "Open the explorer with these settings"
    st.link_button(said, f"./?{link}", help="In a new tab: this table stays here.")
    noun = unit_words.noun(session.own().rows_per_patient or 1)
    st.caption(
        f"Invented {noun}, as many ({n:,}) and with as many measurements ({d:,}) as yours, whose "
        f"pattern is {'your guess' if spectrum is None else 'as strong as you paid to know'}. No patient of "
        "yours has a part in this figure, so it costs nothing."
        + ("" if noun == "patients" else " The figure calls each row a patient.")
    )
    if spectrum is not None:
        st.markdown(words.spectrum(spectrum, min(settings["own.k"], d - 1), settings["view"] == "board"))
    if account is not None and account.limit is not None:
        with st.expander("Shape the twin by your own table, for a slice of the budget", key="own shaping"):
            controls.choose("own.slice")
            _offer(prepared, account, settings)


def _shaped(prepared: Prepared, settings: Settings) -> Spectrum | None:
    """The eigenvalues that were paid for; the guess is moved to them once, before its control is drawn."""
    own = session.own()
    if own.spectrum is None or own.spectrum[0] != prepared.of or own.spectrum[1].made is None:
        return None
    order = own.spectrum[1]
    if own.shaped != order.number:
        own.shaped = order.number
        ratio = words.ratio(order.made, min(settings["own.k"], prepared.d - 1))
        controls.set_to("own.ratio", CHOICES["own.ratio"].nearest(ratio))
        st.rerun()
    return order.made


def _offer(prepared: Prepared, account: Account, settings: Settings) -> None:
    plain, limit = settings["view"] == "board", account.limit
    rows = session.own().rows_per_patient
    assert limit is not None and rows is not None
    budget = Budget(settings["own.slice"], settings["own.delta"], limit.neighbours)
    events = spectrum_release.events(budget)
    of_patient = unit_words.price(events, budget, rows, plain)
    price = price_words.price(price_words.of_spectrum(budget, plain), events, account, plain, of_patient)
    confirm.offer(
        "spectrum",
        "Pay for the spectrum …",
        (budget, rows, account, prepared.of),
        price=price,
        question=f"**Release the strength of every direction?** {price} {price_words.ONCE}",
        begin=partial(_begin, budget, rows),
        keep=partial(_keep, prepared.of),
        blocked=price_words.over(events, account),
    )


def _begin(budget: Budget, rows: int, own: Own) -> confirm.Make | None:
    prepared = own.ready
    if prepared is None:
        return None
    ledger = session.ledger(prepared.raw)
    return lambda progress: spectrum_release.make(prepared.parts, budget, ledger, rows)


def _keep(of: tuple[object, ...], own: Own, order: Order[Spectrum]) -> None:
    own.spectrum = of, order


def _keep_scrubbed() -> None:
    """The epsilon that was scrubbed to becomes the release's."""
    controls.set_to("own.eps", EPSILONS[int(st.session_state["own twin"]["use"])])
