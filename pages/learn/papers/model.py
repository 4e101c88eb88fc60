"""Hold what the page shows of a figure: stored curves and verdicts, and a visitor's second run.

A figure has one or more runs, our attempts to remake it: the first with the paper's parameters, others with
what they change. A run has a recipe, whose result is stored, or a formula. Its verdict says whether it is as
printed, whether the paper's claim holds in it, or that it differs.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core.experiments import Recipe
from dppca_core.experiments.papers import (
    FIGURES,
    Figure,
    Outcome,
    PaperRun,
    Stored,
    Verdict,
    recipe,
    stored,
    thinned,
)
from dppca_core.experiments.papers import results as paper_results
from dppca_core.experiments.papers.beyond import TARGET
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.populations.spiked import SpikedModel
from pages.learn.papers import sentences
from pages.shared.background import sessions, sweep_jobs
from pages.shared.settings.catalogue import CHOICES, SYNTHETIC, Settings
from pages.shared.text import symbols

QUICK_REPEATS, QUICK_POINTS = 3, 4  # of a quick second run: repeats, and values of each swept parameter
_FIELDS = (  # of a recipe, which are settings of the explorer too
    *("epsilon", "delta", "n", "providers", "iterations", "largest_share", "s_hat", "burn_in"),
    *("provider_noise", "accounting", "neighbours"),
)
_NOTHING = pd.DataFrame(columns=["label", "method", "x", "mean", "low", "high", "runs"])


class Result(NamedTuple):
    """Hold a run's curves and verdict, and the stored table that they are from."""

    curves: pd.DataFrame
    verdict: Verdict
    source: Stored | None  # None for a formula, or where it is absent
    absent: str = ""  # why no result can be read


@lru_cache(maxsize=128)
def result(key: str, index: int) -> Result:
    figure = FIGURES[key]
    run = figure.runs[index]
    try:
        source = stored(run.recipe) if run.recipe else None
    except ValueError as reason:
        return Result(_NOTHING, Verdict(()), None, str(reason))
    table = source.table if source else None
    curves = figure.curves(run, table)
    return Result(curves, figure.verdict_of(run, curves, table), source)


def sizes(run: PaperRun) -> str:
    return sentences.sizes(paper_results.sizes(run.recipe)) if run.recipe else ""


@lru_cache(maxsize=1)
def overview() -> pd.DataFrame:
    """Return all runs of all figures with their verdicts; `key` and `run` are their settings."""
    rows = [
        {
            "key": key,
            "run": index,
            "paper": figure.paper,
            "figure": symbols(figure.title),
            "what was run": symbols(run.title),
            "sizes": sizes(run),
            "verdict": verdict(key, index),
        }
        for key, figure in FIGURES.items()
        for index, run in enumerate(figure.runs)
    ]
    return pd.DataFrame(rows)


def verdict(key: str, index: int) -> str:
    stored_result = result(key, index)
    return sentences.NOT_RUN if stored_result.absent else sentences.verdict(stored_result.verdict)


def counts() -> dict[Outcome, int]:
    """Return how many runs have each outcome; our own claims are left out."""
    table = overview()
    papers = table[[not FIGURES[key].ours for key in table["key"]]]
    return {outcome: int((papers["verdict"] == outcome).sum()) for outcome in Outcome}


def needed(figure: Figure, stored_result: Result) -> pd.DataFrame | None:
    """Return the patients that each method needs for the error `TARGET`; None for a figure of a paper."""
    if not figure.ours or stored_result.source is None:
        return None
    runs = stored_result.source.table
    table = patients_needed(runs, TARGET, level=0.95)
    fewest, most = table["patients"].min(), runs["n"].max()  # needed by the best method; measured at most

    def patients(n: float) -> str:
        return f"{n:,.0f}" if np.isfinite(n) else f"more than {most:,.0f}"

    return pd.DataFrame(
        {
            "method": table["label"],
            f"patients for a median error of {TARGET:g}": table["patients"].map(patients),
            "95 % interval": [
                f"{patients(low)} to {patients(high)}" if np.isfinite(low) else ""
                for low, high in zip(table["low"], table["high"], strict=True)
            ],
            "times the fewest": [
                f"{n / fewest:.3g}" if np.isfinite(n) else f"more than {int(most / fewest)}"
                for n in table["patients"]
            ],
            "why not": table["reason"],
        }
    )


class RemadeFigure:
    """Hold a figure, one of its runs, and the visitor's second run of it, a job in the background."""

    def __init__(self, settings: Settings) -> None:
        self.figure, self.seed = FIGURES[settings["figure"]], settings["seed"]
        self.index = min(settings["run"], len(self.figure.runs) - 1)
        self.run = self.figure.runs[self.index]
        self.stored = result(self.figure.key, self.index)
        self.recipe: Recipe | None = None
        self.why_not = ""
        try:
            self.recipe = recipe(self.run.recipe) if self.run.recipe else None
        except ValueError as reason:
            self.why_not = f"{str(reason)[:1].upper()}{str(reason)[1:]}."
        self.heading = f"{self.figure.title}: {verdict(self.figure.key, self.index)}"
        self.slot, self.visitor = f"papers {self.run.recipe}", sessions.visitor()

    def job(self) -> sweep_jobs.Job | None:
        """Return the second run, if there is one; begun again where the visitor wants to go on."""
        job = sweep_jobs.at(self.slot, self.visitor)
        if job is not None and job.state == "again":
            return sweep_jobs.start(self.slot, job.recipe, self.visitor)
        return job

    def running(self) -> bool:
        job = self.job()
        return job is not None and job.running


def second_recipe(first: Recipe, quick: bool, seed: int) -> Recipe:
    whole = replace(first, seed=seed)
    return thinned(whole, QUICK_REPEATS, QUICK_POINTS) if quick else whole


def explorer_settings(recipe: Recipe) -> Settings | None:
    """Return the explorer's settings at the middle of a recipe's sweep; None where it has none such."""
    population = recipe.population
    if not isinstance(population, SpikedModel) or population.bulk[0] != 0 or recipe.bound is not None:
        return None
    if population != replace(population, fall=1.0, correlation=0.0, tails=None):
        return None
    middle = {axis.name: axis.values[len(axis.values) // 2] for axis in recipe.swept}
    # Of DPS-PCA the recipe may have options that differ from its own fields.
    options = next((dict(method.options) for method in recipe.methods if method.method == "dps_pca"), {})
    values: dict[str, Any] = {name: options.get(name, getattr(recipe, name)) for name in _FIELDS}
    values |= {name: getattr(population, name) for name in ("d", "k", "s", "spike", "seed")}
    # The explorer's "bulk" is the upper limit of the population's; the lower one is 0, as checked above.
    values |= middle | {"bulk": population.bulk[1]}
    # The explorer's name for a recipe's scaling "bound", the division of rows by a public bound, is "public".
    values["scaling"] = {"bound": "public"}.get(recipe.scaling, recipe.scaling)
    settings = {key: value for key, value in values.items() if value is not None}
    for key in ("epsilon", "delta"):  # the middle of a sweep need not be an option
        settings[key] = CHOICES[key].nearest(settings[key])
    known = all(value in CHOICES[key].options for key, value in settings.items())
    # "delta_set" says that delta was set by hand: else it would follow the number of patients.
    return settings | {"data": SYNTHETIC, "delta_set": True} if known else None
