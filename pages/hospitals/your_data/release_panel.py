"""The screen's release: asked for, its price said, confirmed once, made once, shown."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import streamlit as st

from dppca_core.methods import METHODS
from dppca_core.privacy import Budget, Neighbours
from dppca_core.release import private_release
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import Released, Request
from dppca_core.tables import safe_cell, safe_csv
from pages.hospitals.your_data import (
    chart_descriptions,
    charts,
    confirmation,
    price_text,
    session,
    unit_text,
)
from pages.hospitals.your_data import (
    text as page_text,
)
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import ConfirmedRelease, TableSession
from pages.shared import text
from pages.shared.figure import component
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings


def nearest_request(
    settings: Settings, d: int, neighbours: Neighbours, rows: int = 1
) -> tuple[Request, list[str]]:
    """What the settings ask for, as near as d features allow; a sentence for each that gave way.

    Raises ValueError for what cannot be released of so many features.
    """
    adjustments = []

    def at_most(key: str, low: int, high: int) -> int:
        value = min(max(settings[key], low), high)
        if value != settings[key] and key in _METHOD_SETTINGS[settings["own.method"]]:
            adjustments.append(adjustment(key, settings[key], value, settings["view"] == "board"))
        return value

    k = at_most("own.k", 1, d - 1)
    budget = Budget(settings["own.epsilon"], settings["own.delta"], neighbours)
    request = Request(
        settings["own.method"],
        d,
        k,
        budget,
        s_hat=at_most("own.s_hat", k, d),
        rank=at_most("own.rank", k, d),
        iterations=settings["own.iterations"],
        burn_in=settings["own.burn_in"],
        rows_per_patient=rows,
    )
    return request, adjustments


def adjustment(key: str, wanted: int, value: int, plain: bool) -> str:
    """Say that another value is used than the control is set to."""
    way = "lowered" if value < wanted else "raised"
    return f"{widgets.CHOICES[key].name(plain)} {way} to {value} here."


_METHOD_SETTINGS = {
    "analyze_gauss": ("own.k",),
    "analyze_gauss_sparse": ("own.k", "own.s_hat"),
    "dpdis_pca": ("own.k", "own.rank"),
    "dps_pca": ("own.k", "own.s_hat", "own.iterations", "own.burn_in"),
}


def choose_settings(settings: Settings, hospitals: int) -> None:
    """The controls that matter to the method, and what it is for so many hospitals."""
    plain = settings["view"] == "board"
    keys = ("own.method", "own.epsilon", "own.delta", *_METHOD_SETTINGS[settings["own.method"]])
    for begin in range(0, len(keys), 3):
        for column, key in zip(st.columns(3), keys[begin : begin + 3], strict=False):
            with column:
                widgets.choose(key)
    method = METHODS[settings["own.method"]]
    trust = f"Whom it trusts: {text.TRUST_TITLES[method.trust].lower()}. "
    st.caption(trust + price_text.hardening(settings["own.method"], plain))
    alone = page_text.in_one_place(settings["own.method"], hospitals)
    if alone:
        st.info(alone)


def show(prepared: PreparedTable, account: Account, settings: Settings) -> None:
    """Price, button, confirmation, progress; then what was released."""
    plain = settings["view"] == "board"
    rows = session.current().rows_per_patient
    assert account.limit is not None and rows is not None
    try:
        request, adjustments = nearest_request(settings, prepared.d, account.limit.neighbours, rows)
    except ValueError as reason:
        st.error(page_text.refusal(text.symbols(str(reason))))
        return
    for sentence in adjustments:
        st.caption(sentence)
    if request.budget.delta > 1 / prepared.n:
        noun = unit_text.noun(rows)
        st.caption(f"The failure chance is above one in the number of {noun}: choose a smaller one.")
    st.caption(unit_text.odds(request.budget, rows, request.patient_epsilon))
    of_patient = unit_text.price(request.events, request.budget, rows, plain)
    confirmation.show(
        "release",
        "Release …",
        (request, account, prepared.identity),
        price=price_text.price(price_text.title(request, plain), request.events, account, plain, of_patient),
        question=price_text.confirm(request, prepared, account, plain),
        begin=partial(_begin, request, account),
        keep=partial(_keep, ConfirmedRelease(prepared.raw.name, prepared.raw.key, prepared.schema, request)),
        blocked=price_text.exceeds_limit(request.events, account),
    )


def _begin(request: Request, account: Account, state: TableSession) -> confirmation.Make | None:
    prepared = state.ready
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


def _keep(made: ConfirmedRelease, state: TableSession, job: ReleaseJob[Released]) -> None:
    state.releases.append(replace(made, job=job))


def show_releases(settings: Settings) -> ConfirmedRelease | None:
    """What was released in this session, one of it in full; the one that is shown."""
    made = [release for release in session.current().releases if release.released is not None]
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
    rows = session.current().rows_of(chosen.key)
    if rows is not None:
        restated = unit_text.restated(chosen.released, rows, settings["view"] == "board")
        if restated:
            st.warning(restated)
    _show_release(chosen, chosen.released, settings)
    return chosen


def _titled(i: int, made: ConfirmedRelease) -> str:
    released = made.released
    assert released is not None
    at = released.entry.at[11:19]
    return f"{i + 1} · {released.document['what']} at {at} UTC, {made.name}"


def mark_downloaded(state: TableSession, made: ConfirmedRelease) -> None:
    """Note that a file of this release was asked for."""
    if made.job is not None:
        state.downloaded.add(made.job.number)


def _show_release(made: ConfirmedRelease, released: Released, settings: Settings) -> None:
    features, plain = made.schema.features, settings["view"] == "board"
    st.markdown(page_text.centring(released, plain))
    st.markdown(
        f"**{page_text.promise(released, plain)}** {price_text.hardening(released.document['method'], plain)}"
    )
    frame = page_text.loadings(released, features, plain)
    loadings = "weights" if plain else "loadings"
    drawn = charts.loadings(features, released.basis, plain)
    says = chart_descriptions.weights(drawn, plain)
    component.figure(drawn, key="own loadings", save="private-components", says=says)
    if released.eigenvalues is not None:
        st.caption(page_text.eigenvalues(released, plain))
    with st.expander(f"All {loadings} as a table"):
        # The list has a download of its own, which a spreadsheet opens.
        st.dataframe(frame.assign(feature=frame["feature"].map(safe_cell)), hide_index=True)
    left, right, beside = st.columns([1, 1, 1])
    if made in session.current().unsaved:
        # In a column: when it goes, nothing below moves, or Streamlit would close what is folded open there.
        beside.markdown(page_text.UNSAVED)
    # Ready bytes: what is built when it is asked for is lost if the page runs between the click and the file.
    keep = partial(mark_downloaded, session.current(), made)
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
        json.dumps(released.document, indent=1, ensure_ascii=False),
        "private-release.json",
        "application/json",
        on_click=keep,
        width="stretch",
    )
