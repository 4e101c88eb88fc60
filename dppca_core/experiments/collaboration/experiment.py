"""The setting of a collaboration: hospitals of given sizes, which join by a protocol or stay alone.

Generators are keyed by protocol, hospital and repeat, so adding a protocol changes no other's numbers. Truth
is the population's basis, or PCA without privacy of a whole table.
"""

from dataclasses import dataclass
from typing import Any

from dppca_core import checks, datasets
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.experiments import draws
from dppca_core.experiments.collaboration.protocols import NUMBER, Protocol, Traffic
from dppca_core.experiments.estimated_seconds import eigenproblem_seconds, run_seconds
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.mechanisms import stacked, two_stage
from dppca_core.methods import METHODS
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED, Estimate

ALL = -1  # in place of a hospital's index: all hospitals together
MOST_HOSPITALS = 200
_MOST_SIZES_MEASURED = 5  # different sizes up to which every size is measured alone
_SAME_SIZE_WITHIN = 0.01  # sizes that differ by less count as the same
_MOMENT_BYTES = 2**29  # of all hospitals' own moments together
_DEAL_SECONDS = 1.0  # for drawing all hospitals' own moments; beyond, one alone is drawn by itself
_MOST_SECONDS = 60.0  # a run that takes longer is refused


@dataclass(frozen=True)
class CollaborationExperiment:
    """A setting holds the hospitals, the budget, and the parameters of every protocol."""

    population: Synthetic | str
    sizes: tuple[int, ...]
    k: int
    s_hat: int  # features that sparse methods keep
    rank: int  # parameter R of the method DPdisPCA, the number of directions that each hospital sends
    budget: Budget  # privacy budget, the same for joining and for staying alone
    iterations: int = 10  # rounds of DPS-PCA
    burn_in: int = 2  # its first rounds, in which all features are kept
    scaling: draws.Scaling = draws.PUBLIC  # rule that brings rows to a length of at most 1
    repeats: int = 10  # runs of every cell
    seed: int = 0
    choose_rows: bool = False  # whether two-stage methods choose their number of rows from what they release

    def __post_init__(self) -> None:
        checks.whole(1, MOST_HOSPITALS, hospitals=len(self.sizes))
        for size in self.sizes:
            checks.whole(1, size=size)
        if isinstance(self.population, str):
            checks.whole(1, datasets.table(self.population).n, patients=self.n)
        checks.whole(1, self.d - 1, k=self.k)
        checks.whole(self.k, self.d, s_hat=self.s_hat, rank=self.rank)
        checks.whole(1, repeats=self.repeats, iterations=self.iterations)

    @classmethod
    def from_experiment(
        cls, experiment: ExplorerExperiment, epsilon: float, rank: int, sizes: tuple[int, ...] = ()
    ) -> "CollaborationExperiment":
        """Return the setting of an experiment; rank is brought within k and d, sizes replace its own."""
        same = ("population", "k", "s_hat", "iterations", "burn_in", "scaling")
        return cls(
            **{name: getattr(experiment, name) for name in (*same, "repeats", "seed", "choose_rows")},
            sizes=sizes or experiment.sizes,
            rank=min(max(rank, experiment.k), experiment.d),
            budget=experiment.budget(epsilon),
        )

    @property
    def d(self) -> int:
        return draws.model_or_table(self.population).d

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def hospitals(self) -> tuple[int, ...]:
        """Return the hospitals measured alone: one of each size (within 1 %), largest first, or three."""
        ranked = sorted(range(len(self.sizes)), key=lambda i: (-self.sizes[i], i))
        different = [ranked[0]]
        for i in ranked[1:]:
            if self.sizes[i] < (1 - _SAME_SIZE_WITHIN) * self.sizes[different[-1]]:
                different.append(i)
        if len(different) <= _MOST_SIZES_MEASURED:
            return tuple(different)
        return (ranked[0], ranked[len(ranked) // 2], ranked[-1])

    @property
    def patient_draws(self) -> int:
        return draws.patient_draws(self.population, self.n, self.repeats)

    @property
    def together(self) -> bool:
        """Return whether a hospital alone has the very patients with which it joins, as memory allows."""
        return isinstance(self.population, str) or (not self.too_large and self._deal_time <= _DEAL_SECONDS)

    @property
    def _deal_time(self) -> float:
        """Estimate the seconds to draw all hospitals' own moments (measured: 2.8 ms each at d = 200)."""
        return 1.75 * len(self.sizes) * eigenproblem_seconds(self.d)

    @property
    def truth(self) -> draws.Truth:
        # No draw enters a truth of whole tables or models, so the seed plays no part.
        return draws.truth(self.population, self._all_rows, self.k, self.scaling, seed=0)

    @property
    def second_moment(self) -> Array:
        """Return the second moment behind the truth, (d, d), from a shared cache."""
        return draws.second_moment(self.population, self._all_rows, self.scaling, seed=0)

    @property
    def _all_rows(self) -> tuple[int]:
        """Return how many patients the truth is computed from, as one hospital: of a table, all its rows."""
        return (datasets.table(self.population).n if isinstance(self.population, str) else self.n,)

    def cohort(self, repeat: int) -> Cohort:
        draw = repeat % self.patient_draws
        return draws.cohort(self.population, self.sizes, self.scaling, self.seed, draw)

    def alone(self, hospital: int, repeat: int) -> Cohort:
        """Return one hospital of `cohort`, or else as many new patients, divided by the same bound."""
        if not self.together and isinstance(self.population, Synthetic):
            bound = self.scaling.divisor(self.population, self.n)
            scaling = draws.Scaling(failure=self.scaling.failure, bound=bound)
            draw, size = repeat % self.patient_draws, self.sizes[hospital]
            # Seeded by the hospital as well, so that each has patients of its own.
            return draws.cohort(self.population, (size,), scaling, self.seed, draw, key=(1 + hospital,))
        all_hospitals = self.cohort(repeat)
        alone = all_hospitals[hospital]
        return Cohort((alone,), alone.moment, all_hospitals.bound)

    def options(self, protocol: Protocol) -> dict[str, Any]:
        options = draws.method_options(protocol.method, self)
        if self.choose_rows and METHODS[protocol.method].chooses_rows:
            options["s_hat"] = RELEASED
        if protocol.noise is not None:
            options["provider_noise"] = protocol.noise
        if protocol.method == "dpdis_pca":
            options["rank"] = self.d if protocol.full else self.rank
        return options

    def traffic(self, protocol: Protocol) -> Traffic:
        """Return the bytes that one hospital sends and receives.

        DPS-PCA sends H, d k numbers, in each round, and receives the non-zero rows of Q with their indices:
        d (k + 1) numbers up to the end of the burn-in, s_hat (k + 1) afterwards. DPdisPCA sends d R, once;
        averaged projectors send a symmetric matrix, d (d + 1)/2, and three numbers. Two stages send d k
        numbers in each round, then s_hat (s_hat + 1)/2, and receive Q each time, then s_hat rows. Stacked
        rounds send and receive d k numbers in each. All others send one symmetric matrix. All who join
        receive the d k numbers of the result; a hospital alone sends and receives nothing.
        """
        d, k, iterations = self.d, self.k, self.iterations
        if protocol.alone:
            return Traffic((), 0)
        result = NUMBER * d * k
        if protocol.method == "dps_pca":
            # Rounds whose question has all d rows of Q; the others have s_hat of them.
            dense = min(self.burn_in + 1, iterations) if self.burn_in else 0
            questions = NUMBER * (k + 1) * (dense * d + (iterations - dense) * self.s_hat)
            return Traffic((NUMBER * d * k,) * iterations, questions + result)
        if METHODS[protocol.method].chooses_rows:
            rounds, kept = (NUMBER * d * k,) * two_stage.ROUNDS, self.s_hat  # bytes sent in each of stage 1
            return Traffic((*rounds, NUMBER * kept * (kept + 1) // 2), sum(rounds) + NUMBER * kept + result)
        if protocol.method.startswith("stacked_rounds"):
            rounds = (NUMBER * d * k,) * stacked.ROUNDS
            return Traffic(rounds, sum(rounds) + result)
        numbers = d * (d + 1) // 2  # of one symmetric matrix
        if protocol.method == "dpdis_pca" and not protocol.full and self.rank < d:
            numbers = d * self.rank
        if protocol.method == "federated_projector":
            numbers += 3
        return Traffic((NUMBER * numbers,), result)

    def seconds(self, protocol: Protocol, with_moments: bool = False) -> float:
        """Estimate the seconds of a run; with_moments: also of drawing the hospitals' own moments."""
        providers = 1 if protocol.alone else len(self.sizes)
        fitting = run_seconds(protocol.method, self.d, self.k, providers)
        drawn = with_moments or protocol.own_moments or (protocol.alone and self.together)
        return fitting + (self._deal_time if drawn else 0.0)

    @property
    def too_large(self) -> str | None:
        size = 8 * len(self.sizes) * self.d**2
        reason = f"{len(self.sizes)} hospitals' own moments take {size / 1e9:.1f} GB at {self.d:,} features"
        return reason if size > _MOMENT_BYTES else None

    def why_refused(self, protocol: Protocol) -> str | None:
        reason = METHODS[protocol.method].skip(self.d) or (self.too_large if protocol.own_moments else None)
        seconds = self.seconds(protocol)
        if not reason and seconds > _MOST_SECONDS:
            return f"one run would take about {seconds / 60:.0f} min"
        return reason

    def estimate(self, protocol: Protocol, hospital: int, repeat: int) -> Estimate:
        """Run a protocol once; hospital: the index of one that stays alone, or ALL."""
        cohort = self.alone(hospital, repeat) if protocol.alone else self.cohort(repeat)
        key = (1 + hospital,) if protocol.alone else ()  # hospitals that stay alone draw noise of their own
        rng = draws.generator(self.seed, repeat, draws.SAME_RUNS.get(protocol.key, protocol.key), key)
        options = self.options(protocol)
        return METHODS[protocol.method].fit(cohort, k=self.k, budget=self.budget, rng=rng, **options)
