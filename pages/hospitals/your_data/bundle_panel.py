"""Render what goes into a release's bundle from its owner, and the bundle with its parts as downloads."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.release import bundle, how_chosen
from pages.hospitals.your_data import kept_copies, session, text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.release_job import ReleaseJob


def ask_how_chosen() -> None:
    """Ask how columns and k were chosen, which is published with a release."""
    state = session.current()
    answer, sentence = state.how_chosen
    left, right = st.columns([2, 3])
    key = f"own chosen {state.tables}"  # another table is asked about anew
    answer = left.selectbox(
        *(text.HOW_CHOSEN, how_chosen.ANSWERS, how_chosen.ANSWERS.index(answer)),
        key=key,
        help=text.HOW_CHOSEN_HELP,
    )
    sentence = right.text_input(
        *("In a sentence of yours, public", sentence, how_chosen.MOST_LETTERS),
        key=f"{key} sentence",
        placeholder="such as: protocol of 12 March, section 4",
    )
    state.how_chosen = answer, sentence
    if answer == how_chosen.BY_LOOKING:
        st.caption(text.CHOSEN_BY_LOOKING)


def show_downloads(release: ReleaseJob, layout: PageLayout) -> None:
    """Render the files of a release, all in one first."""
    state = session.current()

    def pack() -> tuple[bytes, dict[str, str]]:
        result = release.result
        texts = bundle.files(result.document, kept_copies.account(release), result.entry)
        return bundle.pack(texts), texts

    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    packed, texts = state.latest("downloads", release.number, pack)
    left, beside = st.columns([1, 2], vertical_alignment="center")
    if not release.downloaded:
        # In a column: when it goes, nothing below moves, or Streamlit would close what is folded open there.
        beside.markdown(unsaved(release))
    left.download_button(
        *("Download everything (ZIP)", packed, bundle.NAME, "application/zip"),
        on_click=release.mark_downloaded,
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
    show_files(release, files, layout.details().columns(3))


File = tuple[str, str, str, str]  # label, content, name, form


def show_files(job: ReleaseJob, files: Sequence[File], columns: Sequence[DeltaGenerator]) -> None:
    """Render downloads of a job's result beside each other."""
    for column, file in zip(columns, files, strict=True):
        column.download_button(*file, on_click=job.mark_downloaded, width="stretch")


def unsaved(job: ReleaseJob) -> str:
    """Return that no file of a job was downloaded, and where its result is kept until then."""
    kept = text.COPIED if job.copied else text.IN_SESSION
    return f"{text.UNSAVED} {kept if session.folder() is None else text.ON_SERVER}"


def choose_job(jobs: Sequence[ReleaseJob], label: str, key: str, form: str) -> ReleaseJob:
    """Let one of several finished jobs be chosen, of which the last is shown at first.

    form: of a title, with {at}, the time, and {name}, of the table's file.
    """
    titles = [
        f"{i} · {form.format(at=job.result.entry.at[11:19], name=job.what.name)}"
        for i, job in enumerate(jobs, start=1)
    ]
    last, key = len(jobs) - 1, f"{key} {len(jobs)}"
    shown = (
        st.selectbox(label, range(len(jobs)), last, key=key, format_func=titles.__getitem__) if last else 0
    )
    return jobs[shown]
