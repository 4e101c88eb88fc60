"""Render the rehearsal of the release that a press of Release would make, on as many invented patients."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.accounts.account import Balance
from dppca_core.privacy import Budget
from dppca_core.release import discrete_gaussian
from dppca_core.release import spectrum as spectrum_release
from dppca_core.release.discrete_gaussian import Progress
from dppca_core.release.request import Request
from dppca_core.release.spectrum import Spectrum, SpectrumRequest
from dppca_core.tables.encode import PreparedTable, TableIdentity
from pages.hospitals.your_data import (
    confirmation,
    plain_text,
    rehearsal,
    results,
    session,
    twin_text,
    usable_patients,
    wide_table,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.planned_table import Study
from pages.hospitals.your_data.rehearsal import Rehearsal
from pages.hospitals.your_data.release_request import NotReleasedError, requested
from pages.hospitals.your_data.session import Order
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.settings import in_context, widgets
from pages.shared.settings.catalogue import Settings


def choose(study: Study, layout: PageLayout) -> None:
    """Render what decides most: what counts, the privacy loss, whom hospitals trust, and who is usable."""
    left, right = st.columns(2)
    with left:
        widgets.show_control("own.counts")
        st.caption(" ".join(page_text.COUNT_FOR))
        if len(study.sizes) > 1:
            widgets.show_control("own.trust")
    with right:
        widgets.show_control("own.epsilon")
        in_context.show_published_releases(layout.plain)
        if study.schema.leaves_rows_out:
            _ask_usable(study, layout.settings)


def _ask_usable(study: Study, settings: Settings) -> None:
    widgets.show_control("own.usable")
    usable = sum(usable_patients.sizes(study.schema, study.sizes, settings))
    share, rows = usable_patients.stated_share(study.schema, settings), session.current().rows_per_patient
    st.caption(usable_patients.counted(study.n, usable, share, rows or 1))


def show(study: Study, account: Balance | None, layout: PageLayout) -> Rehearsal | None:
    """Render the rehearsal, and return it; None after showing why nothing is rehearsed."""
    settings, rows = layout.settings, session.current().rows_per_patient or 1
    paid = paid_spectrum(study.identity) if isinstance(study, PreparedTable) else None

    def ask(epsilon: float, trust: str) -> Request:
        return requested(settings | {"own.epsilon": epsilon}, study, account, rows, trust)

    try:
        _judge(study, layout, partial(requested, settings, study, account, rows))
        made = rehearsal.under_each_trust(ask, study, settings, paid)
    except NotReleasedError as reason:
        layout.say(plain_text.NOT_REHEARSED)
        layout.details().caption(f"Nothing is rehearsed. {text.refusal(text.symbols(str(reason)))}")
        return None
    streamlit.show_blocks(results.rehearsed(made))
    for warning in results.warnings(made, layout.plain):
        st.warning(warning)
    if layout.details_are_open():
        with layout.details():
            streamlit.show_blocks(results.how_rehearsed(made))
            if paid is not None:
                request = made.twin.request
                st.markdown(twin_text.spectrum(paid, request.k, request.mean_share > 0))
            if isinstance(study, PreparedTable) and account is not None and account.limit is not None:
                _sell_spectrum(study, account, settings, rows)
    return made


def _judge(study: Study, layout: PageLayout, ask: Callable[[], Request]) -> None:
    """Say of a wide table what methods can do for it. Raises NotReleasedError where `ask` does."""
    usable = usable_patients.sizes(study.schema, study.sizes, layout.settings)
    try:
        judged, too_wide = wide_table.judge(ask(), sum(usable), study.d, len(usable))
    except NotReleasedError as reason:
        if study.d > discrete_gaussian.MOST_FEATURES:
            layout.details().warning(twin_text.not_possible(str(reason), study.d))
        raise
    if judged:
        (layout.details().warning if too_wide else layout.details().info)(judged)


def _sell_spectrum(prepared: PreparedTable, account: Balance, settings: Settings, rows: int) -> None:
    """Render what pays for the table's eigenvalues, which then shape its rehearsal."""
    with st.expander("Shape the rehearsal by your own table, for a slice of the budget", key="own shaping"):
        widgets.show_control("own.slice")
        assert account.limit is not None
        budget = Budget(settings["own.slice"], settings["own.delta"], account.limit.neighbours)
        request = SpectrumRequest(budget, rows)
        order = Order(request, account, prepared.identity, prepared.raw.name)
        label, what = "Pay for the spectrum …", "A release of all eigenvalues"
        confirmation.show(
            order, label, what, "**Release the strength of every direction?**", confirmation.of_table(make)
        )


def paid_spectrum(table: TableIdentity) -> Spectrum | None:
    """Return the eigenvalues that this session paid for last, of this table by this dictionary, or None."""
    state = session.current()
    paid = [job for job in state.confirmed if job.what.kind == "spectrum" and job.result is not None]
    # Another dictionary has other eigenvalues.
    return next((job.result for job in reversed(paid) if job.what.table == table), None)


def make(
    order: Order[SpectrumRequest], _: PreparedTable, *, by_column: bool, progress: Progress, **given: Any
) -> Spectrum:
    """Make the release of eigenvalues of an order; it is drawn at once, and states no hospitals."""
    return spectrum_release.make(order.request, **given)
