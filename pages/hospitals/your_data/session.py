"""Hold the table of one visitor in the memory of their session, and nowhere else.

An account is the limit and the payments of all tables of the same patients. Accounts are in a book
(`dppca_core.accounts.book`), with what paid releases have drawn: on the disk of this machine, for whoever
sits at it, or of a server, for those who sign in; else in the session, and gone with it.

Nothing here is given to a cache, a log, a link or a file. The book holds no cell.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx

from dppca_core.accounts.account import Balance
from dppca_core.accounts.book import Book, BookTable, Payer, default_path
from dppca_core.byte_cache import return_memory
from dppca_core.release.projector import ProjectorRequest
from dppca_core.release.request import Request
from dppca_core.release.spectrum import SpectrumRequest
from dppca_core.tables import JoinedTable, QuestionError, Raw
from dppca_core.tables.dictionary_lines import DictionaryLine
from dppca_core.tables.encode import PreparedTable, TableIdentity
from dppca_core.tables.patients import AVERAGED, MERGED, Counting
from dppca_core.tables.quality import ColumnQuality
from pages.hospitals.your_data import owner
from pages.hospitals.your_data.column_mapping import ColumnMapping
from pages.hospitals.your_data.dictionary import OpenedDictionary
from pages.hospitals.your_data.hospital_tables import HospitalTables
from pages.hospitals.your_data.mail_study import MailStudy
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session_expiry import SessionExpiry
from pages.hospitals.your_data.upload_text import NAMED, ONE

Kind = Literal["release", "spectrum", "mail"]
Made = TypeVar("Made")
Asked = TypeVar("Asked", bound=Request | SpectrumRequest | ProjectorRequest)
_SESSION_KEY = "own table"
_REPEATED = "redcap_repeat_instrument"  # a column of exports whose rows have a part of a patient's cells each


class Order(NamedTuple, Generic[Asked]):
    """Hold what a job would make of a table, paid for from an account. No row is in it.

    request: a release of components, or of eigenvalues. account: as it stood when the price was shown. name:
    of the table's file. chosen: how columns and k were chosen, as the owner states it. usable_share: that of
    the patients on which the rehearsal of a release rested, as the owner states it; None where nothing is
    stated. study: of an answer by mail, the digest of its plan and the hospital.
    """

    request: Asked
    account: Balance
    table: TableIdentity
    name: str
    chosen: str = ""
    usable_share: float | None = None
    study: str = ""

    @property
    def kind(self) -> Kind:
        if self.study:
            return "mail"
        return "spectrum" if isinstance(self.request, SpectrumRequest) else "release"


class Preparation(NamedTuple):
    """Hold a table as it was prepared last, or why it does not fit its dictionary; request: for what."""

    request: object
    table: PreparedTable | None
    refusal: str = ""


@dataclass
class TableSession:
    """Hold the table of one visitor, what they typed about it, and what they released.

    Widgets have some of these counts in their keys: when `tables_loaded` or `generation` grows, Streamlit
    takes them for new widgets, which begin with what is here.
    """

    raw: Raw | None = None  # of several hospitals, their tables joined
    hospitals: HospitalTables | None = None  # as long as there is a table
    dictionary: OpenedDictionary | None = None  # as its file says, for the table that is there or will be
    dictionary_taken: bool = False  # whether its lines were taken over for a table
    names_asked: ColumnMapping | None = None  # which columns its other names are, until that is answered
    guessed: set[str] = field(default_factory=set)  # uploads whose alphabet was taken without a question
    files: dict[str, tuple[str, str]] = field(default_factory=dict)  # by uploader: the last, and why refused
    lines: dict[str, DictionaryLine] = field(default_factory=dict)  # kept for a new table's same columns
    editor_lines: dict[str, DictionaryLine] = field(default_factory=dict)  # those the editor began with
    example: str = ""  # name of the bundled table that this is
    tables_loaded: int = 0  # how many were loaded so far
    table_lost: bool = False  # with a lost connection: no other was loaded since
    name: str = field(default_factory=partial(secrets.token_hex, 4))  # tells it from other sessions
    # Names the uploaders of table and dictionary: under another name the browser shows empty ones.
    uploader: str = field(default_factory=partial(secrets.token_hex, 4))
    rows_answer: str | None = None  # to whether a patient can have several rows: a key of upload_text.ROWS
    most_rows: int | None = None  # of one patient, as the owner states it
    named_patients: str | None = None  # the column that names the patients, as it was chosen
    counting: Counting = AVERAGED  # how the rows of one of them count
    chosen: tuple[str, ...] = ()  # the columns that count, each with its line in `lines`
    bound: float | None = None  # the length to which rows are shortened; None for the dictionary's default
    hospital_column: str | None = None  # names the hospitals; None where no column does
    generation: int = 0  # grows whenever lines or columns are replaced, and not typed
    folded: bool = False  # whether a dictionary has filled all lines, and none has lacked anything since
    prepared: Preparation | None = None
    quality: dict[str, tuple[object, ColumnQuality]] = field(default_factory=dict)  # by what it counted
    unmapped: dict[str, DictionaryLine] = field(default_factory=dict)  # lines before words were last mapped
    book: Book | None = None  # in memory, for who did not sign in
    other_patients: set[str] = field(default_factory=set)  # keys of tables, as their owner has answered
    pending: ReleaseJob | None = None  # waits for its confirmation
    confirmed: list[ReleaseJob] = field(default_factory=list)  # oldest first, each with its `Order`
    questions: dict[str, tuple[str, QuestionError]] = field(
        default_factory=dict
    )  # by uploader: on which file
    answers: dict[str, dict[str, str]] = field(default_factory=dict)  # to such questions, by file
    diagnostics: dict[object, Any] = field(default_factory=dict)  # of this table, for its owner alone
    cache_by_name: dict[str, tuple[object, Any]] = field(default_factory=dict)  # each with its request
    mail: MailStudy = field(default_factory=MailStudy)
    how_chosen: tuple[str, str] = ("", "")  # columns and k: the answer, "" for none, and a sentence

    @property
    def ready(self) -> PreparedTable | None:
        return None if self.prepared is None else self.prepared.table

    @property
    def patient_column(self) -> str | None:
        """Return the column that names the patients, who count once; None where each has one row."""
        return self.named_patients if self.rows_answer == NAMED else None

    @property
    def patients(self) -> tuple[str | None, Counting]:
        return self.patient_column, self.counting

    @property
    def rows_per_patient(self) -> int | None:
        """Return how many rows one patient can have at most; None until the owner has answered."""
        if self.rows_answer == NAMED:  # the guarantee for a row is the patient's
            return None if self.raw is not None and self.named_patients is None else 1
        return 1 if self.rows_answer == ONE else self.most_rows if self.rows_answer else None

    @property
    def typed(self) -> dict[str, DictionaryLine]:
        return {name: self.lines[name] for name in self.chosen}

    @property
    def units(self) -> dict[str, str]:
        opened = {} if self.dictionary is None else self.dictionary.lines
        return {name: line.unit for name, line in (opened | self.lines).items() if line.unit}

    def set_lines(self, lines: dict[str, DictionaryLine], bound: float | None) -> None:
        """Let these columns count and no others, by these lines of a dictionary, with its bound of rows."""
        self.lines |= lines
        self.chosen, self.bound = tuple(lines), bound
        self.generation += 1

    def open_dictionary(self, dictionary: OpenedDictionary | None) -> None:
        """Replace the opened dictionary, which is taken over for no table yet."""
        self.dictionary, self.dictionary_taken, self.names_asked = dictionary, False, None
        if self.raw is None:  # it is of a planned table
            stated = None if dictionary is None else dictionary.patients
            self.rows_answer, self.most_rows = (None if stated is None else NAMED), None
        self.generation += 1

    def take_dictionary(self, opened: OpenedDictionary, first: Raw) -> None:
        """Let a dictionary's columns count that the first table has, without those that lack a range."""
        self.dictionary, known = opened, set(first.columns)
        lines = {name: line for name, line in opened.lines.items() if name in known}
        complete = {name: line for name, line in lines.items() if not line.incomplete}
        self.lines |= lines
        # The stated bound is for rows of all columns.
        self.set_lines(complete, opened.bound if len(complete) == len(opened.lines) else None)
        self.dictionary_taken = self.folded = True
        self._take_patients(first)

    def _take_patients(self, first: Raw) -> None:
        """Answer how rows of one patient count as the dictionary says, if the first table has its column."""
        stated = None if self.dictionary is None else self.dictionary.patients
        if stated is not None and stated[0] in first.columns:
            self.rows_answer, (self.named_patients, self.counting) = NAMED, stated

    def load(self, raw: Raw) -> None:
        """Replace the table. What was typed for columns of the same names stays."""
        self._drop_results()
        self.raw, self.example, self.table_lost = raw, "", False
        # Uploads count as handled still, but why one was refused concerns the former table.
        self.files = {uploader: (file_id, "") for uploader, (file_id, _) in self.files.items()}
        self.hospitals = HospitalTables(raw)
        self.names_asked = None
        return_memory()  # of the former table, and of what reading this one needed
        self.rows_answer = self.most_rows = self.named_patients = None
        self.counting = MERGED if _REPEATED in raw.columns else AVERAGED
        self._take_patients(raw)
        self.how_chosen = ("", "")
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
        first_joined = isinstance(raw, JoinedTable) and not isinstance(self.raw, JoinedTable)
        if first_joined and self.rows_answer == ONE:
            self.rows_answer = None
        self.raw = raw
        return_memory()

    def forget(self) -> None:
        """Drop the table and everything computed from it, except what was released. Mapped words go too."""
        self._drop_results()
        self.raw = None
        self.open_dictionary(None)
        self.uploader = secrets.token_hex(4)
        for file_id in self.guessed:
            drop_upload(file_id)
        self.guessed.clear()
        for name in ("dictionary", "template", "saved"):
            self.cache_by_name.pop(name, None)
        self.hospitals = None
        self.lines = {name: line.without_words for name, line in self.lines.items()}
        self.editor_lines = {}
        return_memory()  # else it stays with this process, and the next visitor's table finds no room

    def _drop_results(self) -> None:
        self.prepared = self.pending = self.mail.prepared = None
        for by_name in (self.diagnostics, self.quality, self.unmapped):
            by_name.clear()

    def cached_for_table(self, key: object, compute: Callable[[], Made]) -> Made:
        """Return `compute()`, computed once for this table, dictionary and key; it is for the owner alone."""
        if key not in self.diagnostics:
            self.diagnostics[key] = compute()
        made: Made = self.diagnostics[key]
        return made

    def cached_by_name(self, name: str, request: object, make: Callable[[], Made]) -> Made:
        """Return `make()`, made anew only when the request differs from the last one under this name."""
        if name not in self.cache_by_name or self.cache_by_name[name][0] != request:
            self.cache_by_name[name] = request, make()
        made: Made = self.cache_by_name[name][1]
        return made

    @property
    def releases(self) -> list[ReleaseJob]:
        """List the releases that were confirmed, also those still drawn, oldest first."""
        return [job for job in self.confirmed if job.what.kind == "release"]

    def last(self, kind: str) -> ReleaseJob | None:
        return next((job for job in reversed(self.confirmed) if job.what.kind == kind), None)

    @property
    def drawing(self) -> bool:
        return any(job.running for job in self.confirmed)

    def handle(self, uploader: str, file_id: str, take: Callable[[], None]) -> str:
        """Take an upload once, though the page runs often. Return why it was refused, as long as it is there.

        uploader: the widget's name. file_id: the upload's, "" for none. take: takes it, or raises ValueError
        with one sentence. Where `take` is interrupted it has changed nothing, and a newer run of the page
        calls it again.
        """
        # The id of the upload that was handled last, and why it was refused.
        former = self.files.get(uploader, ("", ""))
        if former[0] != file_id:
            # Note it before it is taken: a page that is run anew meanwhile must not take it too.
            self.files[uploader] = file_id, ""
            try:
                if file_id:
                    take()
            except ValueError as reason:
                self.files[uploader] = file_id, str(reason)
            except RerunException:
                self.files[uploader] = former
                raise
            else:
                self.files[uploader] = file_id, ""
        _, refusal = self.files.get(uploader, ("", ""))
        return refusal


