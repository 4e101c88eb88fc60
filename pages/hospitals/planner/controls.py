"""Render the planner's controls, and run the simulation that is asked for: a bisection for each method.

A simulation goes in steps. Each step runs the method at some values of patients or epsilon, as a background
job of this visitor in the slot "plan METHOD"; the results decide at which further value the next step runs.
For a visitor's own table no jobs are used: its runs are among the evaluations that are done beside the page
(`own_table.simulated`). The method in focus is the recommended one, or that chosen on the page.
"""

import time
from functools import partial

import streamlit as st

from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.experiments.planning.table_search import TableSearch
from dppca_core.experiments.sweeps.recipe import Point
from pages.hospitals.planner import own_table, own_table_text, text, view
from pages.hospitals.planner.view import Planner
from pages.shared.background import sweep_jobs, sweep_status
from pages.shared.charts.metric_axis import more_is_better
from pages.shared.settings import editions, public_table, widgets
from pages.shared.settings.catalogue import CHOICES, RECOMMENDED, Settings
from pages.shared.text import duration

_WAIT_SECONDS = 0.5  # a rendering waits this long for quick simulations to end
_LEAVE_OUT = "Leave simulation out"


def choose_population(settings: Settings) -> Settings:
    """Render the switch that plans for the visitor's own table, where one is loaded.

    Returns:
        The page's settings or, where the table is planned for, those with what the table fixes.
    """
    table = public_table.current()
    if table is None:
        if settings["plan.table"]:
            st.info(own_table_text.NO_TABLE)
        return settings
    widgets.show_control("plan.table")
    if not settings["plan.table"]:
        return settings
    st.caption(own_table_text.facts(table))
    return own_table.with_table(settings, table)


def choose(planner: Planner, *others: str) -> None:
    """Render the controls of what is asked and of the target, and those of the settings in `others`.

    Those that a visitor's table decides are left out.
    """
    widgets.show_panel_pills("plan.asked")
    target = "plan.share" if planner.energetic else "plan.target"
    size = ["plan.size"] if planner.asked == "hospitals" else []
    keys = [target, *others, *size]
    if planner.table is not None:
        keys = [key for key in keys if key not in own_table.DECIDED]
    # A single control takes half of the row, not all of it.
    widths = [1.4, *(1.15 if key == "plan.way" else 1.0 for key in (*keys, "")[1:])][: max(len(keys), 2)]
    for column, key in zip(widgets.beside("plan", widths), keys, strict=False):
        with column:
            if key == "plan.way":
                widgets.show_select_box(key, [RECOMMENDED, *planner.comparable])
            elif key == "plan.target":
                _choose_target(planner)
            else:
                widgets.show_control(key)


def _choose_target(planner: Planner) -> None:
    """Render the slider of the largest error allowed, in the unit on screen.

    Its options are errors, ascending. Shown as shares recovered they would descend, so they are reversed.
    """
    options, settings = CHOICES["plan.target"].options, planner.settings
    ordered = options[::-1] if more_is_better(text.goal_unit(settings)) else options
    label, words = text.target_label(planner), partial(text.target_in_words, settings)
    widgets.show("plan.target", label, plain=settings["view"] == "plain", options=ordered, format_func=words)


def _current(planner: Planner, name: str) -> tuple[Search | None, sweep_jobs.Job | None]:
    """Return the simulation that a method would have now, and the visitor's job if it is a step of it.

    Either may be None. The slot may still hold a job of former settings, whose recipe then differs.
    """
    search, job = planner.search(name), sweep_jobs.at(f"plan {name}")
    if (
        search is None
        or isinstance(search, TableSearch)
        or job is None
        or job.recipe.swept_names != (search.name,)
    ):
        return search, None
    return search, job if search.recipe(_values(job)) == job.recipe else None


def _values(job: sweep_jobs.Job) -> Point:
    """Return the numbers of patients, or the values of epsilon, that a job runs at."""
    return job.recipe.swept[0].values


@st.cache_resource(max_entries=256, show_spinner=False)
def _reading(search: Search, values: Point, _job: sweep_jobs.Job) -> SimulatedAnswer:
    """Return the answer that a complete job's runs give.

    Streamlit's cache does not look at the job, whose name has an underscore: search and values determine it.
    """
    return search.simulated_answer(_job.table())


