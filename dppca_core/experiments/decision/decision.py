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
    hospital: int
    answer: Answer
    evidence: Mapping[str, Evidence]  # what the rule looked at, by trust
    # Where the answer is to ask again, with how many patients in all at the same shares; None unless runs
    # with as many confirmed it (`confirmation`).
    patients: int | None = None

    @property
    def in_words(self) -> str:
        return (
            self.answer.value if self.patients is None else f"{self.answer.value}: {self.patients:,} in all"
        )


class ShareBar(NamedTuple):
    """Hold a bar, in % of the pattern."""

    lower: float  # ends of the 99 % interval of the median
    median: float
    upper: float
    tenth: float  # 10 % quantile of the runs
    ninetieth: float


def bar(shares: Array) -> ShareBar:
    (lower, upper), (tenth, median, ninetieth) = rule.median_interval(shares), quantiles(shares)
    return ShareBar(lower, float(median), upper, float(tenth), float(ninetieth))


def bars(runs: JoiningRuns, trust: str) -> dict[str, ShareBar]:
    """Return the three bars of a decision, by name: alone, together with privacy, together without.

    They need fewer runs than the verdict, which looks at every trust.
    """
    return {
        "alone": bar(runs.alone()),
        "together": bar(runs.together(trust)),
        "together, no privacy": bar(runs.without_privacy()),
    }


def decide(runs: JoiningRuns, hospital: int | None = None) -> JoiningDecision:
    """Return the verdict for a hospital that the runs measure, by default ours, by the rule of `rule`.

    Where the rule does not decide, it is to ask again if more patients at the same shares are predicted to
    pass, and else too close to tell. Runs that confirm such an answer are those of `confirmation.settle`.
    """
    index = runs.setting.ours if hospital is None else hospital
    anchor = Anchor.of_runs(runs, index)
    answer = rule.answer(anchor.measured)
    if not answer.decided and anchor.patients_to_join() is not None:
        answer = Answer.ASK_AGAIN
    return JoiningDecision(index, answer, anchor.measured)


def decide_all(runs: JoiningRuns) -> tuple[tuple[JoiningDecision, ...], ...]:
    """Return for each hospital its verdict, or those of its two measured neighbours in size."""
    setting, decided = runs.setting, [decide(runs, i) for i in runs.measured]
    ranks = [setting.rank(decision.hospital) for decision in decided]

    def neighbours(i: int) -> tuple[JoiningDecision, ...]:
        if setting.rank(i) in ranks:
            return (decided[ranks.index(setting.rank(i))],)
        above = int(np.searchsorted([size for size, *_ in ranks], setting.sizes[i], side="left"))
        above = min(max(above, 1), len(ranks) - 1)
        return decided[above - 1], decided[above]

    return tuple(neighbours(i) for i in range(len(setting.hospitals)))
