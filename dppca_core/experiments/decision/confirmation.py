"""Settle what the first runs of a decision leave open: by more runs, and by runs with more patients.

Where the rule does not decide after `setting.repeats` runs, it decides after MORE times as many, of which
those are the first. At 40 runs and at 160 an interval misses the median on one side with a chance of .3 and
of .5 %, so that both looks together find a gain that is not there with a chance below 1 %.

If that leaves the question open too, and more patients are predicted to join (`Anchor.patients_to_join`), so
many are tried with runs of their own. After a trial that does not join, the next number is predicted from its
runs. Trials end with a number at which PASSES in succession join, each from fresh runs: a single one can join
by luck at a number where most others do not. Of those who ask again with that number nine in ten shall find
that `setting.repeats` runs join; `benchmarks.decisions` counts them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dppca_core.experiments.decision.decision import JoiningDecision, decide
from dppca_core.experiments.decision.hospitals import JoiningExperiment, scaled
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.predictions import Anchor
from dppca_core.experiments.decision.rule import Answer, answer

MORE = 4  # times the first runs
PASSES = 3  # trials in succession that must join
MOST_TRIALS = 20
_STREAM = 2**40  # between the seeds of trials, beyond all seeds of settings


class Trial(NamedTuple):
    patients: int  # of all hospitals, before those of each are rounded
    joins: bool  # whether the verdict there is to join
    more: int | None  # where it is not, with how many in all it is predicted to be; None for none


def trial(setting: JoiningExperiment, patients: int, number: int) -> Trial:
    """Return what `setting.repeats` runs with so many patients in all show; number: of the trial, a seed."""
    larger = replace(_with(setting, patients), seed=setting.seed + (1 + number) * _STREAM)
    anchor = Anchor.of_runs(JoiningRuns(larger), larger.ours)
    joins = answer(anchor.measured).joins
    return Trial(patients, joins, None if joins else anchor.patients_to_join())


def patients_to_try(runs: JoiningRuns, decision: JoiningDecision, trials: Sequence[Trial]) -> int | None:
    """Return with how many patients in all the next trial runs, rounded up to two digits; None ends them."""
    if decision.answer is not Answer.ASK_AGAIN or len(trials) == MOST_TRIALS or _confirmed(trials):
        return None
    if trials and trials[-1].joins:
        return trials[-1].patients
    first = Anchor.of_runs(runs, decision.hospital).patients_to_join
    patients = trials[-1].more if trials else first()
    if patients is None:
        return None
    unit: int = 10 ** max(len(str(patients)) - 2, 0)
    return unit * math.ceil(patients / unit)


def concluded(runs: JoiningRuns, decision: JoiningDecision, trials: Sequence[Trial]) -> JoiningDecision:
    """Return the decision once trials have ended: too close to tell where they confirm no number."""
    if decision.answer is not Answer.ASK_AGAIN:
        return decision
    if _confirmed(trials):
        return replace(decision, patients=_with(runs.setting, trials[-1].patients).n)
    return replace(decision, answer=Answer.TOO_CLOSE)


def settle(setting: JoiningExperiment) -> tuple[JoiningRuns, JoiningDecision]:
    """Return the runs that the verdict for our hospital rests on, and the verdict with what confirms it."""
    runs = JoiningRuns(setting)
    decision = decide(runs)
    if decision.answer.decided:
        return runs, decision
    runs = runs.extended(MORE * setting.repeats)
    decision, trials = decide(runs), list[Trial]()
    while (patients := patients_to_try(runs, decision, trials)) is not None:
        trials.append(trial(setting, patients, len(trials)))
    return runs, concluded(runs, decision, trials)


def _with(setting: JoiningExperiment, patients: int) -> JoiningExperiment:
    return scaled(setting, patients=patients / setting.n)


def _confirmed(trials: Sequence[Trial]) -> bool:
    last = trials[-PASSES:]
    return len(last) == PASSES and all(each.joins for each in last)
