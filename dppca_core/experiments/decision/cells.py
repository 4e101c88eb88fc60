"""The runs and the decisions of a setting as cells, which pages measure one by one.

A cell is one run of an arm, (*arm, run), whose value is a share in %; or it is (LOOK, repeats), the verdict
of so many runs, (TRIAL, number), (VERDICT,), (VERDICTS,) or (TURNS, "patients" or "epsilon"), whose values
follow from all runs. Our verdict is settled as by `confirmation.settle`.
"""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.decision import confirmation
from dppca_core.experiments.decision.confirmation import MORE, MOST_TRIALS, Trial
from dppca_core.experiments.decision.decision import JoiningDecision, decide, decide_all
from dppca_core.experiments.decision.hospitals import JoiningExperiment
from dppca_core.experiments.decision.outcomes import ALONE_AT, TOGETHER, WITHOUT, Arm, JoiningRuns
from dppca_core.experiments.decision.predictions import Along, Anchor
from dppca_core.experiments.decision.rule import Answer
from dppca_core.experiments.estimated_seconds import draw_rows_seconds, eigenproblem_seconds

LOOK, TRIAL, VERDICT, VERDICTS, TURNS = "look", "trial", "verdict", "verdicts", "turns"

_RUNS_SECONDS = 4.0  # of a run, in eigenproblems
_RUNS_OF_FIRST = 5  # as many as the first run of an arm takes, with those that choose the way without privacy


class JoiningCells(CellStore[tuple[Any, ...], Any]):
    linked = True  # a verdict is reached from runs

    def __init__(self, setting: JoiningExperiment) -> None:
        super().__init__(MORE * setting.repeats)
        self._first = JoiningRuns(setting)
        self._all = self._first.extended(self.repeats)

    @property
    def runs(self) -> JoiningRuns:
        """Return the runs that the verdict rests on: more, once the first have left it open."""
        look: JoiningDecision | None = self.cells.get((LOOK, self._first.setting.repeats))
        return self._first if look is None or look.answer.decided else self._all

    def measure(self, cell: tuple[Any, ...]) -> Any:
        kind, *rest = cell
        if kind == LOOK:
            return decide(self._all if rest[0] == self.repeats else self._first)
        if kind == TRIAL:
            patients = self._patients_to_try()
            assert patients is not None  # trials are asked for in their order, and none after the last
            return confirmation.trial(self._first.setting, patients, rest[0])
        if kind == VERDICT:
            while self._patients_to_try() is not None:
                self.cell(TRIAL, len(self._trials))
            return confirmation.concluded(self.runs, self._look, self._trials)
        if kind == VERDICTS:
            return decide_all(self.runs)
        if kind == TURNS:
            return Anchor.of_runs(self.runs, self.runs.setting.ours).turns(*rest)
        return self._all.run((kind, rest[0]), rest[1])

    @property
    def looked(self) -> bool:
        """Return whether it is known which runs the verdict rests on."""
        return (LOOK, self._first.setting.repeats) in self.cells

    @property
    def confirming(self) -> bool:
        """Return whether the verdict waits for runs with more patients."""
        look: JoiningDecision | None = self.cells.get((LOOK, self.repeats))
        return (VERDICT,) not in self.cells and look is not None and look.answer is Answer.ASK_AGAIN

    def wanted(self, brief: bool = False) -> Iterator[tuple[Any, ...]]:
        """Return what our verdict needs, with the bar without privacy; then others and turns."""
        ours, first = self._first.setting.ours, self._first.setting.repeats
        arms: tuple[Arm, ...] = (
            (ALONE_AT, ours),
            *((TOGETHER, trust) for trust in reversed(TRUSTS)),
            (WITHOUT, ""),
        )
        yield from self._runs(range(first), *arms)
        yield (LOOK, first)
        if self.runs is self._all:
            yield from self._runs(range(first, self.repeats), *arms)
            yield (LOOK, self.repeats)
            for number in range(MOST_TRIALS):
                if self.confirming and self._patients_to_try() is not None:
                    yield (TRIAL, number)
        yield (VERDICT,)
        if not brief:
            others: list[Arm] = [(ALONE_AT, i) for i in self.runs.measured if i != ours]
            yield from self._runs(range(self.runs.setting.repeats), *others)
            yield (VERDICTS,)
            yield from ((TURNS, along) for along in get_args(Along))

    def seconds(self, *cell: Any) -> float:
        """Estimate the seconds of a cell: by what its kind took last, or by the features."""
        return self.took.get(cell[0], _RUNS_OF_FIRST * (self._run_seconds + self._draw_seconds))

    def answer_seconds(self, *cell: Any) -> float:
        """Estimate the seconds until our verdict: of the runs that are missing."""
        runs = [run for run in self.missing(self.wanted(True)) if len(run) == 3]  # the last part is its draw
        return len(runs) * self._run_seconds + len({run[2] for run in runs}) * self._draw_seconds

    @property
    def _run_seconds(self) -> float:
        return _RUNS_SECONDS * eigenproblem_seconds(self._first.setting.experiment.d)

    @property
    def _draw_seconds(self) -> float:
        return draw_rows_seconds(self._first.setting.experiment.d)

    @property
    def answers(self) -> bool:
        return self.looked

    @property
    def states(self) -> tuple[dict[Any, Any], ...]:
        return *super().states, self._first.known

    def shares(self, arm: Arm) -> Array:
        return np.array(self.measured(*arm))

    @property
    def _look(self) -> JoiningDecision:
        decision: JoiningDecision = self.cell(LOOK, self.runs.setting.repeats)
        return decision

    @property
    def _trials(self) -> list[Trial]:
        return self.measured(TRIAL)

    def _patients_to_try(self) -> int | None:
        return confirmation.patients_to_try(self.runs, self._look, self._trials)

    def _runs(self, draws: range, *arms: Arm) -> Iterator[tuple[Any, ...]]:
        """Return the cells of these arms, run by run: the arms of one run share its patients."""
        return ((*arm, draw) for draw in draws for arm in arms)
