"""The screen's ledger: the limit, what is spent and left, every release, export and import."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from dppca_core.accounting import closed_form
from dppca_core.privacy import NEIGHBOURS
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account, Entry, Limit
from dppca_core.tables import Raw, content, safe_cell
from pages.hospitals.your_data import price_text, session, unit_text
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.large_table import LargeTable
from pages.shared import text
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings


def opened(raw: Raw | LargeTable) -> tuple[Ledger, Account | None]:
    """The ledger of this table's content; no account where it cannot be read, which is then said."""
    ledger = session.ledger(raw)
    try:
        return ledger, ledger.account()
    except ValueError as reason:
        st.error(f"{page_text.refusal(str(reason))} Until then nothing can be released.")
    except OSError as reason:
        st.error(f"The ledger cannot be read ({reason.strerror}), so nothing can be released.")
    return ledger, None


def ask_limit(ledger: Ledger, settings: Settings) -> None:
    """What all releases on this table together may cost: asked once, before the first."""
    plain = settings["view"] == "board"
    st.markdown("**First, your limit:** what all releases on this table together may cost, for good.")
    st.caption(f"The limit counts per row. {unit_text.EVADES}")
    with st.form("own limit", border=True):
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        most = left.number_input(
            "Privacy loss in total" if plain else "ε in total",
            0.001,
            100.0,
            1.0,
            key="own limit eps",
            format="%.4g",
        )
        chance = catalogue.CHOICES["own.delta"]
        delta = middle.selectbox(
            chance.name(plain),
            chance.options,
            chance.options.index(chance.default),
            key="own limit delta",
            format_func=chance.text,
            help="It stays. Keep it well below one in the number of patients.",
        )
        pairs = catalogue.CHOICES["neighbours"]
        several = (session.current().rows_per_patient or 1) > 1
        neighbours = right.selectbox(
            "What one row may change" if plain and several else pairs.name(plain),
            NEIGHBOURS,
            key="own limit neighbours",
            format_func=pairs.text,
            help="It stays.",
        )
        if st.form_submit_button("Set this limit"):
            _set_limit(ledger, Limit(float(most), float(delta), str(neighbours)))


def _set_limit(ledger: Ledger, limit: Limit) -> None:
    try:
        ledger.set_limit(limit)
    except ValueError as reason:
        st.error(page_text.refusal(str(reason)))
    except OSError as reason:
        st.error(f"The ledger could not be written ({reason.strerror}): no limit was set.")
    else:
        st.rerun()


def show(raw: Raw | LargeTable, ledger: Ledger, account: Account, settings: Settings) -> None:
    """What is spent and left, and what it was spent on."""
    plain = settings["view"] == "board"
    limit = account.limit
    if limit is not None:
        spent = price_text.total(account)
        share = min(spent.epsilon / limit.epsilon, 1.0)
        st.progress(share, price_text.left(account, plain))
        if not plain:
            st.caption(
                f"By privacy loss distributions (dp-accounting) ε = {text.number(round(spent.epsilon, 4))} "
                f"at δ = {text.number(limit.delta)}; by simple composition, adding up, ε = "
                f"{text.short(spent.simple)}. Neighbours: "
                f"{catalogue.CHOICES['neighbours'].text(limit.neighbours)}."
            )
        of_patient = unit_text.total(account, session.current().rows_per_patient or 1, plain)
        if of_patient:
            st.markdown(of_patient)
    if account.entries:
        st.dataframe(releases(account, plain), hide_index=True, height="content")
    else:
        st.caption("Nothing was released on this table.")
    _where(raw)
    _exchange(raw, ledger, account)
    if limit is not None:
        _change_limit(ledger, limit, plain)


def releases(account: Account, plain: bool) -> pd.DataFrame:
    """Return one line a release, with what it costs alone: a row and, where that differs, a patient.

    A patient's cost is by what the owner stated when the release was made.
    """
    alone = "privacy loss alone" if plain else "ε alone"
    columns: dict[str, list[str]] = {"when (UTC)": [], "what": [], alone: []}
    several = any((entry.rows_per_patient or 1) > 1 for entry in account.entries)
    if several:
        columns |= {"rows per patient": [], f"{alone}, for a patient": []}
    for entry in account.entries:
        stated = entry.rows_per_patient
        cells = [entry.at[:19].replace("T", " "), entry.title, _alone(account, entry, 1)]
        if several:
            cells.append("not stated" if stated is None else f"{stated:,}")
            cells.append("–" if stated is None else _alone(account, entry, stated))
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(safe_cell(cell))
    return pd.DataFrame(columns)


def _alone(account: Account, entry: Entry, rows: int) -> str:
    if account.limit is None:
        return text.short(math.nan)
    return text.short(closed_form.epsilon_of(closed_form.grouped(entry.events, rows), account.limit.delta))


def _where(raw: Raw | LargeTable) -> None:
    if session.folder() is None:
        st.warning(
            "This ledger is in this session only and is lost when the page is closed: export it. "
            f"A server that is started with {session.LEDGER_DIR} set to a folder keeps it there."
        )
    else:
        st.caption(
            "The ledger is on this server's disk, under a key that follows from the table's content: the "
            "same table under another name finds it, saved with at least 15 digits. It holds what was "
            "released and no cell of the table."
        )
        if raw.former_key is None:
            st.caption(
                f"This table has more than {content.FORMER_ROWS:,} rows. A ledger that an earlier version "
                "kept for it is not found by itself: import it below."
            )
    st.caption(unit_text.EVADES)


def _exchange(raw: Raw | LargeTable, ledger: Ledger, account: Account) -> None:
    with st.expander("Export or import the ledger"):
        if account.limit is not None or account.entries:
            st.download_button(
                "Export it (JSON lines)",
                ledger.export(),
                "ledger.jsonl",
                "application/jsonl",
                on_click="ignore",
            )
        st.caption("What another ledger of this very table holds is added; what both hold counts once.")
        upload = st.file_uploader(
            "A ledger of this table", type=["jsonl", "json"], key=f"own import {raw.key[:8]}"
        )
        if upload is not None and st.button("Add its releases to this ledger"):
            try:
                ledger.take_in(upload.getvalue().decode("utf-8"))
            except UnicodeDecodeError:
                st.error("Nothing was taken over: the file is no ledger.")
            except ValueError as reason:
                st.error(f"Nothing was taken over: {page_text.literal(str(reason))}.")
            except OSError as reason:
                st.error(f"The ledger could not be written ({reason.strerror}).")
            else:
                st.rerun()


def _change_limit(ledger: Ledger, limit: Limit, plain: bool) -> None:
    with st.expander("Change the limit"), st.form("own new limit", border=False):
        label = "Privacy loss in total" if plain else "ε in total"
        now = float(limit.epsilon)
        ends = (min(0.001, now), max(100.0, now))  # an imported limit may lie anywhere
        most = st.number_input(label, *ends, now, format="%.4g", key="own new eps")
        if st.form_submit_button("Change it"):
            _set_limit(ledger, Limit(float(most), limit.delta, limit.neighbours))
