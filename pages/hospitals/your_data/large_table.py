"""Read a table whole or, where it is too large to hold, in pieces: when the owner asks, until they stop it.

Of a large table the columns are known at once, and its rows only as sums. It is read twice: for its
hospitals' exact sums of x x^T, then for its key, a digest of its content. Where a column names the patients
these are counted before, in a reading of their own.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dppca_core import tables
from dppca_core.arrays import Array, Indices
from dppca_core.byte_cache import return_memory
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import Progress, StoppedError
from dppca_core.release.exact_stages import Use
from dppca_core.tables import OwnerCounts, Schema, files, limits, pieces
from dppca_core.tables.patients import count_patients, read_patients
from pages.hospitals.your_data import confirmation, memory_check, prepared_table, session, upload_text
from pages.hospitals.your_data.prepared_table import LargeTable, PreparedTable, Table
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import TableSession
from pages.shared.background import memory, sessions

# The shares of the time after which patients are counted, and rows are added up.
_DONE_ONCE_COUNTED, _DONE_ONCE_SUMMED = 0.35, 0.75


def read(data: bytes, name: str, encoding: str) -> Table:
    """Return a table that is held or, where it is larger, one to be read in pieces.

    Raises ValueError with one sentence for a file that is no table, or for which there is no memory left.
    """
    memory_check.check(data, encoding, memory.available())
    with files.opened(data, encoding) as layout:  # text files do not state their rows
        if memory_check.in_pieces(len(data), layout.rows or 0, len(layout.names)):
            return LargeTable(name, layout.form, layout.names, layout.rows, encoding, data, layout.unnamed)
    return tables.read(data, name, encoding, memory_check.check_texts)


def read_upload(upload: UploadedFile, encoding: str) -> Table | str:
    """Return the table of an uploaded file, or why there is none. Once read, the server drops the file."""
    otherwise = upload_text.UNREADABLE
    with st.spinner("Reading"):
        table = session.attempt(partial(read, upload.getvalue(), upload.name, encoding), otherwise)
    if not isinstance(table, str):
        session.drop_upload(upload.file_id)
    else:
        return_memory()  # of as much as was read
    return table


def read_and_prepare(
    large: LargeTable,
    schema: Schema,
    hospital_column: str | None,
    progress: Progress,
    patient_column: str | None = None,
    most_kept: int | None = None,
) -> PreparedTable:
    """Read a large table and return it prepared for a release, with every hospital's exact sum and no rows.

    hospital_column: names each row's hospital; None puts all patients in one. progress: is told the share
    done, and answers whether to go on. patient_column, most_kept: as for `prepared_table.prepare`, which
    makes the same of a table held in memory.

    Raises ValueError with one sentence where the table does not fit the dictionary, and StoppedError.
    """
    most_kept = None if patient_column is None else most_kept
    sums: dict[str, discrete_gaussian.Adder] = {}
    row_sum = np.zeros(schema.d)
    # Without a column of patients nothing is counted before rows are added up.
    patients, counting_share, most_rows = None, 0.0, large.n or limits.MOST_ROWS_IN_PIECES
    if patient_column is not None:
        counting_share = _DONE_ONCE_COUNTED
        patients = count_patients(
            large.data,
            schema,
            patient_column,
            by=hospital_column,
            encoding=large.encoding,
            progress=partial(_report, progress, 0.0, counting_share),
            check=lambda entries: memory_check.check_patients(entries, memory.available()),
        )
        most_rows = sum(patients.sizes)
    bits = discrete_gaussian.bits_for(most_rows)  # of entries, so that sums of so many rows are exact

    def read(
        use: Callable[[str, Array, Array | float], None], progress: Callable[..., None], of_mean: bool = False
    ) -> OwnerCounts:
        """Call `use` with pieces of the clipped rows that count: hospital's name, rows (m, d), weights.

        It returns counts of rows and cells for the owner. of_mean: whether weights are those for a mean of
        rows, which can differ from those in a second moment (`patient_rows.PatientRows`).
        """
        reading = {"encoding": large.encoding, "progress": progress}
        if patients is None:
            # Each row is a patient of its own, and has the weight 1.
            each_once = lambda hospital, rows: use(hospital, rows, 1.0)  # noqa: E731
            return pieces.read_pieces(large.data, schema, each_once, by=hospital_column, **reading)
        most, names = None if of_mean else most_kept, patients.hospitals

        def use_weighted(hospital: int, rows: Array, counted: Indices) -> None:
            """Call `use` with the hospital's name, and weights by how many rows of a row's patient count."""
            use(names[hospital], rows, prepared_table.row_weights(counted, most))

        return read_patients(large.data, schema, patients, use_weighted, most_kept=most_kept, **reading)

    def adder(hospital: str) -> discrete_gaussian.Adder:
        """Return the hospital's sum, made when it is first met if there is room for one more."""
        if hospital not in sums:
            pieces.check_room(len(sums) + 1, schema.d, hospital_column)
            memory_check.check_matrices(schema.d, memory.available())
            sums[hospital] = discrete_gaussian.Adder(schema.d, bits)
        return sums[hospital]

    def add(hospital: str, rows: Array, weights: Array | float) -> None:
        """Add a piece of rows to its hospital's sum, and to the sum of rows times squared weights."""
        np.add(row_sum, (rows * np.square(weights)).sum(axis=0), out=row_sum)
        adder(hospital).add(rows, weights)

    owner = read(add, partial(_report, progress, counting_share, _DONE_ONCE_SUMMED - counting_share))
    if patients is not None and owner.kept < 2:
        raise ValueError(prepared_table.TOO_FEW)
    # Only the total of rows that were left out is known, and not whose they were.
    left_out = owner.dropped
    if left_out and hospital_column is not None and patients is None:
        raise ValueError(
            "Patients with a missing cell cannot be left out of hospitals that are read in pieces: fill "
            "their cells in, or let no column name the hospitals."
        )
    report = partial(_report, progress, _DONE_ONCE_SUMMED, 1 - _DONE_ONCE_SUMMED)
    keys = tables.content_keys_of_file(large.data, large.encoding, report)
    hospitals = tuple(sorted(sums)) if patients is None else patients.hospitals
    # Where patients are named, this also makes the empty sum of a hospital without a usable row.
    parts = [adder(hospital).sum for hospital in hospitals]
    # A patient who is left out counts as a row of zeros, as in a table that is held. `used` is the sum of
    # all squared weights.
    if patients is None:
        used = float(owner.kept)
        held = tuple(part._replace(n=part.n + left_out) for part in parts)
    else:
        most = most_kept or 1
        used = float(np.minimum(patients.usable, most).sum() / most)
        sized = zip(parts, patients.sizes, strict=True)
        held = tuple(part._replace(n=size, averaged=True) for part, size in sized)
    assignment = (
        prepared_table.IN_ONE_PLACE if hospital_column is None else prepared_table.by_column(hospital_column)
    )
    raw = replace(large, n=owner.rows, key=keys.key)
    sizes = tuple(part.n for part in held)

    def read_again(use: Use, progress: Progress, of_mean: bool = False) -> None:
        """Call `use` as a `Reader` does, with hospitals by number: some methods need rows at each step."""
        read(
            lambda hospital, rows, weights: use(hospitals.index(hospital), rows, weights),
            partial(_report, progress, 0.0, 1.0),
            of_mean,
        )

    return PreparedTable(raw, schema, owner, sizes, assignment, held, row_sum, used, read_again, most_kept)


