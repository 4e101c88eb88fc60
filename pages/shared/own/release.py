"""The screen's release: asked for, its price said, confirmed once, made once, shown."""

from __future__ import annotations

import json
from functools import partial

import streamlit as st

from dppca_core import private_release
from dppca_core.ledger import Account, Limit
from dppca_core.methods import METHODS
from dppca_core.private_release import Released, Request
from dppca_core.tables import safe_csv
from dppca_core.types import Budget
from pages.shared import controls, jobs, live, text
from pages.shared.choices import Settings
from pages.shared.own import charts, session, words
from pages.shared.own.order import Order
from pages.shared.own.session import Made, Own
from pages.shared.own.table import Prepared

_FIRST_LOOK_SECONDS = 1.0
_REFRESH_SECONDS = 0.4


def possible(settings: Settings, d: int, limit: Limit) -> tuple[Request, list[str]]:
    """What the settings ask for, as near as d features allow; a sentence for each that gave way.

    Raises ValueError for what cannot be released of so many features.
    """
    said = []

    def at_most(key: str, low: int, high: int) -> int:
        value = min(max(settings[key], low), high)
        if value != settings[key] and key in _OWN[settings["own.method"]]:
            way = "lowered" if value < settings[key] else "raised"
            said.append(f"{controls.CHOICES[key].name(settings['view'] == 'board')} {way} to {value} here.")
        return value

    k = at_most("own.k", 1, d - 1)
    budget = Budget(settings["own.eps"], settings["own.delta"], limit.neighbours)
    request = Request(
        settings["own.method"],
        d,
        k,
        budget,
        s_hat=at_most("own.shat", k, d),
        rank=at_most("own.rank", k, d),
        iterations=settings["own.T"],
        burn_in=settings["own.burn"],
    )
    return request, said


_OWN = {
    "analyze_gauss": ("own.k",),
    "analyze_gauss_sparse": ("own.k", "own.shat"),
    "dpdis_pca": ("own.k", "own.rank"),
    "dps_pca": ("own.k", "own.shat", "own.T", "own.burn"),
}


def choose(settings: Settings) -> None:
    """The controls that matter to the method."""
    plain = settings["view"] == "board"
    keys = ("own.method", "own.eps", "own.delta", *_OWN[settings["own.method"]])
    for begin in range(0, len(keys), 3):
        for column, key in zip(st.columns(3), keys[begin : begin + 3], strict=False):
            with column:
                controls.choose(key)
    method = METHODS[settings["own.method"]]
    trust = f"Whom it trusts: {text.TRUST_TITLES[method.trust].lower()}. "
    st.caption(trust + words.hardening(settings["own.method"], plain))


def show(prepared: Prepared, account: Account, settings: Settings) -> None:
    """Price, button, confirmation, progress; then what was released."""
    own, plain = session.own(), settings["view"] == "board"
    assert account.limit is not None
    try:
        request, said = possible(settings, prepared.d, account.limit)
    except ValueError as reason:
        st.error(words.refusal(text.symbols(str(reason))))
        return
    for sentence in said:
        st.caption(sentence)
    st.caption(text.odds(request.budget.epsilon, request.budget.delta, request.budget.neighbours))
    what = (request, account, prepared.of)
    if own.asked is not None and own.asked.what != what:
        own.asked = None  # it was asked for something else
    running = [made.order for made in own.made if made.order.running]
    if running:
        _progress(running[-1])
    elif own.asked is None:
        st.markdown(words.price(request, account, plain))
        st.button(
            "Release …",
            type="primary",
            key="own release",
            disabled=words.over(request, account),
            on_click=_ask,
            args=(own, request, what),
        )
    else:
        _confirmation(own, own.asked, prepared, words.confirm(request, prepared, account, plain))
    if own.made and own.made[-1].key == prepared.raw.key and own.made[-1].order.failed:
        st.warning(words.ended(own.made[-1].order))


def _ask(own: Own, request: Request, what: object) -> None:
    """A button's arguments outlive the table, so the rows are not among them."""
    prepared = own.ready
    if prepared is None:
        return
    ledger = session.ledger(prepared.raw)
    own.asked = Order(
        what,
        lambda progress: private_release.make(
            request,
            prepared.parts,
            ledger,
            features=prepared.schema.features,
            public=prepared.public,
            progress=progress,
        ),
        partial(jobs.present, jobs.visitor()),
    )


def _confirmation(own: Own, order: Order[Released], prepared: Prepared, said: str) -> None:
    with st.container(border=True, key="own confirmation"):
        st.markdown(said)
        left, right, _ = st.columns([2, 2, 3])
        # The order's number is in the key: a click on this button cannot confirm a later order.
        left.button(
            "Spend and release",
            type="primary",
            key=f"own confirm {order.number}",
            on_click=_confirm,
            args=(own, order, Made(prepared.raw.name, prepared.raw.key, prepared.schema, order)),
            width="stretch",
        )
        right.button(
            "Do not release",
            key=f"own decline {order.number}",
            on_click=_decline,
            args=(own,),
            width="stretch",
        )


def _confirm(own: Own, order: Order[Released], made: Made) -> None:
    """The first click makes the release; any other finds it made."""
    if order.confirm():
        own.made.append(made)
        own.asked = None
        order.wait(_FIRST_LOOK_SECONDS)


def _decline(own: Own) -> None:
    own.asked = None


def _progress(order: Order[Released]) -> None:
    def bar() -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.progress(order.share, "Drawing noise")
        right.button("Stop", key=f"own stop {order.number}", on_click=order.stop, width="stretch")
        if not order.running:
            st.rerun()

    st.fragment(bar, run_every=_REFRESH_SECONDS)()


def results(settings: Settings) -> Made | None:
    """What was released in this session, one of it in full; the one that is shown."""
    made = [one for one in session.own().made if one.order.made is not None]
    if not made:
        return None
    index = len(made) - 1
    if len(made) > 1:
        index = st.selectbox(
            "Released in this session",
            range(len(made)),
            index,
            key=f"own result {len(made)}",
            format_func=lambda i: _titled(i, made[i]),
        )
    chosen = made[index]
    found = chosen.order.made
    assert found is not None
    _one(found, chosen.schema.features, settings)
    return chosen


def _titled(i: int, made: Made) -> str:
    found = made.order.made
    assert found is not None
    at = found.entry.at[11:19]
    return f"{i + 1} · {found.document['what']} at {at} UTC, {made.name}"


def _one(found: Released, features: tuple[str, ...], settings: Settings) -> None:
    plain = settings["view"] == "board"
    st.markdown(f"**{words.promise(found, plain)}** {words.hardening(found.document['method'], plain)}")
    frame = words.loadings(found, features)
    live.figure(charts.loadings(features, found.basis), key="own loadings", save="private-components")
    if found.eigenvalues is not None:
        st.caption(words.eigenvalues(found, plain))
    with st.expander("All loadings as a table"):
        st.dataframe(frame, hide_index=True)
    left, right, _ = st.columns([1, 1, 1])
    left.download_button(
        "Download the loadings (CSV)",
        lambda: safe_csv(frame),
        "private-components.csv",
        "text/csv",
        on_click="ignore",
        width="stretch",
    )
    right.download_button(
        "Download all of it (JSON)",
        lambda: json.dumps(found.document, indent=1, ensure_ascii=False),
        "private-release.json",
        "application/json",
        on_click="ignore",
        width="stretch",
    )
