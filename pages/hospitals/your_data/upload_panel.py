"""Render the page's first part: a table, its public dictionary, and its hospitals.

The dictionary is the public description of the columns that count, a line for each, as the owner types it.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.tables import JoinedTable, Raw, Schema, dictionary_lines, examples, limits, name_matching
from dppca_core.tables.encode import PreparedTable, prepare
from dppca_core.tables.patients import is_at_random
from pages.hospitals.your_data import (
    dictionary,
    dictionary_names,
    file_reading,
    plain_text,
    quality_panel,
    session,
    several_panel,
    several_text,
    upload_text,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout, choose_or_none
from pages.hospitals.your_data.planned_table import PlannedTable, Study, deal
from pages.hospitals.your_data.session import Preparation, TableSession
from pages.shared.reports import take_along
from pages.shared.server import uploads
from pages.shared.settings import widgets

_MOST_LISTED = 200  # columns: of a wider table they are typed, and their lines are shown in pages
_FIRST_MOST_KEPT = 5  # of a patient's rows, until the owner types another number


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
    rows = _ask_rows(state)
    if rows is None:
        return None
    state.folded = state.folded and bool(state.chosen)
    left_out_place = st.container()
    with st.expander("Columns and ranges", expanded=not state.folded):
        _choose_columns(state, raw)
        if state.chosen:
            _edit_lines(state)
        downloads = st.container()
    with left_out_place:
        _show_left_out(state)
    if not state.chosen:
        with downloads:
            _save_dictionary(state, raw, None)
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
    _show_left_out(state)
    rows = _ask_rows(state)
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
        st.error(page_text.refusal(str(reason)))
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
        _save_dictionary(state, raw, schema)
    with layout.details():
        _public_choices(state, raw, schema)
    incomplete = [name for name, line in typed.items() if line.incomplete]
    if incomplete:
        state.folded = False
        st.info(page_text.literal(upload_text.incomplete(incomplete)))
        return None
    if schema is None:
        st.error(page_text.refusal(error))
        return None
    prepared = _prepare_once(state, raw, schema, layout.settings["own.providers"])
    if prepared.refusal:
        st.error(page_text.refusal(prepared.refusal))
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
        st.error(page_text.refusal(refused) + (upload_text.FORMER_STAYS if state.raw else ""))
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
        st.error(page_text.refusal(refused))


def _load_example(state: TableSession, name: str) -> None:
    raw, schema = examples.example(name)
    state.load(raw)
    state.example, state.rows_answer = name, upload_text.ONE  # each patient of an example has one row
    lines = {column.name: dictionary_lines.line_from_column(column) for column in schema.columns}
    state.set_lines(lines, schema.bound)
    state.folded = True


def _ask_rows(state: TableSession) -> int | None:
    """Ask how many rows one patient can have at most. Return that number, or None until it is answered.

    It is 1 where a column names the patients, since all rows of one patient count as one then.
    """
    joined = isinstance(state.raw, JoinedTable)
    ways, key = list(upload_text.ROWS), f"{state.tables_loaded} {state.generation}"
    state.rows_answer = st.radio(
        upload_text.ask_rows(joined),
        ways,
        index=None if state.rows_answer is None else ways.index(state.rows_answer),
        key=f"own several {key}{' joined' * joined}",  # joined tables are asked about anew
        format_func=upload_text.ROWS.__getitem__,
        help="Several visits, samples or admissions of one patient are several rows.",
    )
    if state.rows_answer == upload_text.NAMED and state.raw is not None:
        _ask_patients(state, state.raw.columns, key)
    if state.rows_answer == upload_text.UNNAMED:
        label, empty = "Most rows that one patient can have", "type a number"
        help_text = "From how the table was made, not counted in it."
        state.most_rows = _ask_most(
            label, 2, state.most_rows, help_text, key=f"own most rows {key}", placeholder=empty
        )
    if state.example and state.rows_answer == upload_text.ONE:
        st.caption(page_text.OF_EXAMPLE)
    if state.rows_per_patient is None:
        named = state.rows_answer == upload_text.NAMED
        st.info(upload_text.NO_PATIENT_COLUMN if named else page_text.UNANSWERED)
    elif state.patient_column is not None:
        st.caption(upload_text.counted(state.counting))
    elif state.rows_per_patient > 1:
        st.warning(
            f"The guarantee is for one row. It is weaker for a patient with {state.rows_per_patient:,} rows, "
            "and each price below says by how much. Nothing checks that no patient has more."
        )
    return state.rows_per_patient


def _ask_patients(state: TableSession, columns: Sequence[str], key: str) -> None:
    """Let the owner say which column names the patients, at first by its name, and how their rows count."""
    opened = state.dictionary
    if state.named_patients not in columns:
        state.named_patients = name_matching.patient_column(columns, "" if opened is None else opened.record)
    left, right = st.columns(2)
    with left:
        state.named_patients = _choose_column(
            "Column that names the patient",
            columns,
            state.named_patients,
            key=f"own patients {key}",
            help="Such as a number of the record. It is never released, and is in no file, account or link.",
        )
    if state.named_patients is None:
        return
    if opened is not None and opened.patients is not None and opened.patients[0] == state.named_patients:
        st.caption(upload_text.patients_stated(state.named_patients))
    known, ways = state.counting, list(upload_text.COUNTED)
    how = right.radio(
        "Rows of one patient",
        ways,
        index=ways.index(upload_text.AT_MOST if isinstance(known, int) else known),
        key=f"own counted {key}",
        format_func=upload_text.COUNTED.__getitem__,
    )
    if how != upload_text.AT_MOST:
        state.counting = how
        return
    label, help_text = "Most rows of one patient that count", "Beyond so many, later rows are left out."
    first = known if isinstance(known, int) else _FIRST_MOST_KEPT
    kept = _ask_most(label, 1, first, help_text, key=f"own kept {key}")
    state.counting = first if kept is None else kept


def _ask_most(label: str, least: int, now: int | None, help_text: str, **more: Any) -> int | None:
    """Return how many rows of one patient the owner types, or None; now: what is there at first."""
    public = f"{help_text} This number becomes public."
    most: int | None = st.number_input(
        label, least, dictionary.MOST_ROWS, now, step=1, width=300, help=public, **more
    )
    return most


def _choose_column(
    label: str, free: Sequence[str], current: str | None, key: str, help: str | None = None
) -> str | None:
    """Return the column that was chosen, or typed where there are too many to list; or None."""
    if len(free) > _MOST_LISTED:
        known = current if current is not None and current in free else ""
        typed = st.text_input(label, known, key=key, placeholder="type its name", width=300, help=help)
        if typed.strip() and typed.strip() not in free:
            st.error(page_text.refusal(f"the table has no such column left: '{typed.strip()[:40]}'"))
            return None
        return typed.strip() or None
    begin = 1 + free.index(current) if current is not None and current in free else 0  # option 0 is "none"
    return choose_or_none(label, "none", free, begin, key=key, width=300, help=help)


def _choose_columns(state: TableSession, raw: Raw) -> None:
    """Let the owner choose which columns count, and give new ones a blank line of the dictionary."""
    marks, kinds = {"text": " (words)", "date": " (dates)"}, raw.kinds
    if len(raw.columns) > _MOST_LISTED:
        _type_columns(state, raw.columns)
    else:
        # Streamlit keeps the function that formats a widget's options: it must not hold rows.
        chosen = st.multiselect(
            "Measurements that count",
            raw.columns,
            state.chosen,
            key=f"own columns {state.generation}",
            format_func=lambda name: name + marks.get(kinds[name], ""),
            placeholder="choose measurements",
        )
        state.chosen = tuple(chosen)
    new = [name for name in state.chosen if name not in state.lines]
    state.lines |= {name: dictionary.proposed_line(name, kinds[name]) for name in new}


def _type_columns(state: TableSession, columns: Sequence[str]) -> None:
    typed = st.text_area(
        "Measurements that count",
        dictionary.describe_choice(state.chosen, columns),
        key=f"own columns {state.generation}",
        placeholder="all, or names, one a line, or places such as 3-500",
        help="From the literature or a code book, and not from these rows. A data dictionary chooses too.",
    )
    try:
        state.chosen = dictionary.parse_choice(typed, columns)
    except ValueError as reason:
        st.error(page_text.refusal(str(reason)))
    st.caption(upload_text.chosen(len(state.chosen), len(columns)))


def _page_of_lines(state: TableSession) -> tuple[str, ...]:
    """Return the chosen columns whose lines are shown: all of few, a page of many.

    For many columns it also asks for one range, which all numbers without one can take.
    """
    if len(state.chosen) <= _MOST_LISTED:
        return state.chosen
    help_text, places = upload_text.HELP, st.columns(4)
    key = f"own rule {state.generation}"
    low = places[0].number_input("Lowest", value=None, key=f"{key} low", help=help_text["low"])
    high = places[1].number_input("Highest", value=None, key=f"{key} high", help=help_text["high"])
    missing = places[2].text_input("If missing", key=f"{key} missing", help=help_text["missing"])
    usual = places[3].text_input("Usual", key=f"{key} usual", help=help_text["usual"])
    rule = dictionary_lines.DictionaryLine("number", low, high, missing=missing, usual=usual)
    label = "Take this range for all numbers without one"
    st.button(label, key=f"{key} fill", on_click=_fill_ranges, args=(state, rule), disabled=rule.incomplete)
    pages = -(-len(state.chosen) // _MOST_LISTED)  # rounded up
    label = f"Page of lines, {_MOST_LISTED} each"
    page = st.number_input(label, 1, pages, key=f"own page {state.generation} {len(state.chosen)}", width=300)
    return state.chosen[(page - 1) * _MOST_LISTED : page * _MOST_LISTED]


def _fill_ranges(state: TableSession, rule: dictionary_lines.DictionaryLine) -> None:
    """Give all chosen numbers without a range those of `rule`, but for their own missing codes and units."""
    lines = {name: state.lines[name] for name in state.chosen}
    filled = {
        name: replace(rule, codes=line.codes, unit=line.unit)
        for name, line in lines.items()
        if line.kind == "number" and line.incomplete
    }
    state.set_lines(lines | filled, state.bound)


def _edit_lines(state: TableSession) -> None:
    # The editor keeps what is typed as changes to the lines that it began with. So it gets the same lines at
    # each run until its key changes, and not those that were typed since.
    shown = _page_of_lines(state)
    key = f"own lines {state.generation} {hash(shown)}"
    if key not in st.session_state or set(state.editor_lines) != set(shown):
        state.editor_lines = {name: state.lines[name] for name in shown}
    column, help_text = st.column_config, upload_text.HELP
    columns = {  # in the order in which they are shown
        "column": column.TextColumn("column", pinned=True),
        "kind": column.SelectboxColumn("kind", options=list(dictionary_lines.KINDS), required=True),
        "unit": column.TextColumn("unit", help=help_text["unit"]),
        "low": column.TextColumn("lowest", help=help_text["low"]),
        "high": column.TextColumn("highest", help=help_text["high"]),
        "categories": column.TextColumn("categories", width="medium", help=help_text["categories"]),
        "missing": column.TextColumn("if missing", help=help_text["missing"]),
        "usual": column.TextColumn("usual", help=help_text["usual"]),
        "codes": column.TextColumn("missing codes", help=help_text["codes"]),
        "synonyms": column.TextColumn("other words", help=help_text["synonyms"]),
        "marks": column.SelectboxColumn(
            "numbers as", options=list(dictionary_lines.MARKS), help=help_text["marks"]
        ),
        "other_names": column.TextColumn("other names", help=help_text["other_names"]),
    }
    typed = st.data_editor(
        dictionary.to_frame(state.editor_lines),
        key=key,
        hide_index=True,
        disabled=["column"],
        column_order=tuple(columns),
        column_config=columns,
    )
    state.lines |= dictionary.lines_from_frame(typed, state.editor_lines)
    st.caption(
        "Ranges and categories come from a code book or from physiology. Taken from the rows, they would "
        "publish the lowest and the highest patient."
    )
    if state.example in examples.OF_ITS_OWN_ROWS:
        st.caption(upload_text.RANGES_OF_EXAMPLE)


def _proposed(raw: Raw) -> dict[str, dictionary_lines.DictionaryLine]:
    return {name: dictionary.proposed_line(name, raw.kinds[name]) for name in raw.columns}


def _save_dictionary(state: TableSession, raw: Raw, schema: Schema | None) -> None:
    """Render the downloads: a template, of all columns as long as none is chosen, and the schema's JSON."""
    left, right = st.columns(2)
    lines = state.typed or _proposed(raw)
    write = partial(dictionary_lines.write_template, lines)
    template = state.cached_by_name("template", lines, write)
    with left:
        take_along.download("Template for a spreadsheet", template, "dictionary.csv", "text/csv")
    if schema is None:
        return
    write_json = partial(dictionary.write, schema, *state.patients)
    written = state.cached_by_name("saved", (schema, state.patients), write_json)
    with right:
        take_along.download("Save the dictionary", written, "dictionary.json", "application/json")
    if schema.published is not schema:  # it has missing codes or other words, which stay private
        st.caption(upload_text.WITH_CELLS)


def _show_left_out(state: TableSession) -> None:
    """Render which columns of the opened dictionary do not count, as they lack a range or are not there."""
    opened = state.dictionary
    if opened is None or (state.raw is not None and not state.dictionary_taken):
        return
    there = set(opened.lines) if state.raw is None else set(state.raw.columns)
    chosen = opened.complete if state.raw is None else state.chosen
    rangeless = [
        name
        for name, line in opened.lines.items()
        if line.incomplete and name in there and name not in chosen
    ]
    absent = [name for name in opened.lines if name not in there]
    sentences = [upload_text.without_range(rangeless)] if rangeless else []
    if absent and state.names_asked is None:  # which says so itself
        sentences.append(upload_text.left_out(absent))
    if sentences:
        st.caption(page_text.literal(" ".join(sentences)))


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
        state.hospital_column = _choose_column(
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
