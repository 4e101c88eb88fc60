"""Into which account a table of the session pays: known, asked about, joined and named.

Sketches are private. They stay in the session, or beside the ledgers on the owner's disk.
"""

from collections.abc import Callable

from dppca_core.release.cohorts import Extract, PatientCohort
from dppca_core.release.ledger_records import check_alike
from dppca_core.tables import content
from dppca_core.tables.sketches import Likeness, Sketch, Sketcher
from pages.hospitals.your_data import cohort_text, session
from pages.hospitals.your_data.prepared_table import LargeTable, Table

_TWO_LIMITS = "{name} of that account is {first}, of this table's {second}, so no total can be told"


def _sketch(raw: Table) -> Sketch:
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


def is_known(raw: Table) -> bool:
    """Return whether this owner brought this table before, and named its patients if they do so now."""
    named = session.current().patient_column is not None
    return session.cohorts().holds(session.keys(raw), session.visitor_owner(), named)


def alike(raw: Table) -> list[tuple[PatientCohort, Likeness]]:
    """Return the owner's other cohorts that have a table like this one, the likest first."""
    return session.cohorts().alike(_sketch(raw), session.keys(raw), session.visitor_owner())


def cohort(raw: Table) -> PatientCohort | None:
    """Return the table's cohort as its owner sees it, once it has an account."""
    return session.cohorts().cohort(session.keys(raw), session.visitor_owner())


def others(raw: Table) -> list[PatientCohort]:
    """Return the owner's cohorts but that of the table."""
    members = session.cohorts().members(session.keys(raw)).keys
    return [
        cohort for cohort in session.cohorts().cohorts(session.visitor_owner()) if cohort.key not in members
    ]


def note(raw: Table, into: str | None = None, check: Callable[[], None] = lambda: None) -> None:
    """Note that a table pays into its account or, with a key of another cohort, into that one."""
    sketch, named = _sketch(raw), session.current().patient_column is not None
    extract = Extract(session.keys(raw), sketch.rows, len(raw.columns))
    session.cohorts().add(extract, sketch, session.visitor_owner(), named, into, check)


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
    _sketch(raw)
    session.merge_accounts(session.keys(raw), other.extracts[0].keys)
    note(raw, other.key, check)
    session.current().pending = None  # it was asked about with the price on the account of before


def name(raw: Table, new: str) -> None:
    """Note a table that has an account now, and name its cohort where a name is given."""
    note(raw)
    if new.strip():
        session.cohorts().rename(raw.key, new, session.visitor_owner())


def rename(cohort: PatientCohort, new: str) -> None:
    """Rename a cohort. Raises ValueError for a name that no screen can show."""
    session.cohorts().rename(cohort.key, new, session.visitor_owner())
