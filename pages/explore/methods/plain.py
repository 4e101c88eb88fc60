"""The methods page in plain view: how much each trust needs."""

import streamlit as st

from dppca_core.datasets import TABLES
from pages.explore.methods import plain_curves, plain_text
from pages.explore.methods.plain_curves import Curves
from pages.shared.background import engine, refresh
from pages.shared.figure import component
from pages.shared.plain import phrases, rows, several
from pages.shared.reports import sources, take_along
from pages.shared.settings import widgets


def render() -> None:
    """Show the page."""
    settings = rows.advised(widgets.head(plain_text.TITLE, plain_text.QUESTION))
    curves, table = Curves(settings), TABLES.get(settings["data"])
    experiment, epsilon = curves.points[curves.here]
    if table:
        st.caption(plain_text.FIXED)

    def measure_first() -> None:
        for _ in engine.at_first(curves.first()):
            pass

    def panels() -> None:
        each = [curves.shares(i) for i in range(len(curves.points))]
        needed, ends = curves.needed(each), (curves.values[0], curves.values[-1])
        headline = plain_text.headline(needed, curves.trust, curves.key, ends)
        widgets.headline(headline, "epsilon", "n")
        st.markdown(plain_text.others(needed, curves.trust, curves.key, ends))
        drawn = plain_curves.figure(curves, each)
        component.figure(drawn, key="curves figure", says=headline)
        take_along.menu(
            *("curves figure", "dppca-trusts", plain_text.TITLE, lambda: drawn),
            code=curves.code,
            recipe=curves.recipe,
        )
        st.caption(plain_text.CURVES)
        st.header(plain_text.here(experiment.n, epsilon, table.title if table else ""))
        shares = each[curves.here]
        bars = rows.figure(shares)
        component.figure(bars, key="rows figure", says=rows.description(shares))
        take_along.menu(
            *("rows figure", "dppca-rows", phrases.TITLE, lambda: bars),
            table=curves.results[curves.here].table,
            code=lambda: several.code([(experiment, epsilon)], rows.shown(experiment, epsilon)),
        )
        st.caption(phrases.ROWS_NOTE)

    refresh.while_cells_come(panels, curves.store, curves.next_missing, measure_first)
    st.markdown(plain_text.TRY_TABLE if table else plain_text.TRY)
    results = curves.results[curves.here]
    sources.foot(
        settings,
        lambda: (rows.table(curves.shares(curves.here), experiment.k), sources.how_measured(results)),
        *("", sources.LIMITS),
        title=phrases.FOLD,
    )
