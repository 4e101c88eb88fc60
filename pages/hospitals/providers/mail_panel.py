"""Ask for a dictionary, and give the plan of a joint study by mail."""

from dataclasses import dataclass

import streamlit as st

from dppca_core.joint.forecast import forecast
from dppca_core.joint.plan import JointPlan
from dppca_core.tables import dictionary_file
from dppca_core.tables.dictionary_file import DictionaryFile
from pages.hospitals.providers.model import by_mail as model
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.hospitals.providers.sentences import by_mail as words
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.plain import by_mail
from pages.shared.reports import take_along
from pages.shared.server import uploads

_KEY = "plan by mail"


@dataclass
class PlanDraft:
    """Hold what a visitor has given for a plan, which outlives the fold that is closed."""

    opened: DictionaryFile | None = None
    file_id: str = ""  # of the upload that was read last
    refused: str = ""
    name: str = "Joint study"
    rows: str = "standardised"


def show(board: JoiningBoard) -> None:
    """Render the fold in which a plan is made; it is shown where joining pays by mail."""
    fold = st.expander(words.TITLE, key="plan fold", on_change="rerun")
    if not fold.open:
        return
    draft: PlanDraft = st.session_state.setdefault(_KEY, PlanDraft())
    with fold:
        st.caption(words.ABOUT)
        if unnamed := model.unnamed(board):
            st.info(words.unnamed(unnamed))
            return
        _choose_dictionary(draft)
        if draft.opened is None:
            return
        left, right = st.columns(2, vertical_alignment="bottom")
        draft.name = left.text_input(words.NAME, draft.name, max_chars=60, key="plan name")
        options = list(words.ROWS)
        draft.rows = right.radio(
            words.COUNTS,
            options,
            options.index(draft.rows),
            words.ROWS.__getitem__,
            key="plan rows",
            horizontal=True,
        )
        try:
            plan = model.planned(board, draft.opened, name=draft.name, rows=draft.rows)
        except ValueError as reason:
            st.error(text.refusal(text.symbols(str(reason))))
            return
        _show_plan(board, plan)


def _choose_dictionary(draft: PlanDraft) -> None:
    upload = uploads.ask(words.DICTIONARY, ["json", "csv"], "plan dictionary", limits_shown=False)
    if upload is not None and upload.file_id != draft.file_id:
        opened, refused = None, ""
        try:
            opened = dictionary_file.read(upload.getvalue())
        except ValueError as reason:
            refused = str(reason)
        draft.opened, draft.refused, draft.file_id = opened, refused, upload.file_id
    if draft.refused:
        st.error(text.refusal(draft.refused))
    if draft.opened is None:
        st.caption(words.WHERE)
    elif draft.opened.left_out:
        st.caption(words.left_out(draft.opened.left_out))


def _show_plan(board: JoiningBoard, plan: JointPlan) -> None:
    predicted = forecast(plan)
    if model.rests_on_rounds(board):
        st.info(words.ROUNDS)
    streamlit.show_blocks(by_mail.blocks(plan, predicted))
    if other := words.other_measurements(board.setting.experiment.d, plan.d):
        st.caption(other)
    if predicted.near_guess:
        st.warning(words.NEAR_GUESS)
        return
    if predicted.better_by_rounds:
        st.warning(words.BETTER_BY_ROUNDS)
    take_along.download(words.DOWNLOAD, plan.to_json().decode(), "plan.json", "application/json")
    st.caption(words.THEN)
