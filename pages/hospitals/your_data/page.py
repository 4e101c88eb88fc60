"""Lead from your own table, by a rehearsal on a synthetic twin, to one release and the budget left."""

from functools import partial

import streamlit as st

from dppca_core.accounts.account import Account
from dppca_core.release.request import Request
from dppca_core.tables.encode import PreparedTable
from pages.hospitals.your_data import (
    account_panel,
    book_releases,
    lost_table,
    owner_only_panel,
    plain_text,
    rehearsal,
    release_panel,
    report,
    session,
    sources,
    synthetic_twin_panel,
    text,
    upload_panel,
    usable_patients,
)
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.rehearsal import StopSign, Twin
from pages.hospitals.your_data.settings import DELTAS
from pages.shared.reports import html_report
from pages.shared.settings import catalogue, widgets

layout = PageLayout(widgets.settings())
settings = widgets.head("Your data", text.INTRODUCTION, () if layout.plain else text.STEPS)
widgets.show_control("own.shown")

st.header("1 · Your table")
with layout.step("table"):
    shown = upload_panel.show(layout)
    prepared = shown if isinstance(shown, PreparedTable) else None
state = session.current()
book_releases.bring(state)
rows = state.rows_per_patient or 1
if prepared is not None:  # delta follows the number of patients, which is public, until it is set by hand
    settings = layout.settings = widgets.follow("own.delta", catalogue.delta_for(prepared.n, DELTAS))
payer = account = twin = None
request: Request | str = ""
stop: StopSign | None = None


def _rehearse_at(prepared: PreparedTable, account: Account | None, epsilon: float) -> Twin | str:
    """Return the rehearsal of the release that is set, but at another epsilon, or why there is none."""
    request = release_panel.requested(settings | {"own.epsilon": epsilon}, prepared, account, rows)
    return synthetic_twin_panel.rehearse_table(prepared, request, settings)


if prepared is not None:
    payer, account = account_panel.open_account(prepared)
    st.header("2 · Rehearse on invented patients")
    widgets.show_control("own.counts")
    st.caption(" ".join(text.COUNT_FOR))
    request = release_panel.requested(settings, prepared, account, rows)
    usable_share = usable_patients.stated_share(prepared.schema, settings)
    with layout.step("rehearsal", on_demand=True):
        usable = usable_patients.sizes(prepared.schema, prepared.sizes, settings)
        judged, too_wide = rehearsal.judge(request, sum(usable), prepared.d, len(usable))
        if judged:
            (layout.details().warning if too_wide else layout.details().info)(judged)
        twin = synthetic_twin_panel.show(prepared, account, request, layout)
    st.header("3 · Release")
elif state.releases:
    st.header("3 · Release")  # finished releases are in the book without their table
with layout.step("release"):
    if prepared is not None and account is not None:
        # Before the limit is set too, since these settings are what is rehearsed.
        release_panel.choose_settings(prepared, request, layout)
        if twin is not None:
            stop = rehearsal.stop_sign(twin, partial(_rehearse_at, prepared, account))
        cannot_know = twin is not None and usable_share is None
        if stop:
            counted = usable_patients.counted_by_stop_sign(usable_share, rows)
            st.warning(f"{layout.words.stop(stop)} {counted}".rstrip())
        elif cannot_know:
            st.warning(layout.words.cannot_know(rows))
        if account.limit is None:
            account_panel.ask_limit(payer, layout)
        else:
            if not state.drawing:  # a release in the making is paid for, and would seem interrupted
                release_panel.show_interrupted(prepared, payer, account, layout)
            release_panel.show(prepared, account, request, bool(stop) or cannot_know, layout)
    release = release_panel.show_releases(layout)
if prepared is not None:
    st.header("4 · Your account")
    with layout.step("account"):
        if account is not None:
            account_panel.show(payer, account, layout)
record = report.public_record(prepared, account, release, request, twin, rows, settings)
if record is not None:
    built = report.build(record, settings)
    written = state.cached_by_name("report", built, lambda: html_report.html(built).encode())
    html_report.button(written, "dppca-your-data")
    st.caption(plain_text.REPORT)
if prepared is not None:
    st.header("5 · Only for you")
    with layout.step("owner"):
        owner_only_panel.show(prepared, twin, release, layout)
# The first step that is not done is suggested; the last counts as never done.
done = (
    *(state.raw is not None, state.rows_per_patient is not None, prepared is not None),
    *(bool(state.releases), settings["own.shown"], False),
)
st.markdown(f"**Try this:** {text.TRY_THIS[done.index(False)]}")
sources.show(prepared, settings)
lost_table.watch(state)
