"""The methods page's own controls: which methods, what is swept, and the jobs that measure them.

A job runs one sweep in the background, in a slot: a visitor has one job in each slot, and starting another
there replaces it. Live methods are measured at once, together in one job. A heavy method takes long, so it
has a job of its own that its button starts.
"""

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.experiments import Recipe
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from pages.explore.methods import sweeps
from pages.explore.methods.charts import order
from pages.explore.methods.sweeps import SweepSetting
from pages.shared import text
from pages.shared.background import sweep_jobs, sweep_status
from pages.shared.settings import editions, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

LIVE = ""  # the key of the job of all methods that are not heavy
UNIT = "rows of length 1"  # the key of the job of published methods on such rows
# Set in the session by a click on a point, after which only the part of the page that draws it runs again.
# That part then has the whole page run.
PICKED_POINT = "a point was clicked"


def used(settings: Settings) -> list[str]:
    """Return the methods that are switched on, those of one trust beside each other."""
    return order([name for name in METHODS if settings[f"use.{name}"]])


def choose(settings: Settings) -> None:
    """Show which methods are compared, what is swept, and what is drawn of it."""
    left, middle, right = widgets.beside("methods", [8, 2, 2])
    panel = settings["compare.panel"]
    with left:
        widgets.show_panel_pills("compare.panel")
    with middle:
        if panel == "needed":
            widgets.show_control("compare.target")
        elif panel != "frontier":
            widgets.show_control("compare.over")
    with right.popover(f"{len(used(settings))} of {len(METHODS)} methods", width="stretch"):
        _choose_methods(settings)


def _choose_methods(settings: Settings) -> None:
    """Show one box for all methods, of which each has a setting `use.<method>` of its own."""
    now = used(settings)
    st.multiselect(
        *("Methods", order(list(METHODS)), now),  # the box's label, its options, those chosen now
        format_func=lambda name: METHODS[name].title,
        placeholder="choose one or more",
        **editions.widget_arguments("methods compared", now, _keep_methods),
    )


def _keep_methods(picked: Collection[str]) -> None:
    """Switch on the methods picked in the box, and all others off."""
    for name in METHODS:
        widgets.set_to(f"use.{name}", name in picked)


def jobs(slot: str, sweep: SweepSetting) -> dict[str, sweep_jobs.Job]:
    """Start or find the jobs of a sweep: the live one under `LIVE`, and those of heavy methods by name.

    Once the live one is complete, one under `UNIT` has published methods on rows of length 1. Heavy methods
    have a job only where their button was pressed at this setting; their jobs at another setting are stopped.
    slot: the name under which the sweep's jobs are kept for this visitor.
    """
    jobs = {}
    if sweep.live is not None:
        jobs[LIVE] = _live_job(slot, sweep.live, sweeps.first_run(sweep))
    for name, recipe in sweep.heavy.items():
        job = sweep_jobs.at(f"{slot} {name}")
        if job is not None and job.recipe == recipe:
            jobs[name] = sweep_jobs.start(f"{slot} {name}", recipe)
        elif job is not None:
            job.stop()
    if LIVE in jobs and jobs[LIVE].recipe == sweep.live and jobs[LIVE].state == "complete":
        unit = sweeps.on_unit_rows(sweep, jobs[LIVE].table())
        if unit is not None:
            jobs[UNIT] = sweep_jobs.start(f"{slot} {UNIT}", unit)
    return jobs


def _live_job(slot: str, recipe: Recipe, first: Recipe) -> sweep_jobs.Job:
    """Return the job of the live methods: that of one run of each method first, where all runs take long.

    Something is then seen soon. It is skipped where an earlier job has rows that the new one takes over.

    recipe: all runs. first: one run of each method, at the current setting.
    """
    former = sweep_jobs.at(slot)
    fresh = former is None or not sweeps.shares_rows(former.recipe, recipe)
    begun = former is not None and former.running and former.recipe == first
    if begun or (fresh and run_cells.total_seconds(recipe) > sweep_jobs.HERE_SECONDS):
        job = sweep_jobs.start(slot, first)
        if job.running:
            return job
    return sweep_jobs.start(slot, recipe)


def progress(sweep: SweepSetting, jobs: dict[str, sweep_jobs.Job]) -> str:
    """Return a sentence on how far the live methods are; empty when they are complete or there are none.

    While the job still is that of one run of each method, the sentence says so.
    """
    live = jobs.get(LIVE)
    if live is None or (live.recipe == sweep.live and not live.running):
        return ""
    return f"{sweep_status.progress(live) if live.recipe == sweep.live else 'One run of each method first'}."


def show_heavy(slot: str, sweep: SweepSetting, jobs: dict[str, sweep_jobs.Job]) -> None:
    """Show the progress of each heavy method that was asked for, and a button for each other one.

    slot: the name under which the sweep's jobs are kept for this visitor; each heavy method has its own.
    """
    for name, recipe in sweep.heavy.items():
        title, job_slot = METHODS[name].title, f"{slot} {name}"
        if name in jobs:
            if jobs[name].state != "complete":
                st.caption(f"{title}, {recipe.repeats} repeats:")
            sweep_status.show(jobs[name], job_slot)
        else:
            about = text.duration(run_cells.total_seconds(recipe))
            label, key = f"Measure {title} too, about {about}", f"ask {job_slot}"
            st.button(label, key=key, on_click=sweep_jobs.start, args=(job_slot, recipe))


def table(jobs: dict[str, sweep_jobs.Job]) -> pd.DataFrame | None:
    """Return a row for each run of all jobs so far but those of `UNIT`; None where there is no job."""
    parts = [job.table() for key, job in jobs.items() if key != UNIT]
    # A table without rows is returned only where all are so, for its columns.
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else (parts[0] if parts else None)


def choose_release(methods: Sequence[str]) -> str:
    """Show controls that choose a method and an epsilon, as a click on a point does; return the method."""
    left, right = st.columns(2)
    with right:
        widgets.show_control("compare.at")
    with left:
        return str(widgets.show_select_box("compare.release", methods))


def keep_picked(point: dict[str, Any]) -> None:
    """Set the release that is shown to the method and epsilon of the frontier's point that was clicked.

    point: its trace's "uid", as "name", and its "x". Other traces, such as a random guess, name no method:
    clicks on them change nothing.
    """
    if str(point["name"]) in METHODS:
        widgets.set_to("compare.release", str(point["name"]))
        widgets.set_to("compare.at", CHOICES["compare.at"].nearest(float(point["x"])))
        st.session_state[PICKED_POINT] = True
