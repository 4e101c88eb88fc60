"""What one visitor has brought and released: in the memory of this session, and nowhere else.

Nothing here is given to a cache, a log, a link or a file; only a ledger may be on disk, and holds no cell.
"""

from __future__ import annotations

import os
import secrets
import weakref
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileManager

from dppca_core.byte_cache import return_memory
from dppca_core.release.ledger import DiskLedger, Ledger, SessionLedger
from dppca_core.release.private_release import Released, Request
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Raw, Schema
from pages.hospitals.your_data.dictionary import DictionaryLine
from pages.hospitals.your_data.large_table import LargeTable
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session_expiry import SessionExpiry
from pages.shared.reports.html_report import Report

LEDGER_DIR = "DPPCA_LEDGER_DIR"
_KEY = "own table"


@dataclass(frozen=True)
class ConfirmedRelease:
    """A confirmed job, and of what: the table's name and key, its dictionary, and what was asked for."""

    name: str
    key: str
    schema: Schema
    request: Request
    job: ReleaseJob[Released] | None = None

    @property
    def released(self) -> Released | None:
        """What came of it, so far."""
        return self.job.result if self.job is not None else None


@dataclass
class TableSession:
    """raw: the table. lines, bound: its dictionary as typed, which a new table of the same columns keeps.
    said: why the last file was not taken. files: uploads that were looked at, by place. base: the lines that
    the editor of this generation began with. example: the bundled table that this is. tables: how many were
    brought. several: whether a patient can have more than one row, and most_rows how many; None until the
    owner has said so of this very table. by: the column that
    names the hospitals. prepared: the last one, and of what. asked: an job to be confirmed. orders: the
    last that was, by place on the page. made: all releases' orders, oldest first. spectrum: the last job of
    eigenvalues, and of which `PreparedTable.of`, for another dictionary has other eigenvalues; shaped: the number
    of the one that the twin was shaped by. measured: what only the owner may see of this table, by what was
    asked. downloaded: numbers of the orders of which a file was asked for. returned: how releases of another
    session came here (`unsaved`), for which `token` is the secret that only this browser tab has. elsewhere:
    the secret of a session that is still open in the tab of which this is a copy. missing: whether the server
    no longer has what this tab paid for. visitor: whose session it is. report: the last one, and its file.
    """

    raw: Raw | LargeTable | None = None
    upload_error: str = ""
    files: dict[str, str] = field(default_factory=dict)
    lines: dict[str, DictionaryLine] = field(default_factory=dict)
    editor_lines: dict[str, DictionaryLine] = field(default_factory=dict)
    example: str = ""
    tables: int = 0
    several: bool | None = None
    most_rows: int | None = None
    chosen: tuple[str, ...] = ()
    bound: float | None = None
    hospital_column: str | None = None
    generation: int = 0
    prepared: tuple[object, PreparedTable | str] | None = None
    ledgers: dict[str, SessionLedger] = field(default_factory=dict)
    pending: ReleaseJob[Any] | None = None
    jobs: dict[str, ReleaseJob[Any]] = field(default_factory=dict)
    releases: list[ConfirmedRelease] = field(default_factory=list)
    spectrum: tuple[tuple[object, ...], ReleaseJob[Spectrum]] | None = None
    shaped_by: int = 0
    diagnostics: dict[object, Any] = field(default_factory=dict)
    downloaded: set[int] = field(default_factory=set)
    returned: str = ""
    elsewhere: str = field(repr=False, default="")
    missing: bool = False
    visitor: str = ""
    report: tuple[Report, bytes] | None = None
    token: str = field(repr=False, default_factory=secrets.token_urlsafe)

    @property
    def ready(self) -> PreparedTable | None:
        """The table as it was prepared last, if it fits its dictionary."""
        result = self.prepared[1] if self.prepared is not None else None
        return result if isinstance(result, PreparedTable) else None

    @property
    def rows_per_patient(self) -> int | None:
        """How many rows one patient can have at most; None until the owner has said it."""
        if self.several is None:
            return None
        return self.most_rows if self.several else 1

    def rows_of(self, key: str) -> int | None:
        """The same, of the table with this key; None where another one is here."""
        return self.rows_per_patient if self.raw is not None and self.raw.key == key else None

    def bring(self, raw: Raw | LargeTable) -> None:
        """Another table. What was typed for columns of the same names stays."""
        self._let_go()
        self.raw, self.upload_error, self.example = raw, "", ""
        return_memory()  # of the table before, and of what was needed to read this
        self.several = self.most_rows = None
        self.tables += 1
        self.chosen = tuple(name for name in self.chosen if name in raw.columns)
        self.hospital_column = self.hospital_column if self.hospital_column in raw.columns else None
        self.generation += 1

    def forget(self) -> None:
        """The table, and all that was computed of it but what was released."""
        self._let_go()
        self.raw = None
        return_memory()  # else it stays with this process, and the next visitor's table finds no room

    def _let_go(self) -> None:
        self.prepared = self.pending = None
        reading = self.jobs.pop("reading", None)
        if reading is not None:
            reading.stop()
        self.diagnostics.clear()

    @property
    def unsaved(self) -> list[ConfirmedRelease]:
        """Releases of which no file was asked for yet, oldest first."""
        return [
            release
            for release in self.releases
            if release.job is not None
            and release.released is not None
            and release.job.number not in self.downloaded
        ]

    @property
    def drawing(self) -> bool:
        """Whether something that was paid for is being drawn."""
        return any(job.running for place, job in self.jobs.items() if place != "reading")

    @property
    def at_stake(self) -> bool:
        """Whether leaving would lose something paid: a running job, or a release without a file."""
        return bool(self.unsaved) or self.drawing

    @property
    def paid(self) -> bool:
        """Whether a release that was paid for is here, or is being drawn."""
        return any(
            release.job is not None and (release.job.running or release.released) for release in self.releases
        )

    @property
    def known_entries(self) -> set[str]:
        """Ids, on the ledger, of the releases that this session has."""
        known = {release.released.entry.id for release in self.releases if release.released is not None}
        if self.spectrum is not None and self.spectrum[1].result is not None:
            known.add(self.spectrum[1].result.entry.id)
        return known

    def inherit(self, former: TableSession) -> None:
        """Take over what another session of the same browser tab paid for, and its ledgers; no table."""
        self.releases = [*former.releases, *self.releases]
        self.downloaded |= former.downloaded
        self.spectrum = self.spectrum or former.spectrum
        for place in ("release", "spectrum"):
            job = former.jobs.get(place)
            if job is not None and job.running:
                self.jobs[place] = job
        for key, kept in former.ledgers.items():
            self.ledgers.setdefault(key, kept)

    def is_new(self, place: str, file_id: str) -> bool:
        """Whether this upload was not looked at in an earlier run; notes that it is now."""
        known = self.files.get(place)
        self.files[place] = file_id
        return known != file_id


