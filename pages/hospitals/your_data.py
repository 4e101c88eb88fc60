"""A table of one's own: brought, rehearsed on a synthetic twin, released once, counted on a ledger."""

import streamlit as st

from pages.shared import controls
from pages.shared.own import account, bring, release, twin

st.title("And on ours?")
st.markdown(
    "Your own patients: what is public about them in, noise added once, directions out, and a ledger of what "
    "that cost."
)
controls.view_switches(("view",))
controls.notices()
settings = controls.settings()
controls.choose("own.shown")

st.subheader("1 · Your table")
prepared = bring.show(settings)
shown = None
if prepared is not None:
    ledger, book = account.opened(prepared.raw)
    st.subheader("2 · Rehearse on a synthetic twin")
    twin.show(prepared, settings)
    st.subheader("3 · The release")
    if book is not None and book.limit is None:
        account.ask_limit(ledger, settings)
    elif book is not None:
        release.choose(settings)
        release.show(prepared, ledger, book, settings)
    shown = release.results(settings)
    if book is not None:
        st.subheader("4 · The ledger of this table")
        account.show(prepared.raw, ledger, book, settings)
