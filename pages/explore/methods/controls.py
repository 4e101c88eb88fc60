"""The methods page's own controls: which methods, what is swept, and the jobs that measure them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dppca_core.experiments import Recipe
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from dppca_core.records import TRUSTS
from pages.explore.methods import sweeps
from pages.explore.methods.sweeps import SweepSetting
from pages.shared.background import sweep_jobs, sweep_status
from pages.shared.background.sweep_jobs import Job
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES, Settings

_PICKED = "methods compared"
PICKED_POINT = "a point was clicked"  # only the fragment that draws it knows so far


def used(settings: Settings) -> list[str]:
    """The methods that are switched on, those of one trust beside each other."""
    chosen = [name for name in METHODS if settings[f"use.{name}"]]
    return sorted(chosen, key=lambda name: TRUSTS.index(METHODS[name].trust))


def choose(settings: Settings) -> None:
    """Which methods, what is swept, and what is drawn of it."""
    _methods(settings)
    right, left = st.columns([5, 3], vertical_alignment="bottom")
    panel = settings["compare.panel"]
    with left:
        if panel == "needed":
            widgets.choose("compare.target")
        elif panel != "frontier":
            _over(settings)
    with right:
        widgets.choose_panel("compare.panel")


def _methods(settings: Settings) -> None:
    now = used(settings)
    if st.session_state.get(_PICKED) != now:
        st.session_state[_PICKED] = now
    st.multiselect(
        *("Methods", sorted(METHODS, key=lambda name: TRUSTS.index(METHODS[name].trust))),
        default=now,
        key=_PICKED,
        format_func=lambda name: METHODS[name].title,
        on_change=_use,
        placeholder="choose one or more",
    )


def _use() -> None:
    for name in METHODS:
        widgets.set_to(f"use.{name}", name in st.session_state[_PICKED])


def _over(settings: Settings) -> None:
    plain = settings["view"] == "board"
    choice = CHOICES["compare.over"]
    st.selectbox(
        *(choice.name(plain), choice.options, choice.options.index(settings[choice.key])),
        key=choice.key,
        format_func=lambda key: CHOICES[key].name(plain),
        on_change=widgets.remember,
        args=(choice.key,),
    )


def measured(place: str, of: SweepSetting) -> Job | None:
    """The job of the live methods: one run of each at the current setting first, where all takes long."""
    if of.live is None:
        return None
    former, first = sweep_jobs.at(place), sweeps.first_look(of)
    fresh = former is None or not sweeps.kin(former.recipe, of.live)
    looking = former is not None and former.running and former.recipe == first
    if looking or (fresh and run_cells.total_seconds(of.live) > sweep_jobs.HERE_SECONDS):
        assert first is not None
        job = _job(place, first)
        if job.running:
            return job
    return _job(place, of.live)


def _job(place: str, recipe: Recipe) -> Job:
    former = sweep_jobs.at(place)
    if former is not None and former.recipe == recipe and former.running:
        return former  # without the first look's wait
    return sweep_jobs.start(place, recipe)


def heavy(place: str, of: SweepSetting) -> dict[str, Job]:
    """The jobs of heavy methods that were asked for at this setting; those of another setting are stopped."""
    found = {}
    for name, recipe in of.heavy.items():
        job = sweep_jobs.at(f"{place} {name}")
        if job is not None and job.recipe == recipe:
            found[name] = _job(f"{place} {name}", recipe)
        elif job is not None:
            job.stop()
    return found


def progress(of: SweepSetting, live: Job | None) -> str:
    """How far the live methods are, in a sentence; empty when they are complete."""
    if live is None or (live.recipe == of.live and not live.running):
        return ""
    return f"{sweep_status.progress(live) if live.recipe == of.live else 'One run of each method first'}."


def ask(place: str, of: SweepSetting, asked: dict[str, Job]) -> None:
    """How heavy methods stand; a button for each that was not asked for yet."""
    for name, recipe in of.heavy.items():
        title, own = METHODS[name].title, f"{place} {name}"
        if name in asked:
            if asked[name].state != "complete":
                st.caption(f"{title}, {recipe.repeats} repeats:")
            sweep_status.show(asked[name], own)
        else:
            about = sweep_status.duration(run_cells.total_seconds(recipe))
            st.button(
                f"Measure {title} too, about {about}",
                key=f"ask {own}",
                on_click=sweep_jobs.start,
                args=(own, recipe),
            )


def jobs(place: str, of: SweepSetting) -> tuple[Job | None, dict[str, Job]]:
    """Return the job of the live methods, and those of heavy ones by method."""
    return measured(place, of), heavy(place, of)


def measuring(of: SweepSetting, live: Job | None, asked: dict[str, Job]) -> bool:
    """Whether more is to come by itself."""
    first = live is not None and live.recipe != of.live
    return first or any(job.running for job in (live, *asked.values()) if job is not None)


def tables(live: Job | None, asked: dict[str, Job]) -> pd.DataFrame | None:
    """Everything measured so far; None where nothing was asked for."""
    parts = [job.table() for job in (live, *asked.values()) if job is not None]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else (parts[0] if parts else None)


def release(settings: Settings, methods: Sequence[str]) -> str:
    """Another way to choose a point of the frontier than to click it; the method that is shown."""
    left, right = st.columns(2)
    asked = str(settings["compare.release"])
    shown = asked if asked in methods else methods[0]
    with left:
        widgets.choose_among("compare.release", methods, shown)
    with right:
        widgets.choose("compare.at")
    return shown


def take(name: str, epsilon: float) -> None:
    """Show this release."""
    if name in METHODS:
        widgets.set_to("compare.release", name)
        widgets.set_to("compare.at", CHOICES["compare.at"].nearest(epsilon))
        st.session_state[PICKED_POINT] = True
