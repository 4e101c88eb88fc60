"""Read an uploaded table, and ask what only a person can tell of its file."""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dppca_core import tables
from dppca_core.byte_cache import return_memory
from dppca_core.tables import QuestionError, Raw
from dppca_core.tables.read import ENCODINGS, WESTERN
from pages.hospitals.your_data import memory_check, session, upload_text
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import memory
from pages.shared.text import literal

ENDINGS = ["csv", "tsv", "tab", "dat", "txt", "parquet", "xlsx", "xls", "xlsb", "ods"]


def read(data: bytes, name: str, answers: dict[str, str]) -> Raw:
    """Return a table, for which there is memory left.

    Raises QuestionError for what only a person can tell, and ValueError with one sentence for any other file.
    """
    memory_check.check(data, memory.available())
    return tables.read(data, name, answers)


def take(state: TableSession, uploader: str, upload: UploadedFile | None, use: Callable[[Raw], None]) -> str:
    """Read an upload once, and render the question that it raises. Return why it is refused.

    uploader: the widget's name. use: takes the table, or raises ValueError with one sentence.
    """
    if upload is None:
        return state.handle(uploader, "", lambda: None)
    file_id = upload.file_id
    answers = state.answers.get(file_id, {})

    def read_and_use() -> None:
        state.questions.pop(uploader, None)
        unread = ""
        try:
            with st.spinner("Reading"), session.refusing(upload_text.UNREADABLE):
                table = read(upload.getvalue(), upload.name, answers)
        except QuestionError as question:
            state.questions[uploader] = file_id, question
            return
        except ValueError as reason:
            unread = str(reason)
        if unread:  # outside of the block, in which the error holds what was read
            return_memory()
            raise ValueError(unread)
        if table.guessed:  # it may have to be read again
            state.guessed.add(file_id)
        elif file_id not in state.guessed:
            session.drop_upload(file_id)  # it is in this session now
        use(table)

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
