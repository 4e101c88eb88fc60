"""What theory promises beside what is measured: every bound, its assumptions, and its constants."""

from functools import partial

import streamlit as st

from dppca_core.bounds.ge_figure2 import Figure2
from dppca_core.experiments.explorer.experiment import EPSILONS
from pages.explore.bounds import chart_descriptions, charts, controls, hints
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.charts.metric_axis import Scale
from pages.shared.figure import component
from pages.shared.reports import downloads, sources
from pages.shared.settings import to_experiment, widgets

st.title("Does the theory hold here?")
st.markdown(
    "What the papers promise, drawn over what is measured: a line where every assumption holds, thin where "
    "one fails, and hollow marks at the top where the bound says nothing."
)
widgets.view_switches(("view",))
widgets.notices()
settings = widgets.settings()
plain = settings["view"] == "board"
experiment, epsilon = to_experiment.from_settings(settings)
found = cache.results(experiment)
of = settings["of"]
chosen = controls.choose(settings)
evaluated = {name: controls.evaluated(experiment, name, settings) for name in chosen}
here = {name: bounds[EPSILONS.index(epsilon)] for name, bounds in evaluated.items()}


def scale_of() -> Scale:
    """The metric on screen; no bound here speaks of energy."""
    metric = "sin" if settings["metric"] == "energy" else settings["metric"]
    return Scale(found, settings | {"metric": metric})


def measured() -> None:
    """The error against epsilon, with all chosen bounds; Ge's terms beside it."""
    scale = scale_of()
    if of in found.names:
        found.try_cells([(of, epsilon, 0)])
        seconds = sum(cell.seconds for cell in found.measured(of, epsilon)[:1])
        if seconds * len(EPSILONS) < engine.FIRST_SECONDS:  # else the worker does it
            found.try_cells((of, e, 0) for e in EPSILONS)
    said = controls.headline(found, of, here, epsilon, scale, plain)
    st.markdown(f"**{said}**")
    failed_runs.of_methods(found)
    drawn = charts.against_epsilon(found, of, evaluated, epsilon, scale, plain)
    component.figure(drawn, key="bounds figure", says=said)
    if "ge2018" in here and not plain:
        st.markdown("**Theorem 4.3 term by term**, at this ε")
        terms = charts.terms(found, here["ge2018"], epsilon, scale)
        component.figure(
            terms, key="terms figure", says=chart_descriptions.terms(terms, here["ge2018"].applies)
        )
    if found.next_of(of) is not None:
        st.caption(refresh.coming(len(found.cells)))


refresh.while_cells_come(measured, found, partial(found.next_of, of))

st.header("Where privacy is free")
widgets.choose("map")
region_map = controls.regions(experiment, settings)
component.figure(
    charts.regimes(region_map, experiment.n, epsilon, plain),
    key="regime figure",
    says=chart_descriptions.regimes(region_map, experiment.n, epsilon, plain),
)
st.caption(charts.REGIME_NOTES[settings["map"]])

st.header("The bounds, one by one")
for name in chosen:
    controls.card(name, here[name], found, of, settings)

st.header("Figure 2 of Ge et al.")
widgets.choose("figure2")
if settings["figure2"]:
    fitted = charts.figure_2(Figure2())
    component.figure(fitted, key="figure 2", says=chart_descriptions.figure_2(fitted))
    st.caption(charts.FIGURE_2_NOTE)
st.markdown(f"**Try this:** {hints.try_this(settings)}")
downloads.downloads(
    lambda: charts.table(found, of, evaluated),
    lambda: charts.against_epsilon(found, of, evaluated, epsilon, scale_of(), plain),
    "dppca-bounds",
)
sources.page(found, epsilon, settings)
