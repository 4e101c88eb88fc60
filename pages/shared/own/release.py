"""The screen's release: asked for, its price said, confirmed once, made once, shown."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import streamlit as st

from dppca_core import private_release
from dppca_core.ledger_lines import Account
from dppca_core.methods import METHODS
from dppca_core.private_release import Released, Request
from dppca_core.tables import safe_cell, safe_csv
from dppca_core.types import Budget, Neighbours
from pages.shared import controls, live, spoken, text
from pages.shared.choices import Settings
from pages.shared.own import charts, confirm, price_words, session, unit_words, words
from pages.shared.own.order import Order
from pages.shared.own.session import Made, Own
from pages.shared.own.table import Prepared


def possible(settings: Settings, d: int, neighbours: Neighbours, rows: int = 1) -> tuple[Request, list[str]]:
    """What the settings ask for, as near as d features allow; a sentence for each that gave way.

    Raises ValueError for what cannot be released of so many features.
    """
    said = []

    def at_most(key: str, low: int, high: int) -> int:
        value = min(max(settings[key], low), high)
        if value != settings[key] and key in _OWN[settings["own.method"]]:
            said.append(gave_way(key, settings[key], value, settings["view"] == "board"))
        return value

    k = at_most("own.k", 1, d - 1)
    budget = Budget(settings["own.eps"], settings["own.delta"], neighbours)
    request = Request(
        settings["own.method"],
        d,
        k,
        budget,
        s_hat=at_most("own.shat", k, d),
        rank=at_most("own.rank", k, d),
        iterations=settings["own.T"],
        burn_in=settings["own.burn"],
        rows_per_patient=rows,
    )
    return request, said


def gave_way(key: str, wanted: int, value: int, plain: bool) -> str:
    """Say that another value is used than the control is set to."""
    way = "lowered" if value < wanted else "raised"
    return f"{controls.CHOICES[key].name(plain)} {way} to {value} here."


_OWN = {
    "analyze_gauss": ("own.k",),
    "analyze_gauss_sparse": ("own.k", "own.shat"),
    "dpdis_pca": ("own.k", "own.rank"),
    "dps_pca": ("own.k", "own.shat", "own.T", "own.burn"),
}


def choose(settings: Settings, hospitals: int) -> None:
    """The controls that matter to the method, and what it is for so many hospitals."""
    plain = settings["view"] == "board"
    keys = ("own.method", "own.eps", "own.delta", *_OWN[settings["own.method"]])
    for begin in range(0, len(keys), 3):
        for column, key in zip(st.columns(3), keys[begin : begin + 3], strict=False):
            with column:
                controls.choose(key)
    method = METHODS[settings["own.method"]]
    trust = f"Whom it trusts: {text.TRUST_TITLES[method.trust].lower()}. "
    st.caption(trust + price_words.hardening(settings["own.method"], plain))
    alone = words.in_one_place(settings["own.method"], hospitals)
    if alone:
        st.info(alone)


def show(prepared: Prepared, account: Account, settings: Settings) -> None:
    """Price, button, confirmation, progress; then what was released."""
    plain = settings["view"] == "board"
    rows = session.own().rows_per_patient
    assert account.limit is not None and rows is not None
    try:
        request, said = possible(settings, prepared.d, account.limit.neighbours, rows)
    except ValueError as reason:
        st.error(words.refusal(text.symbols(str(reason))))
        return
    for sentence in said:
        st.caption(sentence)
    if request.budget.delta > 1 / prepared.n:
        noun = unit_words.noun(rows)
        st.caption(f"The failure chance is above one in the number of {noun}: choose a smaller one.")
    st.caption(unit_words.odds(request.budget, rows, request.patient_epsilon))
    of_patient = unit_words.price(request.events, request.budget, rows, plain)
    confirm.offer(
        "release",
        "Release …",
        (request, account, prepared.of),
        price=price_words.price(price_words.by(request, plain), request.events, account, plain, of_patient),
        question=price_words.confirm(request, prepared, account, plain),
        begin=partial(_begin, request, account),
        keep=partial(_keep, Made(prepared.raw.name, prepared.raw.key, prepared.schema, request)),
        blocked=price_words.over(request.events, account),
    )


def _begin(request: Request, account: Account, own: Own) -> confirm.Make | None:
    prepared = own.ready
    if prepared is None:
        return None
    ledger = session.ledger(prepared.raw)
    return lambda progress: private_release.make(
        request,
        prepared.parts,
        ledger,
        features=prepared.schema.features,
        public=prepared.public,
        by_column=prepared.by_column,
        expected=account,
        progress=progress,
    )


def _keep(made: Made, own: Own, order: Order[Released]) -> None:
    own.made.append(replace(made, order=order))


def results(settings: Settings) -> Made | None:
    """What was released in this session, one of it in full; the one that is shown."""
    made = [one for one in session.own().made if one.released is not None]
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
    assert chosen.released is not None
    rows = session.own().rows_of(chosen.key)
    if rows is not None:
        restated = unit_words.restated(chosen.released, rows, settings["view"] == "board")
        if restated:
            st.warning(restated)
    _one(chosen, chosen.released, settings)
    return chosen


def _titled(i: int, made: Made) -> str:
    found = made.released
    assert found is not None
    at = found.entry.at[11:19]
    return f"{i + 1} · {found.document['what']} at {at} UTC, {made.name}"


def saved(own: Own, made: Made) -> None:
    """Note that a file of this release was asked for."""
    if made.order is not None:
        own.downloaded.add(made.order.number)


def _one(made: Made, found: Released, settings: Settings) -> None:
    features, plain = made.schema.features, settings["view"] == "board"
    st.markdown(words.centring(found, plain))
    st.markdown(f"**{words.promise(found, plain)}** {price_words.hardening(found.document['method'], plain)}")
    frame = words.loadings(found, features, plain)
    loadings = "weights" if plain else "loadings"
    drawn = charts.loadings(features, found.basis, plain)
    says = spoken.weights(drawn, plain)
    live.figure(drawn, key="own loadings", save="private-components", says=says)
    if found.eigenvalues is not None:
        st.caption(words.eigenvalues(found, plain))
    with st.expander(f"All {loadings} as a table"):
        # The list has a download of its own, which a spreadsheet opens.
        st.dataframe(frame.assign(feature=frame["feature"].map(safe_cell)), hide_index=True)
    left, right, beside = st.columns([1, 1, 1])
    if made in session.own().unsaved:
        # In a column: when it goes, nothing below moves, or Streamlit would close what is folded open there.
        beside.markdown(words.UNSAVED)
    # Ready bytes: what is built when it is asked for is lost if the page runs between the click and the file.
    keep = partial(saved, session.own(), made)
    left.download_button(
        f"Download the {loadings} (CSV)",
        safe_csv(frame),
        "private-components.csv",
        "text/csv",
        on_click=keep,
        width="stretch",
    )
    right.download_button(
        "Download all of it (JSON)",
        json.dumps(found.document, indent=1, ensure_ascii=False),
        "private-release.json",
        "application/json",
        on_click=keep,
        width="stretch",
    )
