"""Hold the page at some settings: the methods compared, their sweep, and the jobs that measure it.

A job runs one sweep in the background, in a slot: a visitor has one job in each slot, and starting another
there replaces it. Live methods are measured at once, together in one job. A heavy method takes long, so it
has a job of its own that its button starts.
"""

import pandas as pd

from dppca_core.experiments import Recipe
from dppca_core.experiments.estimated_seconds import run_seconds
from dppca_core.experiments.sweeps import run_cells
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.records import Estimate
from pages.explore.methods.model import sweeps
from pages.explore.methods.model.measure import ComparisonMeasure, SweepRuns, order
from pages.explore.methods.model.sweeps import SweepExperiment
from pages.shared.background import cache, sessions, sweep_jobs, sweep_status
from pages.shared.charts import QUANTITIES, error_unit, value_text
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

LIVE = ""  # the key of the job of all methods that are not heavy
UNIT = "rows of length 1"  # the key of the job of published methods on such rows
_AT_ONCE_SECONDS = 1.0  # a run that takes longer is made only when its button is pressed
Jobs = dict[str, sweep_jobs.Job]


def used(settings: Settings) -> list[str]:
    return order([name for name in METHODS if settings[f"use.{name}"]])


class MethodsCompared:
    """Hold the page at these settings.

    `chosen` are the methods that are switched on, `methods` those of them that can run here. `sweep` is None
    where nothing can be swept; its jobs are in the slots that begin with `slot`.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.visitor = settings, sessions.visitor()
        # Sweeps know no other start than a random one.
        self.experiment, self.epsilon = to_experiment.from_settings(settings | {"start": "random"})
        self.results = cache.results(self.experiment)
        self.chosen, self.panel = used(settings), settings["compare.panel"]
        self.methods = [name for name in self.chosen if name not in self.results.skipped]
        self.measure = ComparisonMeasure(self.results, settings, self.panel)
        self.sweep, self.slot = sweeps.for_panel(self.results, self.methods, settings)

    def running(self) -> bool:
        """Return whether more is to come, and start what is to be measured next."""
        return any(job.running for job in self.jobs().values())

    def jobs(self) -> Jobs:
        """Start or find the jobs of the sweep: the live one under `LIVE`, and those of heavy methods by name.

        Once the live one is complete, one under `UNIT` has published methods on rows of length 1. Heavy
        methods have a job only where their button was pressed at this setting; those at another are stopped.
        """
        jobs: Jobs = {}
        sweep = self.sweep
        if sweep is None:
            return jobs
        if sweep.live is not None:
            jobs[LIVE] = self._live_job(sweep, sweep.live)
        for name, recipe in sweep.heavy.items():
            job = sweep_jobs.at(self.heavy_slot(name), self.visitor)
            if job is not None and job.recipe == recipe:
                jobs[name] = sweep_jobs.start(self.heavy_slot(name), recipe, self.visitor)
            elif job is not None:
                job.stop()
        if LIVE in jobs and jobs[LIVE].recipe == sweep.live and jobs[LIVE].state == "complete":
            unit = sweeps.on_unit_rows(sweep, jobs[LIVE].table())
            if unit is not None:
                jobs[UNIT] = sweep_jobs.start(f"{self.slot} {UNIT}", unit, self.visitor)
        return jobs

    def heavy_slot(self, name: str) -> str:
        return f"{self.slot} {name}"

    def _live_job(self, sweep: SweepExperiment, recipe: Recipe) -> sweep_jobs.Job:
        """Return the live methods' job: where runs take long, first one run of each is seen soon."""
        first, former = sweeps.first_run(recipe, sweep.here), sweep_jobs.at(self.slot, self.visitor)
        # Rows of an earlier job that the new one takes over show something at once.
        fresh = former is None or not sweeps.shares_rows(former.recipe, recipe)
        begun = former is not None and former.running and former.recipe == first
        if begun or (fresh and run_cells.total_seconds(recipe) > sweep_jobs.HERE_SECONDS):
            job = sweep_jobs.start(self.slot, first, self.visitor)
            if job.running:
                return job
        return sweep_jobs.start(self.slot, recipe, self.visitor)

    def progress(self, jobs: Jobs) -> str:
        live, sweep = jobs.get(LIVE), self.sweep
        if live is None or sweep is None or (live.recipe == sweep.live and not live.running):
            return ""
        return sweep_status.progress(live) if live.recipe == sweep.live else "One run of each method first."

    def runs(self, jobs: Jobs) -> SweepRuns | None:
        parts = [job.table() for key, job in jobs.items() if key != UNIT]
        if self.sweep is None or not parts:
            return None
        # A table without rows is used only where all are so, for its columns.
        filled = [part for part in parts if len(part)]
        table = pd.concat(filled, ignore_index=True) if filled else parts[0]
        unit = jobs[UNIT].table() if UNIT in jobs else table.iloc[:0]
        return SweepRuns(self.measure, self.sweep, table, self.methods, self.progress(jobs), unit)

    @property
    def released(self) -> str:
        wanted: str = self.settings["compare.release"]
        return wanted if wanted in self.methods else self.methods[0]

    @property
    def release_seconds(self) -> float:
        """Return about how long the release takes; 0 where it is made without being asked for."""
        experiment = self.experiment
        about = run_seconds(self.released, experiment.d, experiment.k, experiment.providers)
        return about if about > _AT_ONCE_SECONDS else 0.0

    def release(self) -> tuple[Estimate, str]:
        """Return the first run's release and its error in words. Raises ValueError if there is none."""
        estimate = self.results.estimate(self.released, self.settings["compare.at"], 0)
        # The errors are computed for several runs at once: here for a stack of one, (1, d, k).
        truth, bases = self.results.truth.basis, estimate.basis[None]
        errors = subspace_metrics.sin_thetas(bases, truth), subspace_metrics.largest_angles(bases, truth)
        metric = error_unit(self.settings)
        value = value_text(
            metric, float(subspace_metrics.runs_in_unit(metric, *errors, self.experiment.k)[0])
        )
        return estimate, f"{QUANTITIES.get(metric, 'error')} {value}"
