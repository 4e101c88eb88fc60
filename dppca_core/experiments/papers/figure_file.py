"""Figures as YAML: data/papers has a file for each paper, with what it prints and how that is checked.

An entry has the fields of `Figure`, but `paper` and `ours`, which all of a file share, with `printed` as
curves at some x. `checks` are of all its runs but those that list checks of their own. Each has a `name`, the
claim in words, a `kind`, which is a key of `KINDS`, and the arguments of that function; "near" compares with
the printed numbers of the entry.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import yaml

from dppca_core import paths
from dppca_core.experiments.papers import beyond, claims, ge
from dppca_core.experiments.papers.figure import Check, Figure, PaperRun, Printed

KINDS: Mapping[str, Callable[..., Check]] = {
    "near": claims.near,
    "ranked": claims.ranked,
    "moves": claims.moves,
    "lead": claims.lead,
    "against": claims.against,
    "as a guess": claims.as_a_guess,
    "below a guess": claims.below_a_guess,
    "slower than sqrt(log p)": claims.slower_than_root_log,
    "fewer": beyond.needs_fewer,
    "a tenth": beyond.tenth_of_one_release,
    "nine of ten": beyond.nine_of_ten,
}
FORMULAS: Mapping[str, Callable[[], pd.DataFrame]] = {"figure 2": ge.figure_2}


def read(name: str) -> list[Figure]:
    json_value = yaml.safe_load(paths.stored_text(f"papers/{name}.yaml"))
    of_all = {"paper": json_value["paper"], "ours": json_value.get("ours", False)}
    return [_figure(**of_all, **entry) for entry in json_value["figures"]]


def _figure(
    *,
    paper: str,
    ours: bool,
    checks: Sequence[Mapping[str, Any]],
    runs: Sequence[Mapping[str, Any]],
    printed: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    **texts: str,
) -> Figure:
    """Return the figure that an entry of a paper's file describes; texts: the other fields of `Figure`."""
    numbers = _published_numbers(**printed) if printed else ()
    usual = _checks(checks, numbers)  # of the runs that list none of their own

    def run(entry: Mapping[str, Any]) -> PaperRun:
        given: dict[str, Any] = {"checks": usual, **entry}
        if "checks" in entry:
            given["checks"] = _checks(entry["checks"], numbers)
        if "formula" in entry:
            given["formula"] = FORMULAS[entry["formula"]]
        return PaperRun(**given)

    listed = tuple(map(run, runs))
    return Figure(paper=paper, ours=ours, runs=listed, printed=numbers, notes=tuple(notes), **texts)


def _published_numbers(at: Sequence[float], curves: Mapping[str, Sequence[float]]) -> tuple[Printed, ...]:
    points = ((label, pair) for label, values in curves.items() for pair in zip(at, values, strict=True))
    return tuple(Printed(label, float(x), float(value)) for label, (x, value) in points)


def _checks(entries: Sequence[Mapping[str, Any]], numbers: tuple[Printed, ...]) -> tuple[Check, ...]:
    return tuple(_check(numbers, **entry) for entry in entries)


def _check(numbers: tuple[Printed, ...], kind: str, name: str, **options: Any) -> Check:
    if kind == "near":
        options["printed"] = numbers
    return KINDS[kind](name, **options)
