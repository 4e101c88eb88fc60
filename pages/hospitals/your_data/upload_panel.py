"""The screen's first part: a table, its public dictionary, and its hospitals."""

from __future__ import annotations

import streamlit as st

from dppca_core import tables
from dppca_core.byte_cache import return_memory
from dppca_core.tables import Schema, examples
from pages.hospitals.your_data import (
    dictionary,
    large_table,
    large_table_panel,
    memory_check,
    prepared_table,
    session,
    text,
    unit_question,
)
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import memory
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

_UNREADABLE = "The file cannot be read as a table."
_NO_COLUMN = "none"


def show(settings: Settings) -> PreparedTable | None:
    """Bring a table and say what is public about it; what a release would be of, once all is said."""
    state = session.current()
    _choose_file(state, settings)
    if state.raw is None:
        return None
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.markdown(text.brought(state.raw))
    right.button(
        "Forget it", on_click=state.forget, help="The rows leave this session's memory.", width="stretch"
    )
    rows = unit_question.ask(state)
    if rows is None:
        return None
    _choose_columns(state)
    if not state.chosen:
        st.info("Choose the columns that count, or open a data dictionary.")
        _dictionary(state, None)
        return None
    _edit(state)
    typed = {name: state.lines[name] for name in state.chosen}
    schema, reason = _schema(typed, state.bound)
    _dictionary(state, schema)
    _public_choices(state, schema, rows, settings["view"] == "board")
    lacking = dictionary.missing_entries(typed)
    if lacking:
        st.info(text.literal(lacking))
        return None
    if schema is None:
        st.error(text.refusal(reason))
        return None
    if isinstance(state.raw, large_table.LargeTable):
        prepared = large_table_panel.show(state, state.raw, schema)
    else:
        prepared = _prepared(state, state.raw, schema, settings["own.providers"])
    if prepared is None:
        return None
    if isinstance(prepared, str):
        st.error(text.refusal(prepared))
        return None
    _facts(prepared, rows, settings)
    return prepared


def _choose_file(state: TableSession, settings: Settings) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        upload = st.file_uploader(
            "A table whose first line names the columns",
            type=["csv", "tsv", "txt", "parquet"],
            key="own file",
            help="It stays in this session's memory: no disk, no log, no other visitor.",
        )
        st.caption(text.held(st.get_option("server.maxUploadSize")))
    with right:
        widgets.choose("own.encoding")
        for name in examples.names():
            title = name.replace("_", " ")
            st.button(
                f"Take the {title} table as if it were yours",
                on_click=_take_example,
                args=(state, name),
                width="stretch",
            )
    if upload is None:
        state.files.pop("table", None)
        state.upload_error = ""
    elif state.is_new("table", f"{upload.file_id} {settings['own.encoding']}"):
        with st.spinner("Reading"):
            try:
                state.bring(_read(upload.getvalue(), upload.name, settings["own.encoding"]))
            except ValueError as reason:
                state.upload_error = str(reason)
            except Exception:  # the text of any other error may hold a cell, and would go to the log
                state.upload_error = _UNREADABLE
            else:
                session.drop_upload(upload.file_id)
            if state.upload_error:
                return_memory()  # of as much as was read
    if state.upload_error:
        kept = " The table that was here before still is." if state.raw else ""
        st.error(text.refusal(state.upload_error) + kept)


def _read(data: bytes, name: str, encoding: str) -> tables.Raw | large_table.LargeTable:
    memory_check.check(data, encoding, memory.available())
    return large_table.open_large(data, name, encoding) or tables.read(
        data, name, encoding, memory_check.check_texts
    )


def _take_example(state: TableSession, name: str) -> None:
    raw, schema = examples.example(name)
    state.bring(raw)
    state.example, state.several = name, False
    _take_lines(
        state, {column.name: dictionary.line_from_column(column) for column in schema.columns}, schema.bound
    )


def _take_lines(
    state: TableSession, lines: dict[str, dictionary.DictionaryLine], bound: float | None
) -> None:
    state.lines |= lines
    state.chosen, state.bound = tuple(lines), bound
    state.generation += 1
    state.hospital_column = None if state.hospital_column in state.chosen else state.hospital_column


def _choose_columns(state: TableSession) -> None:
    raw = state.raw
    assert raw is not None
    # Widgets keep what they format by: no rows among it.
    marks, kinds = {"text": " (words)", "date": " (dates)"}, raw.kinds
    chosen = st.multiselect(
        "Columns that count",
        raw.columns,
        state.chosen,
        key=f"own columns {state.generation}",
        format_func=lambda name: name + marks.get(kinds[name], ""),
        placeholder="choose columns",
    )
    state.chosen = tuple(chosen)
    for name in chosen:
        state.lines.setdefault(name, dictionary.blank_line(raw.kinds[name]))


