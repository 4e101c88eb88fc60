"""Show what hospitals that differ gain by joining, what standardising costs, and what real data lack."""

from collections.abc import Iterator
from functools import partial

import streamlit as st

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.differences import charts, plain, text, view
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.document import streamlit
from pages.shared.reports import phrases, sources, take_along
from pages.shared.settings import widgets

widgets.in_plain_view(plain.render)
settings = widgets.head(text.TITLE, text.LEAD, text.STEPS)
results = cache.site_results(view.to_recipe(settings))
shown = view.SiteView(results, settings)
synthetic = shown.recipe.synthetic
*columns, last = widgets.beside("sites", 4)
for column, key in zip(columns, ("sites.data", "sites.method", "sites.kind"), strict=True):
    with column:
        widgets.show_control(key)
with last.popover("More choices", width="stretch"):
    for key in (*(("sites.strength", "sites.differ") if synthetic else ()), "sites.share", "sites.against"):
        widgets.show_control(key)
with st.container():
    for sentence in text.notes(shown):
        st.caption(sentence)


def first_look() -> Iterator[None]:
    """Measure step by step the runs needed before anything is shown; the background measures the rest."""
    return engine.missing_cells(
        results, lambda: results.first_missing(results.first(shown.strength, shown.kind))
    )


def panels() -> None:
    """Render what has been measured."""
    headline = text.headline(shown)
    widgets.headline(headline, "epsilon", "n")  # on a telephone with these two sliders
    streamlit.show_block(failed_runs.notice(results.failed))
    details = text.details(shown)
    st.header("Standardising, and what it costs")
    draw = charts.against_strength if synthetic else charts.by_kind
    standardising, joining = draw(shown), charts.joining(shown)
    take_along.show(
        *(standardising, "standardising figure", "dppca-standardising", "Standardising, and what it costs"),
        says=details or headline,
        table=results.table,
        code=lambda: shown.code("standardising"),
    )
    st.markdown(details)
    st.table(text.costs(shown), hide_index=True, border="horizontal")
    st.caption(text.below_costs(shown.recipe))
    st.header("Who gains by joining")
    take_along.show(
        *(joining, "joining figure", "dppca-joining", "Who gains by joining"),
        says=text.gains_and_losses(shown) or text.waiting(shown),
        table=results.table,
        code=lambda: shown.code("joining"),
    )
    st.caption(text.about_joining(shown))
    runs = f"{'at most ' if results.failed else ''}{shown.recipe.repeats} runs"
    medians = f"Medians of {runs}; intervals hold 8 of 10."
    st.caption(medians if next_cell() is None else refresh.coming(len(results.cells)))


next_cell = partial(results.next_missing, shown.strength, shown.kind)
refresh.while_cells_come(panels, results, next_cell, first_look)

if not synthetic:
    st.header("What is missing, hospital by hospital")
    missing = text.missing()
    take_along.show(
        *(charts.missing(), "missing figure", "dppca-missing", "What is missing, hospital by hospital"),
        says=missing,
        code=lambda: FigureRecipe("collaboration.missing", {}),
    )
    st.caption(missing)
st.markdown(f"**Try this:** {text.try_this(shown)}")
methods = phrases.methods([shown.recipe.method], shown.recipe.k)
about = sources.fold(
    settings,
    lambda: (text.about(shown.recipe), *methods, text.FORMULAS),
    "Accounting is exact. A study tool, not a hardened release.",
)
streamlit.show_block(about)