def start_or_continue(planner: Planner) -> bool:
    """Start the simulation of the method in focus or its next step, if asked for; return whether more comes.

    Quick steps follow each other here for up to `_WAIT_SECONDS`, so that a quick simulation shows at once.
    """
    slot = f"plan {planner.focus}"
    search, job = _current(planner, planner.focus)
    if search is None or isinstance(search, TableSearch) or not planner.is_simulated():
        return False
    if job is None or job.state == "again":  # "again": it was left off when its visitor went, and can go on
        job = sweep_jobs.start(slot, search.recipe(_values(job) if job else search.first_values()))
    deadline = time.monotonic() + _WAIT_SECONDS
    while job.state == "complete":
        wanted_values = search.values_to_run(job.table())
        if wanted_values == _values(job):  # the bisection is over
            return False
        if time.monotonic() > deadline:
            return True
        job = sweep_jobs.start(slot, search.recipe(wanted_values))
    return job.running


def with_simulations(planner: Planner) -> Planner:
    """Return the planner with each method's simulated answer so far, after starting what is asked for."""
    answers: dict[str, SimulatedAnswer] = {}
    if planner.table is not None:
        if planner.settings["plan.simulate"] and isinstance(search := planner.search(), TableSearch):
            answers[planner.focus], _missing_runs = own_table.simulated(search)
        return Planner(planner.settings, answers)
    start_or_continue(planner)  # starts what is asked for
    for name in planner.listed:
        search, job = _current(planner, name)
        if job is not None:
            values = _values(job)
            answers[name] = SimulatedAnswer("measuring", values=len(values), runs=job.progress.completed)
            if job.state == "complete":
                answers[name] = _reading(search, values, job)
    return Planner(planner.settings, answers)


def confirm(planner: Planner) -> None:
    """Render the button that simulates the method in focus or leaves that out, and how far it has come."""
    method, answered = view.title(planner.focus), planner.answer().value is not None
    search, job = _current(planner, planner.focus)
    asked_for, swept = planner.settings["plan.simulate"], text.SWEPT[planner.asked]
    button = {
        "key": "simulate",
        "on_click": editions.finished_by_next_run(widgets.set_to),  # called again if it is interrupted
        "args": ("plan.simulate", not asked_for),
    }
    if isinstance(search, TableSearch):
        if simulation := planner.simulation:
            done = "Simulated" if simulation.state != "measuring" else "Simulated so far"
            runs = f"{simulation.runs} runs of {method} at {simulation.values} {swept}"
            st.caption(f"{done}: {runs}. {own_table_text.INVENTED}")
        label = f"{'Confirm' if answered else 'Try'} {method} by simulation on invented patients"
        st.button(_LEAVE_OUT if asked_for else label, **button)
        return
    if search is None:
        st.caption(text.not_simulated(planner))
        return
    if not planner.is_simulated():
        verb = "Confirm" if answered else "Find the answer of"
        st.button(f"{verb} {method} by simulation, about {duration(view.seconds(search))}", **button)
        return
    if job is None:
        return
    values = len(_values(job))
    if job.state != "complete":
        sweep_status.show(job, f"plan {planner.focus}")
        # The first step runs two values at once and each later step adds another, so steps are counted.
        st.caption(f"Value {values - 1} of about {view.USUAL_VALUES - 1}, halving the gap.")
        return
    left, right = st.columns([3, 1], vertical_alignment="center")
    # The first reason stands for all.
    failures = [f" Runs failed: {reason}." for reason in job.table()["failed"] if reason]
    runs = f"{job.progress.total:,} runs of {method} at {values} {swept}"
    left.caption(f"Simulated: {runs}.{''.join(failures[:1])}")
    if asked_for:  # else it began by itself
        right.button(_LEAVE_OUT, width="stretch", **button)


def stop(planner: Planner) -> None:
    """Stop all simulations where none is asked for any more."""
    for name in PLANNED_METHODS if not planner.is_simulated() else ():
        job = sweep_jobs.at(f"plan {name}")
        if job is not None and job.running:
            job.stop()


def assumptions(planner: Planner) -> None:
    """Render the closed form in focus, and its assumptions with their numbers at the answer."""
    bound = planner.bound()
    if bound is None:
        return
    rule = planner.plan().rule
    badge = ":green[every assumption holds]" if bound.applies else ":orange[an assumption fails]"
    # As `Planner.bound` evaluates it: without a solution of the formula there is no answer to evaluate it at.
    where = "at this setting" if planner.answer().solution is None else "at the answer"
    with st.expander("Why the formula may be trusted here, or not", key="plan assumptions"):
        st.markdown(f"**{rule.title}** · {badge} {where}")
        st.latex(rule.formula)
        marks = {True: ":green[✓]", False: ":red[✗]"}
        st.markdown("  \n".join(f"{marks[held]} {words}" for held, words in planner.assumptions()))
        if planner.energetic:
            st.markdown(text.ENERGY_LOST)
        st.caption(f"Source: {bound.source}.")
