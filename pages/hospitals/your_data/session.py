"""Hold the table and the releases of one visitor in the memory of their session, and nowhere else.

A token is a random secret of a browser tab, by which it finds its session again after a reload. A cohort is
the tables of the same patients, and an account the limit and the releases of all of them.

Nothing here is given to a cache, a log, a link or a file. Only a ledger, and what a paid release has drawn or
released, encrypted, may be on disk: neither holds a cell.
"""

import os
import secrets
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

from dppca_core.byte_cache import return_memory
from dppca_core.release.cohort_lists import CohortsInMemory, CohortsOnDisk
from dppca_core.release.cohorts import Cohorts
from dppca_core.release.how_chosen import NOT_STATED
from dppca_core.release.ledger import DiskLedger, Ledger, SessionLedger
from dppca_core.release.ledger_records import Account
from dppca_core.tables import JoinedTable, QuestionError, Raw
from dppca_core.tables.dictionary_lines import DictionaryLine
from dppca_core.tables.quality import ColumnQuality
from pages.hospitals.your_data import owner
from pages.hospitals.your_data.column_mapping import ColumnMapping
from pages.hospitals.your_data.hospital_tables import HospitalTables
from pages.hospitals.your_data.prepared_table import PreparedTable, TableIdentity
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session_expiry import SessionExpiry
from pages.shared.server import sign_in

LEDGER_DIR = "DPPCA_LEDGER_DIR"
_SESSION_KEY = "own table"


class Order(NamedTuple):
    """Hold what a job would make of a table, paid for from an account. No row is in it.

    kind: "release" of components, "spectrum" of eigenvalues, or "scores" for a picture of scores. request:
    what to make, a request of that kind. account: as it stood when the price was shown. name: of the table's
    file. chosen: how columns and k were chosen, as the owner states it. usable_share: that of the patients on
    which the rehearsal of a release rested, as the owner states it; None where nothing is stated.
    """

    kind: str
    request: Any
    account: Account
    table: TableIdentity
    name: str
    chosen: str = ""
    usable_share: float | None = None


