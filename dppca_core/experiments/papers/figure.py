"""A published figure or table: what it prints, the recipes that remake it, and what is checked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from dppca_core.experiments.papers.results import repeats
from dppca_core.experiments.papers.summary import summary


class Printed(NamedTuple):
    """One published number: of which curve, at which x; read off a picture to about its last digit."""

    label: str
    x: float
    value: float
    kind: Literal["tabulated", "read off", "stated"] = "read off"


class Finding(NamedTuple):
    """What a check found: whether it holds, and one sentence with the numbers."""

    check: str
    holds: bool
    sentence: str


@dataclass(frozen=True)
class Check:
    """A condition on a figure's curves (a `summary`) and its table, which a formula does not have.

    `judge` says whether it holds, in one sentence with the numbers.
    """

    name: str
    judge: Callable[[pd.DataFrame, pd.DataFrame | None], tuple[bool, str]]

    def of(self, curves: pd.DataFrame, table: pd.DataFrame | None = None) -> Finding:
        """The check on this result."""
        holds, sentence = self.judge(curves, table)
        return Finding(self.name, bool(holds), sentence)


@dataclass(frozen=True)
class Verdict:
    """All findings of one run.

    short: the table has fewer runs than the recipe asks for, whose wider intervals show fewer claims.
    because: why the run does not come out as printed, and only then.
    """

    findings: tuple[Finding, ...]
    short: bool = False
    because: str = ""

    @property
    def reproduced(self) -> bool:
        """Whether every check holds."""
        return all(finding.holds for finding in self.findings)


@dataclass(frozen=True)
class PaperRun:
    """One way to remake a figure: a recipe by name (data/recipes), or a formula that gives the curves.

    title: "as printed", or what differs. because: why its checks of the printed claim are expected to fail;
    empty where they are expected to hold. Every claim that is checked is a condition computed on the result.
    """

    title: str
    checks: tuple[Check, ...]
    recipe: str = ""
    formula: Callable[[], pd.DataFrame] | None = None
    because: str = ""

    def __post_init__(self) -> None:
        if bool(self.recipe) == (self.formula is not None):
            raise ValueError(f"{self.title} must have a recipe or a formula, and not both")


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper. metric: the column drawn; x: a swept parameter, or "round".

    shows: what is drawn, in one sentence. claim: what the paper says of it. printed: its numbers where they
    are known. runs: the first is the one as printed. notes: what the paper leaves open, and how it was read.
    """

    key: str
    paper: str
    title: str
    shows: str
    claim: str
    metric: str
    x: str
    runs: tuple[PaperRun, ...]
    printed: tuple[Printed, ...] = ()
    notes: tuple[str, ...] = ()

    def curves(self, run: PaperRun, table: pd.DataFrame | None = None) -> pd.DataFrame:
        """The figure's curves, from a sweep's table or, for a formula, from nothing.

        Raises ValueError where a table is needed and none is given.
        """
        if run.formula is not None:
            return run.formula()
        if table is None:
            raise ValueError(f"{self.title} is drawn from a table: give the result of {run.recipe}")
        return summary(table, self.x, self.metric)

    def verdict(self, run: PaperRun, table: pd.DataFrame | None = None) -> Verdict:
        """Every check of the run, computed on this table; nothing is known beforehand.

        Raises ValueError where a run with a recipe has no table.
        """
        curves = self.curves(run, table)
        findings = tuple(check.of(curves, table) for check in run.checks)
        short = table is not None and bool(run.recipe) and table["repeat"].nunique() < repeats(run.recipe)
        decided = not short and not all(finding.holds for finding in findings)
        return Verdict(findings, short, run.because if decided else "")
