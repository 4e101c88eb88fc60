"""The runs and the decisions of a setting as cells, which pages measure one by one.

A cell is one run of an arm, (*arm, run), whose value is a share in %; or it is (VERDICT,), (VERDICTS,) or
(TURNS, "patients" or "epsilon"), whose value follows from all runs.
"""

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.decision.decision import decide, decide_all
from dppca_core.experiments.decision.hospitals import JoiningSetting
from dppca_core.experiments.decision.outcomes import ALONE_AT, TOGETHER, WITHOUT, Arm, JoiningRuns
from dppca_core.experiments.decision.predictions import Along, Anchor

VERDICT, VERDICTS, TURNS = "verdict", "verdicts", "turns"


class JoiningCells(CellStore[tuple[Any, ...], Any]):
    """Hold the runs of a setting and its decisions, as measured so far.

    Args:
        setting: The hospitals.

    Attributes:
        runs: The same runs, for what needs all of them.
    """

    def __init__(self, setting: JoiningSetting) -> None:
        super().__init__(setting.repeats)
        self.runs = JoiningRuns(setting)

    def measure(self, cell: tuple[Any, ...]) -> Any:
        """Return one run, our decision, those of all hospitals, or where ours is predicted to turn."""
        kind, *rest = cell
        if kind == VERDICT:
            return decide(self.runs)
        if kind == VERDICTS:
            return decide_all(self.runs)
        if kind == TURNS:
            return Anchor.of_runs(self.runs, self.runs.setting.ours).turns(*rest)
        return self.runs.run((kind, rest[0]), rest[1])

    def wanted(self, brief: bool = False) -> Iterator[tuple[Any, ...]]:
        """Return what our verdict needs, then the bar without privacy, the other hospitals and the turns.

        brief: Whether the last two are left out.
        """
        ours = self.runs.setting.ours
        yield from self._runs((ALONE_AT, ours), *((TOGETHER, trust) for trust in reversed(TRUSTS)))
        yield (VERDICT,)
        yield from self._runs((WITHOUT, ""))
        if not brief:
            yield from self._runs(*((ALONE_AT, i) for i in self.runs.measured if i != ours))
            yield (VERDICTS,)
            yield from ((TURNS, along) for along in get_args(Along))

    def _runs(self, *arms: Arm) -> Iterator[tuple[Any, ...]]:
        """Return the cells of these arms, run by run: the arms of one run share its patients."""
        return ((*arm, draw) for draw in range(self.repeats) for arm in arms)

    def shares(self, arm: Arm) -> Array:
        """Return the runs of an arm so far, in %."""
        return np.array(self.measured(*arm))
