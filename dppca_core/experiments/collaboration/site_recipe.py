"""What a comparison of hospitals that differ depends on, as a frozen value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dppca_core import checks
from dppca_core.methods import METHODS
from dppca_core.populations import clinical, heart_disease, standardisation
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.site_summaries import RowSite, Site
from dppca_core.populations.standardisation import PAID, Constants
from dppca_core.privacy import Budget, Neighbours
from dppca_core.records import ProviderNoise

SYNTHETIC, HEART = "clinical", "heart"


@dataclass(frozen=True)
class SiteRecipe:
    """Everything but the strength and the kind of standardisation.

    `share` of the budget's 1/z^2 pays for means and spreads. n is the synthetic cohort's; `differences` too.
    Raises ValueError through the core's own checks.
    """

    data: str = SYNTHETIC
    method: str = "dps_pca"
    n: int = 100_000
    epsilon: float = 1.0
    delta: float = 1e-5
    neighbours: Neighbours = "replace-one"
    share: float = 0.2
    differences: tuple[str, ...] = clinical.DIFFERENCES
    s_hat: int = 20
    iterations: int = 10
    burn_in: int = 2
    provider_noise: ProviderNoise = "independent"
    repeats: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        checks.one_of((SYNTHETIC, HEART), data=self.data)
        checks.one_of(METHODS, method=self.method)
        checks.whole(1, repeats=self.repeats)
        checks.whole(self.k, self.d, s_hat=self.s_hat)
        standardisation.remaining_budget(self.budget, self.share)
        if self.data == SYNTHETIC:
            clinical.sizes(self.n)

    @property
    def budget(self) -> Budget:
        """The whole budget, exactly accounted for."""
        return Budget(self.epsilon, self.delta, self.neighbours)

    @property
    def synthetic(self) -> bool:
        """Whether the patients are drawn."""
        return self.data == SYNTHETIC

    @property
    def k(self) -> int:
        """Directions to find: the invented factors; of the table two, after which eigenvalues level off."""
        return ClinicalModel().k if self.synthetic else 2

    @property
    def d(self) -> int:
        """Columns."""
        return ClinicalModel().d if self.synthetic else heart_disease.TABLE.d

    @property
    def hospitals(self) -> tuple[str, ...]:
        """Their names."""
        return clinical.NAMES if self.synthetic else tuple(heart_disease.rows())

    @property
    def sizes(self) -> tuple[int, ...]:
        """Patients of each hospital."""
        if self.synthetic:
            return clinical.sizes(self.n)
        return tuple(len(rows) for rows in heart_disease.rows().values())

    @property
    def kinds(self) -> tuple[str, ...]:
        """Ways of standardising: no laboratory's own ranges are known for the table."""
        return standardisation.KINDS if self.synthetic else ("public", *PAID)

    def model(self, strength: float) -> ClinicalModel:
        """The synthetic cohort's recipe."""
        return ClinicalModel(strength=strength, differences=self.differences, seed=self.seed)

    def sites(self, strength: float, repeat: int) -> Sequence[Site]:
        """The hospitals' patients; those of the table are always the same."""
        if self.synthetic:
            return clinical.draw(self.model(strength), self.n, self.seed, repeat)
        return [RowSite(rows, heart_disease.TABLE.bound) for rows in heart_disease.rows().values()]

    def printed(self, strength: float) -> list[Constants]:
        """The ranges that the hospitals' laboratories print."""
        if self.synthetic:
            return [hospital.printed for hospital in clinical.hospitals(self.model(strength))]
        return [standardisation.public_constants(self.d)] * len(self.hospitals)

    def left(self, kind: str) -> Budget:
        """What the PCA has."""
        return standardisation.remaining_budget(self.budget, self.share) if kind in PAID else self.budget

    @property
    def options(self) -> dict[str, Any]:
        """The method's own parameters: those that it uses."""
        names = ("s_hat", "iterations", "burn_in", "provider_noise")
        return {name: getattr(self, name) for name in names if name in METHODS[self.method].uses}
