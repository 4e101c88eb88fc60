"""Put the answers of a joint study together: anybody can, without an account."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dppca_core.joint import combine, document
from dppca_core.joint.combine import JointResult
from dppca_core.joint.plan import JointPlan
from dppca_core.release import bundle
from pages.hospitals.your_data import mail_document, mail_text, session
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.session import TableSession
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.server import uploads

_MOST_LETTERS = 60  # of a file's name that a refusal repeats


def show(state: TableSession, plan: JointPlan, layout: PageLayout) -> None:
    key = f"own answers {plan.digest} {state.uploader}"
    files: Any = uploads.ask(mail_text.ANSWERS, ["json"], key, accept_multiple_files=True)
    st.caption(mail_text.NO_ANSWERS)
    request = plan.digest, tuple(file.file_id for file in files)
    if files and state.mail.combined[0] != request:
        made, refused = None, ""
        try:
            with st.spinner("Putting them together"), session.refusing(mail_text.NOT_COMBINED):
                made = combine.combine(plan, combine.read(plan, _by_name(files)))
        except ValueError as reason:
            refused = str(reason)
        state.mail.combined = request, made, refused
    (digest, _), made, refused = state.mail.combined
    if digest != plan.digest:
        return
    if refused and files:
        st.error(text.refusal(text.symbols(refused)))
    if made is not None:
        _show_result(state, made, layout)


def _by_name(files: Sequence[UploadedFile]) -> dict[str, bytes]:
    """Return the contents by name, of which two may be the same: they are told apart by their number."""
    by_name: dict[str, bytes] = {}
    for number, file in enumerate(files, start=1):
        name = file.name[:_MOST_LETTERS]
        by_name[f"{name} (file {number})" if name in by_name else name] = file.getvalue()
    return by_name


def _show_result(state: TableSession, made: JointResult, layout: PageLayout) -> None:
    streamlit.show_blocks(mail_document.combined(made, layout.plain))
    request = state.mail.combined[0]
    packed = state.cached_by_name("joint zip", request, lambda: bundle.pack(document.files(made)))
    page = state.cached_by_name(
        "joint page",
        (request, layout.plain, layout.address()),
        lambda: mail_document.file_of(made, layout.plain).html(layout.address()).encode(),
    )
    left, right, _ = st.columns([2, 2, 1])
    # Ready bytes: a file built after the click is lost if the page runs between the click and the file.
    left.download_button(
        "Download everything (ZIP)",
        packed,
        document.NAME,
        "application/zip",
        on_click="ignore",
        type="primary",
        width="stretch",
        key="joint zip",
    )
    right.download_button(
        "Download the study as a page",
        page,
        f"{mail_document.STEM}.html",
        "text/html",
        on_click="ignore",
        width="stretch",
        help=page_text.IN_THE_FILE,
        key="joint page",
    )
