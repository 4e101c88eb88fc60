"""Packages that can be installed, beside ours, as `make bench-peers` measured them (data/peers.json).

A recipe is a way to compute PCA: one of our methods, one of ours with a part left out ("ablation"), one of a
package ("peer"), or one without privacy. Recipes are measured at several places: a population, d features and
n patients. `neighbours` is the neighbouring relation of the guarantee, "replace-one" or "add-remove".
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dppca_core.numerics import subspace_metrics
from pages.shared import text
from pages.shared.charts import axis, line, marked_line, plain_figure, rounded, style

_FILE = Path(__file__).parents[3] / "data" / "peers.json"
_OURS = {"Analyze Gauss + sparse step": "analyze_gauss_sparse", "DPS-PCA": "dps_pca"}
_NO_PRIVACY = "scikit-learn PCA, no privacy"
_BEST_PACKAGE = "OpenDP Gaussian + eigh"
_GIVEN_UP = {  # what ours do better, each with the recipe that gives up this one and all before it
    "sparsity": "without sparsity",
    "noise that is alike in all directions": "without sparsity, mirrored noise",
    "exact accounting": _BEST_PACKAGE,
}
_LOOKS = {
    _NO_PRIVACY: style.Look(style.NOT_PRIVATE, "x", "longdash"),
    _BEST_PACKAGE: style.Look(style.VERMILION, "triangle-down", "dash"),
    "OpenDP PCA": style.Look(style.PINK, "star", "dashdot"),
    "diffprivlib PCA": style.Look(style.OCHRE, "hexagon", "longdash"),
} | {title: style.look(name) for title, name in _OURS.items()}


class Measurement(NamedTuple):
    """Hold what was measured: the file's record, and of it the errors.

    `errors` has a row for each place, recipe and relation; the error is NaN where there was no answer.
    """

    record: dict[str, Any]
    errors: pd.DataFrame


def measurement(record: dict[str, Any]) -> Measurement:
    """Return the measurement of a record; where that is broken, this may raise any error of a lookup."""
    rows = pd.json_normalize(record["places"], "rows", ["population", "d", "n"])
    rows = rows.rename(columns={"error.median": "error"}).astype({"error": float, "d": int, "n": int})
    return Measurement(record, rows)


@lru_cache(maxsize=1)
def stored() -> Measurement:
    """Return the stored measurement. It is read once, since making its table takes 6 ms.

    Raises:
        ValueError: The file cannot be read, or lacks a part that the page needs.
    """
    try:
        record: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
        for name in ("epsilon", "delta", "k", "s"):
            float(record["settings"][name])  # raises where it is absent or no number
        measured = measurement(record)
        complete = record["date"] and record["limit_seconds"] > 0 and dict(record["versions"])
        complete = complete and {"sparse population", "breast_cancer"} <= set(measured.errors["population"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        complete = False
    if not complete:
        raise ValueError("data/peers.json cannot be read: restore it, or run make bench-peers")
    return measured


def _rows(population: str, neighbours: str) -> pd.DataFrame:
    """Return a population's rows under one neighbouring relation, and those without privacy."""
    rows = stored().errors
    return rows[(rows["population"] == population) & rows["neighbours"].isin(["", neighbours])]


def figure(neighbours: str) -> dict[str, Any]:
    """Draw error against d, a line for each recipe; a recipe without an answer has no point."""
    measured, k = _rows("sparse population", neighbours), stored().record["settings"]["k"]
    traces = []
    for recipe, look in _LOOKS.items():
        rows = measured[(measured["recipe"] == recipe) & measured["error"].notna()].sort_values("d")
        if len(rows):
            x: list[float | None] = []
            y: list[float | None] = []
            for _, group in rows.groupby("n"):  # a gap between them: the error also depends on n
                x += [*map(float, group["d"]), None]
                y += [*rounded(group["error"].to_numpy()), None]
            traces.append(marked_line(recipe, look, x, y, size=8, hovertemplate="%{x}: %{y:.3~g}"))
    sizes = sorted(measured["d"].unique().tolist())
    guess = rounded([subspace_metrics.random_guess(d, k) for d in sizes])
    traces.append(line(1, "random guess", style.GUESS, "dot", x=sizes, y=guess, showlegend=True))
    ticks = {"tickvals": sizes, "ticktext": [str(d) for d in sizes]}
    across = axis("features d", type="log") | ticks
    drawn = plain_figure(traces, across, axis(text.METRIC_TITLES["sin"], decades=True))
    drawn["layout"]["legend"] |= {"traceorder": "normal"}
    return drawn


