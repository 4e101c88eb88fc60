"""Ask what a release's bundle says of its making, and render the bundle and its parts as downloads.

The bundle is a ZIP with the release and all that is needed to check and use it (`dppca_core.release.bundle`).
A job is a release that was paid for (`release_job.ReleaseJob`).
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.release import bundle, how_chosen
from pages.hospitals.your_data import account_panel, book_releases, owner, session, text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.release_job import ReleaseJob


def ask_how_chosen() -> None:
    """Ask the owner how columns and k, the number of components, were chosen; releases publish the answer."""
    state = session.current()
    before, sentence = state.how_chosen
    key = f"own chosen {state.tables_loaded}"  # another table is asked about anew
    options = how_chosen.ANSWERS
    answer = st.radio(
        text.HOW_CHOSEN,
        options,
        index=options.index(before) if before else None,
        key=key,
        help=text.HOW_CHOSEN_HELP,
    )
    if answer == how_chosen.BY_LOOKING:
        st.caption(text.CHOSEN_BY_LOOKING)
    if answer:
        sentence = st.text_input(
            "In a sentence of yours, public",
            sentence,
            max_chars=how_chosen.MOST_LETTERS,
            key=f"{key} sentence",
            placeholder="such as: protocol of 12 March, section 4",
        )
    state.how_chosen = answer or "", sentence


def show_downloads(release: ReleaseJob, layout: PageLayout) -> None:
    state = session.current()

    def pack() -> tuple[bytes, dict[str, str]]:
        result = release.result
        texts = bundle.files(result.document, book_releases.account_after(release), result.payment)
        return bundle.pack(texts), texts

    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    packed, texts = state.cached_by_name("downloads", (release.number, release.account), pack)
    left, right = st.columns([1, 2], vertical_alignment="center")
    right.markdown(where_kept())
    left.download_button(
        "Download everything (ZIP)",
        packed,
        file_name=bundle.NAME,
        mime="application/zip",
        on_click="ignore",
        type="primary",
        width="stretch",
        help=text.IN_THE_BUNDLE,
    )
    record = "registry-record.yaml"
    files = (
        ("Download the loadings (CSV)", texts["components.csv"], "private-components.csv", "text/csv"),
        ("Download all of it (JSON)", texts["release.json"], "private-release.json", "application/json"),
        ("Registry record (YAML)", texts[record], record, "application/yaml"),
    )
    show_files(files, layout.details().columns(3))
    with layout.details():
        offer_deletion(release)


File = tuple[str, str, str, str]  # the button's label, the content, the file's name, its MIME type


def show_files(files: Sequence[File], columns: Sequence[DeltaGenerator]) -> None:
    for column, file in zip(columns, files, strict=True):
        column.download_button(*file, on_click="ignore", width="stretch")


def where_kept() -> str:
    return text.IN_BOOK if owner.has_book() else text.IN_SESSION


def offer_deletion(job: ReleaseJob) -> None:
    with st.popover("Delete this release"):
        st.markdown(text.DELETE)
        if st.button("Delete it for good", key=f"own delete {job.number}"):
            account_panel.change(partial(book_releases.delete, session.current(), job), "It is still there.")


def choose_job(jobs: Sequence[ReleaseJob], label: str, key: str, form: str) -> ReleaseJob:
    """Let one of the finished jobs be chosen, and return it; the last is chosen at first.

    form: of their titles, with the places {at}, the time, and {name}, the table's file.
    """
    # "at" is a date and time by ISO 8601, of which the title has the time.
    titles = [
        f"{i} · {form.format(at=job.result.payment.at[11:19], name=job.what.name)}"
        for i, job in enumerate(jobs, start=1)
    ]
    # The number of jobs is in the key: with one more, the selection begins anew at the last.
    last, key = len(jobs) - 1, f"{key} {len(jobs)}"
    shown = (
        st.selectbox(label, range(len(jobs)), last, key=key, format_func=titles.__getitem__) if last else 0
    )
    return jobs[shown]
