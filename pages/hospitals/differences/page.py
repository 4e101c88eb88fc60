"""Hospitals that differ: what standardising costs, who gains by joining, and what real hospitals lack."""

from functools import partial

import streamlit as st

from pages.hospitals.differences import chart_descriptions, charts, sources, text, view
from pages.shared.background import cache, failed_runs, refresh
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings import widgets
from pages.shared.text import markdown

st.title("What if hospitals differ?")
st.markdown(
    "Hospitals measure differently and treat different patients: what that does to a joint private answer, "
    "what putting it right costs, and who gains by joining."
)
widgets.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    widgets.notices()
settings = widgets.settings()
recipe = view.recipe(settings)
strength, kind = view.strength(recipe, settings), view.kind(recipe, settings)
results = cache.joined(recipe)
differences = ("sites.strength", "sites.differ") if recipe.synthetic else ()
for keys in (("sites.data", "sites.method", "sites.kind"), (*differences, "sites.share", "sites.against")):
    for column, key in zip(st.columns(len(keys), vertical_alignment="bottom"), keys, strict=True):
        with column:
            widgets.choose(key)
with st.container():
    for sentence in text.notes(recipe, settings):
        st.caption(sentence)


def panels() -> None:
    """Measure what a first look needs, show it, and let the rest come."""
    for cell in results.first(strength, kind):
        if cell not in results.failed:  # one that is worth another try comes last
            results.try_cell(*cell)
    st.markdown(f"**{text.headline(results, settings)}**")
    failed_runs.show(results.failed)
    st.header("Standardising, and what it costs")
    draw = charts.against_strength if recipe.synthetic else charts.by_kind
    component.figure(
        draw(results, settings),
        key="standardising figure",
        save="dppca-standardising",
        says=chart_descriptions.standardising(results, settings),
    )
    st.table(text.costs(results, settings), hide_index=True, border="horizontal")
    st.caption(text.below_costs(recipe))
    st.header("Who gains by joining")
    component.figure(
        charts.joining(results, settings),
        key="joining figure",
        save="dppca-joining",
        says=text.who(results, settings) or text.waiting(results, settings),
    )
    st.caption(text.about_joining(recipe, settings))
    if next_cell() is not None:
        st.caption(refresh.coming(len(results.cells)))
    else:
        most = "at most " if results.failed else ""
        st.caption(f"Medians of {most}{recipe.repeats} runs; intervals hold 8 of 10.")


next_cell = partial(results.next_missing, strength, kind)
refresh.while_cells_come(panels, results, next_cell)

if not recipe.synthetic:
    st.header("What is missing, hospital by hospital")
    missing = text.missing()
    component.figure(
        charts.missing(), key="missing figure", save="dppca-missing", says=markdown.plainly(missing)
    )
    st.caption(missing)
st.markdown(f"**Try this:** {text.try_this(recipe, settings)}")
downloads.downloads(results.table, lambda: charts.joining(results, settings), "dppca-differences")
sources.page(recipe, settings)
