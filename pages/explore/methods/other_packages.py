"""Packages that can be installed beside ours, as `make bench-peers` measured them (data/peers.json)."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from dppca_core.numerics import subspace_metrics
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts import traces as charts_traces
from pages.shared.charts.traces import axis, line, rounded

_FILE = Path(__file__).parents[3] / "data" / "peers.json"
_OURS = {"Analyze Gauss + sparse step": "analyze_gauss_sparse", "DPS-PCA": "dps_pca"}
_PLAIN = "scikit-learn PCA, no privacy"
_RIVAL = "OpenDP Gaussian + eigh"
_PARTS = {  # what is given up, step by step, on the way from ours to the package's recipe
    "sparsity": "without sparsity",
    "noise that is alike in all directions": "without sparsity, mirrored noise",
    "exact accounting": _RIVAL,
}
_LOOKS = {
    _PLAIN: style.look("pca"),
    _RIVAL: style.Look("#D55E00", "triangle-down", "dash"),
    "OpenDP PCA": style.Look("#CC79A7", "star", "dashdot"),
    "diffprivlib PCA": style.Look("#E69F00", "hexagon", "longdash"),
} | {title: style.look(name) for title, name in _OURS.items()}


@lru_cache(maxsize=1)
def stored() -> dict[str, Any]:
    """What was measured, when, and with which versions. Raises ValueError for a file that cannot be read."""
    try:
        said: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
        _look_through(said)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as reason:
        raise ValueError("data/peers.json cannot be read: restore it, or run make bench-peers") from reason
    return said


def _look_through(said: dict[str, Any]) -> None:
    """Raises an error of some kind where a part is not there that the page needs."""
    for name in ("epsilon", "delta", "k", "s"):
        float(said["settings"][name])
    if not said["date"] or not said["limit_seconds"] > 0 or not dict(said["versions"]):
        raise ValueError("what it is of is missing")
    if not {"sparse population", "breast_cancer"} <= set(_table(said)["population"]):
        raise ValueError("places are missing")


def table() -> pd.DataFrame:
    """Tidy: one row for each place, recipe and relation; no error where there was no answer."""
    return _table(stored())


def _table(said: dict[str, Any]) -> pd.DataFrame:
    rows = [
        {name: place[name] for name in ("population", "d", "n")}
        | {name: row[name] for name in ("recipe", "kind", "neighbours", "fits")}
        | {"error": row.get("error", {}).get("median"), "failed": row.get("failed", "")}
        | {"seconds_over_ours": row.get("seconds_over_ours")}
        for place in said["places"]
        for row in place["rows"]
    ]
    return pd.DataFrame(rows).astype({"error": float, "seconds_over_ours": float})


def _of(neighbours: str) -> pd.DataFrame:
    found = table()
    return found[found["neighbours"].isin(["", neighbours]) & (found["population"] == "sparse population")]


def figure(neighbours: str, plain: bool) -> dict[str, Any]:
    """Error against d, recipe by recipe: a recipe without an answer has no point."""
    found, k = _of(neighbours), stored()["settings"]["k"]
    traces = []
    for recipe, look in _LOOKS.items():
        rows = found[(found["recipe"] == recipe) & found["error"].notna()].sort_values("d")
        if len(rows):
            mark = {"symbol": look.symbol, "size": 8, "color": look.colour}
            points: dict[str, list[float | None]] = {"x": [], "y": []}
            for _, alike in rows.groupby("n"):  # more patients begin a new line
                points["x"] += [*map(float, alike["d"]), None]
                points["y"] += [*rounded(alike["error"].to_numpy()), None]
            traces.append(
                line(1, recipe, look.colour, look.dash, **points, showlegend=True)
                | {"mode": "lines+markers", "marker": mark, "hovertemplate": "%{x}: %{y:.3~g}"}
            )
    at = sorted(found["d"].unique().tolist())
    guess = rounded([subspace_metrics.random_guess(d, k) for d in at])
    traces.append(line(1, "random guess", style.GUESS, "dot", x=at, y=guess, showlegend=True))
    across = axis("measurements per patient" if plain else "features d", type="log") | {
        "tickvals": at,
        "ticktext": [str(d) for d in at],
    }
    upward = axis("error" if plain else text.METRIC_TITLES["sin"], type="log") | {"dtick": 1}
    drawn = charts_traces.plain_figure(traces, across, upward | {"exponentformat": "e", "minexponent": 6})
    drawn["layout"]["legend"] |= {"traceorder": "normal"}
    return drawn


def said(neighbours: str, plain: bool) -> str:
    """Who errs least at the largest d, by how much, and which assumption it owes that to."""
    found = _of(neighbours)
    d = int(found["d"].max())
    error = found[found["d"] == d].set_index("recipe")["error"]
    ours = min(_OURS, key=lambda name: error[name])
    rival, sparse = error.get(_RIVAL, float("nan")), next(iter(_OURS))
    words = f"At {d} {'measurements' if plain else 'features'} **{ours}** errs {text.error(error[ours])}"
    words += f", PCA without privacy {text.error(error[_PLAIN])}"
    if rival != rival:
        return f"{words}; {_RIVAL} had no answer in {stored()['limit_seconds']:.0f} s."
    words += f" and the best that a package gives, {_RIVAL}, {text.error(rival)}"
    steps = [error[sparse], *(error[recipe] for recipe in _PARTS.values())]
    owed = {part: after / before for part, before, after in zip(_PARTS, steps, steps[1:], strict=False)}
    factors = ", ".join(f"{part} {factor:.2f}" for part, factor in owed.items())
    words += f". Of the factor {rival / error[sparse]:.2f} between that and {sparse}: {factors}"
    words += f" (they multiply). Most is owed to {max(owed, key=lambda part: owed[part])}."
    return f"{words} {_of_table(neighbours)}"


def _of_table(neighbours: str) -> str:
    """The same of the real table, where no sparsity is known to hold."""
    found = table()
    rows = found[(found["population"] == "breast_cancer") & (found["neighbours"] == neighbours)]
    error = rows.set_index("recipe")["error"]
    d, n = int(rows["d"].iloc[0]), int(rows["n"].iloc[0])
    shown = {name: error[name] for name in (next(iter(_OURS)), "without sparsity", _RIVAL)}
    told = ", ".join(f"{name} {text.error(value)}" for name, value in shown.items() if value == value)
    guess = text.error(subspace_metrics.random_guess(d, stored()["settings"]["k"]))
    return f"On the breast cancer table, {n} patients: {told}, a random guess {guess}."


def notes(neighbours: str, plain: bool) -> str:
    """What was run, what had no answer, when, and with which versions."""
    of, found = stored(), table()
    said, versions = of["settings"], of["versions"]
    columns = "measurements" if plain else "features"
    silent = found[(found["kind"] == "peer") & found["error"].isna()]
    parts = [
        f"The same patients and the same privacy, {said['k']} directions."
        if plain
        else f"The same rows and ε = {said['epsilon']:g}, δ = {text.number(said['delta'])}, k = {said['k']}, "
        f"{said['s']} true features, twice as many kept; neighbours: {neighbours}."
    ]
    patients = found[found["population"] == "sparse population"].groupby("n")["d"].unique()
    parts += [f"{n:,} patients at {', '.join(map(str, at))} {columns}." for n, at in patients.items()]
    for recipe, rows in silent.groupby("recipe"):
        at = ", ".join(str(d) for d in sorted(set(rows["d"])))
        parts.append(f"{recipe}: no answer in {of['limit_seconds']:.0f} s at {at} {columns}.")
    if neighbours != "replace-one":
        parts.append("The packages' own PCA protects a changed record: it is shown where one is replaced.")
    parts.append(
        f"Measured {of['date']} by `make bench-peers` with "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
        + "."
    )
    return " ".join(parts)
