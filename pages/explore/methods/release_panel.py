"""Show one release of any method: its loadings beside the true ones."""

import streamlit as st

from dppca_core.experiments.explorer.results import Results, run_seconds
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from pages.explore.methods import sweeps
from pages.explore.methods import text as page_text
from pages.shared import text
from pages.shared.background import sweep_status
from pages.shared.charts import loadings
from pages.shared.figure import component
from pages.shared.settings.catalogue import Settings

_AT_ONCE_SECONDS = 1.0  # a longer run waits to be asked for


def show(results: Results, name: str, epsilon: float, settings: Settings) -> None:
    """Show the release that the sweep measured first at this epsilon: same patients, same noise."""
    experiment, title, plain = results.experiment, METHODS[name].title, settings["view"] == "board"
    about = run_seconds(name, experiment.d, experiment.k, experiment.providers)
    label = f"Draw one release of {title}, about {sweep_status.duration(about)}"
    if about > _AT_ONCE_SECONDS and not st.button(label, key="draw release"):
        return
    try:
        estimate = results.estimate(name, epsilon, 0)
    except ValueError as reason:
        st.info(f"{title} has no release here: {reason}.")
        return
    projector = settings["metric"] == "projector"
    distance = subspace_metrics.projector_distance if projector else subspace_metrics.sin_theta
    error = distance(estimate.basis, results.truth.basis)
    st.markdown(page_text.release(name, epsilon, error, estimate, plain))
    true = sweeps.true_epsilon(experiment, name, epsilon)
    if true is not None and not plain:
        st.caption(f"Its calibration truly gives ε = {text.short(true)}.")
    figure = loadings.loadings(results, estimate.basis)
    says = loadings.description(figure)
    component.figure(figure, key="release figure", save="dppca-release", says=says)
    st.caption(page_text.LOADINGS_NOTE)
