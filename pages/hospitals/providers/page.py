"""Decide whether our hospital should join: scenes, the table of hospitals, the document, a plan by mail."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC
from dppca_core.joint.forecast import forecast
from dppca_core.joint.plan import JointPlan
from dppca_core.tables import dictionary_file
from pages.hospitals.providers import document
from pages.hospitals.providers.model import by_mail as model
from pages.hospitals.providers.model import hospitals
from pages.hospitals.providers.model.by_mail import PlanDraft
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.hospitals.providers.model.hospitals import HospitalLine
from pages.hospitals.providers.sentences import by_mail as sentences
from pages.hospitals.providers.sentences import table
from pages.hospitals.providers.settings import LARGEST, LEAST_LOSS, MOST_LOSS
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.plain import by_mail
from pages.shared.reports import take_along
from pages.shared.server import uploads
from pages.shared.settings import hospitals as to_hospitals
from pages.shared.settings import scene_buttons, scenes, widget_keys, widgets
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.scene_buttons import NAMES

# The key of the session's state of what the table began with, and its number.
_TABLE = "hospitals table"
_PLAN = "plan by mail"  # the key of what a visitor gave for it
_LINE, _MOST_PIXELS = 36, 420  # pixels of a line of the table, and of a table that scrolls


def names() -> tuple[str, ...]:
    """Return what somebody called the hospitals, which no link has."""
    typed: tuple[str, ...] = st.session_state.get(NAMES, ())
    return typed


def show_controls(settings: Settings) -> None:
    if settings["view"] != "plain":
        with st.container(key="compared", horizontal=True):
            widgets.show_word_control("sites.data")
            if not scenes.differ(settings):
                widgets.show_panel_pills("join.panel")
        fold = st.expander(table.TITLE, key="hospitals drawer", on_change="rerun")
        if fold.open:
            with fold:
                show_use_and_table(settings)
        return
    scene_buttons.show_scenes(settings)
    show_use_and_table(settings)


def show_use_and_table(settings: Settings) -> None:
    widgets.show_word_control("join.use")
    typed = read_table(settings)
    sizes = to_hospitals.sizes(settings)
    left, right = st.columns([3, 2])
    with left:
        if hospitals.are_few(typed, settings):
            show_table(settings, typed)
    with right:
        problem = hospitals.read(typed, settings).problem
        if problem:
            st.info(problem)
        if settings["view"] != "plain":  # there it is a part of the document
            st.caption(hospitals.note(settings))
        if settings["sites.data"] == SYNTHETIC and settings["view"] == "plain":
            widgets.show_control("sites.strength")
        if len(sizes) > hospitals.MOST_LINES:
            widgets.show_control("join.each")
        if settings["join.sizes"] or settings["join.losses"]:
            st.button(table.BACK, on_click=widget_keys.finished_by_next_run(go_back), key="sizes back")


def go_back() -> None:
    for key in ("join.sizes", "join.losses"):
        widgets.set_to(key, "")


def read_table(settings: Settings) -> list[HospitalLine]:
    """Return the lines as they were typed; begin a new table where they are not what the settings say.

    The editor keeps its data while only its own edits change the settings: new data would discard the edits.
    A new number is another widget, which begins without edits.
    """
    base, each, number = st.session_state.get(_TABLE, ([], None, 0))
    typed = hospitals.edited(base, st.session_state.get(f"{_TABLE} {number}", {}))
    now = {key: settings[key] for key in hospitals.SETTINGS}
    if each != settings["join.each"] or hospitals.read(typed, settings).settings != now:
        typed = hospitals.lines(settings, names())
        st.session_state[_TABLE] = typed, settings["join.each"], number + 1
    return typed


def show_table(settings: Settings, typed: Sequence[HospitalLine]) -> None:
    base, each, number = st.session_state[_TABLE]
    frame = pd.DataFrame(base, columns=list(table.COLUMNS))
    grouped, real = any(line.count != 1 for line in base), settings["sites.data"] == HEART
    column, shown = st.column_config, table.COLUMNS
    whole: dict[str, Any] = {"min_value": 1, "step": 1, "format": "localized"}
    config: dict[str, Any] = {
        "name": column.TextColumn(shown["name"], max_chars=hospitals.MOST_LETTERS_OF_A_NAME),
        "count": column.NumberColumn(shown["count"], **whole),
        "patients": column.NumberColumn(shown["patients"], max_value=LARGEST, **whole),
        "epsilon": column.NumberColumn(shown["epsilon"], min_value=LEAST_LOSS, max_value=MOST_LOSS),
        "ours": column.CheckboxColumn(shown["ours"]),
    }
    st.data_editor(
        frame if grouped else frame.drop(columns="count"),
        key=f"{_TABLE} {number}",
        num_rows="fixed" if real else "dynamic",
        disabled=("name", "patients") if real else False,
        hide_index=True,
        height=min(_LINE * (len(typed) + 2 - real), _MOST_PIXELS),  # the header, and mostly a new line
        column_config=config,
        on_change=widget_keys.finished_by_next_run(partial(take, base, each, number, settings)),
    )


def take(base: Sequence[HospitalLine], each: bool, number: int, settings: Settings) -> None:
    """Set what the table says. It is called again if it is interrupted."""
    typed = hospitals.edited(base, st.session_state[f"{_TABLE} {number}"])
    result = hospitals.read(typed, settings)
    for key, value in result.settings.items():
        widgets.set_to(key, value)
    if not any(line.count != 1 for line in base):
        st.session_state[NAMES] = result.names
    if result.settings["join.ours"] != settings["join.ours"]:  # another line has the mark now
        st.session_state[_TABLE] = typed, each, number + 1


def show_plan_fold(board: JoiningBoard) -> None:
    """Render the fold in which a plan is made; it is shown where joining pays by mail."""
    fold = st.expander(sentences.TITLE, key="plan fold", on_change="rerun")
    if not fold.open:
        return
    draft: PlanDraft = st.session_state.setdefault(_PLAN, PlanDraft())
    with fold:
        st.caption(sentences.ABOUT)
        if unnamed := model.unnamed(board):
            st.info(sentences.unnamed(unnamed))
            return
        choose_dictionary(draft)
        if draft.opened is None:
            return
        left, right = st.columns(2, vertical_alignment="bottom")
        draft.name = left.text_input(sentences.NAME, draft.name, max_chars=60, key="plan name")
        options = list(sentences.ROWS)
        draft.rows = right.radio(
            sentences.COUNTS,
            options,
            options.index(draft.rows),
            sentences.ROWS.__getitem__,
            key="plan rows",
            horizontal=True,
        )
        try:
            plan = model.planned(board, draft.opened, name=draft.name, rows=draft.rows)
        except ValueError as reason:
            st.error(text.refusal(text.symbols(str(reason))))
            return
        show_plan(board, plan)


def choose_dictionary(draft: PlanDraft) -> None:
    upload = uploads.ask(sentences.DICTIONARY, ["json", "csv"], "plan dictionary", limits_shown=False)
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
        st.caption(sentences.WHERE)
    elif draft.opened.left_out:
        st.caption(sentences.left_out(draft.opened.left_out))


def show_plan(board: JoiningBoard, plan: JointPlan) -> None:
    predicted = forecast(plan)
    if model.rests_on_rounds(board):
        st.info(sentences.ROUNDS)
    streamlit.show_blocks(by_mail.blocks(plan, predicted))
    if other := sentences.other_measurements(board.setting.experiment.d, plan.d):
        st.caption(other)
    if predicted.near_guess:
        st.warning(sentences.NEAR_GUESS)
        return
    if predicted.better_by_rounds:
        st.warning(sentences.BETTER_BY_ROUNDS)
    take_along.download(sentences.DOWNLOAD, plan.to_json().decode(), "plan.json", "application/json")
    st.caption(sentences.THEN)


settings = widgets.settings()
streamlit.show(document.at(settings, names(), show_plan_fold), above=partial(show_controls, settings))
