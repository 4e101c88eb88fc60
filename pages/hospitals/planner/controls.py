"""Render the planner's controls, and run the simulation that is asked for: a bisection for each method."""

import time
from functools import partial

import streamlit as st

from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.experiments.sweeps.recipe import Point
from pages.hospitals.planner import own_table, own_table_text, text, view
from pages.shared.background import sweep_jobs, sweep_status
from pages.shared.background.sweep_jobs import Job
from pages.shared.charts.metric_axis import rises
from pages.shared.settings import public_table, widgets
from pages.shared.settings.catalogue import CHOICES, Settings
from pages.shared.text import duration

_WAIT_SECONDS = 0.5  # a rendering waits this long for quick simulations to end


def choose_population(settings: Settings) -> Settings:
    """Render the choice of the visitor's own table where one is ready; return the settings that it makes."""
    table = public_table.current()
    if table is None:
        if settings["plan.table"]:
            st.info(own_table_text.NO_TABLE)
        return settings
    widgets.choose("plan.table")
    if not settings["plan.table"]:
        return settings
    st.caption(own_table_text.facts(table))
    return own_table.chosen(settings, table)


def choose(settings: Settings, *others: str) -> None:
    """Render the controls of what is asked, the target, and others of the page."""
    widgets.choose_panel("plan.asked")
    target = "plan.share" if view.energetic(settings) else "plan.target"
    size = ["plan.size"] if settings["plan.asked"] == "hospitals" else []
    keys = [target, *others, *size]
    if own_table.table_of(settings) is not None:
        keys = [key for key in keys if key not in own_table.DECIDED]
    for column, key in zip(widgets.beside("plan", max(len(keys), 2)), keys, strict=False):
        with column:
            if key == "plan.way":
                widgets.choose_among(key, view.listed(settings), view.focus(settings))
            elif key == "plan.target":
                _choose_target(settings)
            else:
                widgets.choose(key)


def _choose_target(settings: Settings) -> None:
    """Render the target in the unit on screen, from little to much: of a share from a rough answer on."""
    options, plain = CHOICES["plan.target"].options, settings["view"] == "plain"
    ordered = options[::-1] if rises(text.goal_unit(settings)) else options
    words = partial(text.in_goal, settings)
    widgets.show("plan.target", text.target_label(settings), plain, options=ordered, format_func=words)


def _current(settings: Settings, name: str) -> tuple[Search | None, Job | None]:
    """Return a method's search, and the visitor's job for it if that is a job of this very search."""
    search, job = view.search(settings, name), sweep_jobs.at(f"plan {name}")
    if search is None or job is None or job.recipe.names != (search.name,):
        return search, None
    return search, job if search.recipe(_values(job)) == job.recipe else None


def _values(job: Job) -> Point:
    return job.recipe.swept[0].values


@st.cache_resource(max_entries=256, show_spinner=False)
def _reading(search: Search, values: Point, _job: Job) -> SimulatedAnswer:
    """Return a complete job's answer; the search and its values determine its table."""
    return search.reading(_job.table())


def running(settings: Settings) -> bool:
    """Start what is asked for, and say whether more of it is to come."""
    name = view.focus(settings)
    search, job = _current(settings, name)
    if search is None or not view.begins(settings):
        return False
    if job is None or job.state == "again":
        job = sweep_jobs.start(f"plan {name}", search.recipe(_values(job) if job else search.first()))
    until = time.monotonic() + _WAIT_SECONDS
    while job.state == "complete":
        more = search.more(job.table())
        if more == _values(job):
            return False
        if time.monotonic() > until:
            return True
        job = sweep_jobs.start(f"plan {name}", search.recipe(more))
    return job.running


