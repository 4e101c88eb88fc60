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
of = view.recipe(settings)
strength, kind = view.strength(of, settings), view.kind(of, settings)
found = cache.site_results(of)
differences = ("sites.strength", "sites.differ") if of.synthetic else ()
for keys in (("sites.data", "sites.method", "sites.kind"), (*differences, "sites.share", "sites.against")):
    for column, key in zip(st.columns(len(keys), vertical_alignment="bottom"), keys, strict=True):
        with column:
            widgets.choose(key)
with st.container():
    for sentence in text.notes(of, settings):
        st.caption(sentence)


def panels() -> None:
    """Measure what a first look needs, show it, and let the rest come."""
    for cell in found.first(strength, kind):
        if cell not in found.failed:  # one that is worth another try comes last
            found.try_cell(*cell)
    st.markdown(f"**{text.headline(found, settings)}**")
    failed_runs.show(found.failed)
    st.header("Standardising, and what it costs")
    draw = charts.against_strength if of.synthetic else charts.by_kind
    component.figure(
        draw(found, settings),
        key="standardising figure",
        save="dppca-standardising",
        says=chart_descriptions.standardising(found, settings),
    )
    st.table(text.costs(found, settings), hide_index=True, border="horizontal")
    st.caption(text.below_costs(of))
    st.header("Who gains by joining")
    component.figure(
        charts.joining(found, settings),
        key="joining figure",
        save="dppca-joining",
        says=text.who(found, settings) or text.waiting(found, settings),
    )
    st.caption(text.about_joining(of, settings))
    if next_cell() is not None:
        st.caption(refresh.coming(len(found.cells)))
    else:
        most = "at most " if found.failed else ""
        st.caption(f"Medians of {most}{of.repeats} runs; intervals hold 8 of 10.")


next_cell = partial(found.next_missing, strength, kind)
refresh.while_cells_come(panels, found, next_cell)

if not of.synthetic:
    st.header("What is missing, hospital by hospital")
    said = text.missing()
    component.figure(
        charts.missing(), key="missing figure", save="dppca-missing", says=markdown.plainly(said)
    )
    st.caption(said)
st.markdown(f"**Try this:** {text.try_this(of, settings)}")
downloads.downloads(found.table, lambda: charts.joining(found, settings), "dppca-differences")
sources.page(of, settings)
