"""Compare hospitals that join with hospitals that stay alone: their errors, and what they send."""

from functools import partial

import streamlit as st

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.providers import controls, gain_charts, gain_text, plain, view
from pages.hospitals.providers import text as page_text
from pages.shared.background import cache, failed_runs, refresh
from pages.shared.document import streamlit
from pages.shared.reports import sources, take_along
from pages.shared.settings import to_experiment, widgets

widgets.in_plain_view(plain.render)
settings = widgets.head(page_text.TITLE, page_text.INTRODUCTION, page_text.STEPS)
widgets.show_panel_pills("join.panel")
recipe, adjustments = view.to_setting(settings)
results, panel = cache.collaboration_results(recipe), settings["join.panel"]
with st.container():  # always there: a block more or less would move the figure, which would be rebuilt
    for sentence in adjustments:
        st.caption(sentence)


def title(key: str) -> str:
    """Return a protocol's name as this page has it."""
    return gain_text.title(PROTOCOLS[key], recipe)


def compared() -> None:
    """Render the errors or the bytes of every protocol, with what has been measured so far."""
    view.measure_first(results, settings)
    streamlit.show_blocks(
        [failed_runs.notice(results.failed, lambda cell: title(cell[0]))]
    )  # a cell begins with its protocol
    grouped = view.rows(results, settings)
    if panel == "gain":
        headline, numbers = gain_text.sentences(results, settings)
        notes = gain_text.notes(results, settings, grouped)
        figure, name = gain_charts.gains(results, grouped, settings), "joining"
        table_name = "collaboration.gains"
    else:
        headline, numbers = gain_text.bytes_line(grouped, recipe), ""
        notes = gain_text.BYTES_NOTE
        figure, name = gain_charts.sent(results, grouped, settings), "bytes"
        table_name = "collaboration.sent"
    widgets.headline(headline, "epsilon", "providers")  # on a telephone with these two sliders
    if figure["data"][-1]["x"]:  # a figure without a row has no points, and is not shown
        take_along.show(
            *(figure, f"{name} figure", f"dppca-{name}", page_text.TITLE),
            says=f"{headline} {numbers}".strip(),
            table=results.table,
            code=lambda: FigureRecipe(table_name, {"setting": recipe}),
        )
    st.markdown(numbers)
    if name == "bytes":
        pinned = {"protocol": st.column_config.TextColumn(pinned=True)}
        table = gain_text.table(results, settings)
        st.dataframe(table, hide_index=True, height="content", column_config=pinned)
    st.caption(notes)


refresh.while_cells_come(compared, results, partial(view.next_cell, results, settings))
seconds = sum(recipe.seconds(PROTOCOLS[key]) for key in results.slow)
if settings["all_methods"]:
    widgets.slow_methods_button([title(key) for key in results.slow], seconds)
widgets.show_control_row("all_methods", "join.trust", "join.rank")
controls.sizes(recipe, settings)
st.markdown(f"**Try this:** {page_text.try_this(recipe, settings)}")
experiment, epsilon = to_experiment.from_settings(settings)
streamlit.show_blocks(
    [sources.of_results(cache.results(experiment), epsilon, settings, measured=gain_text.about(recipe))]
)
