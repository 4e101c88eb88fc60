"""Hand what is public of a visitor's table to the planner, the page that plans studies, and open it there."""

from dataclasses import replace

import streamlit as st

from dppca_core.accounts.account import Account
from dppca_core.experiments.planning.table_plan import PublicTable
from dppca_core.populations.dictionary_twin import dictionary_cells
from dppca_core.privacy import Budget
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables.encode import PreparedTable
from pages.hospitals.your_data import synthetic_twin_panel, usable_patients
from pages.shared.settings import catalogue, editions, public_table, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

PAGE = "hospitals/planner/page.py"
SEVERAL_ROWS = (
    "A study on this dictionary cannot be planned: name the column of patients, who then count once."
)


def public_sizes(prepared: PreparedTable, settings: Settings) -> PublicTable:
    """Return a table's sizes; patients are those that count as usable.

    A mean is paid for, by rule, where the dictionary has no usual values.
    """
    usable = sum(usable_patients.sizes(prepared.schema, prepared.sizes, settings))
    return PublicTable(
        # Features, patients, hospitals, and the bound of rows.
        *(prepared.d, usable, len(prepared.sizes), float(prepared.schema.bound)),
        usable_share=usable_patients.stated_share(prepared.schema, settings),
        mean_share=0.0 if prepared.schema.has_usual_values else None,
    )


def public_part(prepared: PreparedTable, paid: Spectrum | None, settings: Settings) -> PublicTable:
    """Return what the planner may know of a table whose patients count once: nothing that is private.

    paid: released eigenvalues, if any were paid for. settings: the page's.
    """
    schema = prepared.schema
    # The clip is the bound of rows as a multiple of the dictionary's default.
    cells, clip = dictionary_cells(schema), schema.bound / schema.default_bound
    table = replace(public_sizes(prepared, settings), columns=cells, clip=clip)
    if paid is None:
        return table
    budget_spent = Budget(**paid.payment.about["budget"])
    return replace(table, eigenvalues=tuple(paid.eigenvalues.tolist()), std=paid.std, paid=budget_spent)


def keep(prepared: PreparedTable | None, rows: int, settings: Settings) -> None:
    """Keep in the session what the planner may know of a table; None where a patient can have several rows.

    rows: how many rows one patient can have at most.
    """
    if prepared is None or rows > 1:
        public_table.put(None)
        return
    paid = synthetic_twin_panel.paid_spectrum(prepared.identity)
    public_table.put(public_part(prepared, paid, settings))


def show_planner_button(account: Account | None, settings: Settings) -> None:
    """Render the button that opens the planner at the release's settings, or why this table has none."""
    table = public_table.current()
    if table is None:
        st.caption(SEVERAL_ROWS)
        return
    # delta_set: delta stays as it is set here, and does not follow the number of patients.
    from_here: Settings = {"epsilon": settings["own.epsilon"], "delta_set": True, "plan.table": True}
    if account is not None and account.limit is not None:
        from_here["neighbours"] = account.limit.neighbours
    sizes = {"k": settings["own.k"], "delta": settings["own.delta"], "providers": table.providers}
    from_here |= {key: CHOICES[key].nearest(value) for key, value in sizes.items()}
    # The planner's options are fewer: take the nearest that go together, and keep k where that can be.
    possible, _ = catalogue.reconcile(settings | from_here, moved=("k",))
    # Set them before any widget: a button's own run comes too late for that.
    label = "Plan a study on this dictionary"
    if st.button(
        label, key="own plan", on_click=editions.finished_by_next_run(widgets.set_all), args=(possible,)
    ):
        st.switch_page(PAGE)
