"""Render the release: its settings, its price, its confirmation, and what was released."""

from __future__ import annotations

import json
from functools import partial

import streamlit as st

from dppca_core.privacy import Budget, Neighbours
from dppca_core.release import private_release
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import Progress, Released, Request
from dppca_core.tables import Schema, safe_cell, safe_csv
from pages.hospitals.your_data import (
    chart_descriptions,
    charts,
    confirmation,
    price_text,
    session,
    unit_text,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.prepared_table import PreparedTable, is_by_column
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import ConfirmedRelease, TableSession
from pages.shared import text
from pages.shared.figure import component
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES, Settings

_METHOD_SETTINGS = {
    "analyze_gauss": ("own.k",),
    "analyze_gauss_sparse": ("own.k", "own.s_hat"),
    "dpdis_pca": ("own.k", "own.rank"),
    "dps_pca": ("own.k", "own.s_hat", "own.iterations", "own.burn_in"),
}


def nearest_request(
    settings: Settings, d: int, neighbours: Neighbours, rows: int = 1
) -> tuple[Request, list[str]]:
    """Return what the settings ask for, as near as d features allow, and a sentence for each adjustment.

    Raises ValueError for what cannot be released of so many features.
    """
    k = min(settings["own.k"], d - 1)
    possible = {"own.k": k} | {key: min(max(settings[key], k), d) for key in ("own.s_hat", "own.rank")}
    request = Request(
        settings["own.method"],
        d,
        k,
        Budget(settings["own.epsilon"], settings["own.delta"], neighbours),
        s_hat=possible["own.s_hat"],
        rank=possible["own.rank"],
        iterations=settings["own.iterations"],
        burn_in=settings["own.burn_in"],
        rows_per_patient=rows,
    )
    adjustments = [
        page_text.adjusted(CHOICES[key].name(settings["view"] == "board"), settings[key], value)
        for key, value in possible.items()
        if value != settings[key] and key in _METHOD_SETTINGS[request.method]
    ]
    return request, adjustments


def choose_settings(settings: Settings, hospitals: int) -> None:
    """Render the controls that matter to the method, and what it is for so many hospitals."""
    method, plain = settings["own.method"], settings["view"] == "board"
    keys = ("own.method", "own.epsilon", "own.delta", *_METHOD_SETTINGS[method])
    for begin in range(0, len(keys), 3):
        for column, key in zip(st.columns(3), keys[begin : begin + 3], strict=False):
            with column:
                widgets.choose(key)
    st.caption(f"{page_text.trust(method)} {price_text.hardening(method, plain)}")
    alone = page_text.in_one_place(method, hospitals)
    if alone:
        st.info(alone)


def show(prepared: PreparedTable, account: Account, settings: Settings) -> None:
    """Render the price, the button, the question and the progress of a release."""
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
        st.caption(page_text.large_chance(rows))
    st.caption(unit_text.odds(request.budget, rows, request.patient_epsilon))
    title = price_text.release_title(request, plain)
    price = price_text.price(title, request.events, account, request.budget, rows, plain)
    confirmation.show(
        "release",
        "Release …",
        (request, account, prepared.identity),
        price,
        partial(price_text.question, request, prepared.n, plain),
        make=partial(_make, request, account),
        keep=partial(_keep, prepared.raw.name, prepared.raw.key, prepared.schema, request),
    )


def _make(
    request: Request, account: Account, prepared: PreparedTable, ledger: Ledger, progress: Progress
) -> Released:
    return private_release.make(
        request,
        prepared.parts,
        ledger,
        features=prepared.schema.features,
        public=prepared.public,
        by_column=is_by_column(prepared.assignment),
        expected=account,
        progress=progress,
    )


def _keep(
    name: str, key: str, schema: Schema, request: Request, state: TableSession, job: ReleaseJob[Released]
) -> None:
    state.releases.append(ConfirmedRelease(name, key, schema, request, job))


def show_releases(settings: Settings) -> ConfirmedRelease | None:
    """Render the releases of this session, one of them in full. Return the one that is shown."""
    state, plain = session.current(), settings["view"] == "board"
    finished = [(release, release.released) for release in state.releases if release.released is not None]
    if not finished:
        return None
    titles = [
        page_text.release_title(i, released, release.name)
        for i, (release, released) in enumerate(finished, start=1)
    ]
    index = len(finished) - 1
    if index > 0:
        index = st.selectbox(
            "Released in this session",
            range(len(finished)),
            index,
            key=f"own result {len(finished)}",
            format_func=titles.__getitem__,
        )
    release, released = finished[index]
    if state.raw is not None and state.raw.key == release.key and state.rows_per_patient is not None:
        restated = unit_text.restated(released, state.rows_per_patient, plain)
        if restated:
            st.warning(restated)
    _show_release(release, released, plain)
    return release


def mark_downloaded(state: TableSession, release: ConfirmedRelease) -> None:
    """Note that a file of this release was requested."""
    state.downloaded.add(release.job.number)


def _show_release(release: ConfirmedRelease, released: Released, plain: bool) -> None:
    features, state = release.schema.features, session.current()
    st.markdown(page_text.centring(released, plain))
    hardening = price_text.hardening(released.document["method"], plain)
    st.markdown(f"**{page_text.promise(released, plain)}** {hardening}")
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
    if release in state.unsaved:
        # In a column: when it goes, nothing below moves, or Streamlit would close what is folded open there.
        beside.markdown(page_text.UNSAVED)
    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    document = json.dumps(released.document, indent=1, ensure_ascii=False)
    for column, label, data, name, form in (
        (left, f"Download the {loadings} (CSV)", safe_csv(frame), "private-components.csv", "text/csv"),
        (right, "Download all of it (JSON)", document, "private-release.json", "application/json"),
    ):
        column.download_button(
            label, data, name, form, on_click=mark_downloaded, args=(state, release), width="stretch"
        )
