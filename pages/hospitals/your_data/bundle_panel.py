"""Ask what a release's bundle says of its making, and render the bundle and its parts as downloads.

The bundle is a ZIP with the release and all that is needed to check and use it (`dppca_core.release.bundle`).
A job is a release, or a picture of patients' scores, that was paid for (`release_job.ReleaseJob`).
"""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.release import bundle, how_chosen
from pages.hospitals.your_data import kept_copies, session, text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.release_job import ReleaseJob


def ask_how_chosen() -> None:
    """Ask the owner how columns and k, the number of components, were chosen; releases publish the answer."""
    state = session.current()
    answer, sentence = state.how_chosen
    left, right = st.columns([2, 3])
    key = f"own chosen {state.tables_loaded}"  # another table is asked about anew
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
    """Render the downloads of a release: all files in one first, then some of them alone, as details."""
    state = session.current()

    def pack() -> tuple[bytes, dict[str, str]]:
        """Return the ZIP, and the texts in it by their names."""
        result = release.result
        texts = bundle.files(result.document, kept_copies.account(release), result.entry)
        return bundle.pack(texts), texts

    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    packed, texts = state.cached_by_name("downloads", release.number, pack)
    left, beside = st.columns([1, 2], vertical_alignment="center")
    if not release.downloaded:
        # It stands beside the button, so that nothing below moves when it goes: Streamlit would close an
        # expander there.
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


File = tuple[str, str, str, str]  # the button's label, the content, the file's name, its MIME type


def show_files(job: ReleaseJob, files: Sequence[File], columns: Sequence[DeltaGenerator]) -> None:
    """Render a download of a job's result in each column; a click on any marks the job as downloaded."""
    for column, file in zip(columns, files, strict=True):
        column.download_button(*file, on_click=job.mark_downloaded, width="stretch")


def unsaved(job: ReleaseJob) -> str:
    """Return the warning that no file of a job was downloaded, and where its result is kept until then."""
    kept = text.COPIED if job.copied else text.IN_SESSION
    return f"{text.UNSAVED} {kept if session.folder() is None else text.ON_SERVER}"


def choose_job(jobs: Sequence[ReleaseJob], label: str, key: str, form: str) -> ReleaseJob:
    """Let one of the finished jobs be chosen, and return it; the last is chosen at first.

    form: a format of their titles, with the places {at}, the time, and {name}, the table's file.
    """
    # "at" is a date and time by ISO 8601, of which the title has the time.
    titles = [
        f"{i} · {form.format(at=job.result.entry.at[11:19], name=job.what.name)}"
        for i, job in enumerate(jobs, start=1)
    ]
    # The number of jobs is in the key: with one more, the selection begins anew at the last.
    last, key = len(jobs) - 1, f"{key} {len(jobs)}"
    shown = (
        st.selectbox(label, range(len(jobs)), last, key=key, format_func=titles.__getitem__) if last else 0
    )
    return jobs[shown]
