"""A table of one's own: brought, rehearsed on a synthetic twin, released once, counted on a ledger."""

from functools import partial

import streamlit as st

from pages.shared import controls, report
from pages.shared.own import account, bring, origins, owner, release, session, twin, unsaved, words
from pages.shared.own import report as own_report

st.title("And on ours?")
st.markdown(
    "Your own patients: what is public about them in, noise added once, directions out, and a ledger of what "
    "that cost."
)
controls.view_switches(("view",))
controls.notices()
settings = controls.settings()
controls.choose("own.shown")

st.header("1 · Your table")
prepared = bring.show(settings)
ledger = book = None
if prepared is not None:
    ledger, book = account.opened(prepared.raw)
    st.header("2 · Rehearse on a synthetic twin")
    rehearsal = twin.show(prepared, book, settings)
    st.header("3 · Release")
    if book is not None:
        release.choose(settings, len(prepared.sizes))  # before the limit too: it is rehearsed
        if rehearsal is not None and twin.hopeless(rehearsal, rehearsal.epsilon):
            st.warning(words.NO_BETTER)
    if book is not None and book.limit is None:
        account.ask_limit(ledger, settings)
    elif book is not None:
        unsaved.show_lost(session.own(), book, settings["view"] == "board")
        release.show(prepared, book, settings)
unsaved.show_missing(session.own(), prepared is not None)
unsaved.show_elsewhere(session.own())
if prepared is None and session.own().paid:
    st.header("3 · Release")  # without a table, what came of an earlier one stands alone
unsaved.show_returned(session.own(), prepared is not None)
shown = release.results(settings)
if prepared is not None:
    st.header("4 · The ledger of this table")
    if book is not None:
        account.show(prepared.raw, ledger, book, settings)
own = session.own()
asked = twin.asked(prepared, book, settings) if prepared is not None else None
figure = twin.figure(prepared, asked, shown, settings) if prepared is not None else None
leaves = own_report.public(prepared, book, shown, asked, figure, own.rows_per_patient or 1)
if leaves is not None:
    saved = partial(release.saved, own, shown) if shown is not None else None
    report.ready_button(own_report.file(own, leaves, settings), "dppca-your-data", saved)
    st.caption("In the report: what was released, what counts as public, the twin. Nothing only you may see.")
if prepared is not None:
    st.header("5 · Only for you")
    owner.show(prepared, shown, settings)
done = own.raw is not None, own.rows_per_patient is not None, prepared is not None, bool(own.made)
st.markdown(f"**Try this:** {words.try_this(*done, settings)}")
origins.show(prepared, settings)
unsaved.guard(own)
