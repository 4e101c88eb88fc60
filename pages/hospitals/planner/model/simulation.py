"""Run the simulation that is asked for: a bisection for each method.

It goes in steps. Each step runs the method at some values of patients or epsilon, as a background job of this
visitor in the slot "plan METHOD"; the results decide at which further value the next step runs.
"""

import time

from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.evaluations import EVALUATIONS
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.experiments.sweeps.recipe import Point
from pages.hospitals.planner.model.planner import Planner
from pages.shared.background import engine, sweep_jobs
from pages.shared.settings.catalogue import Settings

_WAIT_SECONDS = 0.5  # a rendering waits this long for quick simulations to end


def slot(name: str) -> str:
    return f"plan {name}"


def values_of(job: sweep_jobs.Job) -> Point:
    """Return the numbers of patients, or the values of epsilon, that a job runs at."""
    return job.recipe.swept[0].values


class Simulated:
    """Hold a visitor's simulations of the plans at some settings.

    visitor: whose jobs they are; a file is made outside of their session. planner: the plans without
    simulations.
    """

    def __init__(self, settings: Settings, visitor: str) -> None:
        self.planner, self._visitor = Planner(settings), visitor

    def now(self) -> Planner:
        planner = self.planner
        answers: dict[str, SimulatedAnswer] = {}
        for name in planner.listed:
            search, job = planner.search(name), self.job(name)
            if search is None or job is None:
                continue
            values = len(values_of(job))
            answers[name] = SimulatedAnswer("measuring", values=values, runs=job.progress.completed)
            if job.state == "complete":
                answers[name] = search.simulated_answer(job.table())
        return Planner(planner.settings, answers)

    def job(self, name: str) -> sweep_jobs.Job | None:
        """Return the job that is a step of a method's simulation at these settings.

        The slot may still hold a job of former settings, whose recipe then differs.
        """
        search, job = self.planner.search(name), self._job_in_slot(name)
        if search is None or job is None:
            return None
        same = job.recipe.swept_names == (search.name,) and search.recipe(values_of(job)) == job.recipe
        return job if same else None

    def _job_in_slot(self, name: str) -> sweep_jobs.Job | None:
        return sweep_jobs.jobs().at(self._visitor, slot(name))

    def more(self) -> bool:
        """Start or continue what is to be evaluated and simulated; return whether more is to come."""
        simulating, missing = self._advance(), self.planner.next_missing
        if missing() is None:
            return simulating
        engine.engine().complete(self._visitor, EVALUATIONS, missing)
        return True

    def _advance(self) -> bool:
        """Start the simulation of the method in focus or its next step; return whether more is to come.

        Quick steps follow each other here for up to `_WAIT_SECONDS`, so that a quick simulation shows at
        once. Where no simulation is asked for any more, all are stopped.
        """
        if not self.planner.is_simulated():
            for name in PLANNED_METHODS:
                if (job := self._job_in_slot(name)) is not None and job.running:
                    job.stop()
            return False
        name, search = self.planner.focus, self.planner.search()
        if search is None:
            return False
        job = self.job(name)
        if job is None or job.state == "again":  # "again": it was left off when its visitor went
            values = values_of(job) if job else search.first_values()
            job = sweep_jobs.start(slot(name), search.recipe(values))
        deadline = time.monotonic() + _WAIT_SECONDS
        while job.state == "complete":
            wanted_values = search.values_to_run(job.table())
            if wanted_values == values_of(job):  # the bisection is over
                return False
            if time.monotonic() > deadline:
                return True
            job = sweep_jobs.start(slot(name), search.recipe(wanted_values))
        return job.running
