"""Show what was measured of a sweep: one function for each view of the methods page."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.experiments.explorer.results import Results, run_seconds
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from pages.explore.methods import charts, controls, sweeps, text
from pages.explore.methods import frontier as frontier_charts
from pages.explore.methods.charts import ComparisonMeasure
from pages.explore.methods.sweeps import SweepSetting
from pages.shared.background import sweep_status
from pages.shared.charts import loadings
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings.catalogue import Settings

_AT_ONCE_SECONDS = 1.0  # a longer run waits to be asked for


def _show(
    finding: str, figure: dict[str, Any], caption: str, table: pd.DataFrame, key: str, name: str, **more: Any
) -> DeltaGenerator:
    """Show a finding, its figure and downloads; return a container for what else may be measured."""
    st.markdown(f"**{finding}**")
    component.figure(figure, key=key, save=name, says=finding, **more)
    st.caption(caption)
    below = st.container()
    downloads.downloads(lambda: table, lambda: figure, name)
    return below


def against(
    results: Results,
    sweep: SweepSetting,
    table: pd.DataFrame,
    methods: Sequence[str],
    epsilon: float,
    settings: Settings,
    progress: str,
) -> DeltaGenerator:
    """Show error, time or bytes of every method against what is swept, and a table at the current setting."""
    measure = ComparisonMeasure(results, settings, settings["compare.panel"])
    rows = text.at_here(table, sweep.over, sweep.here)
    finding = text.compared(results, rows, sweep.over, sweep.here, settings)
    figure = charts.against(table, measure, methods, sweep, settings)
    failures = text.failures(table) if measure.errs else ""
    notes = (text.drawn(measure, sweep), text.left_out(sweep), failures, progress)
    caption = ". ".join(note.rstrip(".") for note in notes if note) + "."
    below = _show(finding, figure, caption, table, "methods figure", f"dppca-{measure.panel}")
    facts = text.facts(results, rows, methods, epsilon, settings)
    st.markdown("**The same methods at the current setting**")
    column = st.column_config
    columns: dict[str, Any] = {
        name: column.NumberColumn(format="%.3g") for name in facts if facts[name].dtype.kind == "f"
    }
    columns["method"] = column.TextColumn(pinned=True)
    columns["guarantee"] = column.TextColumn(width="medium")
    st.dataframe(facts, hide_index=True, height="content", column_config=columns)
    return below


def needed(
    results: Results, sweep: SweepSetting, table: pd.DataFrame, settings: Settings, progress: str
) -> DeltaGenerator:
    """Show how many patients each method needs for the error wanted, once all numbers of them were run."""
    plain, target, experiment = settings["view"] == "board", settings["compare.target"], results.experiment
    measure = ComparisonMeasure(results, settings, "needed")
    complete = table.groupby("label")["n"].transform("nunique") == len(sweep.values)
    estimates = patients_needed(table[complete], target / measure.factor, seed=experiment.seed)
    rows = len(sweep.live.methods if sweep.live else ()) + len(sweep.heavy)
    figure = charts.needed(estimates, settings, experiment.k, sweep.values, experiment.n, rows)
    finding = text.needed(estimates, target, plain)
    caption = f"{text.grid(sweep.values)} {text.no_energy(settings)}{progress}"
    return _show(finding, figure, caption, table, "needed figure", "dppca-patients-needed")


def frontier(
    results: Results, table: pd.DataFrame, methods: Sequence[str], settings: Settings, progress: str
) -> DeltaGenerator:
    """Show error against epsilon as points to click, with the hull of methods with the same promise."""
    measure = ComparisonMeasure(results, settings, "frontier")
    off = frontier_charts.off_hull(results.experiment, methods)
    hull = frontier_charts.hull(table, measure, [name for name in methods if name not in off])
    figure = frontier_charts.figure(table, measure, methods, hull, settings)
    finding = text.frontier(hull, settings)
    caption = f"{text.FRONTIER_HELP} {text.off_hull(off)} {text.no_energy(settings)}{progress}"
    pick = controls.keep_picked
    return _show(finding, figure, caption, table, "frontier figure", "dppca-frontier", on_pick=pick)


def release(results: Results, name: str, epsilon: float, settings: Settings) -> None:
    """Show the release that the sweep measured first at this epsilon: same patients, same noise."""
    experiment, title, plain = results.experiment, METHODS[name].title, settings["view"] == "board"
    about = run_seconds(name, experiment.d, experiment.k, experiment.providers)
    label = f"Draw one release of {title}, about {sweep_status.duration(about)}"
    if about > _AT_ONCE_SECONDS and not st.button(label, key="draw release"):
        return
    try:
        estimate = results.estimate(name, epsilon, 0)
    except ValueError as reason:
        st.info(text.no_release(name, reason))
        return
    projector = settings["metric"] == "projector"
    distance = subspace_metrics.projector_distance if projector else subspace_metrics.sin_theta
    error = distance(estimate.basis, results.truth.basis)
    st.markdown(text.release(name, epsilon, error, estimate, plain))
    true = sweeps.true_epsilon(experiment, name, epsilon)
    if true is not None and not plain:
        st.caption(text.true_calibration(true))
    figure = loadings.loadings(results, estimate.basis)
    says = loadings.description(figure)
    component.figure(figure, key="release figure", save="dppca-release", says=says)
    st.caption(text.LOADINGS_NOTE)