@contextmanager
def refusing(sentence: str) -> Iterator[None]:
    """Raise ValueError with this sentence for any other error: its text may hold a cell, for the log."""
    try:
        yield
    except ValueError:
        raise
    except Exception:
        raise ValueError(sentence) from None


def current() -> TableSession:
    """Return the session of the visitor whose page is running, which is forgotten once they have left."""
    state: TableSession = st.session_state.setdefault(_SESSION_KEY, TableSession())
    context = get_script_run_ctx()
    if context is not None:
        expiry().watch(context.session_id, state)
    return state


@st.cache_resource(show_spinner=False)
def expiry() -> SessionExpiry:
    """Return the watch of all visitors, which forgets the tables of those who have left."""
    return SessionExpiry()


def drop_upload(file_id: str) -> None:
    """Drop an uploaded file once it was read: the server would hold it until the session ends."""
    context = get_script_run_ctx()
    if context is not None:
        files = context.uploaded_file_mgr
        assert isinstance(files, MemoryUploadedFileManager)
        files.remove_file(context.session_id, file_id)


def book() -> Book:
    """Return the book of the visitor's accounts: on this machine's or server's disk, or in the session."""
    if owner.has_book():
        return Book(default_path())
    state = current()
    state.book = state.book or Book()
    return state.book


def payer(table: PreparedTable) -> Payer:
    """Return what pays for releases of a table, found by its content under whatever name it came."""
    # Of its columns the book gets the public ones, which the dictionary names.
    columns = tuple(column.name for column in table.schema.columns)
    return book().payer(BookTable(table.raw.key, table.raw.n or table.n, columns), owner.owner())
