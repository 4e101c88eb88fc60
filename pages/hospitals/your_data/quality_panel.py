"""Render how a table's cells fit its dictionary, and let the owner map words by hand.

To map a word is to enter it in the dictionary as a code for "missing" or as another word for a category. A
suggestion is a word that may need that (`tables.quality`). All of it is private, for the owner's eyes.
"""

import re
from contextlib import suppress
from itertools import chain

import pandas as pd
import streamlit as st

from dppca_core.arrays import Indices
from dppca_core.tables import JoinedTable, Raw, cells, patients, safe_cell
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.quality import AS_MISSING, ColumnQuality, Suggestion, check_column
from pages.hospitals.your_data import dictionary, owner_only_document, quality_text
from pages.hospitals.your_data.session import TableSession
from pages.shared import text
from pages.shared.text import refusal

LEAVE, MISSING = "leave", "missing"
_MOST_LISTED = 200  # columns, or words
_MOST_NAMED = 5  # hospitals of a column, or columns that are asked about
_FORMULA = re.compile(r"[^\W\d_]|\(")  # of a formula: letters or a call, which a signed number has not


def show(state: TableSession, raw: Raw, prepared: PreparedTable | None) -> None:
    """Render counts by column and what may be mapped; prepared: None while the dictionary does not fit."""
    try:
        with st.spinner("Counting cells"):
            hospitals = _hospitals(state, raw)
            columns = _qualities(state, raw, hospitals)
    except Exception:  # the text of an error may hold a cell, and would go to the log
        st.caption(quality_text.UNCOUNTED)
        return
    asks = prepared is None or any(each.suggestions or each.nearly_all_outside() for each in columns.values())
    with st.expander("Data quality", expanded=asks):
        st.markdown(owner_only_document.NOT_PRIVATE)
        if prepared is not None:
            st.markdown("\n".join(f"- {line}" for line in quality_text.lines(prepared)))
        _ask_units(state, columns, list(hospitals))
        _show_columns(columns, list(hospitals))
        _map_words(state, columns)


def _hospitals(state: TableSession, raw: Raw) -> dict[str, Indices]:
    """Return the rows of each hospital by its name; empty where there is one, or some row names none."""
    column, marks = state.hospital_column, raw.marks
    if isinstance(raw, JoinedTable):
        column, marks = raw.hospital_column, cells.POINT
    if column is None or column not in raw.table.column_names:
        return {}

    def find() -> dict[str, Indices]:
        with suppress(ValueError):
            return patients.by_column(raw.table[column], column, marks=marks)
        return {}

    return state.cached_for_table(("hospitals", column), find)


def _ask_units(state: TableSession, columns: dict[str, ColumnQuality], hospitals: list[str]) -> None:
    """Ask about columns that do not fit the dictionary in some hospitals only, as those in another unit."""
    asked = [
        quality_text.nearly_all_outside(name, [hospitals[number] for number in far], state.lines[name].kind)
        for name, each in columns.items()
        if (far := each.nearly_all_outside())
    ]
    if asked:
        st.warning("\n\n".join(asked[:_MOST_NAMED]))


def _show_columns(columns: dict[str, ColumnQuality], hospitals: list[str]) -> None:
    """Render counts of each column with cells that are missing, not read or outside, the worst first.

    The list can be downloaded, so names are changed that a spreadsheet would read as formulas.
    """
    counts = {name: (each.missing, each.unread, each.outside) for name, each in columns.items()}
    shares = {name: sum(counts[name]) / each.cells for name, each in columns.items()}
    with_counts = sorted((name for name, share in shares.items() if share), key=lambda name: -shares[name])
    if not with_counts:
        st.markdown(quality_text.fine(len(columns)))
        return
    shown = with_counts[:_MOST_LISTED]
    lines = [
        (
            safe_cell(name),
            *(f"{n:,} ({text.percent(n / columns[name].cells)})" if n else "" for n in counts[name]),
            safe_cell(_by_hospital(columns[name], hospitals)),
        )
        for name in shown
    ]
    titles = ["column", "missing", "not read", "outside", "outside, by hospital"]
    frame = pd.DataFrame(lines, columns=titles, dtype="str")
    st.dataframe(frame if hospitals else frame[titles[:-1]], hide_index=True, key="own quality")
    st.caption(quality_text.listed(len(shown), len(with_counts), len(columns)))


