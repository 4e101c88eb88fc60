"""A published figure or table: its printed numbers, the recipes that remake it, and its checks."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import pandas as pd

from dppca_core.experiments.papers.results import repeats
from dppca_core.experiments.papers.summary import summary


class Printed(NamedTuple):
    """Hold a published number, with the label of its curve and its x.

    Read off a picture, it is right to about its last digit.
    """

    label: str
    x: float
    value: float


class Finding(NamedTuple):
    """Hold the result of a check: its name, whether it holds, and a sentence with the numbers.

    read: whether it compares with numbers that were read in the paper, or in its authors' results.
    """

    check: str
    holds: bool
    sentence: str
    read: bool = False


class Outcome(StrEnum):
    """Name what the checks of a run say together, in the words of the screen.

    A run is as printed where numbers that were read in a paper are met. Where none were read, or the run has
    other parameters, it can show that a claim holds, at its own sizes: a trend, or the abstract's claim.
    """

    AS_PRINTED = "as printed"
    CLAIM_HOLDS = "the claim holds"
    DIFFERS = "differs"


# A check judges a figure's curves (a `summary`) and the table of runs behind them. A formula has no table:
# its curves are passed twice.
Check = Callable[[pd.DataFrame, pd.DataFrame], Finding]
NOTHING = "nothing to compare: the curves are not in this result"


@dataclass(frozen=True)
class Verdict:
    """Hold all findings of a run.

    short: whether the table has fewer repeats than the recipe asks for. Its intervals are then wider and show
    fewer claims, so that a check that fails says little. because: the known reason why the run differs; ""
    where all checks hold, or the table is short.
    """

    findings: tuple[Finding, ...]
    short: bool = False
    because: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return what the findings say together; a single one that fails makes the run differ."""
        if not all(finding.holds for finding in self.findings):
            return Outcome.DIFFERS
        return Outcome.AS_PRINTED if any(f.read for f in self.findings) else Outcome.CLAIM_HOLDS


@dataclass(frozen=True)
class PaperRun:
    """Hold one way in which a figure is remade, with the checks of its result."""

    title: str  # "the paper's parameters", or what differs from these
    checks: tuple[Check, ...]  # conditions that are computed on the result
    recipe: str = ""  # name of its recipe in data/recipes; "" where a formula gives the curves
    formula: Callable[[], pd.DataFrame] | None = None  # returns the curves where no run is needed
    because: str = ""  # reason why checks are expected to fail; "" where they are expected to hold


@dataclass(frozen=True)
class Figure:
    """Hold a figure or table of a paper, with the runs that remake it."""

    key: str  # name, as in links
    paper: str  # authors, the venue and the year
    title: str
    shows: str  # what is drawn, in a sentence
    claim: str
    metric: str  # column that is drawn
    x: str  # a swept parameter, or "round"
    runs: tuple[PaperRun, ...]  # runs; the first is the nearest to the paper's
    printed: tuple[Printed, ...] = ()
    ours: bool = False  # whether it is of this tool, with a claim that no paper has printed
    notes: tuple[str, ...] = ()  # what the paper leaves open, and how it was read

    def curves(self, run: PaperRun, table: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return the figure's curves, in the columns of a `summary`, from a sweep's table or by a formula."""
        if run.formula is not None:
            return run.formula()
        if table is None:
            raise ValueError(f"{self.title} is drawn from a table: give the result of {run.recipe}")
        return summary(table, self.x, self.metric)

    def verdict(self, run: PaperRun, table: pd.DataFrame | None = None) -> Verdict:
        """Evaluate every check of a run on this table, the result of its recipe; a formula needs none."""
        return self.verdict_of(run, self.curves(run, table), table)

    def verdict_of(self, run: PaperRun, curves: pd.DataFrame, table: pd.DataFrame | None = None) -> Verdict:
        """Evaluate every check of a run on its curves, as `curves` returns them, and on their table."""
        findings = tuple(check(curves, curves if table is None else table) for check in run.checks)
        short = table is not None and bool(run.recipe) and table["repeat"].nunique() < repeats(run.recipe)
        # A reason is for checks that fail; on a short table they may fail for want of repeats.
        decided = not short and not all(finding.holds for finding in findings)
        return Verdict(findings, short, run.because if decided else "")
