"""Read a table whole or, where it is too large to hold, in pieces: when the owner asks, until they stop it.

Of a large table the columns are known at once, and its rows only as sums. It is read twice: for its
hospitals' exact sums, then for its key.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from dppca_core import tables
from dppca_core.arrays import Array
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import StoppedError
from dppca_core.release.exact_stages import Use
from dppca_core.release.private_release import Progress
from dppca_core.tables import Schema, files, limits
from pages.hospitals.your_data import confirmation, memory_check, upload_text
from pages.hospitals.your_data.prepared_table import IN_ONE_PLACE, LargeTable, PreparedTable, Table, by_column
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import memory, sessions

_SUMMING = 0.75  # share of the time


def read(data: bytes, name: str, encoding: str) -> Table:
    """Return a table that is held or, where it is larger, one to be read in pieces.

    Raises ValueError with one sentence for a file that is no table, or for which there is no memory left.
    """
    memory_check.check(data, encoding, memory.available())
    with files.opened(data, encoding) as layout:
        if memory_check.in_pieces(len(data), layout.rows or 0, len(layout.names)):
            return LargeTable(name, layout.form, layout.names, layout.rows, encoding, data, layout.unnamed)
    return tables.read(data, name, encoding, memory_check.check_texts)


def reduce(
    large: LargeTable, schema: Schema, hospital_column: str | None, progress: Progress
) -> PreparedTable:
    """Return every hospital's exact sum; without a column that names hospitals, all patients are in one.

    Raises ValueError with one sentence where the table does not fit the dictionary, and StoppedError.
    """
    bits = discrete_gaussian.bits_for(large.n or limits.MOST_ROWS_IN_PIECES)
    sums: dict[str, discrete_gaussian.Adder] = {}
    row_sum = np.zeros(schema.d)

    def add(hospital: str, rows: Array) -> None:
        np.add(row_sum, rows.sum(axis=0), out=row_sum)
        if hospital not in sums:
            memory_check.check_matrices(schema.d, memory.available())
            sums[hospital] = discrete_gaussian.Adder(schema.d, bits)
        sums[hospital].add(rows)

    def reporter(begin: float, share: float) -> Callable[[int, int | None], None]:
        def report(done: int, total: int | None) -> None:
            memory_check.check_rows(done)
            if not progress(begin + share * done / max(total or limits.MOST_ROWS_IN_PIECES, done, 1)):
                raise StoppedError

        return report

    reduced = tables.reduce_file(
        large.data,
        schema,
        by=hospital_column,
        encoding=large.encoding,
        progress=reporter(0.0, _SUMMING),
        each=add,
    )
    left_out = reduced.owner.dropped
    if left_out and hospital_column is not None:
        raise ValueError(
            "Patients with a missing cell cannot be left out of hospitals that are read in pieces: fill "
            "their cells in, or read the table without dealing it."
        )
    keys = tables.content_keys_of_file(large.data, large.encoding, reporter(_SUMMING, 1 - _SUMMING))
    parts = [sums[hospital].sum for hospital in reduced.hospitals]
    # A patient who is left out counts as a row of zeros, as in a table that is held.
    held = tuple(part._replace(n=part.n + left_out) for part in parts)
    assignment = IN_ONE_PLACE if hospital_column is None else by_column(hospital_column)
    raw, sizes = replace(large, key=keys.key, former_key=keys.former), tuple(part.n for part in held)
    read = partial(_read_again, raw, schema, hospital_column, reduced.hospitals)
    return PreparedTable(raw, schema, reduced.owner, sizes, assignment, held, row_sum, read)


def _read_again(
    large: LargeTable,
    schema: Schema,
    hospital_column: str | None,
    hospitals: tuple[str, ...],
    use: Use,
    progress: Progress,
) -> None:
    """Hand over the clipped rows, which no sum holds: two stages need them once for each step."""
    number = {hospital: index for index, hospital in enumerate(hospitals)}

    def report(done: int, total: int | None) -> None:
        if not progress(done / max(total or limits.MOST_ROWS_IN_PIECES, done, 1)):
            raise StoppedError

    tables.read_pieces(
        large.data,
        schema,
        lambda hospital, rows: use(number[hospital], rows, 1.0),
        by=hospital_column,
        encoding=large.encoding,
        progress=report,
    )


def show(state: TableSession, schema: Schema) -> PreparedTable | str | None:
    """Return the table's sums by this dictionary; why it does not fit; or None until it was read."""
    request, job = (state.generation, schema, state.hospital_column), state.reading
    if job is None or job.what != request:
        st.info(upload_text.TOO_LARGE)
        st.button("Read it now", key="own read", type="primary", on_click=_read, args=(state, *request))
        return None
    if job.running:
        confirmation.show_progress(job, "Reading the table in pieces")
        return None
    if job.result is None:
        st.button("Read it again", key="own read", on_click=_read, args=(state, *request))
        reasons = {"stopped": "Reading was stopped.", "refused": job.message}
        return reasons.get(job.state, upload_text.UNREADABLE)
    prepared: PreparedTable = job.result
    if state.ready is not prepared:
        state.diagnostics.clear()
        state.prepared = request, prepared
    return prepared


def _read(state: TableSession, generation: int, schema: Schema, hospital_column: str | None) -> None:
    # A button's arguments outlive the table, so the file is not among them.
    if not isinstance(state.raw, LargeTable) or state.generation != generation:
        return
    if state.reading is not None:
        state.reading.stop()
    state.reading = ReleaseJob(
        (generation, schema, hospital_column),
        partial(reduce, state.raw, schema, hospital_column),
        partial(sessions.present, sessions.visitor()),
    )
    state.reading.confirm()
    state.reading.wait(confirmation.FIRST_WAIT_SECONDS)
