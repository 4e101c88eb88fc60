"""The answer for a hospital's table by simulation: bisection with runs on rows that its dictionary allows.

Invented rows follow the dictionary (`dppca_core.populations.dictionary_twin`) with each spectrum that the
table may have, each of which is a pattern; the one where the median run errs most counts, at each value anew.
Rows are shortened and centred as a release does it, so a run at the table's own size is one of its rehearsal.
A value is a number of patients, or epsilon (`planning.bisection`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.stated_spectra import Pattern
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.planning.bisection import Search
from dppca_core.experiments.planning.table_plan import TablePlan
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.populations.dictionary_twin import spiked_twin
from dppca_core.populations.spiked import SpikedModel

BULK = 10.0  # the top of a spiked model's bulk
_FEWEST_FEATURES = 4  # features of a twin: k below s, and s at most d
MOST_FEATURES = 400  # up to which a run takes little time
MOST_DRAWN = 10**7  # numbers of rows that are drawn one by one: a quarter of a second for each repeat
_SEARCH_FACTOR = 16.0  # times the closed form's answer, up to which a search must be able to go


@dataclass(frozen=True)
class TableSearch(Search):
    """A search bisects with runs on invented rows of a table's dictionary.

    Args:
        plan: A plan of a table whose columns are known; see `can_search`.

    Raises:
        ValueError: As of `Search`, and for another plan.
    """

    plan: TablePlan

    def _check_patients(self) -> None:
        """Raise ValueError where no rows can be invented, for want of a dictionary."""
        if not self.plan.table.columns:
            raise ValueError("columns must be known, got none")

    def errors(self, value: Value, pattern: Pattern) -> Array:
        """Run the method at a value on rows with one spectrum; return sin Theta of each run, (repeats,)."""
        # `experiment` has the patients and the hospitals of this value; a cell needs its epsilon only.
        # Where hospitals are asked for, `_unit` is the patients of each, so the answer is value / _unit.
        name, (_, epsilon, _) = self.plan.method.name, self.question.at(value / self._unit)
        results = Results(self.experiment(value, pattern), (name,))
        # The last sin Theta of a run is the one of its result.
        return np.array([results.measure((name, epsilon, run)).sin[-1] for run in range(self.repeats)])

    def experiment(self, value: Value, pattern: Pattern) -> ExplorerExperiment:
        """Return the setting of the runs at a value on one population, of which rows are invented."""
        plan, table, planned = self.plan, self.plan.table, self.plan.experiment
        n, epsilon, hospitals = self.question.at(value / self._unit)
        mean_share, _ = table.shares(planned.budget(epsilon), n)  # `can_search` admits no paid scales
        spikes = tuple(BULK * spike for spike in pattern.spikes)
        spiked = SpikedModel(
            table.d, planned.k, s=pattern.carriers, spike=spikes, bulk=(0.0, BULK), seed=planned.seed
        )
        # `square` sets how far invented numbers spread, from paid eigenvalues; 0 spreads them evenly.
        return ExplorerExperiment(
            spiked_twin(
                table.columns, table.bound, spiked, centred=mean_share > 0, square=pattern.mean_square_length
            ),
            n=n,
            k=planned.k,
            s_hat=table.d,  # sparse methods keep all features
            delta=planned.delta,
            providers=hospitals or planned.providers,
            neighbours=planned.neighbours,
            repeats=self.repeats,
            method=plan.method.name,
            # Of clipped rows only moments are kept, and scaling rows to length 1 needs the rows.
            clip=None if plan.method.scaling == "unit" else table.clip,
            choose_rows=True,
            mean_share=mean_share,
        )

    def losses(self, runs: Mapping[Value, Sequence[Array]]) -> tuple[Array, Array]:
        """Return the values, ascending (m,), and squared errors, (m, repeats).

        runs: At each value the sin Theta of its runs, (repeats,), on each population. Of these the one with
            the largest median counts.
        """
        # `sines` are of one value: a row for each population, a column for each run.
        worst = {value: sines[int(np.argmax(np.median(sines, axis=1)))] for value, sines in runs.items()}
        at = sorted(worst)
        return np.array(at, dtype=float), np.array([worst[value] for value in at]) ** 2


def can_search(plan: TablePlan, patients: float) -> bool:
    """Return whether a search for about so many patients can invent its rows, one by one.

    It must be fast well beyond that number, and the dictionary must be known. Where scales are paid for, rows
    are divided by them and no longer have the dictionary's ranges, so that it tells nothing.
    """
    table = plan.table
    narrow = bool(table.columns) and _FEWEST_FEATURES <= table.d <= MOST_FEATURES
    return narrow and table.scale_share == 0 and _SEARCH_FACTOR * patients * table.d <= MOST_DRAWN
