"""Plan a study on a hospital's table, from what is public of it: its sizes, its row bound, what it paid for.

A table has no population that anybody knows. Until its eigenvalues were paid for, three spectra are stated in
their place (`dppca_core.bounds.stated_spectra`), and the largest error that is predicted on them counts: the
predictions by which a release is judged and recommended. A mean or scales that are paid for take their part
of the budget first. Nothing here is computed from rows.
"""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.bounds.perturbation import check_small_error
from dppca_core.bounds.recommendation import chosen_rows
from dppca_core.bounds.rule import BoundRule, make_bound
from dppca_core.bounds.stated_spectra import Pattern, errors_on, patterns
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.planning.planning import NO_NOISE, PlanAnswer, StudyPlan
from dppca_core.mechanisms import paid_centre, paid_scale
from dppca_core.populations.dictionary_twin import CategoryCells, NumberCells
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget, Neighbours
from dppca_core.records import RELEASED, Bound, Setting
from dppca_core.release.request import STACKED_ROUNDS, TWO_STAGES, most_features

# By planned method that can be released of a table: the candidate of `stated_spectra` that predicts it.
# Of two that are as good, the first is recommended.
_RELEASABLE = ("analyze_gauss", "sealed_sparse", "own_noise_sparse", *TWO_STAGES, *STACKED_ROUNDS)
PREDICTED_AS = {name: name for name in _RELEASABLE}

FEW = "of so few features a release would keep all, as stacked rounds do"


@dataclass(frozen=True)
class PublicTable:
    """Hold what is public of a table with one row for each patient: no row, and no name of a column.

    Attributes:
        d: Encoded columns.
        n: Patients.
        providers: Hospitals.
        bound: Length to which rows are shortened, in units of the dictionary.
        mean_share: Part of a budget that pays for a private mean; 0 where the centre is public, None where it
            is set by `paid_centre.share`.
        scale_share: Part that pays for private scales of the columns; None is set by `paid_scale.share`.
        eigenvalues: Noisy ones that were released before, falling; () where none were.
        std: Standard deviation of their noise.
        paid: The privacy budget that they cost.
        columns: What is public of each column, without its name; none where that is not known.
        clip: The bound, in root mean square lengths of rows that spread evenly over the dictionary.
    """

    d: int
    n: int
    providers: int
    bound: float
    mean_share: float | None = 0.0
    scale_share: float | None = 0.0
    eigenvalues: tuple[float, ...] = ()
    std: float = 0.0
    paid: Budget | None = None
    columns: tuple[NumberCells | CategoryCells, ...] = ()
    clip: float = 1.0

    def shares(self, budget: Budget, n: int) -> tuple[float, float]:
        """Return the shares of a budget that mean and scales take at n patients.

        They are shares of 1/z^2, z being the noise multiplier of the whole budget.
        """
        mean = paid_centre.share(budget, d=self.d, n=n) if self.mean_share is None else self.mean_share
        return mean, paid_scale.share(mean) if self.scale_share is None else self.scale_share

    def remaining(self, budget: Budget, n: int) -> Budget:
        """Return what mean and scales leave of a budget at n patients.

        A plan without noise (`NO_NOISE`) pays for neither.
        """
        prior = sum(self.shares(budget, n)) if budget.epsilon < NO_NOISE else 0.0
        return gaussian.remaining(budget, prior) if prior else budget

    def patterns(self, k: int) -> list[Pattern]:
        """Return the populations that the table's patients may be of, for k components.

        They have the eigenvalues that were paid for, if any, else three that are stated. Paid eigenvalues are
        of rows in public units. Where scales are paid for the release is of other rows, so they do not count.
        """
        values = np.array(self.eigenvalues) if self.eigenvalues and self.scale_share == 0 else None
        return patterns(self.d, k, centred=self.mean_share != 0, eigenvalues=values, std=self.std)

    def experiment(
        self, k: int, delta: float, neighbours: Neighbours, providers: int | None = None
    ) -> ExplorerExperiment:
        """Return the experiment that a `TablePlan` takes.

        Of its population only the numbers d and k matter, as predictions are for `patterns`.

        Args:
            k: The number of components.
            delta: The chance of failure of the privacy budget.
            neighbours: The neighbouring relation of the budget.
            providers: The number of hospitals; None is the table's.
        """
        hospitals = self.providers if providers is None else providers
        stand_in = SpikedModel(d=self.d, k=k, s=self.d)
        # Sparse methods keep all d features; two stages choose theirs from what they release.
        return ExplorerExperiment(
            stand_in, self.n, k, self.d, delta, hospitals, neighbours=neighbours, choose_rows=True
        )