@dataclass
class TableSession:
    """Hold the table of one visitor, what they typed about it, and what they released.

    Widgets have some of these counts in their keys: when `tables_loaded` or `generation` grows, Streamlit
    takes them for new widgets, which begin with what is here.
    """

    raw: Raw | None = None  # of several hospitals, their tables joined
    hospitals: HospitalTables = field(default_factory=HospitalTables)
    opened: tuple[bytes, ColumnMapping] | None = None  # a dictionary of other names, until these are mapped
    files: dict[str, tuple[str, str]] = field(default_factory=dict)  # by uploader: the last, and why refused
    lines: dict[str, DictionaryLine] = field(default_factory=dict)  # kept for a new table's same columns
    editor_lines: dict[str, DictionaryLine] = field(default_factory=dict)  # those the editor began with
    example: str = ""  # name of the bundled table that this is
    tables_loaded: int = 0  # how many were loaded so far
    table_lost: bool = False  # with a lost connection: no other was loaded since
    # Names the uploader of the table: under another name the browser shows an empty one.
    uploader: str = field(default_factory=partial(secrets.token_hex, 4))
    several_rows: bool | None = None  # whether a patient can have several rows; None until the owner answers
    most_rows: int | None = None  # of one patient, as the owner states it
    named_patients: str | None = None  # the column that names the patients, as it was chosen
    most_kept: int | None = None  # of their rows; None averages all of them
    chosen: tuple[str, ...] = ()  # the columns that count, each with its line in `lines`
    bound: float | None = None  # the length to which rows are shortened; None for the dictionary's default
    hospital_column: str | None = None  # names the hospitals; None where no column does
    generation: int = 0  # grows whenever lines or columns are replaced, and not typed
    prepared: tuple[object, PreparedTable | str] | None = None  # with what it was prepared from
    quality: dict[str, tuple[DictionaryLine, ColumnQuality]] = field(default_factory=dict)  # by column
    unmapped: dict[str, DictionaryLine] = field(default_factory=dict)  # lines before words were last mapped
    ledgers: dict[str, SessionLedger] = field(default_factory=dict)  # by the key of a table
    cohorts: CohortsInMemory = field(repr=False, default_factory=CohortsInMemory)
    # Tables of other patients, as they were asked about.
    other_patients: set[tuple[str, str | None]] = field(default_factory=set)
    owner: str = field(repr=False, default_factory=secrets.token_urlsafe)  # of accounts, without a sign-in
    pending: ReleaseJob | None = None  # waits for its confirmation
    confirmed: list[ReleaseJob] = field(default_factory=list)  # oldest first, each with its `Order`
    questions: dict[str, tuple[str, QuestionError]] = field(
        default_factory=dict
    )  # by uploader: on which file
    answers: dict[str, dict[str, str]] = field(default_factory=dict)  # to such questions, by file
    diagnostics: dict[object, Any] = field(default_factory=dict)  # of this table, for its owner alone
    returned: bool = False  # whether releases of another session came here
    restored: bool = False  # whether releases came back from this server's disk
    elsewhere: str = field(repr=False, default="")  # token of the open tab of which this is a copy
    heard: str = field(repr=False, default="")  # the token that its browser tab claimed last
    missing: bool = False  # the server no longer has what this tab paid for
    visitor: str = ""  # Streamlit's name of the session that holds this
    cache_by_name: dict[str, tuple[object, Any]] = field(default_factory=dict)  # each with its request
    how_chosen: tuple[str, str] = (NOT_STATED, "")  # columns and k: the answer, and a sentence of the owner
    token: str = field(repr=False, default_factory=secrets.token_urlsafe)  # known to this browser tab alone

    @property
    def ready(self) -> PreparedTable | None:
        """Return the table as it was prepared last, if it fits its dictionary."""
        result = self.prepared[1] if self.prepared is not None else None
        return result if isinstance(result, PreparedTable) else None

    @property
    def patient_column(self) -> str | None:
        """Return the column that names the patients, who count once; None where each has one row."""
        return self.named_patients if self.several_rows else None

    @property
    def patients(self) -> tuple[str | None, int | None]:
        """Return that column and, where there is one, how many rows of one patient count; None for all."""
        column = self.patient_column
        return column, None if column is None else self.most_kept

    @property
    def rows_per_patient(self) -> int | None:
        """Return how many rows one patient can have at most, or None until the owner has answered."""
        if self.several_rows is None:
            return None
        if not self.several_rows or self.patient_column is not None:
            return 1  # the guarantee for a row is the patient's
        return self.most_rows

    @property
    def typed(self) -> dict[str, DictionaryLine]:
        """Return the lines of the columns that count."""
        return {name: self.lines[name] for name in self.chosen}

    def set_lines(self, lines: dict[str, DictionaryLine], bound: float | None) -> None:
        """Let these columns count and no others, by these lines of a dictionary, with its bound of rows."""
        self.lines |= lines
        self.chosen, self.bound = tuple(lines), bound
        self.generation += 1

    def load(self, raw: Raw) -> None:
        """Replace the table. What was typed for columns of the same names stays."""
        self._drop_results()
        self.raw, self.example, self.table_lost = raw, "", False
        # Uploads count as handled still, but why one was refused concerns the former table.
        self.files = {uploader: (file_id, "") for uploader, (file_id, _) in self.files.items()}
        self.hospitals = HospitalTables(raw)
        self.opened = None
        return_memory()  # of the former table, and of what reading this one needed
        self.several_rows = self.most_rows = self.named_patients = self.most_kept = None
        self.how_chosen = (NOT_STATED, "")
        self.tables_loaded += 1
        known = set(raw.columns)
        self.chosen = tuple(name for name in self.chosen if name in known)
        self.generation += 1

    def join(self, raw: Raw) -> None:
        """Go on with the hospitals' tables as one, or with the first again. What was typed stays.

        If the owner has answered that each patient has one row, that is asked again when tables are first
        joined: it was said of one table, and a patient may be in two.
        """
        self._drop_results()
        if isinstance(raw, JoinedTable) and not isinstance(self.raw, JoinedTable) and not self.several_rows:
            self.several_rows = None
        self.raw = raw
        return_memory()

    def forget(self) -> None:
        """Drop the table and everything computed from it, except what was released. Mapped words go too."""
        self._drop_results()
        self.raw = self.opened = None
        self.uploader = secrets.token_hex(4)
        for name in ("dictionary", "template"):
            self.cache_by_name.pop(name, None)
        self.hospitals = HospitalTables()
        self.lines = {name: line.without_words for name, line in self.lines.items()}
        self.editor_lines = {}
        return_memory()  # else it stays with this process, and the next visitor's table finds no room

    def _drop_results(self) -> None:
        """Drop all that was computed from the table or waits to be confirmed for it."""
        self.prepared = self.pending = None
        for by_name in (self.diagnostics, self.quality, self.unmapped):
            by_name.clear()

    def cached_for_table(self, key: object, compute: Callable[[], Any]) -> Any:
        """Return `compute()`, computed once for this table, dictionary and key; it is for the owner alone."""
        if key not in self.diagnostics:
            self.diagnostics[key] = compute()
        return self.diagnostics[key]

    def cached_by_name(self, name: str, request: object, make: Callable[[], Any]) -> Any:
        """Return `make()`, made anew only when the request differs from the last one under this name."""
        if name not in self.cache_by_name or self.cache_by_name[name][0] != request:
            self.cache_by_name[name] = request, make()
        return self.cache_by_name[name][1]

    @property
    def releases(self) -> list[ReleaseJob]:
        """List the releases that were confirmed, also those still drawn, oldest first."""
        return [job for job in self.confirmed if job.what.kind == "release"]

    @property
    def to_download(self) -> list[ReleaseJob]:
        """List the jobs whose result is a file: releases, and pictures of scores."""
        return [job for job in self.confirmed if job.what.kind in ("release", "scores")]

    def last(self, kind: str) -> ReleaseJob | None:
        """Return the job of this kind that was confirmed last."""
        return next((job for job in reversed(self.confirmed) if job.what.kind == kind), None)

    @property
    def drawing(self) -> bool:
        """Return whether something that was paid for is being drawn."""
        return any(job.running for job in self.confirmed)

    @property
    def paid(self) -> bool:
        """Return whether a release that was paid for is here, or is being drawn."""
        return any(job.running or job.result for job in self.to_download)

    def handle(self, uploader: str, file_id: str, take: Callable[[], str]) -> str:
        """Take an upload once, though the page runs often. Return why it was refused, as long as it is there.

        uploader: the widget's name. file_id: the upload's, "" for none. take: takes it, and returns "" or why
        it was refused. Where `take` is interrupted it has changed nothing, and a newer run of the page calls
        it again.
        """
        # The id of the upload that was handled last, and why it was refused.
        former = self.files.get(uploader, ("", ""))
        if former[0] != file_id:
            # Note it before it is taken: a page that is run anew meanwhile must not take it too.
            self.files[uploader] = file_id, ""
            try:
                self.files[uploader] = file_id, take() if file_id else ""
            except RerunException:
                self.files[uploader] = former
                raise
        _, refusal = self.files.get(uploader, ("", ""))
        return refusal


