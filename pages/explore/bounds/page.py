"""Show every bound beside the measured error, with its assumptions and constants."""

from functools import partial

import streamlit as st

from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.experiment import EPSILONS, TRACED
from dppca_core.experiments.explorer.regime_map import RULES
from pages.explore.bounds import charts, controls, figure_code, text
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.charts.metric_axis import Scale, error_unit
from pages.shared.figure import component
from pages.shared.reports import sources, take_along
from pages.shared.settings import to_experiment, widgets

settings = widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS, instead="Methods")
experiment, epsilon = to_experiment.from_settings(settings)
results = cache.results(experiment)
method, tau = settings["of"], settings["tau"]
chosen = controls.choose(settings)
evaluated = {name: cache.bounds(experiment, name, tau, controls.constants(settings, name)) for name in chosen}
here = {name: bounds[EPSILONS.index(epsilon)] for name, bounds in evaluated.items()}
predicted = evaluated.get(CLOSED_FORMS.get(method, ""), ())
chances_known = any("support_probability" in bound.quantities for bound in predicted)
# A share of runs needs them all, however long each takes.
next_cell = partial(results.next_of, method, experiment.repeats if chances_known else None)


def new_scale() -> Scale:
    """Return the metric on screen, or sin Theta for captured energy, of which no bound here speaks."""
    return Scale(results, settings | {"metric": error_unit(settings)})


def panels() -> None:
    """Show the error against epsilon with all chosen bounds, and Ge's terms below."""
    scale = new_scale()
    if method in results.names:
        results.try_cells([(method, epsilon, 0)])
        seconds = sum(cell.seconds for cell in results.measured(method, epsilon)[:1])
        if seconds * len(EPSILONS) < engine.FIRST_SECONDS:  # else the worker does it
            results.try_cells((method, e, 0) for e in EPSILONS)
    headline = text.headline(results, here, scale, settings)
    widgets.headline(headline, "epsilon", "n")
    failed_runs.of_methods(results)
    figure = charts.against_epsilon(results, evaluated, scale, settings)
    component.figure(figure, key="bounds figure", says=headline)
    take_along.menu(
        *("bounds figure", "dppca-bounds", text.TITLE, lambda: figure),
        table=lambda: charts.table(results, method, evaluated),
        code=lambda: figure_code.against_epsilon(results, chosen, settings),
        recipe=lambda: to_experiment.over_epsilon(experiment, epsilon, (method,)),
    )
    silent = text.why_silent(method, here) + text.no_degrees(scale)
    st.caption(f"{silent} {text.below_a_lower_bound(results, here, settings)}")
    if chances_known:
        st.markdown("**How often all true features are found**, predicted and measured")
        chances = charts.chances(results, method, predicted, epsilon)
        component.figure(chances, key="chances figure", says=text.chances(results, method, here, epsilon))
        take_along.menu(
            *("chances figure", "dppca-rows-recovered", "All true features", lambda: chances),
            code=lambda: figure_code.chances(results, CLOSED_FORMS[method], settings),
        )
        st.caption(f"{text.chances(results, method, here, epsilon)} {text.CHANCES_NOTE}")
    if "ge2018" in here:
        st.markdown("**Theorem 4.3 term by term**, at this ε")
        results.try_cells((TRACED, epsilon, repeat) for repeat in range(results.repeats_of(TRACED)))
        terms = charts.terms(results, here["ge2018"], epsilon, scale)
        finding = text.terms(terms, here["ge2018"].applies)
        component.figure(terms, key="terms figure", says=finding)
        take_along.menu(
            *("terms figure", "dppca-theorem-terms", "Theorem 4.3 term by term", lambda: terms),
            code=lambda: figure_code.terms(results, settings),
        )
    if next_cell() is not None:
        st.caption(refresh.coming(len(results.cells)))


refresh.while_cells_come(panels, results, next_cell)

st.header("Where privacy is free")
widgets.choose("map")
constants = controls.constants(settings, RULES[settings["map"]])
region_map = cache.regimes(experiment, settings["map"], tau, constants)
regimes = charts.regimes(region_map, experiment.n, epsilon)
component.figure(regimes, key="regime figure", says=text.regimes(region_map, experiment.n, epsilon))
take_along.menu(
    *("regime figure", "dppca-regimes", "Where privacy is free", lambda: regimes),
    code=lambda: figure_code.regimes(results, constants, settings),
)
st.caption(text.REGIME_NOTES[settings["map"]])

st.header("The bounds, one by one")
for name in chosen:
    controls.card(name, here[name], results, method, settings)

st.header("Figure 2 of Ge et al.")
widgets.choose("figure2")
if settings["figure2"]:
    component.figure(charts.figure_2(), key="figure 2", says=text.FIGURE_2_NOTE)
    take_along.menu(
        *("figure 2", "ge-figure-2", "Figure 2 of Ge et al.", charts.figure_2), code=figure_code.figure_2
    )
    st.caption(text.FIGURE_2_NOTE)
st.markdown(f"**Try this:** {text.TRY_THIS}")
free = controls.constants(settings, "ge2018")
sources.page(results, epsilon, settings, theorem=text.theorem_constants(tau, free))
