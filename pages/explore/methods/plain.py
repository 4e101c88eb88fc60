"""The methods page in plain view: how much each trust needs."""

import streamlit as st

from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer import trusts
from pages.explore.methods import plain_curves, plain_text
from pages.explore.methods.plain_curves import Curves
from pages.shared.plain import phrases, rows, screen
from pages.shared.reports import sources, take_along
from pages.shared.settings import widgets


def render() -> None:
    """Show the page."""
    settings = widgets.head(plain_text.TITLE, plain_text.QUESTION) | rows.ADVISED
    curves, table = Curves(settings), TABLES.get(settings["data"])
    experiment, epsilon = curves.points[curves.here]
    if table:
        st.caption(plain_text.FIXED)

    def panels() -> None:
        each = [curves.shares(i) for i in range(len(curves.points))]
        needed, ends = curves.needed(each), (curves.values[0], curves.values[-1])
        headline = plain_text.headline(needed, curves.trust, curves.key, ends)
        widgets.headline(headline, "epsilon", "n")
        st.markdown(plain_text.others(needed, curves.trust, curves.key, ends))
        take_along.show(
            *(plain_curves.figure(curves, each), "curves figure", "dppca-trusts", plain_text.TITLE),
            says=headline,
            code=curves.code,
            recipe=curves.recipe,
        )
        st.caption(plain_text.CURVES)
        st.header(plain_text.here(experiment.n, epsilon, table.title if table else ""))
        shares = each[curves.here]
        screen.bars(
            *(shares, "rows", phrases.TITLE),
            table=curves.stores[curves.here].table,
            code=lambda: screen.code([(experiment, epsilon)], trusts.shown(experiment, epsilon)),
        )

    curves.show(panels)
    st.markdown(plain_text.TRY_TABLE if table else plain_text.TRY)
    results = curves.stores[curves.here]
    screen.fold(
        *(settings, lambda: curves.shares(curves.here), experiment.k),
        lambda: (sources.how_measured(results),),
    )
