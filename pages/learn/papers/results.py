"""Read what the papers page shows of a figure: stored curves and verdicts, and a visitor's second run.

A figure has one or more runs, our attempts to remake it: the first with the paper's parameters, others with
what they change. A run has a recipe, whose result is stored, or a formula. Its verdict says whether it is as
printed, whether the paper's claim holds in it, or that it differs.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

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
from pages.learn.papers import text
from pages.shared.settings.catalogue import CHOICES, SYNTHETIC, Settings
from pages.shared.text import symbols

QUICK_REPEATS, QUICK_POINTS = 3, 4  # of a quick second run: repeats, and values of each swept parameter
_NOTHING = pd.DataFrame(columns=["label", "method", "x", "mean", "low", "high", "runs"])


class Result(NamedTuple):
    """Hold a run's curves and verdict, and the stored table that they are from.

    `source` is None for a formula, or where no result can be read: `absent` then has the reason.
    """

    curves: pd.DataFrame
    verdict: Verdict
    source: Stored | None
    absent: str = ""


@st.cache_resource(max_entries=128, show_spinner=False)
def result(key: str, index: int) -> Result:
    """Return the stored result of run `index` of the figure `key`; it is cached, as it never changes."""
    figure = FIGURES[key]
    run = figure.runs[index]
    try:
        source = stored(run.recipe) if run.recipe else None
    except ValueError as reason:
        return Result(_NOTHING, Verdict(()), None, str(reason))
    table = source.table if source else None
    return Result(figure.curves(run, table), figure.verdict(run, table), source)


def recipe_of(run: PaperRun) -> tuple[Recipe | None, str]:
    """Return the run's recipe, or None and the reason why it cannot be run, such as an absent table.

    A formula has no recipe and no reason.
    """
    try:
        return (recipe(run.recipe) if run.recipe else None), ""
    except ValueError as reason:
        return None, f"{str(reason)[:1].upper()}{str(reason)[1:]}."


def sizes(run: PaperRun) -> str:
    """Return the sizes of a run in words; empty for a formula."""
    return text.sizes(paper_results.sizes(run.recipe)) if run.recipe else ""


@st.cache_resource(max_entries=1, show_spinner=False)
def overview() -> pd.DataFrame:
    """Return a table of all runs of all figures with their verdicts; `key` and `run` are their settings."""
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
    """Return the stored run's verdict in words."""
    stored_result = result(key, index)
    return text.NOT_RUN if stored_result.absent else text.verdict(stored_result.verdict)


def counts() -> dict[Outcome, int]:
    """Return how many runs of the papers' figures have each outcome; our own claims are left out."""
    table = overview()
    papers = table[[not text.beyond(FIGURES[key]) for key in table["key"]]]
    return {outcome: int((papers["verdict"] == outcome).sum()) for outcome in Outcome}


def needed(figure: Figure, stored_result: Result) -> pd.DataFrame | None:
    """Return the patients that each method needs for the error `TARGET`, in words, a row for each.

    None for a figure of a paper: only those of our own claims are about this.
    """
    if not text.beyond(figure) or stored_result.source is None:
        return None
    runs = stored_result.source.table
    table = patients_needed(runs, TARGET, level=0.95)
    fewest, most = table["patients"].min(), runs["n"].max()  # needed by the best method; measured at most

    def patients(n: float) -> str:
        """Return a number of patients in words; an infinite one was not reached by the most measured."""
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


def second_recipe(first: Recipe, quick: bool, seed: int) -> Recipe:
    """Return the recipe of a second run with this seed: all of it or, if quick, a few repeats and points."""
    whole = replace(first, seed=seed)
    return thinned(whole, QUICK_REPEATS, QUICK_POINTS) if quick else whole


def explorer_settings(recipe: Recipe) -> Settings | None:
    """Return the explorer's settings at the middle value of what a recipe sweeps.

    None where the explorer's controls cannot be set to these values, or its population is of another kind.
    """
    population = recipe.population
    if not isinstance(population, SpikedModel) or population.bulk[0] != 0 or recipe.bound is not None:
        return None
    middle = {axis.name: axis.values[len(axis.values) // 2] for axis in recipe.swept}
    # Of DPS-PCA the recipe may have options that differ from its own fields.
    options = next((dict(method.options) for method in recipe.methods if method.method == "dps_pca"), {})
    names = ("epsilon", "delta", "n", "providers", "iterations", "largest_share", "s_hat", "burn_in")
    names = (*names, "provider_noise", "accounting", "neighbours")
    values = {name: options.get(name, getattr(recipe, name)) for name in names}
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
