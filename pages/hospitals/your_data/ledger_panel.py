"""Render the ledger: the limit, what is spent and left, every release, export and import.

The ledger is the append-only record of limits and paid releases of one table and of other tables of the same
patients, its cohort. An account is what its lines make up: the limit, and the releases that count towards it.
"""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.accounting import closed_form
from dppca_core.release.cohorts import check_name
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account, Entry, Limit
from dppca_core.tables import content, safe_cell
from pages.hospitals.your_data import accounts, cohort_panel, ledger_text, plain_text, session
from pages.hospitals.your_data.cohort_panel import change
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.prepared_table import Table
from pages.hospitals.your_data.text import CHANGED_TABLE_CAVEAT, patient_total
from pages.shared import text
from pages.shared.reports import take_along
from pages.shared.server import uploads
from pages.shared.settings.catalogue import CHOICES

_NO_LIMIT = "No limit was set."
_TOTAL = "Privacy loss in total"


def open_ledger(raw: Table) -> tuple[Ledger, Account | None]:
    """Return the ledger of this table's cohort, and its account.

    The account is None where the owner has yet to answer whether the table is of another cohort, which is
    asked here, and where the ledger cannot be read, which is shown.
    """
    ledger = session.ledger(raw)
    try:
        if cohort_panel.is_account_known(raw, ledger):
            return ledger, ledger.account()
    except (ValueError, OSError) as reason:
        st.error(f"{ledger_text.refused('read', reason)} Until then nothing can be released.")
    return ledger, None


def ask_limit(raw: Table, ledger: Ledger, layout: PageLayout) -> None:
    """Ask, before the first release, what all releases on this table together may cost."""
    st.markdown("**First, your limit:** what all releases on this table together may cost, for good.")
    averaged = session.current().patient_column is not None
    layout.details().caption(
        f"The limit counts per {'patient' if averaged else 'row'}. {CHANGED_TABLE_CAVEAT}"
    )
    with st.form("own limit", border=True):
        most = st.number_input(_TOTAL, 0.001, 100.0, 1.0, key="own limit eps", format="%.4g", width=300)
        with layout.details_here():
            left, right = st.columns(2, vertical_alignment="bottom")
        usual = layout.settings["own.delta"]
        help = "It stays. Keep it well below one in the number of patients."
        delta = _ask_once(left, "own.delta", usual, f"own limit delta {usual:g}", help)
        begin = CHOICES["neighbours"].default
        neighbours = _ask_once(right, "neighbours", begin, "own limit neighbours", "It stays.")
        with layout.details_here():
            label, example = "Name of the cohort, if you like", "heart study 2026"
            name = cohort_panel.ask_name(label, "own cohort name", placeholder=example)
        if st.form_submit_button("Set this limit"):
            limit = Limit(float(most), float(delta), str(neighbours))
            change(partial(_set_first_limit, raw, ledger, limit, name), _NO_LIMIT)
    cohort_panel.choose_account(raw)


def _ask_once(place: DeltaGenerator, setting: str, begin: Any, key: str, help: str) -> Any:
    """Ask for a part of the limit that cannot be changed later, by the options and words of a setting.

    begin: the option that is chosen at first.
    """
    choice = CHOICES[setting]
    index, words = choice.options.index(begin), choice.text
    return place.selectbox(choice.label, choice.options, index, key=key, format_func=words, help=help)


def _set_first_limit(raw: Table, ledger: Ledger, limit: Limit, name: str) -> None:
    """Set the first limit, and put the table on the list of cohorts under a name, unless that is blank."""
    if name.strip():
        check_name(name)  # a name that is refused must not leave a limit behind
    ledger.set_limit(limit)
    accounts.name(raw, name)


def show(raw: Table, ledger: Ledger, account: Account, layout: PageLayout) -> None:
    """Render what is spent and left, and what it was spent on."""
    limit = account.limit
    if limit is not None:
        spent = ledger_text.spending(account)
        # In whole percent: Streamlit cuts a fraction down, and a limit that is spent would be short of full.
        st.progress(round(100 * min(spent.after / limit.epsilon, 1.0)), layout.words.left(spent))
    layout.say(plain_text.releases(len(account.entries)))
    if session.folder() is None:
        st.warning(ledger_text.IN_SESSION)
    with layout.details():
        _show_details(raw, account)
    _exchange_ledger(raw, ledger, account)
    if limit is not None:
        _change_limit(ledger, limit)


