"""Show every bound beside the measured error, with its assumptions and constants.

`evaluated` has each chosen bound at all values of the privacy slider, `here` at the current one. A cell is
one run, named (method, epsilon, repeat).
"""

from functools import partial
from typing import Any

import streamlit as st

from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS  # Theorem 4.3's method
from dppca_core.experiments.explorer.regime_map import RULES
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.explore.bounds import charts, controls, text
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.charts import Scale, error_unit
from pages.shared.document import streamlit
from pages.shared.reports import sources, take_along
from pages.shared.settings import to_experiment, widgets

settings = widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS)
experiment, epsilon = to_experiment.from_settings(settings)
results = cache.results(experiment)
method, tau = settings["of"], settings["tau"]
chosen = controls.choose(settings)
evaluated = {name: cache.bounds(experiment, name, tau, controls.constants(settings, name)) for name in chosen}
here = {name: bounds[EPSILONS.index(epsilon)] for name, bounds in evaluated.items()}
predicted = evaluated.get(CLOSED_FORMS.get(method, ""), ())
chances_known = any("support_probability" in bound.quantities for bound in predicted)
# Returns the run to measure next, None when all are there. A method that takes long has fewer repeats, but
# the share of runs that find all features needs them all.
next_cell = partial(results.next_of, method, experiment.repeats if chances_known else None)
free = controls.constants(settings, "ge2018")


def code(figure: str, **values: Any) -> FigureRecipe:
    """Return the recipe of a figure's numbers, from which the page's menu makes Python code."""
    return FigureRecipe(f"bounds.{figure}", {"experiment": experiment, "tau": tau} | values)


def panels() -> None:
    """Show the error against epsilon with all chosen bounds, and below it Theorem 4.3's terms.

    It is called again while more is measured. Of a fast method it first measures one run at this epsilon, and
    one at all others if that is quick.
    """
    scale = Scale(results, settings | {"metric": error_unit(settings)})  # no bound here is on captured energy
    if method in results.live_methods:
        results.try_cells([(method, epsilon, 0)])
        seconds = sum(cell.seconds for cell in results.measured(method, epsilon)[:1])  # 0 if that run failed
        if seconds * len(EPSILONS) < engine.FIRST_SECONDS:  # else the background thread does it
            results.try_cells((method, e, 0) for e in EPSILONS)
    headline = text.headline(results, here, scale, settings)
    widgets.headline(headline, "epsilon", "n")
    streamlit.show_block(failed_runs.by_method(results))
    figure = charts.against_epsilon(results, evaluated, scale, settings)
    bounds = {name: dict(controls.constants(settings, name)) for name in chosen}
    drawn = {"method": method, "bounds": bounds, "metric": error_unit(settings)}
    take_along.show(
        *(figure, "bounds figure", "dppca-bounds", text.TITLE),  # the figure, its key, its files, its title
        says=headline,
        table=lambda: charts.table(results, method, evaluated),
        code=lambda: code("against_epsilon", **drawn),
        recipe=lambda: to_experiment.over_epsilon(experiment, epsilon, (method,)),
    )
    silent = text.why_no_closed_form(method, here) + text.no_degrees(scale)
    st.caption(f"{silent} {text.below_a_lower_bound(results, here, settings)}")
    if chances_known:
        st.markdown("**How often all true features are found**, predicted and measured")
        chances = charts.chances(results, method, predicted, epsilon)
        finding, rule = text.chances(results, method, here, epsilon), CLOSED_FORMS[method]
        form = {"method": method, "rule": rule, "constants": dict(controls.constants(settings, rule))}
        take_along.show(
            *(chances, "chances figure", "dppca-rows-recovered", "All true features"),
            says=finding,
            code=lambda: code("chances", **form),
        )
        st.caption(f"{finding} {text.CHANCES_NOTE}")
    if "ge2018" in here:
        st.markdown("**Theorem 4.3 term by term**, at this ε")
        results.try_cells((DPS_PCA, epsilon, repeat) for repeat in range(results.repeats_of(DPS_PCA)))
        terms = charts.terms(results, here["ge2018"], epsilon, scale)
        take_along.show(
            *(terms, "terms figure", "dppca-theorem-terms", "Theorem 4.3 term by term"),
            says=text.terms(terms, here["ge2018"].applies),
            code=lambda: code("terms", epsilon=epsilon, constants=dict(free)),
        )
    if next_cell() is not None:
        st.caption(refresh.coming(len(results.cells)))


refresh.while_cells_come(panels, results, next_cell)

st.header("Where privacy is free")
widgets.show_control("map")
constants = controls.constants(settings, RULES[settings["map"]])
region_map = cache.regimes(experiment, settings["map"], tau, constants)
regimes = charts.regimes(region_map, experiment.n, epsilon)
take_along.show(
    *(regimes, "regime figure", "dppca-regimes", "Where privacy is free"),
    says=text.regimes(region_map, experiment.n, epsilon),
    code=lambda: code("regimes", by=settings["map"], constants=dict(constants)),
)
st.caption(text.REGIME_NOTES[settings["map"]])

st.header("The bounds, one by one")
for name in chosen:
    controls.card(name, here[name], results, method, settings)

st.header("Figure 2 of Ge et al.")
widgets.show_control("figure2")
if settings["figure2"]:
    take_along.show(
        *(charts.figure_2(), "figure 2", "ge-figure-2", "Figure 2 of Ge et al."),
        says=text.FIGURE_2_NOTE,
        code=lambda: FigureRecipe("bounds.figure_2", {}),
    )
    st.caption(text.FIGURE_2_NOTE)
st.markdown(f"**Try this:** {text.TRY_THIS}")
streamlit.show_blocks(
    [sources.of_results(results, epsilon, settings, theorem=text.theorem_constants(tau, free))]
)
