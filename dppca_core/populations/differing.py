"""Hospitals that measure differently, as populations of a decision: a simulated cohort, or four real ones.

Rows are standardised by public numbers, which cost nothing. Simulated hospitals
(`dppca_core.populations.clinical`) use the ranges that each laboratory prints, and real ones
(`dppca_core.populations.heart_disease`) one reference range. All rows are divided by one public bound.

Hospitals differ, so each has a pattern of its own. A simulated hospital's is that of its population with its
own shift and scale taken out. A real hospital's is PCA without privacy of all its standardised rows: nobody
knows its population. So a real hospital that stays alone without privacy, with all its patients, recovers the
whole of it.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.datasets import Table
from dppca_core.populations import clinical, heart_disease, standardisation
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.site_summaries import RowSite

# Of a hospital's patients; with the moment of 40,000 they recover .02 points less of the pattern by rows of
# length 1 than 40,000 rows do (d = 50).
MOST_ROWS = 5_000
Data = Literal["clinical", "heart"]


@dataclass(frozen=True)
class DifferingHospitals:
    """Hold the recipe of hospitals that measure differently; the same recipe is the same populations.

    data: "clinical", simulated hospitals, as many as there are sizes, or "heart", four real ones. Of the
    simulated, strength, from 0 to 2, is how much they differ, columns the number of measurements, at least
    20, and differences in what they differ, some of `clinical.DIFFERENCES`. sites: the number of each
    hospital among those of `data`, from 0; () is 0, 1, 2 and so on. A hospital keeps its number, and so its
    patients, when others leave. Raises ValueError for numbers out of range, and for a site that is there
    twice.
    """

    data: Data = "clinical"
    strength: float = 1.0
    columns: int = 50
    differences: tuple[str, ...] = clinical.DIFFERENCES
    seed: int = 0
    sites: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        checks.one_of(get_args(Data), data=self.data)
        self._model(self.strength)  # raises for what it does not allow
        for site in self.sites:
            checks.whole(0, math.inf if self.simulated else len(self._real) - 1, sites=site)
        if len(set(self.sites)) < len(self.sites):
            raise ValueError(f"sites must be different, got {self.sites}")

    @property
    def simulated(self) -> bool:
        return self.data == "clinical"

    @property
    def d(self) -> int:
        return self.columns if self.simulated else heart_disease.TABLE.d

    @property
    def k(self) -> int:
        """Return the number of components to estimate: one a factor; two for the table, which then levels."""
        return self._model(0.0).k if self.simulated else 2

    @property
    def table(self) -> Table | None:
        return None if self.simulated else heart_disease.TABLE

    @property
    def public_model(self) -> ClinicalModel | None:
        """Return the population that is public: the one of hospitals that do not differ; None of a table."""
        return self._model(0.0) if self.simulated else None

    def site(self, hospital: int) -> int:
        return self.sites[hospital] if self.sites else hospital

    def names(self, count: int) -> tuple[str, ...]:
        sites = map(self.site, range(count))
        if self.simulated:
            return tuple(map(clinical.name, sites))
        return tuple(list(heart_disease.rows())[site] for site in sites)

    def sizes(self, n: int) -> tuple[int, ...]:
        """Return usual sizes: n patients at six simulated hospitals, or all patients of the real ones."""
        most = self.most
        return clinical.sizes(n) if most is None else most

    @property
    def most(self) -> tuple[int, ...] | None:
        """Return how many patients each real hospital has; None of simulated ones, which may have any."""
        if self.simulated:
            return None
        return tuple(len(self._real[site]) for site in self.sites or range(len(self._real)))

    def check(self, sizes: tuple[int, ...]) -> None:
        """Raise ValueError for another number of hospitals, and for more patients than a real one has."""
        count = len(self.sites or self.most or sizes)
        checks.whole(count, count, hospitals=len(sizes))
        for size, most in zip(sizes, self.most or (math.inf,) * count, strict=True):
            checks.whole(1, most, patients=size)

    def only(self, hospital: int) -> "DifferingHospitals":
        return replace(self, sites=(self.site(hospital),))

    def without(self, hospital: int, count: int) -> "DifferingHospitals":
        """Return the others of so many hospitals, once one has left, given by its index."""
        return replace(self, sites=tuple(self.site(i) for i in range(count) if i != hospital))

    def draw(self, sizes: tuple[int, ...], seed: int, draw: int, failure: float) -> Cohort:
        """Draw the patients of hospitals of these sizes, standardised and divided by one public bound.

        Of a real hospital that has more patients they are a random part. The patients of each depend neither
        on the others nor on their sizes. draw: another number gives other patients. failure: the chance that
        some simulated row exceeds the bound.
        """
        self.check(sizes)
        numbers, tail = [self.site(i) for i in range(len(sizes))], failure / sum(sizes)
        if self.simulated:
            model = self._model(self.strength)
            printed = [clinical.hospital(model, number).printed for number in numbers]
            patients = clinical.draw(model, sizes, seed, draw, numbers, most_rows=MOST_ROWS)
            return standardisation.standardised(patients, "own-ranges", printed, tail)
        rows = (self._some(number, size, seed, draw) for number, size in zip(numbers, sizes, strict=True))
        real = [RowSite(part, heart_disease.TABLE.bound) for part in rows]
        return standardisation.standardised(real, "public", (), tail)

    def always_same(self, sizes: tuple[int, ...]) -> bool:
        """Return whether every draw of these sizes has the same patients: all of the real hospitals."""
        return sizes == self.most

    @property
    def bound(self) -> float:
        """Return what the rows behind `second_moment` are divided by, in standardised units."""
        return 1.0 if self.simulated else heart_disease.TABLE.bound

    def second_moment(self) -> Array:
        """Return the second moment whose leading directions are the pattern of a single hospital, (d, d)."""
        checks.whole(1, 1, **{"hospitals whose pattern is asked for": len(self.sites)})
        (site,) = self.sites
        if self.simulated:
            return clinical.hospital(self._model(self.strength), site).covariance_without_effects
        return self.draw((len(self._real[site]),), seed=0, draw=0, failure=0.5)[0].moment.dense()

    @property
    def _real(self) -> tuple[Array, ...]:
        return tuple(heart_disease.rows().values())

    def _model(self, strength: float) -> ClinicalModel:
        return ClinicalModel(self.columns, strength, self.differences, self.seed)

    def _some(self, site: int, size: int, seed: int, draw: int) -> Array:
        """Return a random part of a real hospital's rows; all of them in their order."""
        rows = self._real[site]
        if size == len(rows):
            return rows
        return rows[np.random.default_rng([seed, draw, site]).permutation(len(rows))[:size]]