def _show_details(raw: Table, account: Account) -> None:
    """Render the exact total, the cohort, all releases, and where the ledger is kept."""
    if account.limit is not None:
        st.caption(ledger_text.exact(account.spent(), account.limit))
        of_patient = patient_total(account, _rows_of_patient(account))
        if of_patient:
            st.markdown(of_patient)
    cohort_panel.show(raw)
    if account.entries:
        st.dataframe(releases(account), hide_index=True, height="content")
        others = sum(entry.is_of_another_owner for entry in account.entries)
        if others:
            st.caption(ledger_text.of_others(others))
    else:
        st.caption("Nothing was released on this account.")
    if session.folder() is None:
        st.caption(ledger_text.in_folder(session.LEDGER_DIR))
    else:
        st.caption(
            "The ledger is on this server's disk, under a key that follows from the table's content: the "
            "same table under another name finds it, saved with at least 15 digits. It holds what was "
            "released and no cell of the table. Beside it are keyed digests of rows and names, by which "
            "another extract is noticed: they are not private, and stay there."
        )
        if len(raw.former_keys) < 2:  # a large table has no key by the oldest version of the digest
            st.caption(
                f"This table has more than {content.FORMER_ROWS:,} rows. A ledger that an earlier version "
                "kept for it is not found by itself: import it below."
            )
    st.caption(CHANGED_TABLE_CAVEAT)


def _rows_of_patient(account: Account) -> int:
    """Return the most rows of a patient that any release states; 1 where a column names the patients."""
    state = session.current()
    stated = [entry.rows_per_patient or 1 for entry in account.entries]
    return 1 if state.patient_column is not None else max(state.rows_per_patient or 1, *stated, 1)


def releases(account: Account) -> pd.DataFrame:
    """Return a table with a line for each release and the epsilon that it costs alone, at the limit's delta.

    Where some patient can have several rows, it also has the cost for a patient, with as many rows as the
    owner stated when the release was made. The account has one release at least.
    """
    title = "ε alone"
    rows = [entry.rows_per_patient or 0 for entry in account.entries]  # 0: not stated
    lines = [
        {
            "when (UTC)": entry.at[:19].replace("T", " "),
            "what": entry.title,
            title: _epsilon_alone(account, entry, 1),
            "rows per patient": f"{stated:,}" if stated else "not stated",
            f"{title}, for a patient": _epsilon_alone(account, entry, stated),
        }
        for entry, stated in zip(account.entries, rows, strict=True)
    ]
    frame = pd.DataFrame(lines).map(safe_cell)
    # With one row for each patient, the last two columns say nothing new.
    return frame if max(rows) > 1 else frame.iloc[:, :3]


def _epsilon_alone(account: Account, entry: Entry, rows: int) -> str:
    """Return the epsilon of one release for a patient with so many rows, as text; a dash if it is unknown."""
    if account.limit is None or not rows:
        return "–"
    return text.short(closed_form.epsilon_of(closed_form.grouped(entry.events, rows), account.limit.delta))


def _exchange_ledger(raw: Table, ledger: Ledger, account: Account) -> None:
    """Render the download of the ledger, and the upload of another whose releases are added to it."""
    with st.expander("Export or import the ledger"):
        if account.limit is not None or account.entries:
            exported = ledger.export()
            take_along.download("Export it (JSON lines)", exported, "ledger.jsonl", "application/jsonl")
        st.caption("What another ledger of this table or cohort holds is added; what both hold counts once.")
        upload = uploads.ask("A ledger of this table", ["jsonl", "json"], f"own import {raw.key[:8]}")
        same = st.checkbox("It is of another extract of the same cohort", key=f"own same {raw.key[:8]}")
        if upload is not None and st.button("Add its releases to this ledger"):
            others = upload.getvalue()
            change(lambda: ledger.merge(others.decode("utf-8"), same_cohort=same), "Nothing was taken over.")


def _change_limit(ledger: Ledger, limit: Limit) -> None:
    """Let the owner change the limit's epsilon; its delta and neighbours stay as they were set."""
    with st.expander("Change the limit"), st.form("own new limit", border=False):
        now = float(limit.epsilon)
        ends = (min(0.001, now), max(100.0, now))  # an imported limit may lie anywhere
        most = st.number_input(_TOTAL, *ends, now, format="%.4g", key="own new eps")
        if st.form_submit_button("Change it"):
            changed = Limit(float(most), limit.delta, limit.neighbours)
            change(partial(ledger.set_limit, changed), _NO_LIMIT)
