"""Into which account a table of the session pays: known, asked about, joined and named.

Sketches are private. They stay in the session, or beside the ledgers on the owner's disk.
"""

from collections.abc import Callable

from dppca_core.release.cohorts import Extract, PatientCohort
from dppca_core.release.ledger_records import check_alike
from dppca_core.tables import content
from dppca_core.tables.sketches import Sketch, Sketcher
from pages.hospitals.your_data import cohort_text, session
from pages.hospitals.your_data.prepared_table import LargeTable, Table

_TWO_LIMITS = "{name} of that account is {first}, of this table's {second}, so no total can be told"


def sketch(raw: Table) -> Sketch:
    """Return what tells that another table is of the same patients. Reads private rows."""
    state = session.current()
    if isinstance(raw, LargeTable):
        if raw.sketch is None:
            raise ValueError(cohort_text.WITHOUT_SKETCH)
        return raw.sketch

    def made() -> Sketch:
        sketcher = Sketcher(session.cohorts().secret, state.patient_column)
        content.content_keys(raw.table, sketcher)
        return sketcher.sketch

    return state.once(("sketch", raw.key, state.patient_column), made)


def others(raw: Table) -> list[PatientCohort]:
    """Return the owner's cohorts but that of the table."""
    members = session.cohorts().members(session.keys(raw)).keys
    return [
        cohort for cohort in session.cohorts().cohorts(session.visitor_owner()) if cohort.key not in members
    ]


def note(raw: Table, into: str | None = None, check: Callable[[], None] = lambda: None) -> None:
    """Note that a table pays into its account or, with a key of another cohort, into that one."""
    seen, named = sketch(raw), session.current().patient_column is not None
    extract = Extract(session.keys(raw), seen.rows, len(raw.columns))
    session.cohorts().add(extract, seen, session.visitor_owner(), named, into, check)


def join(raw: Table, other: PatientCohort) -> None:
    """Let a table pay into another account; what was spent on its own counts there too.

    Raises ValueError where their limits cannot be counted together, and where others pay into the table's
    own account: then nothing is changed.
    """
    if session.cohorts().shared(session.keys(raw), session.visitor_owner()):
        raise ValueError(cohort_text.OF_OTHERS)
    theirs, mine = session.account_of(other.extracts[0].keys), session.ledger(raw)

    def check() -> None:
        check_alike(theirs.account().limit, mine.account().limit, _TWO_LIMITS)

    check()
    sketch(raw)
    session.merge_accounts(session.keys(raw), other.extracts[0].keys)
    note(raw, other.key, check)
    session.current().pending = None  # it was asked about with the price on the account of before


def name(raw: Table, new: str) -> None:
    """Note a table that has an account now, and name its cohort where a name is given."""
    note(raw)
    if new.strip():
        session.cohorts().rename(raw.key, new, session.visitor_owner())
