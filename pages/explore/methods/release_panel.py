"""One release of any method: its loadings beside the true ones, and that it is one draw of many."""

from __future__ import annotations

import streamlit as st

from dppca_core.experiments.explorer.results import Results, run_seconds
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from pages.explore.methods import text as page_text
from pages.shared import text
from pages.shared.background import sweep_status
from pages.shared.charts import loadings
from pages.shared.charts import loadings as charts_loadings
from pages.shared.figure import component
from pages.shared.settings.catalogue import Settings

_AT_ONCE_SECONDS = 1.0  # a longer run waits to be asked for


def show(found: Results, name: str, epsilon: float, settings: Settings) -> None:
    """The release that the sweep measured first at this epsilon: same patients, same noise."""
    experiment, method, plain = found.experiment, METHODS[name], settings["view"] == "board"
    at = f"privacy setting {epsilon:g}" if plain else f"ε = {text.number(epsilon)}"
    where = f" at {at}" if method.private else ""
    about = run_seconds(name, experiment.d, experiment.k, experiment.providers)
    said = f"Draw one release of {method.title}, about {sweep_status.duration(about)}"
    if about > _AT_ONCE_SECONDS and not st.button(said, key="draw release"):
        return
    try:
        estimate = found.estimate(name, epsilon, 0)
    except ValueError as reason:
        st.info(f"{method.title} has no release here: {reason}.")
        return
    distance = (
        subspace_metrics.projector_distance
        if settings["metric"] == "projector"
        else subspace_metrics.sin_theta
    )
    error = distance(estimate.basis, found.truth.basis)
    noise = ""
    if estimate.noise_std and not plain:
        noise = f", with noise of σ = {text.short(estimate.noise_std)} per entry"
    st.markdown(
        f"**One release of {method.title}{where}: error {text.error(error)}{noise}.** This is one draw: "
        "another has other noise, and another error."
    )
    if not plain:
        true = page_text.true_epsilon(experiment, name, epsilon)
        if true is not None:
            st.caption(f"Its calibration truly gives ε = {text.short(true)}.")
    drawn = loadings.loadings(found, estimate.basis)
    component.figure(
        drawn, key="release figure", save="dppca-release", says=charts_loadings.description(drawn)
    )
    st.caption("Its directions are turned onto the true ones, as only what they span is estimated.")
