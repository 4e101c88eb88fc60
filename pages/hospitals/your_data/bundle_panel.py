"""Render what goes into a release's bundle from its owner, and the bundle with its parts as downloads."""

import streamlit as st

from dppca_core.release import bundle, chosen
from pages.hospitals.your_data import kept_copies, session, text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.release_job import ReleaseJob


def ask_how_chosen() -> None:
    """Ask how columns and k were chosen, which is published with a release."""
    state = session.current()
    way, sentence = state.how_chosen
    left, right = st.columns([2, 3])
    key = f"own chosen {state.tables}"  # another table is asked about anew
    way = left.selectbox(
        text.HOW_CHOSEN, chosen.WAYS, chosen.WAYS.index(way), key=key, help=text.HOW_CHOSEN_HELP
    )
    sentence = right.text_input(
        *("In a sentence of yours, public", sentence, chosen.MOST_LETTERS),
        key=f"{key} sentence",
        placeholder="such as: protocol of 12 March, section 4",
    )
    state.how_chosen = way, sentence
    if way == chosen.BY_LOOKING:
        st.caption(text.CHOSEN_BY_LOOKING)


def show_downloads(release: ReleaseJob, layout: PageLayout) -> None:
    """Render the files of a release, all in one first."""
    state = session.current()
    if state.downloads is None or state.downloads[0] != release.number:
        result = release.result
        texts = bundle.files(result.document, kept_copies.account(release), result.entry)
        state.downloads = release.number, bundle.pack(texts), texts
    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    _, packed, texts = state.downloads
    left, beside = st.columns([1, 2], vertical_alignment="center")
    if not release.downloaded:
        # In a column: when it goes, nothing below moves, or Streamlit would close what is folded open there.
        kept = text.COPIED if release.copied else text.IN_SESSION
        beside.markdown(f"{text.UNSAVED} {kept if session.folder() is None else text.ON_SERVER}")
    saved = release.mark_downloaded
    left.download_button(
        *("Download everything (ZIP)", packed, bundle.NAME, "application/zip"),
        on_click=saved,
        type="primary",
        width="stretch",
        help=text.IN_THE_BUNDLE,
    )
    for column, label, member, name, form in zip(
        layout.details().columns(3),
        ("Download the loadings (CSV)", "Download all of it (JSON)", "Registry record (YAML)"),
        ("components.csv", "release.json", "registry-record.yaml"),
        ("private-components.csv", "private-release.json", "registry-record.yaml"),
        ("text/csv", "application/json", "application/yaml"),
        strict=True,
    ):
        column.download_button(label, texts[member], name, form, on_click=saved, width="stretch")
