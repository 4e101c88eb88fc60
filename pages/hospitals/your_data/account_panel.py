"""Render the account of a table: its limit, what is spent and left, every payment, export and import.

An account is the limit of tables of the same patients, and all payments that count towards it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.accounting import closed_form
from dppca_core.accounts.account import Balance, Limit, Payment
from dppca_core.accounts.book import OthersTableError, OwnersAccount, Payer
from dppca_core.tables import Raw, safe_cell
from dppca_core.tables.encode import PreparedTable
from pages.hospitals.your_data import account_text, owner, plain_text, session
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.text import CHANGED_TABLE_CAVEAT, patient_total
from pages.shared import text
from pages.shared.reports import take_along
from pages.shared.server import uploads
from pages.shared.settings.catalogue import CHOICES

_MOST_IN_SIGHT = 3  # accounts that are offered at once
_NO_LIMIT = "No limit was set."
_TOTAL = "Privacy loss in total"


def open_account(table: PreparedTable) -> tuple[Payer, Balance | None]:
    """Return what pays for a table, and its account.

    The account is None where the owner has yet to answer whether the patients are of another of their
    accounts, which is asked here, and where it cannot be read or is another person's, which is shown.
    """
    payer, state, raw = session.payer(table), session.current(), table.raw
    try:
        mine = session.book().accounts(owner.owner())
        if not mine or raw.key in state.other_patients or payer.is_known():
            return payer, payer.balance()
        _ask_account(payer, mine)
    except (ValueError, OSError) as reason:
        st.error(f"{account_text.refused('read', reason)} Until then nothing can be released.")
        if isinstance(reason, OthersTableError):
            _ask_code(raw)
    return payer, None


def change(apply: Callable[[], object], otherwise: str) -> None:
    """Apply a change to the book, and run the page again; otherwise: what follows the reason of a refusal."""
    try:
        apply()
    except (ValueError, OSError) as reason:
        st.error(f"{account_text.refused('written', reason)} {otherwise}")
    else:
        st.rerun()


def _ask_account(payer: Payer, accounts: Sequence[OwnersAccount]) -> None:
    """Ask whether an unknown table is of the patients of one of its owner's accounts; a press answers.

    First stand those accounts whose columns or number of rows are like the table's, then the oldest.
    """
    key = payer.table.key
    ordered = sorted(accounts, key=lambda account: -account.likeness(payer.table))
    with st.container(border=True):
        st.markdown(account_text.QUESTION)
        st.caption(account_text.FOR_GOOD)
        for account in ordered[:_MOST_IN_SIGHT]:
            _offer(payer, account)
        if rest := ordered[_MOST_IN_SIGHT:]:
            with st.expander(account_text.further(len(rest))):
                for account in rest:
                    _offer(payer, account)
        if st.button(account_text.OTHERS, key=f"own other patients {key[:16]}"):
            session.current().other_patients.add(key)
            st.rerun()


def _offer(payer: Payer, account: OwnersAccount) -> None:
    label, key = account_text.offered(account.tables), f"own put in {account.number} {payer.table.key[:16]}"
    if st.button(label, key=key):
        change(partial(payer.put_in, account.number), "The table is in no account yet.")


def _ask_code(raw: Raw) -> None:
    with st.form(f"own code {raw.key[:16]}", border=False):
        code = st.text_input("Code of the account")
        if st.form_submit_button("Enter this account"):
            change(partial(session.book().join, code, owner.owner()), "Nothing was changed.")


def ask_limit(payer: Payer, layout: PageLayout) -> None:
    """Ask, before the first release, what all releases on this account together may cost."""
    st.markdown("**First, your limit:** what all releases of these patients together may ever cost.")
    averaged = session.current().patient_column is not None
    layout.details().caption(f"The limit counts per {'patient' if averaged else 'row'}.")
    with st.form("own limit", border=True):
        most = st.number_input(_TOTAL, 0.001, 100.0, 1.0, key="own limit eps", format="%.4g", width=300)
        with layout.details_here():
            left, right = st.columns(2, vertical_alignment="bottom")
        usual = layout.settings["own.delta"]
        help = "It stays. Keep it well below one in the number of patients."
        delta = _ask_once(left, "own.delta", usual, f"own limit delta {usual:g}", help)
        begin = CHOICES["neighbours"].default
        neighbours = _ask_once(right, "neighbours", begin, "own limit neighbours", "It stays.")
        if st.form_submit_button("Set this limit"):
            limit = Limit(most, delta, neighbours)
            change(partial(payer.set_limit, limit), _NO_LIMIT)


def _ask_once(place: DeltaGenerator, setting: str, begin: Any, key: str, help: str) -> Any:
    """Ask for a part of the limit that cannot be changed later; begin: the option chosen at first."""
    choice = CHOICES[setting]
    index, words = choice.options.index(begin), choice.text
    return place.selectbox(choice.label, choice.options, index, key=key, format_func=words, help=help)


def show(payer: Payer, account: Balance, layout: PageLayout) -> None:
    limit = account.limit
    if limit is not None:
        spent = account_text.spending(account)
        # In whole percent: Streamlit cuts a fraction down, and a limit that is spent would be short of full.
        st.progress(round(100 * min(spent.after / limit.epsilon, 1.0)), layout.words.left(spent))
    layout.say(plain_text.releases(len(account.payments)))
    if not owner.has_book():
        st.warning(account_text.IN_SESSION)
    with layout.details():
        _show_details(payer, account)
    _exchange(payer, account)
    if limit is not None:
        _change_limit(payer, limit)
    if owner.owner() is not None:
        _invite(payer)


def _show_details(payer: Payer, account: Balance) -> None:
    if account.limit is not None:
        st.caption(account_text.exact(account.spent(), account.limit))
        of_patient = patient_total(account, _rows_of_patient(account))
        if of_patient:
            st.markdown(of_patient)
    tables = payer.tables()
    if tables:
        st.markdown(f"Account of: {account_text.title(tables)}.")
    if account.payments:
        st.dataframe(releases(account), hide_index=True, height="content")
        others = sum(payment.is_of_another_owner for payment in account.payments)
        if others:
            st.caption(account_text.of_others(others))
    else:
        st.caption("Nothing was released on this account.")
    if owner.has_book():
        st.caption(account_text.ON_DISK)
    st.caption(CHANGED_TABLE_CAVEAT)


def _rows_of_patient(account: Balance) -> int:
    """Return the most rows of a patient that any release states; 1 where a column names the patients."""
    state = session.current()
    stated = [payment.rows_per_patient or 1 for payment in account.payments]
    return 1 if state.patient_column is not None else max(state.rows_per_patient or 1, *stated, 1)


def releases(account: Balance) -> pd.DataFrame:
    """Return a table with a line for each release and the epsilon that it costs alone, at the limit's delta.

    Where some patient can have several rows, it also has the cost for a patient, with as many rows as the
    owner stated when the release was made. The account has one release at least.
    """
    title = "ε alone"
    rows = [payment.rows_per_patient or 0 for payment in account.payments]  # 0: not stated
    lines = [
        {
            "when (UTC)": payment.at[:19].replace("T", " "),
            "what": payment.title,
            title: _epsilon_alone(account, payment, 1),
            "rows per patient": f"{stated:,}" if stated else "not stated",
            f"{title}, for a patient": _epsilon_alone(account, payment, stated),
        }
        for payment, stated in zip(account.payments, rows, strict=True)
    ]
    frame = pd.DataFrame(lines).map(safe_cell)
    # With one row for each patient, the last two columns say nothing new.
    return frame if max(rows) > 1 else frame.iloc[:, :3]


def _epsilon_alone(account: Balance, payment: Payment, rows: int) -> str:
    """Return the epsilon of one release for a patient with so many rows; a dash if it is unknown."""
    if account.limit is None or not rows:
        return "–"
    return text.short(closed_form.epsilon_of(closed_form.grouped(payment.events, rows), account.limit.delta))


def _exchange(payer: Payer, account: Balance) -> None:
    with st.expander("Export or import the account"):
        if account.limit is not None or account.payments:
            take_along.download(
                "Export it (JSON lines)", payer.export(), "account.jsonl", "application/jsonl"
            )
        st.caption("What another account of these patients holds is added; what both hold counts once.")
        key = payer.table.key[:8]
        upload = uploads.ask("An account of these patients", ["jsonl", "json"], f"own import {key}")
        same = st.checkbox("It is of another table of the same patients", key=f"own same {key}")
        if upload is not None and st.button("Add its payments to this account"):
            others = upload.getvalue()
            change(lambda: payer.merge(others.decode("utf-8"), same_patients=same), "Nothing was taken over.")


def _invite(payer: Payer) -> None:
    with st.expander("Share this account"):
        st.caption(account_text.SHARED)
        if st.button("Make a code", key="own share"):
            try:
                st.code(payer.invite(), language=None)
            except (ValueError, OSError) as reason:
                st.error(account_text.refused("written", reason))


def _change_limit(payer: Payer, limit: Limit) -> None:
    """Let the owner change the limit's epsilon; its delta and neighbours stay as they were set."""
    with st.expander("Change the limit"), st.form("own new limit", border=False):
        now = float(limit.epsilon)
        ends = (min(0.001, now), max(100.0, now))  # an imported limit may lie anywhere
        most = st.number_input(_TOTAL, *ends, now, format="%.4g", key="own new eps")
        if st.form_submit_button("Change it"):
            changed = Limit(float(most), limit.delta, limit.neighbours)
            change(partial(payer.set_limit, changed), _NO_LIMIT)
