"""The methods page's own controls: which methods, what is swept, and the jobs that measure them."""

from collections.abc import Collection, Sequence

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
PICKED_POINT = "a point was clicked"  # only the fragment that draws it knows so far


def used(settings: Settings) -> list[str]:
    """Return the methods that are switched on, those of one trust beside each other."""
    return order([name for name in METHODS if settings[f"use.{name}"]])


def choose(settings: Settings) -> None:
    """Show which methods are compared, what is swept, and what is drawn of it."""
    left, middle, right = widgets.beside("methods", [8, 2, 2])
    panel = settings["compare.panel"]
    with left:
        widgets.choose_panel("compare.panel")
    with middle:
        if panel == "needed":
            widgets.choose("compare.target")
        elif panel != "frontier":
            widgets.choose("compare.over")
    with right.popover(f"{len(used(settings))} of {len(METHODS)} methods", width="stretch"):
        _choose_methods(settings)


def _choose_methods(settings: Settings) -> None:
    now = used(settings)
    st.multiselect(
        *("Methods", order(list(METHODS)), now),
        format_func=lambda name: METHODS[name].title,
        placeholder="choose one or more",
        **editions.widget_arguments("methods compared", now, _keep_methods),
    )


def _keep_methods(picked: Collection[str]) -> None:
    for name in METHODS:
        widgets.set_to(f"use.{name}", name in picked)


def jobs(slot: str, sweep: SweepSetting) -> dict[str, sweep_jobs.Job]:
    """Return the jobs of heavy methods that were asked for at this setting, and that of all others under "".

    Jobs of heavy methods at another setting are stopped.
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
    return jobs


def _live_job(slot: str, recipe: Recipe, first: Recipe) -> sweep_jobs.Job:
    """Return the job of the live methods: one run of each first, where all of them take long."""
    former = sweep_jobs.at(slot)
    fresh = former is None or not sweeps.shares_rows(former.recipe, recipe)
    begun = former is not None and former.running and former.recipe == first
    if begun or (fresh and run_cells.total_seconds(recipe) > sweep_jobs.HERE_SECONDS):
        job = sweep_jobs.start(slot, first)
        if job.running:
            return job
    return sweep_jobs.start(slot, recipe)


def progress(sweep: SweepSetting, jobs: dict[str, sweep_jobs.Job]) -> str:
    """Return how far the live methods are; empty when they are complete."""
    live = jobs.get(LIVE)
    if live is None or (live.recipe == sweep.live and not live.running):
        return ""
    return f"{sweep_status.progress(live) if live.recipe == sweep.live else 'One run of each method first'}."


def show_heavy(slot: str, sweep: SweepSetting, jobs: dict[str, sweep_jobs.Job]) -> None:
    """Show how heavy methods stand, and a button for each that was not asked for yet."""
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
    """Return everything measured so far; None where nothing was asked for."""
    parts = [job.table() for job in jobs.values()]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else (parts[0] if parts else None)


def choose_release(methods: Sequence[str]) -> str:
    """Show controls that choose a point of the frontier, as a click does; return the method that is shown."""
    left, right = st.columns(2)
    with right:
        widgets.choose("compare.at")
    with left:
        return str(widgets.choose_among("compare.release", methods))


def keep_picked() -> None:
    """Set the release that is shown to the point of the frontier that was clicked."""
    point = st.session_state["frontier figure"]["pick"]
    if str(point["name"]) in METHODS:
        widgets.set_to("compare.release", str(point["name"]))
        widgets.set_to("compare.at", CHOICES["compare.at"].nearest(float(point["x"])))
        st.session_state[PICKED_POINT] = True
