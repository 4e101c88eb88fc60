"""Render the rehearsal of the release that a press of Release would make, on as many invented patients.

A twin is the rehearsal on one population of invented patients; the worst of several is shown, with the others
beside it (`rehearsal`).
"""

from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dppca_core.accounts.account import Account
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from dppca_core.privacy import Budget
from dppca_core.release import spectrum as spectrum_release
from dppca_core.release.discrete_gaussian import Progress
from dppca_core.release.request import Request
from dppca_core.release.spectrum import Spectrum, SpectrumRequest
from dppca_core.tables.encode import PreparedTable, TableIdentity
from pages.hospitals.your_data import (
    charts,
    confirmation,
    figure_code,
    plain_text,
    rehearsal,
    session,
    twin_text,
    usable_patients,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.rehearsal import FEW_RUNS, Twin
from pages.hospitals.your_data.session import Order
from pages.shared import text
from pages.shared.background import failed_runs, refresh
from pages.shared.document import streamlit
from pages.shared.plain.rows import description, figure
from pages.shared.reports import take_along
from pages.shared.settings import catalogue, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

_REFRESH_SECONDS = 1.5  # of a figure that is long in coming, on a page with much else to do


def nearest(wanted: Settings) -> Settings:
    """Return the settings of the explorer that are nearest to these: options that go together.

    Numbers become the nearest options of their controls; texts and switches stay.
    """
    snapped = {
        key: CHOICES[key].nearest(value) if CHOICES[key].numeric and not isinstance(value, str) else value
        for key, value in wanted.items()
    }
    possible, _ = catalogue.reconcile(snapped)
    return possible


def rehearse_table(prepared: PreparedTable, request: Request | str, settings: Settings) -> Twin | str:
    """Return the rehearsal of a release of this table, with the eigenvalues that this session paid for."""
    return rehearsal.rehearse(
        request, prepared.schema, prepared.sizes, settings, paid_spectrum(prepared.identity)
    )


def show(
    prepared: PreparedTable, account: Account | None, request: Request | str, layout: PageLayout
) -> Twin | None:
    """Render the rehearsal: in plain view a row for each population, and all else as details.

    Returns the twin on the worst population, or None after showing why nothing is rehearsed.
    """
    _ask_usable(prepared, layout.settings)
    twin = rehearse_table(prepared, request, layout.settings)
    if isinstance(twin, str):
        layout.say(plain_text.NOT_REHEARSED)
        layout.details().caption(f"Nothing is rehearsed. {page_text.refusal(text.symbols(twin))}")
        return None
    if layout.plain:
        _show_shares(twin)
    if layout.details_are_open():
        with layout.details():
            _show_details(prepared, account, twin, layout.settings)
    return twin


def _ask_usable(prepared: PreparedTable, settings: Settings) -> None:
    """Ask which share of the patients is usable, and say how many are counted; nothing where all are."""
    schema = prepared.schema
    if not schema.leaves_rows_out:
        return
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        widgets.show_control("own.usable")
    usable = sum(usable_patients.sizes(schema, prepared.sizes, settings))
    rows = session.current().rows_per_patient or 1
    right.caption(
        usable_patients.counted(prepared.n, usable, usable_patients.stated_share(schema, settings), rows)
    )


def _show_shares(twin: Twin) -> None:
    """Render how much of the pattern a release would recover."""
    shares = rehearsal.shares(twin)
    st.markdown(plain_text.REHEARSAL)
    st.markdown(plain_text.rehearsed(shares.rows[0].share, shares.guess))
    take_along.show(
        *(figure(shares), "rehearsal figure", "dppca-rehearsal", plain_text.REHEARSED),
        says=description(shares),
        code=partial(figure_code.rehearsal, twin, twin.epsilon),
    )
    st.caption(f"{plain_text.WORST} {text.NO_COST if shares.free else ''}".strip())


def _show_details(prepared: PreparedTable, account: Account | None, twin: Twin, settings: Settings) -> None:
    """Render the figure, a link to the explorer, and the price of the table's eigenvalues."""
    spectrum, rows = paid_spectrum(prepared.identity), twin.request.rows_per_patient
    st.markdown(twin_text.rehearsed(twin.request, len(prepared.sizes)))
    st.markdown(twin_text.populations(rehearsal.errors(twin), twin.pattern.paid, twin.in_closed_form))
    if twin.is_only_predicted:
        drawn = rehearsal.predicted_figure(twin)
        take_along.show(
            *(drawn, "own predicted", "rehearsal-predicted", "Predicted on a synthetic twin"),
            says=charts.describe_predicted(drawn),
            code=partial(figure_code.rehearsal, twin),
        )
        st.caption(twin_text.only_predicted(twin.experiment.d))
        return
    results, epsilon = twin.results, twin.epsilon

    def moved() -> bool:
        """Return whether scrubbing the figure changed epsilon, which only this fragment knows so far."""
        return bool(widgets.settings()["own.epsilon"] != epsilon)

    def panels() -> None:
        """Render the figure and the methods that failed, each time that more runs were made."""
        if moved():
            st.rerun()
        # The browser moves the control of epsilon along with the figure's.
        drawn = rehearsal.payload(twin) | {"follow": "own-epsilon"}
        take_along.show(
            *(drawn, "own twin", "rehearsal", "Rehearsal on a synthetic twin"),
            table=results.table,
            code=partial(figure_code.rehearsal, twin),
            on_use=_keep_scrubbed,
        )
        streamlit.show_block(failed_runs.by_method(results))

    def next_cell() -> tuple[Any, ...] | None:
        """Return the store of the next run to make, then its key there: first those of the curves."""
        stores = (results, *(other.results for other in twin.others))
        for runs, store in product((FEW_RUNS, None), stores):  # None: all
            if (cell := store.next_of(twin.experiment.method, runs)) is not None:
                return (store, *cell)
        cell = results.next_missing(epsilon, False)  # False: no slow methods
        return None if cell is None else (results, *cell)

    # Runs are of several stores. So each is named with its own in front, which `try_cell` gets as its `self`.
    several = SimpleNamespace(try_cell=Results.try_cell)
    steps_of_first_view = lambda: results.steps(results.first(epsilon))  # noqa: E731
    refresh.while_cells_come(panels, several, next_cell, steps_of_first_view, _REFRESH_SECONDS, moved)
    link = urlencode(catalogue.to_link(nearest(twin.settings)))
    label = "Open the explorer with these settings"
    st.link_button(
        label, f"./?{link}", help="In a new tab: this table stays here. Patients there are Gaussian."
    )
    st.caption(
        twin_text.invented(
            twin.experiment, rows, twin.pattern.title, prepared.schema.bound, twin.request.method, prepared.n
        )
    )
    if spectrum is not None:
        centred = twin.request.mean_share > 0
        st.markdown(twin_text.spectrum(spectrum, twin.request.k, centred))
    if account is not None and account.limit is not None:
        with st.expander("Shape the twin by your own table, for a slice of the budget", key="own shaping"):
            widgets.show_control("own.slice")
            budget = Budget(settings["own.slice"], settings["own.delta"], account.limit.neighbours)
            request = SpectrumRequest(budget, rows)
            order = Order("spectrum", request, account, prepared.identity, prepared.raw.name)
            label, what = "Pay for the spectrum …", "A release of all eigenvalues"
            question = "**Release the strength of every direction?**"
            confirmation.show(order, label, what, question, make)


def paid_spectrum(table: TableIdentity) -> Spectrum | None:
    """Return the eigenvalues that this session paid for last, of this table by this dictionary, or None."""
    state = session.current()
    paid = [job for job in state.confirmed if job.what.kind == "spectrum" and job.result is not None]
    # Another dictionary has other eigenvalues.
    return next((job.result for job in reversed(paid) if job.what.table == table), None)


def make(order: Order, _: PreparedTable, *, by_column: bool, progress: Progress, **given: Any) -> Spectrum:
    """Make the release of eigenvalues of an order; it is drawn at once, and states no hospitals.

    given: as `confirmation.release_keywords` returns, and `resumed`, the payment, where a release is gone on
    with.
    """
    return spectrum_release.make(order.request, **given)


def _keep_scrubbed(index: int) -> None:
    """Set the release's epsilon to the one that the figure was scrubbed to; index: its place in EPSILONS."""
    widgets.set_to("own.epsilon", EPSILONS[int(index)])
