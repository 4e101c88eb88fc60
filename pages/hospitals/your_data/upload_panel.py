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
from pages.hospitals.your_data.prepared_table import Prepared
from pages.hospitals.your_data.session import Own
from pages.shared.background import memory
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

_UNREADABLE = "The file cannot be read as a table."
_NO_COLUMN = "none"


def show(settings: Settings) -> Prepared | None:
    """Bring a table and say what is public about it; what a release would be of, once all is said."""
    own = session.own()
    _choose_file(own, settings)
    if own.raw is None:
        return None
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.markdown(text.brought(own.raw))
    right.button(
        "Forget it", on_click=own.forget, help="The rows leave this session's memory.", width="stretch"
    )
    rows = unit_question.ask(own)
    if rows is None:
        return None
    _choose_columns(own)
    if not own.chosen:
        st.info("Choose the columns that count, or open a data dictionary.")
        _dictionary(own, None)
        return None
    _edit(own)
    typed = {name: own.lines[name] for name in own.chosen}
    schema, said = _schema(typed, own.bound)
    _dictionary(own, schema)
    _public_choices(own, schema, rows, settings["view"] == "board")
    lacking = dictionary.lacking(typed)
    if lacking:
        st.info(text.literal(lacking))
        return None
    if schema is None:
        st.error(text.refusal(said))
        return None
    if isinstance(own.raw, large_table.Large):
        found = large_table_panel.show(own, own.raw, schema)
    else:
        found = _prepared(own, own.raw, schema, settings["own.providers"])
    if found is None:
        return None
    if isinstance(found, str):
        st.error(text.refusal(found))
        return None
    _facts(found, rows, settings)
    return found


def _choose_file(own: Own, settings: Settings) -> None:
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
                args=(own, name),
                width="stretch",
            )
    if upload is None:
        own.files.pop("table", None)
        own.said = ""
    elif own.is_new("table", f"{upload.file_id} {settings['own.encoding']}"):
        with st.spinner("Reading"):
            try:
                own.bring(_read(upload.getvalue(), upload.name, settings["own.encoding"]))
            except ValueError as reason:
                own.said = str(reason)
            except Exception:  # the text of any other error may hold a cell, and would go to the log
                own.said = _UNREADABLE
            else:
                session.drop(upload.file_id)
            if own.said:
                return_memory()  # of as much as was read
    if own.said:
        kept = " The table that was here before still is." if own.raw else ""
        st.error(text.refusal(own.said) + kept)


def _read(data: bytes, name: str, encoding: str) -> tables.Raw | large_table.Large:
    memory_check.check(data, encoding, memory.available())
    return large_table.look(data, name, encoding) or tables.read(
        data, name, encoding, memory_check.check_texts
    )


def _take_example(own: Own, name: str) -> None:
    raw, schema = examples.example(name)
    own.bring(raw)
    own.example, own.several = name, False
    _take_lines(own, {column.name: dictionary.of_column(column) for column in schema.columns}, schema.bound)


def _take_lines(own: Own, lines: dict[str, dictionary.Line], bound: float | None) -> None:
    own.lines |= lines
    own.chosen, own.bound = tuple(lines), bound
    own.generation += 1
    own.by = None if own.by in own.chosen else own.by


def _choose_columns(own: Own) -> None:
    raw = own.raw
    assert raw is not None
    # Widgets keep what they format by: no rows among it.
    marks, kinds = {"text": " (words)", "date": " (dates)"}, raw.kinds
    chosen = st.multiselect(
        "Columns that count",
        raw.columns,
        own.chosen,
        key=f"own columns {own.generation}",
        format_func=lambda name: name + marks.get(kinds[name], ""),
        placeholder="choose columns",
    )
    own.chosen = tuple(chosen)
    for name in chosen:
        own.lines.setdefault(name, dictionary.first(raw.kinds[name]))