def _report(progress: Progress, begin: float, share: float, done: int, total: int | None) -> None:
    """Report how much of a reading is done; raise StoppedError to stop it, ValueError for too many rows.

    begin, share: where in all that is done this reading begins, and its part of it. done, total: rows read,
    and of how many, if the file states that.
    """
    memory_check.check_rows(done)
    # Where the file does not state its rows, the most that can be read stand for them.
    if not progress(begin + share * done / max(total or limits.MOST_ROWS_IN_PIECES, done, 1)):
        raise StoppedError


def show(state: TableSession, schema: Schema) -> PreparedTable | str | None:
    """Return the prepared table, or why there is none; None while it has yet to be read or is being read."""
    # All that a reading depends on: with other answers the table is to be read again.
    request, job = (state.generation, schema, state.hospital_column, *state.patients), state.reading
    button = {"key": "own read", "on_click": _start_reading, "args": (state, request)}
    if job is None or job.what != request:
        st.info(upload_text.TOO_LARGE)
        st.button("Read it now", type="primary", **button)
        return None
    if job.running:
        confirmation.show_progress(job, "Reading the table in pieces")
        return None
    if job.result is None:
        st.button("Read it again", **button)
        reasons = {"stopped": "Reading was stopped.", "refused": job.message}
        return reasons.get(job.state, upload_text.UNREADABLE)
    prepared: PreparedTable = job.result
    if state.ready is not prepared:
        state.diagnostics.clear()  # they are of the table as it was prepared before
        state.prepared = request, prepared
    return prepared


def _start_reading(state: TableSession, request: tuple[Any, ...]) -> None:
    """Start the job that reads the table; nothing if the table has changed since the button was drawn.

    request: what the reading depends on, as `show` lists it.
    """
    # A button's arguments outlive the table, so the file is not among them.
    generation, schema, hospital_column, patient_column, most_kept = request
    if not isinstance(state.raw, LargeTable) or state.generation != generation:
        return
    if state.reading is not None:
        state.reading.stop()
    patients = {"patient_column": patient_column, "most_kept": most_kept}
    make = partial(read_and_prepare, state.raw, schema, hospital_column, **patients)
    state.reading = ReleaseJob(request, make, partial(sessions.is_connected, sessions.visitor()))
    state.reading.confirm()
    state.reading.wait(confirmation.FIRST_WAIT_SECONDS)
