"""Hospitals of some sizes: how they would join, each alone, and what either costs, on the same patients.

Generators are keyed by way, hospital and repeat, so adding a way changes no other's numbers. Truth is the
population's basis, or PCA without privacy of a whole table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dppca_core import checks, datasets
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws
from dppca_core.experiments.collaboration.protocols import Protocol, Traffic, traffic
from dppca_core.experiments.draws import PUBLIC, Scaling, Truth
from dppca_core.experiments.explorer.results import eigenproblem_seconds
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import Estimate

ALL = -1  # in place of a hospital
MOST_HOSPITALS = 200
_FEW = 5  # different sizes up to which every one is measured alone
_ALIKE = 0.01  # sizes that differ by less are one
_MOMENT_BYTES = 2**29  # of all hospitals' own moments together
_DEAL_SECONDS = 1.0
_MOST_SECONDS = 60.0  # a run that takes longer is refused


@dataclass(frozen=True)
class CollaborationSetting:
    """Hospitals of these sizes and how they would join. `rank` is the R of DPdisPCA.

    Raises ValueError for no hospital or more than 200, sizes beyond a table's patients, or k, s_hat or rank
    out of range (1 <= k <= s_hat, rank <= d).
    """

    population: SpikedModel | str
    sizes: tuple[int, ...]
    k: int
    s_hat: int
    rank: int
    budget: Budget
    iterations: int = 10
    burn_in: int = 2
    scaling: Scaling = PUBLIC
    repeats: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        checks.whole(1, MOST_HOSPITALS, hospitals=len(self.sizes))
        for size in self.sizes:
            checks.whole(1, size=size)
        if isinstance(self.population, str):
            checks.whole(1, datasets.table(self.population).n, patients=self.n)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s_hat=self.s_hat, rank=self.rank)
        checks.whole(1, repeats=self.repeats, iterations=self.iterations)

    @property
    def d(self) -> int:
        """Features."""
        population = self.population
        return population.d if isinstance(population, SpikedModel) else datasets.table(population).d

    @property
    def n(self) -> int:
        """Patients of all hospitals."""
        return sum(self.sizes)

    @property
    def hospitals(self) -> tuple[int, ...]:
        """Those measured alone: one of each size, largest first; of many sizes the largest, median, least.

        Sizes within 1 % of each other count as one.
        """
        ranked = sorted(range(len(self.sizes)), key=lambda i: (-self.sizes[i], i))
        different = [ranked[0]]
        for i in ranked[1:]:
            if self.sizes[i] < (1 - _ALIKE) * self.sizes[different[-1]]:
                different.append(i)
        if len(different) <= _FEW:
            return tuple(different)
        return (ranked[0], ranked[len(ranked) // 2], ranked[-1])

    @property
    def patient_draws(self) -> int:
        """Different draws of patients that the repeats go through: a draw costs d^3; a whole table is one."""
        if isinstance(self.population, str):
            return 1 if self.n == datasets.table(self.population).n else self.repeats
        return max(1, min(self.repeats, int(2e9 / self.d**3)))

    @property
    def divides(self) -> bool:
        """Whether all hospitals' own moments fit into memory."""
        return 8 * len(self.sizes) * self.d**2 <= _MOMENT_BYTES

    @property
    def together(self) -> bool:
        """Whether a hospital alone is one of those who join: dealing the patients then takes no long time."""
        return isinstance(self.population, str) or (self.divides and self._dealing <= _DEAL_SECONDS)

    @property
    def _dealing(self) -> float:
        """Seconds that drawing all hospitals' own moments takes (measured: 2.8 ms each at d = 200)."""
        return 1.75 * len(self.sizes) * eigenproblem_seconds(self.d)

    def cohort(self, repeat: int) -> Cohort:
        """The patients of this repeat, dealt to the hospitals."""
        draw = repeat % self.patient_draws
        return draws.cohort(self.population, self.sizes, self.scaling, self.seed, draw)

    def alone(self, hospital: int, repeat: int) -> Cohort:
        """One hospital of that cohort; where dealing it takes long, one with as many patients of its own."""
        if not self.together and isinstance(self.population, SpikedModel):
            bound = self.scaling.of(self.population, self.n)
            own = Scaling(failure=self.scaling.failure, bound=bound)
            draw, size = repeat % self.patient_draws, self.sizes[hospital]
            return draws.cohort(self.population, (size,), own, self.seed, draw, (1 + hospital,))
        dealt = self.cohort(repeat)
        return Cohort((dealt[hospital],), dealt[hospital].moment, dealt.bound)

    def traffic(self, way: Protocol) -> Traffic:
        """What one hospital sends and gets on this way."""
        of = {"d": self.d, "k": self.k, "rank": self.rank, "iterations": self.iterations}
        return traffic(way, **of, s_hat=self.s_hat, burn_in=self.burn_in)

    def seconds(self, way: Protocol) -> float:
        """Roughly one run's time, with the draw of the hospitals' own moments where it needs them."""
        dealt = way.own_moments or (way.alone and self.together)
        fitting = way.cost(self.d, self.k, len(self.sizes)) * eigenproblem_seconds(self.d)
        return fitting + (self._dealing if dealt else 0.0)

    def seconds_dealt(self, way: Protocol) -> float:
        """Roughly one run's time where every hospital's own patients are at hand."""
        return way.cost(self.d, self.k, len(self.sizes)) * eigenproblem_seconds(self.d) + self._dealing

    def refused(self, way: Protocol) -> str | None:
        """Why this way cannot be measured here, or None."""
        reason = METHODS[way.method].skip(self.d)
        if reason:
            return reason
        if way.own_moments and not self.divides:
            size = 8e-9 * len(self.sizes) * self.d**2
            return f"{len(self.sizes)} hospitals' own moments take {size:.1f} GB at {self.d:,} features"
        seconds = self.seconds(way)
        if seconds > _MOST_SECONDS:
            return f"one run would take about {seconds / 60:.0f} min"
        return None

    def estimate(self, way: Protocol, hospital: int, repeat: int) -> Estimate:
        """Run one way once."""
        cohort = self.alone(hospital, repeat) if way.alone else self.cohort(repeat)
        key = (1 + hospital,) if way.alone else ()
        options = way.options(
            s_hat=self.s_hat, iterations=self.iterations, burn_in=self.burn_in, rank=self.rank, d=self.d
        )
        rng = draws.generator(self.seed, repeat, way.key, key)
        return METHODS[way.method].fit(cohort, k=self.k, budget=self.budget, rng=rng, **options)


@lru_cache(maxsize=64)
def truth(population: SpikedModel | str, n: int, k: int, scaling: Scaling) -> Truth:
    """What the estimates are measured against, without its matrix (d, d)."""
    if isinstance(population, SpikedModel):
        return draws.population_truth(population, n, scaling, covariance=False)
    whole = (datasets.table(population).n,)
    cohort = draws.cohort(population, whole, scaling, 0, 0)
    return draws.without_moment(draws.table_truth(cohort, k))


def second_moment(population: SpikedModel | str, n: int, scaling: Scaling) -> Array:
    """Return the matrix (d, d) that captured energy is measured with."""
    sizes = (n if isinstance(population, SpikedModel) else datasets.table(population).n,)
    return draws.second_moment(population, sizes, scaling, 0)
