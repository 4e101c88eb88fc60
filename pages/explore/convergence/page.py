"""Show the error by round, for several values of one parameter, and where it stops falling."""

import streamlit as st

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.sweeps.iterate_table import by_round
from pages.explore.convergence import charts, curves, stages, text
from pages.explore.convergence.settings import STACKED, TWO_STAGES
from pages.shared.background import cache, refresh, sweep_jobs, sweep_status
from pages.shared.charts import error_unit
from pages.shared.document import streamlit
from pages.shared.reports import sources, take_along
from pages.shared.settings import to_experiment, widgets

SLOT = "convergence"  # the name under which this page's sweep is kept for each visitor

settings = widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS)
widgets.show_control_row("family", "traced", "layout")
family = curves.family_from_settings(settings)
# Methods whose rounds differ in kind have sentences of their own: no single factor a round describes them.
words = stages if settings["traced"] in (*TWO_STAGES, *STACKED) else text
with st.container():
    for note in text.notes(family, settings):
        st.caption(note)
job = sweep_jobs.start(SLOT, family.recipe)


def panels() -> None:
    """Show the chart, its headline and the table of what has been measured so far.

    It is called again while the job measures more. `words` is the module with the method's sentences.
    """
    readings = curves.readings(family, settings, job.table())
    headline = words.headline(family, readings, settings)
    widgets.headline(headline, "epsilon", "n")
    figure = charts.figure(family, readings, settings)
    drawn = {"recipe": family.recipe, "key": family.key, "k": settings["k"], "metric": error_unit(settings)}
    take_along.show(
        *(figure, f"{settings['layout']} figure", "dppca-convergence", text.TITLE),  # with key, files, title
        says=headline,
        table=lambda: by_round(job.table()),
        code=lambda: FigureRecipe("sweeps.trajectories", drawn),
        recipe=lambda: family.recipe,
    )
    with st.container(height=72, border=False):  # the same height with the bar as without
        sweep_status.show(job, SLOT)
        if job.state == "complete":
            st.caption(text.measured(job.progress.total, settings))
    st.table(words.table(family, readings, settings), hide_index=True, border="horizontal")
    st.caption(words.below_table(family, readings, settings))


refresh.while_more(panels, lambda: job.running)

st.markdown(f"**Try this:** {words.try_this(settings)}")
experiment, epsilon = to_experiment.from_settings(settings)
results = cache.results(experiment)
measured = f"{sources.how_measured(results, text.runs(settings))}\n\n**{words.DERIVATION}.**"
streamlit.show_blocks(
    [sources.of_results(results, epsilon, settings, measured=f"{measured} {words.formulas(settings)}")]
)
