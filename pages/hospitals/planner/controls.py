"""The planner's own controls, and the simulation that is asked for: one bisection for each way."""

from __future__ import annotations

import time

import streamlit as st

from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.experiments.sweeps.recipe import Point
from pages.hospitals.planner import view
from pages.shared.background import sweep_jobs, sweep_status
from pages.shared.background.sweep_jobs import Job
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

_LOOK_SECONDS = 0.5  # a quick simulation is done within one look, a long one is not waited for


def choose(settings: Settings) -> None:
    """What is asked, the target, whom hospitals trust, and the method that is looked at."""
    widgets.choose_panel("plan.asked")
    keys = ["plan.of", "plan.share" if view.energetic(settings) else "plan.target", "plan.trust"]
    many = settings["plan.asked"] == "hospitals"
    columns = st.columns(5 if many else 4, vertical_alignment="bottom")
    for column, key in zip(columns, keys, strict=False):
        with column:
            widgets.choose(key)
    with columns[3]:
        widgets.choose_among("plan.way", view.listed(settings), view.focus(settings))
    if many:
        with columns[4]:
            widgets.choose("plan.size")


def _place(way: str) -> str:
    return f"plan {way}"


def _values(job: Job | None, of: Search) -> Point | None:
    """The values of a job of this very search; None for another's."""
    if job is None or job.recipe.names != (of.name,):
        return None
    values = job.recipe.swept[0].values
    return values if of.recipe(values) == job.recipe else None


@st.cache_resource(max_entries=256, show_spinner=False)
def _reading(of: Search, values: Point, _job: Job) -> SimulatedAnswer:
    """Of a complete job: the search and its values say what its table is."""
    return of.reading(_job.table())


def running(settings: Settings) -> bool:
    """Start what is asked for; whether more is to come by itself."""
    of = view.search(settings, view.focus(settings))
    if of is None or not settings["plan.simulate"]:
        return False
    job = _advanced(view.focus(settings), of)
    return job.running or (job.state == "complete" and of.more(job.table()) != job.recipe.swept[0].values)


def _advanced(way: str, of: Search) -> Job:
    """The bisection's job, one value further where it has ended with more to do."""
    place = _place(way)
    job = sweep_jobs.at(place)
    values = _values(job, of)
    if job is None or values is None or job.state == "again":
        job = sweep_jobs.start(place, of.recipe(values or of.first()))
    until = time.monotonic() + _LOOK_SECONDS
    while job.state == "complete" and time.monotonic() < until:
        more = of.more(job.table())
        if more == job.recipe.swept[0].values:
            break
        job = sweep_jobs.start(place, of.recipe(more))
    return job


def simulated(settings: Settings) -> dict[str, SimulatedAnswer]:
    """Return what simulation has answered so far for each way at this setting."""
    running(settings)  # takes up what is asked for
    read = {}
    for way in view.listed(settings):
        of, job = view.search(settings, way), sweep_jobs.at(_place(way))
        values = _values(job, of) if of is not None else None
        if job is not None and of is not None and values is not None:
            waits = SimulatedAnswer("measuring", *(float("nan"),) * 3, len(values), job.progress.completed)
            read[way] = _reading(of, values, job) if job.state == "complete" else waits
    return read


def confirm(settings: Settings) -> None:
    """The button that simulates the way looked at, or stops; how far it is."""
    way = view.focus(settings)
    of, title = view.search(settings, way), PLANNED_METHODS[way].title
    if of is None:
        table = settings["data"] in TABLES
        why = "a table has only its own patients" if table else "there is nowhere to begin"
        st.caption(f"No simulation here: {why}.")
        return
    if not settings["plan.simulate"]:
        about = sweep_status.duration(view.seconds(of))
        verb = "Confirm" if view.answer(settings, way).value is not None else "Find the answer of"
        words = f"{verb} {title} by simulation, about {about}"
        st.button(words, key="simulate", on_click=widgets.set_to, args=("plan.simulate", True))
        return
    job = sweep_jobs.at(_place(way))
    if job is None or _values(job, of) is None:
        return
    if job.state != "complete":
        sweep_status.show(job, _place(way))
        st.caption(
            f"Value {len(job.recipe.swept[0].values) - 1} of about {view.VALUES - 1}, halving the gap."
        )
        return
    left, right = st.columns([3, 1], vertical_alignment="center")
    values, failed = len(job.recipe.swept[0].values), job.table()["failed"]
    why = f" Runs failed: {failed[failed != ''].iloc[0]}." if (failed != "").any() else ""
    said = {"hospitals": "numbers of hospitals", "patients": "numbers of patients"}.get(
        of.asked, "privacy settings"
    )
    left.caption(f"Simulated: {job.progress.total:,} runs of {title} at {values} {said}.{why}")
    right.button(
        *("Leave simulation out",),
        key="simulate",
        on_click=widgets.set_to,
        args=("plan.simulate", False),
        width="stretch",
    )


def stop(settings: Settings) -> None:
    """End what runs where nothing is asked for any more."""
    if settings["plan.simulate"]:
        return
    for way in PLANNED_METHODS:
        job = sweep_jobs.at(_place(way))
        if job is not None and job.running:
            job.stop()


def assumptions(settings: Settings) -> None:
    """The closed form of the way looked at, with its assumptions and their numbers at the answer."""
    way = view.focus(settings)
    found = view.answer(settings, way)
    bound = found.bound or view.plan(settings, way).bound(view.in_total(settings), settings["epsilon"])
    badge = ":green[every assumption holds]" if bound.applies else ":orange[an assumption fails]"
    where = "at the answer" if found.start is not None else "at this setting"
    with st.expander("Why the formula may be trusted here, or not", key="plan assumptions"):
        st.markdown(f"**{BOUNDS[PLANNED_METHODS[way].rule].title}** · {badge} {where}")
        if settings["view"] == "board":
            held = sum(line.startswith("holds") for line in bound.why)
            st.markdown(
                f"{held} of the {len(bound.why)} assumptions it rests on hold. Other details show them."
            )
            return
        st.latex(view.formula(way))
        st.markdown(
            "  \n".join(
                f"{':green[✓]' if line.startswith('holds') else ':red[✗]'} {line.partition(': ')[2]}"
                for line in bound.why
            )
        )
        if view.energetic(settings):
            st.markdown(
                "Captured energy lost: each pair of directions j ≤ k < i that turns by sin²Θ_ij loses "
                "(λ_j − λ_i) sin²Θ_ij; summed over pairs, over the sum of the k leading eigenvalues."
            )
        st.caption(f"Source: {bound.source}.")