@dataclass(frozen=True)
class TablePlan(StudyPlan):
    """A table plan states a target for one method, and a study of patients like those of a table.

    It answers questions as `StudyPlan` does, but from the largest error predicted on the table's `patterns`.

    Args:
        table: What is public of the table.

    Raises:
        ValueError: As of `StudyPlan`, and for captured energy, which nothing predicts here.
    """

    _: KW_ONLY
    table: PublicTable

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.energy:
            raise ValueError("energy must be False: only the error of a table is predicted")

    @property
    def no_formula(self) -> str:
        """Return why nothing is predicted of the method, or "" where something is."""
        if self.planned not in PREDICTED_AS:
            return "none is used for a table"
        d, k = self.experiment.d, self.experiment.k
        return FEW if self.method.chooses_rows and chosen_rows(d, k) == d else ""

    @property
    def median(self) -> bool:
        """Return True: the target is a median over runs, since all predictions here are medians."""
        return True

    @property
    def options(self) -> dict[str, Any]:
        """Return the options with which a release runs the method."""
        return {"s_hat": RELEASED} if self.method.chooses_rows else {}

    @cached_property
    def patterns(self) -> list[Pattern]:
        """Return the populations that the table may come from, of which the worst predicted error counts."""
        return self.table.patterns(self.experiment.k)

    @cached_property
    def rule(self) -> BoundRule:
        """Return the prediction in the form of a bound's rule, which `StudyPlan` evaluates and inverts."""
        return BoundRule(
            title="Largest error predicted on these populations",
            kind="prediction",
            methods=(),
            formula=r"\max_{\text{populations}}\ \text{predicted }\|\sin\Theta\|",
            compute=self._predicted,
            source="predictions in the median of runs, derived for this tool and checked by simulation in "
            "its tests",
            needs_gap=False,
            smooth=False,
            name="worst_pattern",
        )

    def setting(self, n: int, epsilon: float, hospitals: int | None = None) -> Setting:
        """Return the point at which the prediction is made.

        The prediction takes its numbers and its budget, and eigenvalues from `patterns`: those of the setting
        only fill the field, and are of the last pattern. hospitals: their number; None is the experiment's.
        """
        top = self.patterns[-1].spikes
        scaled = np.concatenate([np.sort(top)[::-1], np.ones(self.experiment.d - len(top))])
        hospitals = self.experiment.providers if hospitals is None else hospitals
        return self.experiment.setting(epsilon, scaled / scaled.sum(), n=n, providers=hospitals)

    def errors(self, n: int, epsilon: float) -> tuple[float, ...]:
        """Return the predicted median of sin Theta on each population, in the order of `patterns`."""
        return self._errors(self.setting(n, epsilon))

    def _errors(self, setting: Setting) -> tuple[float, ...]:
        """Return `errors` at a setting, with the budget that mean and scales leave of the setting's."""
        return errors_on(
            self.patterns,
            self.method.trust,
            n=setting.n,
            d=setting.d,
            k=setting.k,
            budget=self.table.remaining(setting.budget, setting.n),
            providers=setting.providers,
        )[PREDICTED_AS[self.planned]]

    def _predicted(self, setting: Setting) -> Bound:
        """Return the largest of the predicted errors at a setting, in the form of a closed form's result."""
        error = max(self._errors(setting))
        return make_bound([check_small_error(setting, error)], {"predicted": error}, error)

    @cached_property
    def _refused(self) -> PlanAnswer | None:
        """Return the answer to every question where there can be no other; else None."""
        if self.planned in PREDICTED_AS and self.experiment.d > most_features(self.planned):
            reason = f"a release by it takes at most {most_features(self.planned):,} features"
            return PlanAnswer(None, "too large", failed=(reason,))
        return super()._refused
