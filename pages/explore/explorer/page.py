"""Show what privacy costs, measured live, by the method recommended for whom the hospitals trust."""

from functools import partial

import streamlit as st

from dppca_core.experiments.explorer.results import run_seconds
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.methods import METHODS
from pages.explore.explorer import live_figure, plain, report, text
from pages.explore.explorer.view import ExplorerView
from pages.shared.background import failed_runs
from pages.shared.charts import loadings
from pages.shared.reports import html_report, sources, take_along
from pages.shared.settings import to_experiment, widgets
from pages.shared.settings.catalogue import RECOMMENDED

widgets.in_plain_view(plain.render)
view = ExplorerView(widgets.settings())
experiment, epsilon, results = view.experiment, view.epsilon, view.results
why = text.why(experiment, epsilon, widgets.settings()["trust"])
settings = widgets.head(text.TITLE, why, text.STEPS, ("view", "ghost", "loadings"), beside="first_panel")


def panels() -> None:
    """Show the live figure, and what else there is of the runs so far: called again while more come."""
    live_figure.show(view, text.TITLE)
    st.caption(text.of_scaling(results, epsilon, settings["trust"]))
    st.caption(text.two_stages(results, epsilon, settings, view.shown))
    st.caption(text.NO_PRIVACY_IS)
    # The release is the first run, repeat 0.
    if settings["loadings"] and (experiment.method, epsilon, 0) in results.cells:
        st.markdown("**Loadings of one release, turned onto the true ones**")
        figure = loadings.loadings(results, results.estimate(experiment.method, epsilon, 0).basis)
        release = {"experiment": experiment, "method": experiment.method, "epsilon": epsilon}
        take_along.show(
            *(figure, "loadings figure", "dppca-loadings", "Loadings of one release"),  # key, files, title
            says=loadings.description(figure),
            code=lambda: FigureRecipe("explorer.loadings", release),
        )
    failed_runs.show_by_method(results)


live_figure.show_while_measuring(panels, view)

with st.container(horizontal=True, vertical_alignment="bottom", key="methods shown"):
    widgets.show_control("all_methods")
    here = [RECOMMENDED, *to_experiment.selectable(experiment, settings["trust"])]
    widgets.show_select_box("method", here)
if settings["all_methods"]:
    sizes = experiment.d, experiment.k, experiment.providers
    seconds = sum(run_seconds(name, *sizes) for name in results.slow)
    widgets.slow_methods_button([METHODS[name].title for name in results.slow], seconds)
st.markdown(f"**Try this:** {text.try_this(experiment, settings)}")
build = partial(report.build, view, html_report.link(settings))
html_report.button(build, "dppca-explorer")
sources.page(results, epsilon, settings)