def _edit(own: Own) -> None:
    """The editor keeps what is typed as changes to the lines that it began with: these must stay the same."""
    key = f"own lines {own.generation} {hash(own.chosen)}"
    if key not in st.session_state or set(own.base) != set(own.chosen):
        own.base = {name: own.lines[name] for name in own.chosen}
    column = st.column_config
    typed = st.data_editor(
        dictionary.frame(own.base),
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
    own.lines |= dictionary.of_frame(typed, own.base)
    st.caption(
        "Ranges and categories come from a code book or from physiology. Taken from the rows, they would "
        "publish the lowest and the highest patient."
    )
    if own.example in examples.OF_ITS_OWN_ROWS:
        st.caption(
            "This example's ranges are rounded from the table's own published summary, which a hospital must "
            "not do with its own."
        )


def _schema(typed: dict[str, dictionary.Line], bound: float | None) -> tuple[Schema | None, str]:
    try:
        return dictionary.schema(typed, bound), ""
    except ValueError as reason:
        return None, str(reason)


def _dictionary(own: Own, schema: Schema | None) -> None:
    with st.expander("Open or save this as a data dictionary"):
        upload = st.file_uploader("A data dictionary (JSON)", type=["json"], key="own dictionary")
        if upload is None:
            own.files.pop("dictionary", None)
        elif own.raw is not None and own.is_new("dictionary", upload.file_id):
            try:
                lines, bound, said = dictionary.taken(upload.getvalue(), own.raw.columns)
            except ValueError as reason:
                st.error(text.refusal(str(reason)))
            else:
                _take_lines(own, lines, bound)
                st.toast(text.literal(said or "The dictionary was taken over."))
                st.rerun()
        if schema is not None:
            st.download_button(
                "Save the dictionary",
                schema.to_json(),
                "dictionary.json",
                "application/json",
                on_click="ignore",
            )


def _public_choices(own: Own, schema: Schema | None, rows: int, plain: bool) -> None:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    usual = "" if schema is None else f"{schema.default_bound:.4g}"
    with left:
        own.bound = st.number_input(
            f"Most that one {'patient' if rows == 1 else 'row'} counts for"
            if plain
            else "Public row bound B, in encoded units",
            min_value=1e-9,
            value=own.bound,
            key=f"own bound {own.generation}",
            format="%.4g",
            placeholder=f"default {usual}",
            help="Blank: the default, which follows from the dictionary alone.",
        )
    assert own.raw is not None
    free = [_NO_COLUMN, *(name for name in own.raw.columns if name not in own.chosen)]
    with middle:
        dealt = st.selectbox(
            "Column that names the hospital",
            range(len(free)),
            free.index(own.by) if own.by in free else 0,
            key=f"own by {own.generation} {hash(own.chosen)}",
            format_func=free.__getitem__,
        )
    own.by = free[dealt] if dealt else None
    with right:
        if own.by is None and isinstance(own.raw, tables.Raw):
            widgets.choose("own.providers")


def _prepared(own: Own, raw: tables.Raw, schema: Schema, hospitals: int) -> Prepared | str:
    """Encoded once for each dictionary; a sentence where the table does not fit it."""
    of = (schema, own.by, hospitals if own.by is None else None)
    if own.prepared is None or own.prepared[0] != of:
        own.measured.clear()
        found: Prepared | str
        try:
            found = prepared_table.prepare(raw, schema, own.by, hospitals)
        except ValueError as reason:
            found = str(reason)
        except Exception:  # the text of any other error may hold a cell, and would go to the log
            found = "The table does not fit its dictionary."
        own.prepared = of, found
    return own.prepared[1]


def _facts(found: Prepared, rows: int, settings: Settings) -> None:
    plain = settings["view"] == "board"
    st.success(text.ready(found, rows, plain))
    st.caption(f"{text.bound(found, rows, plain)} {text.public_number(found, rows)}")
    if found.at_random:
        st.caption(text.at_random(rows))
    if settings["own.shown"]:
        with st.container(border=True):
            st.markdown(text.NOT_PRIVATE)
            st.markdown("\n".join(f"- {line}" for line in text.of_owner(found)))