def _edit(state: TableSession) -> None:
    """The editor keeps what is typed as changes to the lines that it began with: these must stay the same."""
    key = f"own lines {state.generation} {hash(state.chosen)}"
    if key not in st.session_state or set(state.editor_lines) != set(state.chosen):
        state.editor_lines = {name: state.lines[name] for name in state.chosen}
    column = st.column_config
    typed = st.data_editor(
        dictionary.to_frame(state.editor_lines),
        key=key,
        hide_index=True,
        disabled=["column"],
        column_config={
            "column": column.TextColumn("column", pinned=True),
            "kind": column.SelectboxColumn("kind", options=list(dictionary.KINDS), required=True),
            "low": column.NumberColumn(
                "lowest", help="What the code book or physiology allows, not the lowest patient."
            ),
            "high": column.NumberColumn(
                "highest", help="What the code book or physiology allows, not the highest patient."
            ),
            "categories": column.TextColumn(
                "categories",
                width="medium",
                help="Of a category, separated by commas: every answer there may be.",
            ),
            "missing": column.TextColumn(
                "if missing",
                help="Blank: the row is left out. Else what is filled in; 'none' of them.",
            ),
        },
    )
    state.lines |= dictionary.lines_from_frame(typed, state.editor_lines)
    st.caption(
        "Ranges and categories come from a code book or from physiology. Taken from the rows, they would "
        "publish the lowest and the highest patient."
    )
    if state.example in examples.OF_ITS_OWN_ROWS:
        st.caption(
            "This example's ranges are rounded from the table's own published summary, which a hospital must "
            "not do with its own."
        )


def _schema(typed: dict[str, dictionary.DictionaryLine], bound: float | None) -> tuple[Schema | None, str]:
    try:
        return dictionary.to_schema(typed, bound), ""
    except ValueError as reason:
        return None, str(reason)


def _dictionary(state: TableSession, schema: Schema | None) -> None:
    with st.expander("Open or save this as a data dictionary"):
        upload = st.file_uploader("A data dictionary (JSON)", type=["json"], key="own dictionary")
        if upload is None:
            state.files.pop("dictionary", None)
        elif state.raw is not None and state.is_new("dictionary", upload.file_id):
            try:
                lines, bound, note = dictionary.load(upload.getvalue(), state.raw.columns)
            except ValueError as reason:
                st.error(text.refusal(str(reason)))
            else:
                _take_lines(state, lines, bound)
                st.toast(text.literal(note or "The dictionary was taken over."))
                st.rerun()
        if schema is not None:
            st.download_button(
                "Save the dictionary",
                schema.to_json(),
                "dictionary.json",
                "application/json",
                on_click="ignore",
            )


def _public_choices(state: TableSession, schema: Schema | None, rows: int, plain: bool) -> None:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    usual = "" if schema is None else f"{schema.default_bound:.4g}"
    with left:
        state.bound = st.number_input(
            f"Most that one {'patient' if rows == 1 else 'row'} counts for"
            if plain
            else "Public row bound B, in encoded units",
            min_value=1e-9,
            value=state.bound,
            key=f"own bound {state.generation}",
            format="%.4g",
            placeholder=f"default {usual}",
            help="Blank: the default, which follows from the dictionary alone.",
        )
    assert state.raw is not None
    free = [_NO_COLUMN, *(name for name in state.raw.columns if name not in state.chosen)]
    with middle:
        dealt = st.selectbox(
            "Column that names the hospital",
            range(len(free)),
            free.index(state.hospital_column) if state.hospital_column in free else 0,
            key=f"own by {state.generation} {hash(state.chosen)}",
            format_func=free.__getitem__,
        )
    state.hospital_column = free[dealt] if dealt else None
    with right:
        if state.hospital_column is None and isinstance(state.raw, tables.Raw):
            widgets.choose("own.providers")


def _prepared(state: TableSession, raw: tables.Raw, schema: Schema, hospitals: int) -> PreparedTable | str:
    """Encoded once for each dictionary; a sentence where the table does not fit it."""
    request = (schema, state.hospital_column, hospitals if state.hospital_column is None else None)
    if state.prepared is None or state.prepared[0] != request:
        state.diagnostics.clear()
        result: PreparedTable | str
        try:
            result = prepared_table.prepare(raw, schema, state.hospital_column, hospitals)
        except ValueError as reason:
            result = str(reason)
        except Exception:  # the text of any other error may hold a cell, and would go to the log
            result = "The table does not fit its dictionary."
        state.prepared = request, result
    return state.prepared[1]


def _facts(prepared: PreparedTable, rows: int, settings: Settings) -> None:
    plain = settings["view"] == "board"
    st.success(text.ready(prepared, rows, plain))
    st.caption(f"{text.bound(prepared, rows, plain)} {text.public_number(prepared, rows)}")
    if prepared.at_random:
        st.caption(text.at_random(rows))
    if settings["own.shown"]:
        with st.container(border=True):
            st.markdown(text.NOT_PRIVATE)
            st.markdown("\n".join(f"- {line}" for line in text.owner_counts(prepared)))
