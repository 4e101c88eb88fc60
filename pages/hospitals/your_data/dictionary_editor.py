"""Render which columns count, their lines of the dictionary in an editor, and what can be saved of it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from dppca_core.tables import Raw, Schema, dictionary_lines, examples
from pages.hospitals.your_data import dictionary, upload_text
from pages.hospitals.your_data.session import TableSession
from pages.shared import text
from pages.shared.reports import take_along

_MOST_LISTED = 200  # columns: of a wider table they are typed, and their lines are shown in pages


def choose_columns(state: TableSession, raw: Raw) -> None:
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
        st.error(text.refusal(str(reason)))
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


def edit_lines(state: TableSession) -> None:
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


def save_dictionary(state: TableSession, raw: Raw, schema: Schema | None) -> None:
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


def show_left_out(state: TableSession) -> None:
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
        st.caption(text.literal(" ".join(sentences)))
