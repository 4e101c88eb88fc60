"""Read an uploaded table, and ask what only a person can tell of its file."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dppca_core import tables
from dppca_core.byte_cache import return_memory
from dppca_core.tables import QuestionError, Raw
from dppca_core.tables.read import ENCODINGS, WESTERN
from pages.hospitals.your_data import memory_check, session, upload_text
from pages.hospitals.your_data.session import TableSession
from pages.hospitals.your_data.text import literal
from pages.shared.background import memory

ENDINGS = ["csv", "tsv", "tab", "dat", "txt", "parquet", "xlsx", "xls", "xlsb", "ods"]


def read(data: bytes, name: str, answers: dict[str, str]) -> Raw | QuestionError:
    """Return a table, or the question that its file raises.

    Raises ValueError with one sentence for a file that is no table, or for which there is no memory left.
    """
    memory_check.check(data, memory.available())
    try:
        return tables.read(data, name, answers)
    except QuestionError as question:
        return question


def take(state: TableSession, uploader: str, upload: UploadedFile | None, use: Callable[[Raw], str]) -> str:
    """Read an upload once, and render the question that it raises. Return why it is refused.

    uploader: the widget's name. use: takes the table, and returns "" or why it is refused.
    """
    if upload is None:
        return state.handle(uploader, "", str)
    file_id = upload.file_id
    answers = state.answers.get(file_id, {})

    def read_and_use() -> str:
        """Return "" if the table was used or something is asked, or why it is refused."""
        state.questions.pop(uploader, None)
        with st.spinner("Reading"):
            reading = partial(read, upload.getvalue(), upload.name, answers)
            table = session.attempt(reading, upload_text.UNREADABLE)
        if isinstance(table, QuestionError):
            state.questions[uploader] = file_id, table
            return ""
        if isinstance(table, str):
            return_memory()  # of as much as was read
            return table
        if table.guessed:  # it may have to be read again
            state.guessed.add(file_id)
        elif file_id not in state.guessed:
            session.drop_upload(file_id)  # it is in this session now
        return use(table)

    refused = state.handle(uploader, f"{file_id} {answers}", read_and_use)
    asked_of, question = state.questions.get(uploader, ("", None))
    if question is not None and asked_of == file_id:
        key = f"own question {file_id} {question.key}"
        st.warning(literal(str(question)))
        options = list(question.options)
        chosen = st.radio(
            "Your answer", options, None, lambda option: literal(question.options[option]), key=key
        )
        if chosen is not None:
            state.answers[file_id] = answers | {question.key: chosen}
            st.rerun()
    if file_id in state.guessed:
        _offer_alphabets(state, file_id, answers)
    return refused


def _offer_alphabets(state: TableSession, file_id: str, answers: dict[str, str]) -> None:
    """Let a file be read again in another alphabet than was taken for it."""
    taken, options = answers.get("encoding", WESTERN), list(ENCODINGS)
    with st.popover("Another alphabet?"):
        chosen = st.radio(
            "Letters are of",
            options,
            options.index(taken),
            key=f"own alphabet {file_id}",
            format_func=ENCODINGS.__getitem__,
        )
    if chosen != taken:
        state.answers[file_id] = answers | {"encoding": chosen}
        st.rerun()
