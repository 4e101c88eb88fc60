"""The sentences of the papers page.

A figure has runs, our attempts to remake it. A run's verdict has a finding for each of its checks, which are
conditions on its numbers, and an `Outcome`, which these decide together.
"""

import platform
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dppca_core.experiments.papers import Figure, Finding, Outcome, PaperRun, Stored, Verdict
from dppca_core.experiments.papers.claims import number
from pages.shared import text

TITLE = "Papers"
STEPS = (
    "The chart shows our own runs of a printed figure.",
    "Choose a figure, or run it again with another seed.",
    "The heading says what our own numbers decide.",
)
NOT_RUN = "not run here"
FITTED = "Curves that are fitted to the figure show what it claims, and test none of its numbers."
VERDICTS = (
    "*As printed*: the run meets numbers that the authors published. *The claim holds*: it shows a trend, or "
    "what the abstract says, at the sizes given. *Differs*: some check fails."
)
_MARKUP = re.compile(r"<[^>]+>")
TOO_FEW = "too few runs to decide"


def introduction(counts: Mapping[Outcome, int]) -> str:
    as_printed, holds, differs = (counts[outcome] for outcome in Outcome)
    return (
        f"**Do we get what the papers got?** We ran {sum(counts.values())} versions of four papers' figures "
        f"and tables. {as_printed} come out as printed, in {holds} the claim holds, and {differs} differ."
    )


def verdict(checked: Verdict) -> str:
    return TOO_FEW if checked.short and checked.outcome is Outcome.DIFFERS else str(checked.outcome)


def sizes(ends: Mapping[str, tuple[float, float]]) -> str:
    """Return the sizes of a run; ends: the least and the most of each."""
    parts = (f"{name} = {' to '.join(dict.fromkeys(map(number, pair)))}" for name, pair in ends.items())
    return text.symbols(", ".join(parts))


def findings(findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        mark = "✓ holds:" if finding.holds else "✗ fails:"
        lines.append(f"{mark} **{text.sentence(finding.check)}.** {text.sentence(finding.sentence)}.")
    return text.symbols("  \n".join(lines))


def claim(figure: Figure) -> str:
    head = "Printed" if figure.printed else "Claimed"  # without numbers that were read, only a claim is known
    return text.symbols(f"**{head}.** {text.sentence(figure.shows)} {text.sentence(figure.claim)}")


def agreement(first: pd.DataFrame, second: pd.DataFrame) -> str:
    """Return how far the means of two runs are apart, and how many differences lie within their interval.

    Half an interval is about two standard errors of its mean; that of a difference is the root of the sum of
    both squares. first, second: curves, a row for each label and x.
    """
    both = first.merge(second, on=["label", "x"], suffixes=("", " again"))
    both = both[np.isfinite(both["mean"]) & np.isfinite(both["mean again"])]
    if both.empty:
        return "Nothing to compare yet."
    gap = (both["mean"] - both["mean again"]).abs()
    worst = both.loc[gap.idxmax()]
    where = text.symbols(f"{worst['label']} at {text.number(float(worst['x']))}").strip()
    halves = np.hypot(both["high"] - both["mean"], both["high again"] - both["mean again"])
    # A curve with a single run has no interval, so nothing can lie within it.
    known = halves[np.isfinite(halves) & (halves > 0)]
    inside = int((gap[known.index] <= known).sum())
    sentence = f"Means differ by at most {text.short(float(gap.max()))} ({where})"
    if len(known):
        sentence += f"; {inside} of {len(known)} differences lie within their 95 % interval"
    return sentence + "."


def stored(source: Stored) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in source.versions.items())
    return (
        f"Stored {source.date} by `{source.command}`; seed {source.seed}; {versions}; recipe "
        f"{source.fingerprint}. This page runs on Python {platform.python_version()}."
    )


def paper(verdict: str, curves: pd.DataFrame, measure: str) -> str:
    """Return the figure in words, for who does not see it: the verdict, and both ends of every curve."""
    parts = []
    for label, curve in curves.groupby("label", sort=False):
        ends_at = curve.sort_values("x")[["x", "mean"]].to_numpy()[[0, -1]].tolist()
        ends = [f"{text.short(y)} at {text.number(x)}" for x, y in ends_at]
        name = text.symbols(str(label)) or "this run"
        parts.append(f"{name} {ends[0]}" if len(curve) == 1 else f"{name} from {ends[0]} to {ends[1]}")
    drawn = f"{_MARKUP.sub('', measure)}: {'; '.join(parts)}" if parts else "Nothing is stored"
    return f"{verdict}. {drawn}."


def reason(run: PaperRun, because: str) -> str:
    usual = FITTED if run.formula else "Every check below comes out as it should."
    sentence = text.sentence(because or usual)
    return text.symbols(f"**Found ({run.title}).** {sentence}")


def try_this(can_run: bool) -> str:
    if not can_run:
        return "choose another figure below and run it again with a seed of your own."
    return (
        "run all of it again with another seed: the crosses fall within the bars of the stored run. A quick "
        "version has wider bars and decides less."
    )