def attempt(make: Callable[[], Any], otherwise: str = "") -> Any:
    """Return what `make` returns, or the sentence of the ValueError with which it refuses.

    otherwise: what is returned for any other error, since that error's text may hold a cell and would go to
    the log. Where it is "" such an error is raised.
    """
    try:
        return make()
    except ValueError as reason:
        return str(reason)
    except Exception:
        if not otherwise:
            raise
        return otherwise


def current() -> TableSession:
    """Return the session of the visitor whose page is running, which is forgotten once they have left."""
    state = st.session_state.setdefault(_SESSION_KEY, TableSession())
    context = get_script_run_ctx()
    if context is not None:
        state.visitor = context.session_id
        expiry().watch(context.session_id, state, partial(_drop_tokens, weakref.ref(state)))
        sessions()[state.token] = state
    return state


def _drop_tokens(leaver: weakref.ref[TableSession]) -> None:
    """Drop the tokens of a visitor's session, if anything holds it still, once they have left."""
    for token in tokens_of(leaver()):
        sessions().pop(token, None)


# Weak, so that the sessions of visitors who have left can be collected.
@st.cache_resource(show_spinner=False)
def sessions() -> weakref.WeakValueDictionary[str, TableSession]:
    """Return the sessions of all visitors by token, until `expiry` forgets them."""
    return weakref.WeakValueDictionary()


