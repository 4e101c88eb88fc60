"""What theory promises beside what is measured: every bound, its assumptions, and its constants."""

import streamlit as st

from dppca_core.experiments.scene import EPSILONS
from dppca_core.figure2 import Figure2
from pages.shared import (
    bound_charts,
    bound_controls,
    cached,
    controls,
    explore_tries,
    exports,
    failed_runs,
    live,
    origins,
    scenes,
    spoken,
    worker,
)
from pages.shared.scale import Scale

REFRESH_SECONDS = 0.6  # while runs are still being measured

st.title("Does the theory hold here?")
st.markdown(
    "What the papers promise, drawn over what is measured: a line where every assumption holds, thin where "
    "one fails, and hollow marks at the top where the bound says nothing."
)
controls.view_switches(("view",))
controls.notices()
settings = controls.settings()
plain = settings["view"] == "board"
scene, epsilon = scenes.of(settings)
found = cached.results(scene)
of = settings["of"]
chosen = bound_controls.choose(settings)
evaluated = {name: bound_controls.evaluated(scene, name, settings) for name in chosen}
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
        if seconds * len(EPSILONS) < worker.FIRST_SECONDS:  # else the worker does it
            found.try_cells((of, e, 0) for e in EPSILONS)
    said = bound_controls.headline(found, of, here, epsilon, scale, plain)
    st.markdown(f"**{said}**")
    failed_runs.of_methods(found)
    drawn = bound_charts.against_epsilon(found, of, evaluated, epsilon, scale, plain)
    live.figure(drawn, key="bounds figure", says=said)
    if "ge2018" in here and not plain:
        st.markdown("**Theorem 4.3 term by term**, at this ε")
        terms = bound_charts.terms(found, here["ge2018"], epsilon, scale)
        live.figure(terms, key="terms figure", says=spoken.terms(terms, here["ge2018"].applies))
    left = found.next_of(of)
    if left is not None:
        st.caption(f"{len(found.cells):,} runs measured, more coming")
        worker.look(found, lambda: found.next_of(of))
    elif refreshing:
        st.rerun()


refreshing = found.next_of(of) is not None
st.fragment(measured, run_every=REFRESH_SECONDS if refreshing else None)()

st.header("Where privacy is free")
controls.choose("map")
region_map = bound_controls.regions(scene, settings)
live.figure(
    bound_charts.regimes(region_map, scene.n, epsilon, plain),
    key="regime figure",
    says=spoken.regimes(region_map, scene.n, epsilon, plain),
)
st.caption(bound_charts.REGIME_NOTES[settings["map"]])

st.header("The bounds, one by one")
for name in chosen:
    bound_controls.card(name, here[name], found, of, settings)

st.header("Figure 2 of Ge et al.")
controls.choose("figure2")
if settings["figure2"]:
    fitted = bound_charts.figure_2(Figure2())
    live.figure(fitted, key="figure 2", says=spoken.figure_2(fitted))
    st.caption(bound_charts.FIGURE_2_NOTE)
st.markdown(f"**Try this:** {explore_tries.bounds(settings)}")
exports.downloads(
    lambda: bound_charts.table(found, of, evaluated),
    lambda: bound_charts.against_epsilon(found, of, evaluated, epsilon, scale_of(), plain),
    "dppca-bounds",
)
origins.page(found, epsilon, settings)
