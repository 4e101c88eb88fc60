"""Lead from your own table, by a rehearsal on invented patients, to one release and the budget left."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from dppca_core.accounts.account import Balance
from dppca_core.accounts.book import Payer
from dppca_core.release.request import Request
from dppca_core.tables.encode import PreparedTable
from pages.hospitals.your_data import (
    account_panel,
    book_releases,
    lost_table,
    mail_panel,
    owner_only_panel,
    rehearsal_panel,
    release_panel,
    results,
    session,
    sources,
    text,
    upload_panel,
)
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.rehearsal import Rehearsal
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.release_request import NotReleasedError, requested
from pages.hospitals.your_data.settings import DELTAS
from pages.shared.document import streamlit
from pages.shared.settings import catalogue, widgets
from pages.shared.text import refusal, symbols


def show_release(
    prepared: PreparedTable, payer: Payer, account: Balance, made: Rehearsal | None, layout: PageLayout
) -> None:
    rows, refused = session.current().rows_per_patient or 1, ""
    request: Request | None = None
    try:
        request = requested(layout.settings, prepared, account, rows) if made is None else made.twin.request
    except NotReleasedError as reason:
        refused = str(reason)
    release_panel.choose_others(prepared, request, layout)
    if account.limit is None:
        account_panel.ask_limit(payer, layout)
        return
    if not session.current().drawing:  # a release in the making is paid for, and would seem interrupted
        release_panel.show_interrupted(prepared, payer, account, layout)
    if request is None:
        layout.details().error(refusal(symbols(refused)))
        return
    warned = made is not None and any(results.warnings(made, layout.plain))
    release_panel.show(prepared, account, request, warned, layout)


def offer_rehearsal(made: Rehearsal) -> None:
    file = results.file_of_rehearsal(made, layout.plain)
    _offer("Download the rehearsal", partial(file.html, layout.address()), "dppca-rehearsal.html")


def offer_release(release: ReleaseJob) -> None:
    def write() -> bytes:
        return results.file_of_release(release.result, layout.plain).html(layout.address()).encode()

    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    request = release.number, layout.plain, layout.address()
    file = session.current().cached_by_name("page", request, write)
    _offer("Download the page", file, "dppca-your-data.html")


def _offer(label: str, file: bytes | Callable[[], str], name: str) -> None:
    icon = ":material/download:"
    st.download_button(label, file, name, "text/html", on_click="ignore", help=text.IN_THE_FILE, icon=icon)


layout = PageLayout(widgets.settings())
widgets.head("Your data", text.INTRODUCTION, () if layout.plain else text.STEPS)
widgets.show_control("own.shown")

st.header("1 · Your table")
with layout.step("table"):
    study = upload_panel.show(layout)
state = session.current()
book_releases.bring(state)
prepared = study if isinstance(study, PreparedTable) else None
if study is not None:  # delta follows the number of patients, which is public, until it is set by hand
    layout.settings = widgets.follow("own.delta", catalogue.delta_for(study.n, DELTAS))
payer = account = made = None
if prepared is not None:
    payer, account = account_panel.open_account(prepared)
if study is not None:
    st.header("2 · Rehearse on invented patients")
    rehearsal_panel.choose(study, layout)
    with layout.step("rehearsal", on_demand=True):
        made = rehearsal_panel.show(study, account, layout)
    if made is not None:
        offer_rehearsal(made)
if prepared is not None:
    st.header("3 · Release")
elif state.releases:  # finished releases are in the book without their table
    st.header("What you released before")
with layout.step("release"):
    if prepared is not None and payer is not None and account is not None:
        show_release(prepared, payer, account, made, layout)
    release = release_panel.show_releases(layout)
if prepared is not None:
    with layout.step("owner"):
        owner_only_panel.show(prepared, None if made is None else made.twin, release, layout)
if release is not None:
    offer_release(release)
if prepared is not None and payer is not None and account is not None:
    st.header("4 · Your account")
    with layout.step("account"):
        account_panel.show(payer, account, layout)
mail_panel.show(prepared, account, layout)
# The first step that is not done is suggested; the last counts as never done.
done = (
    state.raw is not None,
    state.rows_per_patient is not None,
    prepared is not None,
    bool(state.releases),
    bool(layout.settings["own.shown"]),
    False,
)
st.markdown(f"**Try this:** {text.TRY_THIS[done.index(False)]}")
streamlit.show_block(sources.fold())
lost_table.watch(state)
