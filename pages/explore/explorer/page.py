"""Show what privacy costs, measured live, by the method recommended for whom the hospitals trust."""

from functools import partial

import streamlit as st

from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import run_seconds
from dppca_core.methods import METHODS
from pages.explore.explorer import exercises, figure_code, report, text
from pages.shared.background import cache, engine, failed_runs, prefetch, refresh
from pages.shared.charts import explorer_summary, loadings, side_by_side
from pages.shared.figure import component
from pages.shared.reports import html_report, sources, take_along
from pages.shared.settings import to_experiment, widgets
from pages.shared.settings.catalogue import CHOICES, RECOMMENDED

experiment, epsilon = to_experiment.about_shown(widgets.settings())
introduction = text.introduction(experiment, epsilon, widgets.settings())
settings = widgets.head(
    *(text.TITLE, introduction, text.STEPS), ("view", "ghost", "loadings"), beside="first_panel"
)
results = cache.results(experiment)
shown = side_by_side.methods(experiment, epsilon, settings)


def keep_scrubbed() -> None:
    """Set the page's epsilon to the one that the figure was scrubbed to."""
    widgets.set_to("epsilon", EPSILONS[int(st.session_state["live"]["use"])])


def move_patients() -> None:
    """Set the number of patients to the one that a telephone's second slider was moved to."""
    options = CHOICES["n"].options
    widgets.set_to("n", options[min(max(int(st.session_state["live"]["move"]), 0), len(options) - 1)])


def panels() -> None:
    """Show what has been measured so far."""
    if widgets.moved():  # by the figure: only this fragment knows so far
        st.rerun()
    payload = explorer_summary.payload(results, epsilon, settings, shown)
    if experiment.table is None:
        choice = CHOICES["n"]
        options = [choice.text(option) for option in choice.options]
        at = choice.options.index(settings["n"])
        payload["second"] = {"label": choice.name(settings["view"] == "plain"), "options": options, "at": at}
    payload |= prefetch.link(settings)
    component.figure(payload, key="live", on_use=keep_scrubbed, on_move=move_patients)
    take_along.menu(
        *("live", "dppca-explorer", text.TITLE, lambda: payload),
        table=results.table,
        code=lambda: figure_code.panels(results, epsilon, shown, settings),
        recipe=lambda: to_experiment.over_epsilon(experiment, epsilon, (experiment.method,)),
    )
    if settings["view"] != "plain":
        st.caption(text.two_stages(results, epsilon, settings))
    if settings["loadings"] and (experiment.method, epsilon, 0) in results.cells:
        st.markdown("**Loadings of one release, turned onto the true ones**")
        figure = loadings.loadings(results, results.estimate(experiment.method, epsilon, 0).basis)
        component.figure(figure, key="loadings figure", says=loadings.description(figure))
        take_along.menu(
            *("loadings figure", "dppca-loadings", "Loadings of one release", lambda: figure),
            code=lambda: figure_code.loadings(results, epsilon),
        )
    failed_runs.of_methods(results)


def measure_first() -> None:
    """Measure what the visitor sees first."""
    for _ in engine.at_first(results.steps(results.first(epsilon, shown))):
        st.session_state.get("epsilon")  # Streamlit interrupts the run here when the visitor has moved on


next_cell = partial(results.next_missing, epsilon, settings["slow"])
refresh.while_cells_come(panels, results, next_cell, measure_first)
prefetch.begin(settings, widgets.last_move())

with st.container(horizontal=True, vertical_alignment="bottom", key="methods shown"):
    widgets.choose("all_methods")
    if settings["view"] != "plain":
        here = [RECOMMENDED, *to_experiment.selectable(experiment, settings["trust"])]
        chosen = settings["method"] if settings["method"] in here else RECOMMENDED
        widgets.choose_among("method", here, chosen)
if settings["all_methods"]:
    widgets.slow_methods_button(
        [METHODS[name].title for name in results.slow],
        sum(run_seconds(name, experiment.d, experiment.k, experiment.providers) for name in results.slow),
    )
st.markdown(f"**Try this:** {text.try_this(experiment, settings)}")
with st.expander(exercises.TITLE):
    st.markdown(exercises.markdown(settings["view"] == "plain"))
build = partial(report.build, results, epsilon, settings, html_report.link(settings))
html_report.button(build, "dppca-explorer")
sources.page(results, epsilon, settings)