def current() -> TableSession:
    """This session's."""
    state: TableSession = st.session_state.setdefault(_KEY, TableSession())
    context = get_script_run_ctx()
    if context is not None:
        state.visitor = context.session_id
        drop = partial(_drop_all, context.uploaded_file_mgr, weakref.ref(state))
        expiry().watch(context.session_id, state, drop)
        sessions()[state.token] = state
    return state


def _drop_all(uploads: UploadedFileManager, leaver: weakref.ref[TableSession], visitor: str) -> None:
    uploads.remove_session_files(visitor)
    for token in tokens_of(leaver()):
        sessions().pop(token, None)


@st.cache_resource(show_spinner=False)
def sessions() -> weakref.WeakValueDictionary[str, TableSession]:
    """Return the sessions by their secret, until `leaving` forgets them; `unsaved` looks them up."""
    return weakref.WeakValueDictionary()


def tokens_of(kept: TableSession | None) -> list[str]:
    """List the secrets that lead to this session: after a reload the former page's does too."""
    return [token for token, each in list(sessions().items()) if each is kept]


@st.cache_resource(show_spinner=False)
def expiry() -> SessionExpiry:
    """Forgets the tables of those who have left this server."""
    return SessionExpiry()


def drop_upload(file_id: str) -> None:
    """Let an uploaded file go, once it was read: the server would hold it until the session ends."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_file(context.session_id, file_id)


def folder() -> Path | None:
    """Where ledgers are on disk; None for the session only."""
    named = os.environ.get(LEDGER_DIR, "")
    return Path(named) if named else None


def ledger(raw: Raw | LargeTable) -> Ledger:
    """The ledger of this table's content, under whatever name it came."""
    where = folder()
    patients = raw.n if isinstance(raw, Raw) else raw.rows
    if where is not None:
        return DiskLedger(where, raw.key, patients, raw.former_key)
    return current().ledgers.setdefault(raw.key, SessionLedger(patients))