def simulated(settings: Settings) -> dict[str, SimulatedAnswer]:
    """Return what simulation has answered so far for each method at this setting."""
    if (of_table := view.table_search(settings)) is not None:
        return {view.focus(settings): own_table.simulated(of_table)} if settings["plan.simulate"] else {}
    running(settings)  # starts what is asked for
    answers = {}
    for name in view.listed(settings):
        search, job = _current(settings, name)
        if job is not None:
            values = _values(job)
            waits = SimulatedAnswer("measuring", *(float("nan"),) * 3, len(values), job.progress.completed)
            answers[name] = _reading(search, values, job) if job.state == "complete" else waits
    return answers


def confirm(settings: Settings) -> None:
    """Render the button that simulates the method in focus, or how far the simulation is."""
    name = view.focus(settings)
    (search, job), method = _current(settings, name), view.title(name)
    if (of_table := view.table_search(settings)) is not None:
        _confirm_table(settings, own_table.simulated(of_table), method)
        return
    if search is None:
        st.caption(text.not_simulated(settings))
        return
    if not view.begins(settings):
        verb = "Confirm" if view.answer(settings, name).value is not None else "Find the answer of"
        label = f"{verb} {method} by simulation, about {duration(view.seconds(search))}"
        st.button(label, key="simulate", on_click=widgets.set_to, args=("plan.simulate", True))
        return
    if job is None:
        return
    values = len(_values(job))
    if job.state != "complete":
        sweep_status.show(job, f"plan {name}")
        st.caption(f"Value {values - 1} of about {view.VALUES - 1}, halving the gap.")
        return
    left, right = st.columns([3, 1], vertical_alignment="center")
    failures = [f" Runs failed: {reason}." for reason in job.table()["failed"] if reason]
    runs = f"{job.progress.total:,} runs of {method} at {values} {text.SWEPT[settings['plan.asked']]}"
    left.caption(f"Simulated: {runs}.{''.join(failures[:1])}")
    if not settings["plan.simulate"]:  # it began by itself
        return
    leave = {"on_click": widgets.set_to, "args": ("plan.simulate", False), "width": "stretch"}
    right.button("Leave simulation out", key="simulate", **leave)


def _confirm_table(settings: Settings, simulation: SimulatedAnswer, method: str) -> None:
    """Render the button that simulates the method in focus for a visitor's table, or how far that is."""
    asked = settings["plan.simulate"]
    if asked:
        at = f"{simulation.values} {text.SWEPT[settings['plan.asked']]}"
        done = "Simulated" if simulation.state != "measuring" else "Simulated so far"
        st.caption(f"{done}: {simulation.runs} runs of {method} at {at}. {own_table_text.INVENTED}")
    verb = "Confirm" if view.answer(settings, view.focus(settings)).value is not None else "Try"
    label = "Leave simulation out" if asked else f"{verb} {method} by simulation on invented patients"
    st.button(label, key="simulate", on_click=widgets.set_to, args=("plan.simulate", not asked))


def stop(settings: Settings) -> None:
    """Stop all simulations where none is asked for any more."""
    for name in PLANNED_METHODS if not view.begins(settings) else ():
        job = sweep_jobs.at(f"plan {name}")
        if job is not None and job.running:
            job.stop()


def assumptions(settings: Settings) -> None:
    """Render the closed form in focus, and its assumptions with their numbers at the answer."""
    name = view.focus(settings)
    bound = view.bound(settings)
    if bound is None:
        return
    rule = view.plan(settings, name).rule
    badge = ":green[every assumption holds]" if bound.applies else ":orange[an assumption fails]"
    where = "at this setting" if view.answer(settings, name).start is None else "at the answer"
    with st.expander("Why the formula may be trusted here, or not", key="plan assumptions"):
        st.markdown(f"**{rule.title}** · {badge} {where}")
        st.latex(rule.formula)
        marks = {True: ":green[✓]", False: ":red[✗]"}
        st.markdown("  \n".join(f"{marks[held]} {words}" for held, words in view.assumptions(settings)))
        if view.energetic(settings):
            st.markdown(text.ENERGY_LOST)
        st.caption(f"Source: {bound.source}.")
