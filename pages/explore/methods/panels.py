"""What the methods page draws of a sweep: one function for each view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.methods import METHODS
from pages.explore.methods import chart_descriptions, charts, controls
from pages.explore.methods import frontier as frontier_of
from pages.explore.methods import text as page_text
from pages.explore.methods.charts import ComparisonMeasure
from pages.explore.methods.sweeps import SweepSetting
from pages.shared import text
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings.catalogue import Settings


def against(
    found: Results, of: SweepSetting, table: pd.DataFrame, epsilon: float, settings: Settings, progress: str
) -> DeltaGenerator:
    """Error, time or bytes of every method against what is swept, and the table at the current setting.

    Returns the place under the figure for what else may be measured.
    """
    methods = [name for name in controls.used(settings) if name not in found.skipped]
    measure = ComparisonMeasure(found, settings, settings["compare.panel"])
    rows = page_text.at_here(table, of.over, of.here)
    said = chart_descriptions.compared(found, rows, of.over, of.here, settings)
    st.markdown(f"**{said}**")
    figure = charts.against(table, measure, methods, of, settings)
    component.figure(figure, key="methods figure", save=f"dppca-{measure.panel}", says=said)
    notes = [_drawn(measure, of), of.left_out, _failures(table) if measure.errs else ""]
    st.caption(". ".join(words.rstrip(".") for words in [*notes, progress] if words) + ".")
    slot = st.container()
    downloads.downloads(lambda: table, lambda: figure, f"dppca-{measure.panel}")
    facts = page_text.facts(found, rows, methods, epsilon, settings)
    st.markdown("**The same methods at the current setting**")
    digits = st.column_config.NumberColumn
    formats = {name: digits(format="%.3g") for name in facts if facts[name].dtype.kind == "f"}
    pinned = {"method": st.column_config.TextColumn(pinned=True)}
    pinned["guarantee"] = st.column_config.TextColumn(width="medium")
    st.dataframe(facts, hide_index=True, height="content", column_config=formats | pinned)
    return slot


def _drawn(measure: ComparisonMeasure, of: SweepSetting) -> str:
    if measure.panel == "bytes":
        return "What a hospital sends in all rounds together: the same in every run"
    where = ", timed on this server while others run" if measure.panel == "time" else ""
    runs = page_text.runs(of).partition(",")[0]
    return f"Median of {runs}; bands hold 8 of 10{where}"


def _failures(table: pd.DataFrame) -> str:
    """What has no answer, and why, once for each method."""
    failed = table[table["failed"] != ""].drop_duplicates("method")
    return "; ".join(f"{METHODS[row.method].title} in part: {row.failed}" for row in failed.itertuples())


def needed(
    found: Results, of: SweepSetting, table: pd.DataFrame, settings: Settings, progress: str
) -> DeltaGenerator:
    """How many patients each method needs for the error wanted, once it was run at all numbers of them."""
    plain, target = settings["view"] == "board", settings["compare.target"]
    measure = ComparisonMeasure(found, settings, "needed")
    seen = table.groupby("label")["n"].transform("nunique")
    read = patients_needed(table[seen == len(of.values)], target / measure.factor, seed=found.experiment.seed)
    said = page_text.needed(read, target, plain)
    st.markdown(f"**{said}**")
    rows = len(of.live.methods if of.live else ()) + len(of.heavy)
    figure = charts.needed(read, settings, found.experiment.k, of.values, found.experiment.n, rows)
    component.figure(figure, key="needed figure", save="dppca-patients-needed", says=said)
    first, last = (text.patients(float(n)) for n in (of.values[0], of.values[-1]))
    st.caption(
        f"Read off runs with {first} to {last} patients, {len(of.values)} numbers of them: from the number "
        "shown on, the median error stays at or below the one wanted. Whiskers: 10 to 90 % over resampled "
        f"runs. The line is this setting. {_as_error(settings)}{progress}"
    )
    slot = st.container()
    downloads.downloads(lambda: table, lambda: figure, "dppca-patients-needed")
    return slot


def frontier(
    found: Results,
    table: pd.DataFrame,
    methods: Sequence[str],
    settings: Settings,
    on_pick: Callable[[], None],
    progress: str,
) -> DeltaGenerator:
    """Error against epsilon as points to click, with the lower hull of those that are alike enough."""
    measure = ComparisonMeasure(found, settings, "frontier")
    off = frontier_of.off_hull(found.experiment, methods)
    hull = frontier_of.hull(table, measure, [name for name in methods if name not in off])
    finding = frontier_of.said(hull, settings)
    st.markdown(f"**{finding}**")
    figure = frontier_of.figure(table, measure, methods, hull, settings)
    component.figure(figure, key="frontier figure", on_pick=on_pick, save="dppca-frontier", says=finding)
    said = "Click a point to see one release of it, or choose it below."
    st.caption(f"{said} {frontier_of.hull_note(off)} {_as_error(settings)}{progress}")
    slot = st.container()
    downloads.downloads(lambda: table, lambda: figure, "dppca-frontier")
    return slot


def _as_error(settings: Settings) -> str:
    """That captured energy is not what these views show."""
    if settings["metric"] != "energy":
        return ""
    return "The error here is the distance of the directions, not captured energy. "


def picked() -> None:
    """The point that was clicked becomes the release shown."""
    point = st.session_state["frontier figure"]["pick"]
    controls.take(str(point["name"]), float(point["x"]))
