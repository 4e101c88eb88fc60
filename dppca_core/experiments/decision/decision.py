"""The decision for each hospital: the verdict by the rule, the bars beside it, and the verdicts of others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.decision import rule
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.predictions import Anchor
from dppca_core.experiments.decision.rule import Answer, Evidence
from dppca_core.experiments.explorer.results import quantiles


@dataclass(frozen=True)
class JoiningDecision:
    """Hold the verdict for a hospital.

    Attributes:
        hospital: The index of the hospital.
        answer: The verdict.
        evidence: What the rule looked at, by trust.
        patients: Where the answer is to ask again, with how many patients in all at the same shares.
    """

    hospital: int
    answer: Answer
    evidence: Mapping[str, Evidence]
    patients: int | None = None


class ShareBar(NamedTuple):
    """Hold a bar, in % of the pattern.

    Attributes:
        lower, upper: The ends of the 99 % interval of the median.
        median: The median of the runs.
        tenth: Their 10 % quantile.
        ninetieth: Their 90 % quantile.
    """

    lower: float
    median: float
    upper: float
    tenth: float
    ninetieth: float


def bar(shares: Array) -> ShareBar:
    """Return the bar of these runs, of shares in %, (runs,). Raises ValueError for no runs."""
    (lower, upper), (tenth, median, ninetieth) = rule.median_interval(shares), quantiles(shares)
    return ShareBar(lower, float(median), upper, float(tenth), float(ninetieth))


def bars(runs: JoiningRuns, trust: str) -> dict[str, ShareBar]:
    """Return the three bars of a decision, by name: alone, together with privacy, together without.

    Args:
        runs: The runs of the setting.
        trust: Whom the hospitals trust, one of `TRUSTS`.

    Returns:
        The bars, in % of the pattern. They need fewer runs than the verdict, which looks at every trust.

    Raises:
        ValueError: For another trust.
    """
    return {
        "alone": bar(runs.alone()),
        "together": bar(runs.together(trust)),
        "together, no privacy": bar(runs.without_privacy()),
    }


def decide(runs: JoiningRuns, hospital: int | None = None) -> JoiningDecision:
    """Return the verdict for a hospital, by the rule of `rule`.

    Where the rule does not decide, it is to ask again if more patients at the same shares are predicted to
    pass, and else too close to tell.

    Args:
        runs: The runs of the setting.
        hospital: The index of one of those that the runs measure; ours by default.

    Returns:
        The decision.

    Raises:
        ValueError: For a hospital that is not measured.
    """
    index = runs.setting.ours if hospital is None else hospital
    anchor = Anchor.of_runs(runs, index)
    answer = rule.answer(anchor.measured)
    if answer.decided:
        return JoiningDecision(index, answer, anchor.measured)
    patients = anchor.patients_to_join()
    answer = Answer.TOO_CLOSE if patients is None else Answer.ASK_AGAIN
    return JoiningDecision(index, answer, anchor.measured, patients)


def decide_all(runs: JoiningRuns) -> tuple[tuple[JoiningDecision, ...], ...]:
    """Return for each hospital its verdict, or those of its two neighbours in size among the measured ones.

    Returns:
        For each hospital, in their order, one decision where one of its rank is measured, else two.
    """
    setting, decided = runs.setting, [decide(runs, i) for i in runs.measured]
    ranks = [setting.rank(decision.hospital) for decision in decided]

    def neighbours(i: int) -> tuple[JoiningDecision, ...]:
        """Return the decisions at the hospital's rank, or just below and above."""
        if setting.rank(i) in ranks:
            return (decided[ranks.index(setting.rank(i))],)
        above = int(np.searchsorted([size for size, *_ in ranks], setting.sizes[i], side="left"))
        above = min(max(above, 1), len(ranks) - 1)
        return decided[above - 1], decided[above]

    return tuple(neighbours(i) for i in range(len(setting.hospitals)))
