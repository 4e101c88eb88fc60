"""Render the page's first part: a table, its public dictionary, and its hospitals.

The dictionary is the public description of the columns that count, a line for each, as the owner types it.
"""

import math
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.tables import JoinedTable, Raw, Schema, dictionary_lines, examples, limits
from dppca_core.tables.encode import PreparedTable, prepare
from dppca_core.tables.patients import is_at_random
from pages.hospitals.your_data import (
    dictionary,
    dictionary_editor,
    dictionary_names,
    file_reading,
    patients_panel,
    plain_text,
    quality_panel,
    session,
    several_panel,
    several_text,
    upload_text,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.planned_table import PlannedTable, Study, deal
from pages.hospitals.your_data.session import Preparation, TableSession
from pages.shared import text
from pages.shared.server import uploads
from pages.shared.settings import widgets


def show(layout: PageLayout) -> Study | None:
    """Ask for a table and what is public about it. Return the table once it is ready for a release.

    A dictionary without a table plans one, which can only be rehearsed.
    """
    state = session.current()
    _choose_files(state, layout)
    if state.raw is None or state.hospitals is None:
        return _plan(state, layout)
    if not several_panel.show(state, state.hospitals):
        return None
    raw = state.raw  # of several hospitals, now joined
    _show_name(state, upload_text.uploaded(raw))
    dictionary_names.show(state)
    rows = patients_panel.ask_rows(state)
    if rows is None:
        return None
    state.folded = state.folded and bool(state.chosen)
    left_out_place = st.container()
    with st.expander("Columns and ranges", expanded=not state.folded):
        dictionary_editor.choose_columns(state, raw)
        if state.chosen:
            dictionary_editor.edit_lines(state)
        downloads = st.container()
    with left_out_place:
        dictionary_editor.show_left_out(state)
    if not state.chosen:
        with downloads:
            dictionary_editor.save_dictionary(state, raw, None)
        st.info("Choose the measurements that count, or open a dictionary.")
        return None
    quality_place = st.container()
    prepared = _prepare(state, raw, layout, downloads)
    with quality_place:
        quality_panel.show(state, raw, prepared)
    if prepared is not None:
        _show_facts(prepared, rows, layout)
    return prepared


def _show_name(state: TableSession, line: str) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.markdown(line)
    away = "The rows leave this session's memory."
    right.button("Forget it", on_click=state.forget, help=away, width="stretch")


def _plan(state: TableSession, layout: PageLayout) -> PlannedTable | None:
    """Ask how many patients a table will have, if a dictionary is open. Return the plan once it is stated."""
    opened = state.dictionary
    if opened is None:
        return None
    _show_name(state, upload_text.opened(opened.name, len(opened.complete)))
    dictionary_editor.show_left_out(state)
    rows = patients_panel.ask_rows(state)
    if rows is None:
        return None
    left, right = st.columns(2, vertical_alignment="bottom")
    n = left.number_input(
        f"How many {page_text.noun(rows)}?",
        limits.FEWEST_ROWS,
        limits.MOST_ROWS,
        value=None,
        step=1,
        key="own planned",
        placeholder="type a number",
    )
    with right:
        widgets.show_control("own.providers")
    if n is None:
        return None
    try:
        schema = dictionary.to_schema(opened.complete, opened.bound_of_complete)
        table = PlannedTable(
            schema, deal(n, layout.settings["own.providers"]), state.rows_answer == upload_text.NAMED
        )
    except ValueError as reason:
        st.error(text.refusal(str(reason)))
        return None
    st.success(upload_text.planned(table, rows))
    return table


def _prepare(
    state: TableSession, raw: Raw, layout: PageLayout, downloads: DeltaGenerator
) -> PreparedTable | None:
    """Return the table encoded by its dictionary, or None after showing what is still to be done."""
    typed, error = state.typed, ""
    schema: Schema | None = None
    try:
        build = partial(dictionary.to_schema, typed, state.bound)
        schema = state.cached_by_name("dictionary", (typed, state.bound), build)
    except ValueError as reason:
        error = str(reason)
    with downloads:
        dictionary_editor.save_dictionary(state, raw, schema)
    with layout.details():
        _public_choices(state, raw, schema)
    incomplete = [name for name, line in typed.items() if line.incomplete]
    if incomplete:
        state.folded = False
        st.info(text.literal(upload_text.incomplete(incomplete)))
        return None
    if schema is None:
        st.error(text.refusal(error))
        return None
    prepared = _prepare_once(state, raw, schema, layout.settings["own.providers"])
    if prepared.refusal:
        st.error(text.refusal(prepared.refusal))
    return prepared.table


def _choose_files(state: TableSession, layout: PageLayout) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        _choose_table(state, layout)
    with right:
        _choose_dictionary(state)
    if state.raw is not None or state.dictionary is not None:
        return
    places = st.columns(len(examples.names()))
    for place, name in zip(places, examples.names(), strict=True):
        label = f"Try it with the {name.replace('_', ' ')} table"
        place.button(label, on_click=_load_example, args=(state, name), width="stretch")


def _choose_table(state: TableSession, layout: PageLayout) -> None:
    upload = uploads.ask(
        "A table: rows of patients, column names in the first line",
        file_reading.ENDINGS,
        f"own file {state.uploader}",
        help="It stays in this session's memory: no disk, no log, no other visitor.",
    )
    st.caption(upload_text.HELD)
    with layout.details():
        st.caption(upload_text.LARGEST)

    def load(table: Raw) -> None:
        state.load(table)
        if state.dictionary_taken:
            return
        refused = ""
        try:
            dictionary_names.take_over(state)
        except ValueError as reason:
            refused = str(reason)
        state.files["dictionary"] = state.files.get("dictionary", ("",))[0], refused

    refused = file_reading.take(state, "table", upload, load)
    if refused:
        st.error(text.refusal(refused) + (upload_text.FORMER_STAYS if state.raw else ""))
    if state.table_lost:  # no table was loaded in this run either
        st.warning(upload_text.LOST)


def _choose_dictionary(state: TableSession) -> None:
    upload = uploads.ask(
        "Its dictionary: saved here, the template filled in, or REDCap's",
        ["json", "csv"],
        f"own dictionary {state.uploader}",
        limits_shown=False,
    )
    st.caption(upload_text.DICTIONARY)

    def take() -> None:
        # First nothing, so that nothing of the file before is left if this one is refused.
        state.open_dictionary(None)
        if upload is not None:
            state.open_dictionary(dictionary.read(upload.getvalue(), upload.name))
            dictionary_names.take_over(state)

    refused = state.handle("dictionary", upload.file_id if upload else "", take)
    if refused:
        st.error(text.refusal(refused))


def _load_example(state: TableSession, name: str) -> None:
    raw, schema = examples.example(name)
    state.load(raw)
    state.example, state.rows_answer = name, upload_text.ONE  # each patient of an example has one row
    lines = {column.name: dictionary_lines.line_from_column(column) for column in schema.columns}
    state.set_lines(lines, schema.bound)
    state.folded = True


def _public_choices(state: TableSession, raw: Raw, schema: Schema | None) -> None:
    """Ask for the bound of rows, and how patients are assigned to hospitals: both become public."""
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    usual = "" if schema is None else f"{schema.default_bound:.4g}"
    state.bound = left.number_input(
        upload_text.BOUND,
        min_value=math.ulp(0.0),  # any that a dictionary can state
        value=state.bound,
        key=f"own bound {state.generation}",
        format="%.4g",
        placeholder=f"default {usual}",
        help="Blank: the default, which follows from the dictionary alone.",
    )
    if isinstance(raw, JoinedTable):
        middle.caption(several_text.SUM)
        return
    taken = set(state.chosen)
    with middle:
        state.hospital_column = patients_panel.choose_column(
            "Column that names the hospital",
            [name for name in raw.columns if name not in taken],
            state.hospital_column,
            key=f"own by {state.generation} {hash(state.chosen)}",
        )
    with right:
        if state.hospital_column is None:
            widgets.show_control("own.providers")


def _prepare_once(state: TableSession, raw: Raw, schema: Schema, hospitals: int) -> Preparation:
    """Prepare the table, anew only if what it depends on has changed; hospitals: invented ones."""
    column = state.hospital_column
    request = (schema, column, hospitals if column is None else None, *state.patients)
    if state.prepared is None or state.prepared.request != request:
        state.diagnostics.clear()  # they are of the table as it was prepared before
        try:
            with session.refusing("The table does not fit its dictionary."):
                table = prepare(raw, schema, column, hospitals, *state.patients)
            state.prepared = Preparation(request, table)
        except ValueError as reason:
            state.prepared = Preparation(request, None, str(reason))
    return state.prepared


def _show_facts(prepared: PreparedTable, rows: int, layout: PageLayout) -> None:
    st.success(upload_text.ready(prepared, rows))
    layout.say(plain_text.PUBLIC)
    if is_at_random(prepared.assignment):
        st.caption(upload_text.at_random(rows))
    public = upload_text.counts_public(prepared.assignment, prepared.schema, rows)
    layout.details().caption(f"{upload_text.bound(prepared.schema, rows)} {public}")
