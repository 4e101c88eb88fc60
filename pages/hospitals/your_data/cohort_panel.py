"""Ask to which cohort a table belongs before it gets an account, and let its owner name and join accounts.

A cohort is the tables of the same patients. All of them pay into one account: a limit of privacy loss, and
the releases that count towards it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.release.cohorts import MOST_NAME, PatientCohort
from dppca_core.release.ledger import Ledger
from pages.hospitals.your_data import accounts, cohort_text, ledger_text, owner_only_text, session
from pages.hospitals.your_data.prepared_table import Table


def change(apply: Callable[[], object], otherwise: str) -> None:
    """Apply a change to the ledger or the list of cohorts, and run the page again.

    otherwise: what is shown after the reason if the change is refused.
    """
    try:
        apply()
    except (ValueError, OSError) as reason:
        st.error(f"{ledger_text.refused('written', reason)} {otherwise}")
    else:
        st.rerun()


def is_account_known(raw: Table, ledger: Ledger) -> bool:
    """Return whether it is known into which account a table pays; where it is not, ask the owner.

    It is asked where the table looks like one of another of the owner's accounts. A table is put on the list
    of cohorts once it has an account of its own: a limit was set, or its ledger is of an earlier version.
    Raises ValueError for a damaged list of cohorts, and OSError.
    """
    state, cohorts = session.current(), session.cohorts()
    keys, owner = session.keys(raw), session.visitor_owner()
    if cohorts.was_brought(keys, owner, patients=state.patient_column is not None):
        return True
    asked = raw.key, state.patient_column  # asked anew once patients are named: more may be alike
    if asked not in state.other_patients and (alike := cohorts.alike(accounts.sketch(raw), keys, owner)):
        with st.container(border=True):
            st.markdown(owner_only_text.NOT_PRIVATE)
            for cohort, likeness in alike:
                st.warning(cohort_text.question(cohort, likeness))
                _join_button(raw, cohort)
            if st.button(cohort_text.OTHERS, key=f"own others {raw.key[:16]}"):
                state.other_patients.add(asked)
                st.rerun()
            st.caption(f"{cohort_text.NOTHING_UNTIL} {cohort_text.FOR_GOOD}")
        return False
    account = ledger.account()
    if account.limit is not None or account.entries:
        accounts.note(raw)
    return True


def _join_button(raw: Table, cohort: PatientCohort) -> None:
    """Render the button by which a table joins a cohort's account.

    It waits for a release that is being drawn, which writes to the table's account as it was.
    """
    drawing = session.current().drawing
    key = f"own join {raw.key[:16]} {cohort.key[:16]}"
    wait = cohort_text.WHILE_DRAWING if drawing else None
    if st.button(cohort_text.join(cohort), key=key, disabled=drawing, help=wait):
        change(partial(accounts.join, raw, cohort), cohort_text.NOT_JOINED)


def choose_account(raw: Table) -> None:
    """Let the owner choose another of their accounts for a table to pay into; show nothing without one."""
    others = accounts.others(raw)
    if not others:
        return
    titles = [cohort_text.title(cohort) for cohort in others]  # Streamlit keeps them: they hold no rows
    index = st.selectbox(
        "Or pay into another account of yours",
        range(len(others)),
        index=None,
        key=f"own account {raw.key[:16]}",
        format_func=titles.__getitem__,
        placeholder="choose an account",
        help=cohort_text.FOR_GOOD,
    )
    if index is not None:
        _join_button(raw, others[index])


def ask_name(label: str, key: str, now: str = "", **more: Any) -> str:
    """Return the name that the owner types for a cohort.

    now: what stands there at first. more: the widget's other arguments.
    """
    return st.text_input(label, now, MOST_NAME, key, help=cohort_text.NAME_HELP, **more)


def show(raw: Table) -> None:
    """Render the account's name and tables; let the owner change the name, or join another account."""
    cohorts, owner = session.cohorts(), session.visitor_owner()
    cohort = cohorts.cohort(session.keys(raw), owner)
    if cohort is None:
        return
    st.markdown(cohort_text.extracts(cohort))
    with st.expander("Name this cohort, or pay into another account"):
        with st.form("own rename", border=False):
            name = ask_name("Name", f"own name {cohort.key[:16]}", cohort.name)
            if st.form_submit_button("Name it"):
                change(partial(cohorts.rename, cohort.key, name, owner), cohort_text.NOT_NAMED)
        choose_account(raw)
