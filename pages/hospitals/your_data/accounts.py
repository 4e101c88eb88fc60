"""Note into which account a table's releases pay, let it join another account, and name its cohort.

An account is a limit of privacy loss and all releases that count towards it. A cohort is the tables of the
same patients, which pay into one account (`dppca_core.release.cohorts`). A sketch is a few hundred keyed
digests of a table, by which another table of the same patients is noticed. Sketches are private. They stay in
the session, or beside the ledgers on the owner's disk.
"""

from collections.abc import Callable
from functools import partial

from dppca_core.release.cohorts import Extract, PatientCohort
from dppca_core.release.ledger_records import check_alike
from dppca_core.tables import content
from dppca_core.tables.sketches import Sketch, Sketcher
from pages.hospitals.your_data import cohort_text, session
from pages.hospitals.your_data.prepared_table import Table

_TWO_LIMITS = "{name} of that account is {first}, of this table's {second}, so no total can be told"


def sketch(raw: Table) -> Sketch:
    """Return a table's sketch, which is made once for each column of patients. Reads private rows."""
    state = session.current()

    def make_sketch() -> Sketch:
        """Return the sketch, which is filled while the table's content is hashed."""
        sketcher = Sketcher(session.cohorts().secret, state.patient_column)
        content.content_keys(raw.table, sketcher)
        return sketcher.sketch

    return state.cached_for_table(("sketch", raw.key, state.patient_column), make_sketch)


def others(raw: Table) -> list[PatientCohort]:
    """Return the owner's cohorts other than the one that this table is in."""
    # The keys of all tables of its cohort.
    members = session.cohorts().members(session.keys(raw)).keys
    return [
        cohort for cohort in session.cohorts().cohorts(session.visitor_owner()) if cohort.key not in members
    ]


def note(raw: Table) -> None:
    """Put a table on the list of cohorts, so that it pays into an account of its own."""
    _prepare_to_list(raw)()


def _prepare_to_list(
    raw: Table, into: str | None = None, check: Callable[[], None] = lambda: None
) -> Callable[[], None]:
    """Return a function that puts a table on the list of cohorts without a call to Streamlit.

    into: a key of a table of the cohort whose account it joins; None where it joins none. check: raises
    ValueError where it may not join, and is called while nobody else writes a ledger.
    """
    # named: whether a column names the patients.
    table_sketch, named = sketch(raw), session.current().patient_column is not None
    extract = Extract(session.keys(raw), table_sketch.rows, len(raw.columns))
    return partial(session.cohorts().add, extract, table_sketch, session.visitor_owner(), named, into, check)


def join(raw: Table, other: PatientCohort) -> None:
    """Let a table pay into another account; what was spent on its own counts there too.

    Raises ValueError, and changes nothing, where the two limits differ in delta or neighbours, and where
    other owners pay into the table's own account.
    """
    if session.cohorts().has_other_owner(session.keys(raw), session.visitor_owner()):
        raise ValueError(cohort_text.OF_OTHERS)
    theirs, mine = session.ledger_of_keys(other.extracts[0].keys), session.ledger(raw)

    def check() -> None:
        """Raise ValueError where the limits of the two accounts differ in delta or neighbours."""
        check_alike(theirs.account().limit, mine.account().limit, _TWO_LIMITS)

    # Refuse before anything is changed. `put_in` checks once more, when nobody else can set a limit.
    check()
    # What can raise an error, or end this run of the page for a newer one, comes before the two changes.
    state, put_in = session.current(), _prepare_to_list(raw, other.key, check)
    session.merge_accounts(session.keys(raw), other.extracts[0].keys)
    put_in()
    state.pending = None  # the open question states the price on the former account


def name(raw: Table, new: str) -> None:
    """Put a table with a first limit on the list of cohorts, and name its cohort unless the name is blank."""
    note(raw)
    if new.strip():
        session.cohorts().rename(raw.key, new, session.visitor_owner())
