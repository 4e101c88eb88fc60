"""Hospitals that differ: what standardising costs, who gains by joining, and what real hospitals lack."""

import streamlit as st

from pages.shared import (
    cached,
    controls,
    exports,
    failed_runs,
    live,
    site_charts,
    site_origins,
    site_view,
    site_words,
    spoken,
    worker,
)

REFRESH_SECONDS = 0.6  # while runs are still being measured

st.title("What if hospitals differ?")
st.markdown(
    "Hospitals measure differently and treat different patients: what that does to a joint private answer, "
    "what putting it right costs, and who gains by joining."
)
controls.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    controls.notices()
settings = controls.settings()
of = site_view.recipe(settings)
strength, kind = site_view.strength(of, settings), site_view.kind(of, settings)
found = cached.joined(of)
differences = ("sites.strength", "sites.differ") if of.synthetic else ()
for keys in (("sites.data", "sites.method", "sites.kind"), (*differences, "sites.share", "sites.against")):
    for column, key in zip(st.columns(len(keys), vertical_alignment="bottom"), keys, strict=True):
        with column:
            controls.choose(key)
with st.container():
    for sentence in site_words.notes(of, settings):
        st.caption(sentence)


def panels() -> None:
    """Measure what a first look needs, show it, and let the rest come."""
    for cell in found.first(strength, kind):
        if cell not in found.failed:  # one that is worth another try comes last
            found.try_cell(*cell)
    st.markdown(f"**{site_words.headline(found, settings)}**")
    failed_runs.show(found.failed)
    st.header("Standardising, and what it costs")
    draw = site_charts.against_strength if of.synthetic else site_charts.by_kind
    live.figure(
        draw(found, settings),
        key="standardising figure",
        save="dppca-standardising",
        says=spoken.standardising(found, settings),
    )
    st.table(site_words.costs(found, settings), hide_index=True, border="horizontal")
    st.caption(site_words.below_costs(of))
    st.header("Who gains by joining")
    live.figure(
        site_charts.joining(found, settings),
        key="joining figure",
        save="dppca-joining",
        says=site_words.who(found, settings) or site_words.waiting(found, settings),
    )
    st.caption(site_words.about_joining(of, settings))
    left = found.next_missing(strength, kind)
    if left is not None:
        st.caption(f"{len(found.cells):,} runs measured, more coming")
        worker.look(found, lambda: found.next_missing(strength, kind))
    else:
        most = "at most " if found.failed else ""
        st.caption(f"Medians of {most}{of.repeats} runs; intervals hold 8 of 10.")
        if refreshing:
            st.rerun()  # complete: the page need not refresh itself any more


refreshing = found.next_missing(strength, kind) is not None
st.fragment(panels, run_every=REFRESH_SECONDS if refreshing else None)()

if not of.synthetic:
    st.header("What is missing, hospital by hospital")
    said = site_words.missing()
    live.figure(site_charts.missing(), key="missing figure", save="dppca-missing", says=spoken.plainly(said))
    st.caption(said)
st.markdown(f"**Try this:** {site_words.try_this(of, settings)}")
exports.downloads(found.table, lambda: site_charts.joining(found, settings), "dppca-differences")
site_origins.page(of, settings)