def _by_hospital(quality: ColumnQuality, hospitals: list[str]) -> str:
    counted = zip(quality.by_hospital, hospitals, strict=True)
    some = [(outside, read, name) for (outside, read), name in counted if outside]
    most = sorted(some, key=lambda each: -each[0])[:_MOST_NAMED]
    return ", ".join(f"{name}: {outside:,} of {read:,}" for outside, read, name in most)


def _qualities(state: TableSession, raw: Raw, hospitals: dict[str, Indices]) -> dict[str, ColumnQuality]:
    """Return each chosen column's quality, counted again only where its line or the hospitals have changed.

    Reads private rows.
    """
    rows = list(hospitals.values())
    for name, line in state.typed.items():
        counted_by = line, state.hospital_column if hospitals else None
        if name not in state.quality or state.quality[name][0] != counted_by:
            checked = check_column(raw.table[name], dictionary.expected(line), raw.marks, hospitals=rows)
            state.quality[name] = counted_by, checked
    return {name: state.quality[name][1] for name in state.chosen}


def _map_words(state: TableSession, columns: dict[str, ColumnQuality]) -> None:
    words = [(name, each) for name, quality in columns.items() for each in quality.suggestions]
    words = sorted(filter(_can_be_mapped, words), key=lambda entry: -entry[1].times)[:_MOST_LISTED]
    if words:
        st.markdown(quality_text.MAP)
        known = (dictionary.expected(state.lines[name]).categories for name, _ in words)
        suggested = (each.take_as for _, each in words if each.take_as)
        options = dict.fromkeys([LEAVE, MISSING, *chain.from_iterable(known), *suggested])
        column_of = st.column_config
        edited = st.data_editor(
            _to_frame(words),
            # What is typed is kept by position, so other words begin anew.
            key=f"own words {state.generation} {hash(tuple(words))}",
            hide_index=True,
            disabled=["column", "cell", "count"],
            column_config={
                "count": column_of.NumberColumn("count", format="localized"),
                "take as": column_of.SelectboxColumn("take as", options=list(options), required=True),
            },
        )
        taken = list(edited["take as"])
        if st.button("Map these words", disabled=set(taken) <= {LEAVE}):
            _enter_words(state, words, taken)
    if state.unmapped:
        st.button("Undo the last mapping", on_click=_undo_mapping, args=(state,))
        st.caption(quality_text.UNDO_BY_HAND)


def _can_be_mapped(entry: tuple[str, Suggestion]) -> bool:
    """Return whether a column's suggested word may be listed: not where a spreadsheet would run it.

    The editors of words and of lines can be downloaded, and a word that was changed to be harmless would not
    be the cell's. Signed numbers are harmless as they are.
    """
    word = entry[1].word
    return safe_cell(word) == word or not _FORMULA.search(word)


def _to_frame(words: list[tuple[str, Suggestion]]) -> pd.DataFrame:
    # A suggestion without a proposal, None, is left as it is at first; a category has its own name.
    names = {None: LEAVE, AS_MISSING: MISSING}
    rows = [
        (safe_cell(name), each.word, each.times, names.get(each.take_as, each.take_as))
        for name, each in words
    ]
    return pd.DataFrame(rows, columns=["column", "cell", "count", "take as"])


def _enter_words(state: TableSession, words: list[tuple[str, Suggestion]], taken: list[str]) -> None:
    """Enter words in the lines of their columns; taken: LEAVE, MISSING, what was suggested, or a category."""
    mapped: dict[str, dict[str, str]] = {}
    for (name, each), take_as in zip(words, taken, strict=True):
        meant = (LEAVE, MISSING, each.take_as, *dictionary.expected(state.lines[name]).categories)
        if take_as not in meant:
            st.error(refusal(quality_text.not_a_category(name, take_as)))
            return
        if take_as != LEAVE:
            mapped.setdefault(name, {})[each.word] = AS_MISSING if take_as == MISSING else take_as
    state.unmapped = {name: state.lines[name] for name in mapped}
    state.lines |= {name: dictionary.add_words(state.lines[name], words) for name, words in mapped.items()}
    state.generation += 1
    st.rerun()


def _undo_mapping(state: TableSession) -> None:
    state.lines |= state.unmapped
    state.unmapped = {}
    state.generation += 1
