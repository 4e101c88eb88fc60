"""What the papers page shows of a figure: stored curves and verdicts, and how a second run compares."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dppca_core.experiments import Recipe
from dppca_core.experiments.papers import FIGURES, Figure, PaperRun, Stored, Verdict, recipe, stored, thinned
from dppca_core.experiments.papers.beyond import TARGET
from dppca_core.experiments.sweeps import run_cells
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from pages.shared.background import sweep_jobs
from pages.shared.text import number, short, symbols

WORDS = {True: "comes out as printed", False: "does not come out as printed"}
OURS = {True: "holds", False: "does not hold"}
NOT_RUN = "not run here"
QUICK_REPEATS, QUICK_POINTS = 3, 4


class Result(NamedTuple):
    """A run's stored curves and what they say; `source` is None for a formula, or where `absent` says why."""

    curves: pd.DataFrame
    verdict: Verdict
    source: Stored | None
    absent: str = ""


_NOTHING = pd.DataFrame(columns=["label", "method", "x", "mean", "low", "high", "runs"])


@st.cache_resource(max_entries=128, show_spinner=False)
def result(key: str, index: int) -> Result:
    """The stored result of a figure's run."""
    figure = FIGURES[key]
    run = figure.runs[index]
    try:
        source = stored(run.recipe) if run.recipe else None
    except ValueError as reason:
        return Result(_NOTHING, Verdict(()), None, str(reason))
    table = source.table if source else None
    return Result(figure.curves(run, table), figure.verdict(run, table), source)


def recipe_of(run: PaperRun) -> tuple[Recipe | None, str]:
    """The run's recipe, or why it cannot be run here: a formula has none, a table may be absent."""
    if not run.recipe:
        return None, "A formula: there is nothing to run."
    try:
        return recipe(run.recipe), ""
    except ValueError as reason:
        return None, f"{str(reason)[:1].upper()}{str(reason)[1:]}."


@st.cache_resource(max_entries=1, show_spinner=False)
def overview() -> pd.DataFrame:
    """Every run of every figure with its verdict."""
    rows = [
        {
            "key": key,
            "run": index,
            "paper": figure.paper,
            "figure": figure.title,
            "what was run": run.title,
            "verdict": verdict(key, index),
        }
        for key, figure in FIGURES.items()
        for index, run in enumerate(figure.runs)
    ]
    return pd.DataFrame(rows)


def verdict(key: str, index: int) -> str:
    """The stored run's verdict in words."""
    kept = result(key, index)
    return NOT_RUN if kept.absent else words(FIGURES[key], kept.verdict)


def words(figure: Figure, found: Verdict) -> str:
    """A verdict in words: what goes beyond the papers is not printed in them, and few runs decide little."""
    if found.short and not found.reproduced:
        return "is too few runs to decide"
    return (OURS if beyond(figure) else WORDS)[found.reproduced]


def beyond(figure: Figure) -> bool:
    """Whether the claim is ours and not a paper's."""
    return figure.paper.startswith("Beyond")


def counts() -> tuple[int, int]:
    """How many runs come out as printed, of how many that were run."""
    table = overview()["verdict"]
    return int((table == WORDS[True]).sum()), int(table.isin(WORDS.values()).sum())


def needed(figure: Figure, kept: Result) -> pd.DataFrame | None:
    """For the figure beyond the papers: the patients each method needs, and how many times the fewest."""
    if not beyond(figure) or kept.source is None:
        return None
    table = patients_needed(kept.source.table, TARGET, level=0.95)
    fewest, most = table["patients"].min(), kept.source.table["n"].max()
    return pd.DataFrame(
        {
            "method": table["label"],
            f"patients for a median error of {TARGET:g}": [_patients(n, most) for n in table["patients"]],
            "95 % interval": [
                f"{_patients(low, most)} to {_patients(high, most)}" if np.isfinite(low) else ""
                for low, high in zip(table["low"], table["high"], strict=True)
            ],
            "times the fewest": [
                f"{n / fewest:.3g}" if np.isfinite(n) else f"more than {int(most / fewest)}"
                for n in table["patients"]
            ],
            "why not": table["reason"],
        }
    )


def _patients(n: float, most: float) -> str:
    return f"{n:,.0f}" if np.isfinite(n) else f"more than {most:,.0f}"


def place(run: PaperRun) -> str:
    """Where a visitor's second run of it is kept."""
    return f"papers {run.recipe}"


def again(chosen: Recipe, quick: bool, seed: int) -> Recipe:
    """The recipe of a second run: all of it, or a few repeats at a few points."""
    whole = replace(chosen, seed=seed)
    return thinned(whole, QUICK_REPEATS, QUICK_POINTS) if quick else whole


@lru_cache(maxsize=128)
def expected(chosen: Recipe) -> float:
    """Rough seconds of a sweep on one core."""
    return run_cells.total_seconds(chosen)


def rerun(figure: Figure, run: PaperRun) -> pd.DataFrame | None:
    """Curves of the visitor's second run so far, or None."""
    job = sweep_jobs.at(place(run)) if run.recipe else None
    if job is None or not len(job.table()):
        return None
    return figure.curves(run, job.table())


def agreement(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """How far two runs' means are apart, in their common standard error.

    Half an interval is about two standard errors of its mean: a difference has the root of both, squared.
    """
    both = first.merge(second, on=["label", "x"], suffixes=("", " again"))
    both = both[np.isfinite(both["mean"]) & np.isfinite(both["mean again"])]
    if both.empty:
        return "Nothing to compare yet."
    gap = (both["mean"] - both["mean again"]).abs()
    worst = both.loc[gap.idxmax()]
    where = symbols(f"{worst['label']} at {number(float(worst['x']))}").strip()
    halves = np.hypot(both["high"] - both["mean"], both["high again"] - both["mean again"])
    known = halves[np.isfinite(halves) & (halves > 0)]
    inside = int((gap[known.index] <= known).sum())
    said = f"Means differ by at most {short(float(gap.max()))} ({where})"
    if len(known):
        said += f"; {inside} of {len(known)} differences lie within their 95 % interval"
    return said + "."