def tokens_of(session: TableSession | None) -> list[str]:
    """List the tokens that lead to this session: its own and, after a reload, that of the former page."""
    return [token for token, held in list(sessions().items()) if held is session]


@st.cache_resource(show_spinner=False)
def expiry() -> SessionExpiry:
    """Return the watch of all visitors, which forgets the tables of those who have left."""
    return SessionExpiry()


def drop_upload(file_id: str) -> None:
    """Drop an uploaded file once it was read: the server would hold it until the session ends."""
    context = get_script_run_ctx()
    if context is not None:
        context.uploaded_file_mgr.remove_file(context.session_id, file_id)


def folder() -> Path | None:
    """Return the folder of ledgers on disk, or None where they are kept in the session only."""
    path = os.environ.get(LEDGER_DIR, "")
    return Path(path) if path else None


def visitor_owner() -> str | None:
    """Return the owner whose accounts the visitor may see; None for all, as without a folder of ledgers."""
    return None if folder() is None else owner.owner(current().owner)


def cohorts() -> Cohorts:
    """Return the list of cohorts: that of the folder of ledgers or, without one, of this session."""
    where = folder()
    return current().cohorts if where is None else CohortsOnDisk(where)


def keys(raw: Raw) -> tuple[str, ...]:
    """Return the keys of a table, digests of its content by all versions of the digest, oldest first."""
    return (*raw.former_keys, raw.key)


def ledger(raw: Raw) -> Ledger:
    """Return the ledger of this table's cohort, found by its content under whatever name it was uploaded."""
    return ledger_of_keys(keys(raw), raw.n)


def ledger_of_keys(keys: Sequence[str], rows: int | None = None) -> Ledger:
    """Return the ledger of the cohort of a table with these keys. rows: how many that table has, if known."""
    where = folder()
    if where is not None:
        # The newest key is the last; those before it are of earlier versions of the digest.
        return DiskLedger(where, keys[-1], rows, keys[:-1], visitor_owner(), sign_in.required())
    # One ledger keeps the account's lines. The one that is returned shares them, and knows this table.
    kept = current().ledgers.setdefault(_key_of_account(keys), SessionLedger())
    return SessionLedger(rows, keys, cohorts(), kept)


def merge_accounts(keys: Sequence[str], into: Sequence[str]) -> None:
    """Move what this session keeps of one table's account into that of another table.

    keys, into: the keys of the first table, and of the other. In a folder nothing is moved, since the ledgers
    of all tables of a cohort are read together there.
    """
    state, from_key, into_key = current(), _key_of_account(keys), _key_of_account(into)
    ledgers = state.ledgers
    if folder() is None and from_key in ledgers and from_key != into_key:
        # `ledger_of_keys` made the other account when its lines were checked.
        ledgers[into_key].take_over(ledgers[from_key])
        del ledgers[from_key]
        state.pending = None  # a question that is open would pay into the account that is gone


def _key_of_account(keys: Sequence[str]) -> str:
    """Return the key under which this session keeps the account of a table.

    keys: the table's. The account may be under a key of another table of its cohort, with which it is shared.
    Where none is kept yet, it is the newest key of the table itself.
    """
    members = cohorts().members(keys).keys
    return next((key for key in members if key in current().ledgers), keys[-1])
