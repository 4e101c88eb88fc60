"""The explorer's experiment: every setting of the front page but epsilon, and the epsilons that it measures.

The rehearsal on *Your data* is an experiment as well, about the method that will be released. The chosen
method, `method`, is the one that the page's figure is about; others are compared with it. A twin
(`DictionaryTwin`) is a population of invented patients in place of a visitor's table.

Generators are keyed by the method and the repeat, not by epsilon or delta: common random numbers make curves
smooth, and adding a method changes no other method's numbers.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dppca_core import datasets
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws, fitted_release
from dppca_core.experiments.fitted_release import FittedTwin
from dppca_core.mechanisms.paid_lengths import FittedBound
from dppca_core.methods import METHODS
from dppca_core.numerics import moments
from dppca_core.populations.dictionary_twin import DictionaryTwin, about_mean
from dppca_core.populations.differing import DifferingHospitals
from dppca_core.populations.elliptical import hospital_sizes
from dppca_core.populations.stated import StatedCorrelations
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import AccountingKind, Budget, Neighbours
from dppca_core.records import RELEASED, Estimate, ProviderNoise, Setting

# The published method of Theorem 4.3, which is shown round by round, and of which many runs are made at once.
DPS_PCA = "dps_pca"
# The ten preferred numbers a decade (ISO 3, R10, rounded) from 0.01 to 10: evenly spaced on a log axis.
_PREFERRED = ("1", "1.25", "1.6", "2", "2.5", "3.2", "4", "5", "6.3", "8")
EPSILONS = (*(float(f"{digits}e{power}") for power in (-2, -1, 0) for digits in _PREFERRED), 10.0)


@dataclass(frozen=True)
class ExplorerExperiment:
    """An experiment holds every setting of the front page but epsilon."""

    # A public covariance, a dictionary's twin, hospitals that differ, or the name of a bundled table.
    population: Synthetic | DictionaryTwin | DifferingHospitals | str
    n: int  # patients of all hospitals
    k: int
    s_hat: int  # features that sparse methods keep
    delta: float
    providers: int = 5
    largest_share: float = 0.0  # share of the patients in the largest hospital, 0 for equal hospitals
    iterations: int = 10  # rounds of iterative methods
    burn_in: int = 2  # their first rounds, in which all features are kept
    provider_noise: ProviderNoise = "independent"  # DPS-PCA's noise across hospitals
    neighbours: Neighbours = "replace-one"
    accounting: AccountingKind = "exact"
    failure: float = 0.01  # chance that some row exceeds the public bound
    repeats: int = 10  # runs of every method at every epsilon
    seed: int = 0
    # Whether captured energy is measured beside sin Theta, at the cost of a product each.
    energy: bool = False
    start_error: float | None = None  # error at which DPS-PCA starts; None starts at random
    method: str = DPS_PCA  # method that the figure is about, whose runs come first
    rank: int | None = None  # R of DPdisPCA; None leaves its default
    # Length to which rows are clipped, in root mean square lengths; None divides rows by a bound that none
    # exceeds.
    clip: float | None = None
    choose_rows: bool = False  # whether two-stage methods choose their number of rows from what they release
    # Share of the budget, as 1/z^2, that the release of a mean takes before the method runs
    # (`mechanisms.paid_centre`).
    mean_share: float = 0.0
    # What a release with a fitted bound is asked for, whose twin the population then is. The method is run as
    # that release, and its budget is not divided here.
    fitted: FittedTwin | None = None

    @property
    def d(self) -> int:
        return draws.model_or_table(self.population).d

    @property
    def sizes(self) -> tuple[int, ...]:
        return hospital_sizes(self.n, self.providers, self.largest_share)

    @property
    def table(self) -> datasets.Table | None:
        if isinstance(self.population, DifferingHospitals):
            return self.population.table
        return datasets.table(self.population) if isinstance(self.population, str) else None

    @property
    def sparse(self) -> bool:
        """Return whether true directions may leave features out: not those of a table, or correlations."""
        return isinstance(self.population, Synthetic) and not isinstance(self.population, StatedCorrelations)

    @property
    def scaling(self) -> draws.Scaling:
        if self.clip is not None:
            return draws.Scaling("clipped", bound=self.clip)
        return draws.Scaling(failure=self.failure)

    def budget(self, epsilon: float) -> Budget:
        """Return what methods may spend: the budget at this epsilon, less what a mean takes."""
        budget = Budget(epsilon, self.delta, self.neighbours, self.accounting)
        return gaussian.remaining(budget, self.mean_share) if self.mean_share else budget

    def options(self, name: str) -> dict[str, Any]:
        options = draws.method_options(name, self, self.population) | self.rows_rule(name)
        if name == "dpdis_pca" and self.rank is not None:
            options["rank"] = self.rank
        return options

    def rows_rule(self, name: str) -> dict[str, str]:
        """Return the option by which a two-stage method chooses its number of rows from what it released."""
        return {"s_hat": RELEASED} if self.choose_rows and METHODS[name].chooses_rows else {}

    def setting(self, epsilon: float, eigenvalues: Array, **changed: Any) -> Setting:
        """Return the point at which bounds are evaluated; the truth of a table or a twin has sparsity d.

        eigenvalues: of the scaled rows' second moment, (d,), descending. changed: fields in place of our own.
        """
        same = ("d", "n", "k", "providers", "start_error", *draws.OPTIONS)
        fields = {name: getattr(self, name) for name in same}
        fields["s"] = self.population.s if isinstance(self.population, Synthetic) else self.d
        fields["tails"] = draws.tails_of(self.population)
        return Setting(eigenvalues=eigenvalues, budget=self.budget(epsilon), **fields | changed)

    def cohort(self, repeat: int) -> Cohort:
        draw = repeat % self.patient_draws
        if self.fitted is not None:
            rows = self.encoded(repeat)
            about = about_mean(rows.mean(axis=0), rows.T @ rows / len(rows), self.fitted.standardised)
            return Cohort.together([Provider(self.n, moments.DenseMoment(about / np.trace(about)))])
        return draws.cohort(self.population, self.sizes, self.scaling, self.seed, draw)

    @property
    def patient_draws(self) -> int:
        n = self.n if self.fitted is None else fitted_release.drawn(self.n, self.d)
        return draws.patient_draws(self.population, n, self.repeats)

    def encoded(self, repeat: int) -> Array:
        """Return this repeat's rows as they are encoded, (m, d), in the twin of a fitted bound."""
        assert isinstance(self.population, DictionaryTwin)
        return fitted_release.encoded_rows(self.population, self.n, self.seed, repeat % self.patient_draws)

    def fitted_estimate(self, epsilon: float, repeat: int, rng: np.random.Generator) -> Estimate:
        assert self.fitted is not None and isinstance(self.population, DictionaryTwin)
        hospitals = self.providers if METHODS[self.method].trust == "untrusted server" else 1
        rule = FittedBound(
            replace(self.population.layout, complete=self.fitted.complete),
            self.budget(epsilon),
            self.fitted.n,
            standardised=self.fitted.standardised,
            hospitals=hospitals,
            averaged=self.fitted.averaged,
        )
        rows = self.encoded(repeat)
        # Fewer rows may stand for n patients: sums are theirs, and the noise is that of all patients.
        released = fitted_release.fitted_moment(rows, rule, rng, np.full(len(rows), self.n / len(rows)))
        options = self.options(self.method)
        kept = {"s_hat": options["s_hat"]} if "s_hat" in options else {}
        return Estimate.from_moment(released.moment, self.k, spent=released.spent, **kept)