def finding(neighbours: str) -> str:
    """Return who errs least at the largest d, by how much, and which part of our method that is due to.

    The factor between a package's error and ours is a product: each of `_GIVEN_UP` is given up in turn.
    """
    rows = _rows("sparse population", neighbours)
    d = int(rows["d"].max())
    error = rows[rows["d"] == d].set_index("recipe")["error"]
    ours = min(_OURS, key=lambda name: error[name])
    rival, sparse = error.get(_BEST_PACKAGE, float("nan")), next(iter(_OURS))
    start = (
        f"At {d} features **{ours}** errs {text.error(error[ours])}, "
        f"PCA without privacy {text.error(error[_NO_PRIVACY])}"
    )
    if rival != rival:  # NaN: no answer within the time limit
        return f"{start}; {_BEST_PACKAGE} had no answer in {stored().record['limit_seconds']:.0f} s."
    # From ours, `sparse`, to the package: each next recipe gives up one more part.
    steps = [error[sparse], *(error[recipe] for recipe in _GIVEN_UP.values())]
    parts = {part: after / before for part, before, after in zip(_GIVEN_UP, steps, steps[1:], strict=False)}
    factors = ", ".join(f"{part} {factor:.2f}" for part, factor in parts.items())
    return (
        f"{start} and the best that a package gives, {_BEST_PACKAGE}, {text.error(rival)}. That is "
        f"{rival / error[sparse]:.2f} times as much. Three factors multiply to this: {factors}. Most is due "
        f"to {max(parts, key=lambda part: parts[part])}. {_finding_on_table(neighbours)}"
    )


def _finding_on_table(neighbours: str) -> str:
    """Return the errors on the real table, where no sparsity is known to hold.

    Of our methods it names the one with the sparse step and the one without.
    """
    rows = _rows("breast_cancer", neighbours)
    error = rows[rows["neighbours"] == neighbours].set_index("recipe")["error"]
    d, n = int(rows["d"].iloc[0]), int(rows["n"].iloc[0])
    shown = {name: error[name] for name in (next(iter(_OURS)), "without sparsity", _BEST_PACKAGE)}
    # An error that does not equal itself is NaN: no answer, so it is left out.
    errors = ", ".join(f"{name} {text.error(value)}" for name, value in shown.items() if value == value)
    guess = text.error(subspace_metrics.random_guess(d, stored().record["settings"]["k"]))
    return f"On the breast cancer table, {n} patients: {errors}, a random guess {guess}."


def notes(neighbours: str) -> str:
    """Return what was run, what had no answer within the time limit, when, and with which versions."""
    record, rows = stored()
    setting, versions = record["settings"], record["versions"]
    parts = [
        f"All had the same rows, ε = {setting['epsilon']:g}, δ = {text.number(setting['delta'])}, "
        f"k = {setting['k']}, {setting['s']} true features and twice as many kept. "
        f"{text.sentence(text.RELATIONS[neighbours])}."
    ]
    patients = rows[rows["population"] == "sparse population"].groupby("n")["d"].unique()
    parts += [
        f"{n:,} patients were drawn with {text.listed([str(d) for d in sizes])} features."
        for n, sizes in patients.items()
    ]
    silent = rows[(rows["kind"] == "peer") & rows["error"].isna()]
    for recipe, group in silent.groupby("recipe"):
        sizes = ", ".join(str(d) for d in sorted(set(group["d"])))
        parts.append(f"{recipe}: no answer in {record['limit_seconds']:.0f} s at {sizes} features.")
    if neighbours != "replace-one":
        parts.append("The packages' own PCA protects a changed record: it is shown where one is replaced.")
    used = ", ".join(f"{name} {version}" for name, version in versions.items())
    parts.append(f"Measured {record['date']} by `make bench-peers` with {used}.")
    return " ".join(parts)
