"""The recipe of a comparison of hospitals that differ, without the strength and the standardisation.

Those two are swept on the page. The strength, from 0 to 2, scales how much synthetic hospitals differ. The
kind of standardisation, one of `standardisation.KINDS`, says by which means and spreads rows are centred and
scaled; the kinds in PAID release them at a share of the budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dppca_core import checks
from dppca_core.experiments.draws import method_options
from dppca_core.methods import METHODS
from dppca_core.populations import clinical, heart_disease, standardisation
from dppca_core.populations.site_summaries import RowSite, Site
from dppca_core.populations.standardisation import PAID, Constants
from dppca_core.privacy import Budget, Neighbours
from dppca_core.records import ProviderNoise

SYNTHETIC, HEART = "clinical", "heart"


@dataclass(frozen=True)
class SiteExperiment:
    """A recipe names the hospitals, the method and the budget of a comparison."""

    data: str = SYNTHETIC  # "clinical", a synthetic cohort of six hospitals, or "heart", a table of four
    method: str = "dps_pca"
    n: int = 100_000  # patients of the synthetic cohort
    columns: int = 100  # their measurements, at least 20
    epsilon: float = 1.0
    delta: float = 1e-5
    neighbours: Neighbours = "replace-one"
    # Share of the budget that pays for means and spreads, where the kind of standardisation needs private
    # ones: a share of 1/z^2, z the noise multiplier of the whole budget.
    share: float = 0.2
    # Kinds of differences between the hospitals of the synthetic cohort.
    differences: tuple[str, ...] = clinical.DIFFERENCES
    s_hat: int = 20  # columns that sparse methods keep
    iterations: int = 10  # rounds of iterative methods
    burn_in: int = 2  # first rounds, in which all columns are kept
    provider_noise: ProviderNoise = "independent"  # DPS-PCA's noise across hospitals
    repeats: int = 10  # runs of every cell
    seed: int = 0

    def __post_init__(self) -> None:
        checks.one_of((SYNTHETIC, HEART), data=self.data)
        checks.one_of(METHODS, method=self.method)
        checks.whole(1, repeats=self.repeats)
        checks.whole(self.k, self.d, s_hat=self.s_hat)
        # These two are called for the errors that they raise.
        standardisation.remaining_budget(self.budget, self.share)
        if self.data == SYNTHETIC:
            clinical.sizes(self.n)

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta, self.neighbours)

    @property
    def synthetic(self) -> bool:
        return self.data == SYNTHETIC

    @property
    def k(self) -> int:
        """Return the number of factors, and for the table two, after which its eigenvalues level off."""
        return clinical.ClinicalModel().k if self.synthetic else 2

    @property
    def d(self) -> int:
        return self.columns if self.synthetic else heart_disease.TABLE.d

    @property
    def hospitals(self) -> tuple[str, ...]:
        return clinical.NAMES if self.synthetic else tuple(heart_disease.rows())

    @property
    def sizes(self) -> tuple[int, ...]:
        if self.synthetic:
            return clinical.sizes(self.n)
        return tuple(len(rows) for rows in heart_disease.rows().values())

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of standardisation; the table has no "own-ranges", which nobody recorded."""
        return standardisation.KINDS if self.synthetic else ("public", *PAID)

    def model(self, strength: float) -> clinical.ClinicalModel:
        return clinical.ClinicalModel(self.columns, strength, self.differences, self.seed)

    def sites(self, strength: float, repeat: int) -> Sequence[Site]:
        """Return the hospitals' patients in one repeat; those of the table are always the same."""
        if self.synthetic:
            return clinical.draw(self.model(strength), self.sizes, self.seed, repeat)
        return [RowSite(rows, heart_disease.TABLE.bound) for rows in heart_disease.rows().values()]

    def printed(self, strength: float) -> list[Constants]:
        """Return the reference ranges that laboratories print: centre and scale; the table's is public."""
        if self.synthetic:
            return [hospital.printed for hospital in clinical.hospitals(self.model(strength))]
        return [standardisation.public_constants(self.d)] * len(self.hospitals)

    def budget_left(self, kind: str) -> Budget:
        return standardisation.remaining_budget(self.budget, self.share) if kind in PAID else self.budget

    @property
    def options(self) -> dict[str, Any]:
        return method_options(self.method, self)
