"""The patients, the random generator and the truth of one measured cell, for every experiment.

A cell is one run of a method. Generators are seeded by what a cell is, never by the order in which cells run.
A draw is one random sample of patients, known by its number, who are assigned to hospitals. Patients are
drawn once for a population, a scaling, a seed and a draw, and kept in caches of a limited number of bytes.
The truth is what an estimate's error is measured against.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import signature
from typing import Any, Literal

import numpy as np

from dppca_core import checks, datasets
from dppca_core.arrays import Array, Provider
from dppca_core.byte_cache import ByteCache
from dppca_core.cohort import Cohort
from dppca_core.methods import METHODS
from dppca_core.numerics import linalg, moments
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.dictionary_twin import DictionaryTwin, TwinMoments
from dppca_core.populations.differing import MOST_ROWS, DifferingHospitals
from dppca_core.populations.elliptical import PooledDraw
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import Estimate

# A public covariance, a twin, hospitals that differ, or the name of a table.
Population = Synthetic | DictionaryTwin | DifferingHospitals | str
OPTIONS = ("s_hat", "iterations", "burn_in", "provider_noise")  # of methods, and fields of settings
SCALINGS = ("bound", "bound-sqrt-d", "clipped", "largest", "unit")
_CLIPPED_DRAWS = 20_000  # rows whose mean gives the eigenvalues of clipped rows, to about 1 %
_MOST_NUMBERS = 10**9  # n d, of rows that are simulated one by one: ten seconds
_TWINS_NUMBERS = 10**7  # n d, of invented rows in all draws of a twin


# Methods that differ in whom hospitals trust, not in law: on a page the first have the runs of the second.
SAME_RUNS = {
    "two_stage": "two_stage_sealed",
    "stacked_rounds": "stacked_rounds_sealed",
    "cape": "analyze_gauss",
}

DRAWS = ByteCache(64 * 2**20)  # patients' pooled moments, before they are assigned to hospitals
# Hospitals' own moments, one set of them where it is larger: up to what `collaboration.experiment` allows.
ASSIGNED = ByteCache(128 * 2**20, largest=512 * 2**20)
MOMENTS = ByteCache(64 * 2**20)  # the truths' second moments, (d, d) each
TRUTHS = ByteCache(64 * 2**20)  # the truths without them, small enough to keep many


def model_or_table(
    population: Population,
) -> Synthetic | DictionaryTwin | DifferingHospitals | datasets.Table:
    return datasets.table(population) if isinstance(population, str) else population


def public_model(population: Population) -> Synthetic | ClinicalModel | None:
    """Return the model by which errors are predicted; of hospitals that differ, as if they did not."""
    if isinstance(population, DifferingHospitals):
        return population.public_model
    return population if isinstance(population, Synthetic) else None


def tails_of(population: Population) -> float | None:
    """Return the degrees of freedom of a population with heavy tails; None for any other."""
    return population.tails if isinstance(population, Synthetic) else None


def method_options(method: str, setting: object, population: Population | None = None) -> dict[str, Any]:
    """Return those of a setting's OPTIONS that the method uses; an oracle gets the true features too."""
    names = (name for name in OPTIONS if name in METHODS[method].uses and hasattr(setting, name))
    options = {name: getattr(setting, name) for name in names}
    if isinstance(population, Synthetic) and _is_oracle(METHODS[method].fit):
        options["support"] = tuple(np.flatnonzero(population.basis.any(axis=1)).tolist())
    return options


@cache  # a signature takes as long as a run
def _is_oracle(fit: Callable[..., Estimate]) -> bool:
    return "support" in signature(fit).parameters


def patient_draws(population: Population, n: int, repeats: int) -> int:
    """Return how many draws of patients the repeats cycle through; each repeat has its own noise.

    A draw costs d^3 operations, so that at most 2e9/d^3 are made: ten up to d = 584, and two at d = 1000. A
    whole table needs one, since its patients are always the same, and so do real hospitals with all of their
    patients. The rows of a twin are invented one by one:
    all its draws together have 1e7 numbers at most, unless a single one has more.
    """
    if isinstance(population, str):
        return 1 if n == datasets.table(population).n else repeats
    if isinstance(population, DifferingHospitals) and n == sum(population.most or ()):
        return 1
    most = int(2e9 / population.d**3)
    if isinstance(population, DictionaryTwin):
        most = min(most, _TWINS_NUMBERS // (n * population.d))
    return max(1, min(repeats, most))


def generator(seed: int, repeat: int, name: str, key: tuple[int, ...] = ()) -> np.random.Generator:
    """Return a generator seeded by what it draws for, so that no other draw changes its numbers.

    name: the method, or "patients" and the like for draws that several share. key: what else it depends on.
    """
    return np.random.default_rng([seed, repeat, *name.encode(), *key])


@dataclass(frozen=True)
class Scaling:
    """Hold the rule that brings rows to a length of at most 1, on which every method's sensitivity rests.

    "bound" divides by a public constant: `bound`, in the units of the data, or where it is None a length
    that some of n rows exceeds with probability `failure`.
    "bound-sqrt-d" divides by the public constant `bound` sqrt(d), so that the eigenvalues of the scaled rows
    are the population's over bound^2 d (for Wang & Xu 2019, section 6: spikes of lambda + 1, a bulk of 1,
    and bound^2 = 5 (lambda + 1)). It needs a population.
    "clipped" shortens rows to the public constant `bound` times their root mean square length and divides by
    it, as a release does to a table. Clipping keeps the directions of a Gaussian's components. It needs a
    population. Invented rows (`DictionaryTwin`) have a bound of their own whatever the rule; where the rule
    is "clipped", only their moments are kept.
    "largest" divides by the largest row, as published, which is itself private (for a population by the
    median of its length); a table is also centred by its mean. "unit" divides each row by its own length.
    Raises ValueError for another word, a bound beside the last two, or "bound-sqrt-d" or "clipped" without
    a bound.
    """

    kind: Literal["bound", "bound-sqrt-d", "clipped", "largest", "unit"] = "bound"
    failure: float = 0.01
    bound: float | None = None

    def __post_init__(self) -> None:
        checks.one_of(SCALINGS, scaling=self.kind)
        checks.inside_unit_interval(failure=self.failure)
        if self.bound is None and self.kind in ("bound-sqrt-d", "clipped"):
            raise ValueError(f"bound must be given where scaling is {self.kind!r}")
        if self.bound is not None:
            checks.positive(bound=self.bound)
            if self.kind in ("largest", "unit"):
                raise ValueError(f"bound must be left out where scaling is {self.kind!r}, got {self.bound!r}")

    def public_bound(self, model: Synthetic) -> float | None:
        """Return the divisor that was chosen beforehand, in the units of the data; None where n sets it."""
        if self.bound is None or self.kind == "bound":
            return self.bound
        # For "clipped" the eigenvalues' sum is the mean square length of rows.
        square = model.d if self.kind == "bound-sqrt-d" else float(model.eigenvalues.sum())
        return self.bound * math.sqrt(square)

    def divisor(self, model: Synthetic, n: int) -> float:
        """Return what n rows of the population are divided by, in the units of the data.

        For "unit" it is 1, as each row has its own divisor. For "largest" it is the median of the largest
        row's length, which that row exceeds with probability 1/2.
        """
        if self.kind == "unit":
            return 1.0
        failure = 0.5 if self.kind == "largest" else self.failure
        return self.public_bound(model) or model.norm_bound(n, failure)


PUBLIC = Scaling()


def cohort(
    population: Population,
    sizes: tuple[int, ...],
    scaling: Scaling,
    seed: int,
    draw: int,
    key: tuple[int, ...] = (),
) -> Cohort:
    """Draw the patients, scale their rows, and assign them to hospitals of these sizes, from a cache.

    draw: the number of the sample; of a whole table all are the same. key: numbers that seed it besides.

    Raises ValueError for an unknown table, more patients than it has, "bound-sqrt-d" or "clipped" for a
    table, or anything but a public bound by their number for hospitals that differ.
    """
    if isinstance(population, str):
        if scaling.kind == "bound-sqrt-d" or scaling.kind == "clipped":
            raise ValueError(f"scaling must not be {scaling.kind!r} for a table, got {population!r}")
        whole = sum(sizes) == datasets.table(population).n
        return datasets.cohort(population, sizes, seed, 0 if whole else draw, scaling.kind)

    if isinstance(population, DifferingHospitals):
        if scaling.kind != "bound" or scaling.bound is not None or key:
            raise ValueError(f"scaling must be by a bound that n sets where hospitals differ, got {scaling}")
        at = 0 if population.always_same(sizes) else draw
        rows = sum(min(size, MOST_ROWS) for size in sizes)  # which the moments hold once they are asked for
        return ASSIGNED.get(
            (population, scaling, seed, at, key, sizes),
            lambda: population.draw(sizes, seed, at, scaling.failure),
            8 * population.d * (rows + len(sizes) * population.d),
        )

    n, failure = sum(sizes), 0.5 if scaling.kind == "largest" else scaling.failure
    with_rows = isinstance(population, DictionaryTwin) and scaling.kind != "clipped"

    def assign() -> Cohort:
        rng = generator(seed, draw, "patients", key)
        if isinstance(population, DictionaryTwin):
            mean = _twin_moments(population, n).mean
            return population.draw(sizes, rng, mean, with_rows=with_rows)
        if scaling.kind in ("clipped", "unit"):
            return _drawn_rows(population, sizes, scaling, rng)
        # What is kept is a factor of the moment and the moment, (d, d) at most each: 16 d^2 bytes.
        pooled: PooledDraw = DRAWS.get(  # other sizes of hospitals have the same patients
            (population, n, scaling, seed, draw, key),
            lambda: population.draw_pooled(n, rng, failure=failure, bound=scaling.public_bound(population)),
            16 * population.d**2,
        )
        return pooled.assign(sizes)

    cache_key = (population, scaling, seed, draw, key, sizes)
    numbers = n * population.d if with_rows else len(sizes) * population.d**2
    return ASSIGNED.get(cache_key, assign, 8 * numbers)  # bytes


def _twin_moments(twin: DictionaryTwin, n: int) -> TwinMoments:
    bytes_of_both = 8 * twin.d * (twin.d + 1)
    return MOMENTS.get((twin, n), lambda: twin.moments(n), bytes_of_both)


def _drawn_rows(
    model: Synthetic, sizes: tuple[int, ...], scaling: Scaling, rng: np.random.Generator
) -> Cohort:
    """Draw the rows themselves, in n d^2 operations, since scaled one by one they give no Wishart matrix."""
    checks.within(0, _MOST_NUMBERS, **{f"n d of {scaling.kind} rows": sum(sizes) * model.d})
    unit, bound = scaling.kind == "unit", scaling.divisor(model, sum(sizes))
    chunk = 10_000 if unit else max(1, 2**20 // model.d)  # rows at a time; 10,000 is the default of `rows`

    def moment(size: int) -> moments.DenseMoment:
        blocks = model.rows(size, rng, chunk=chunk)
        scaled = (
            rows / np.linalg.norm(rows, axis=1, keepdims=True) if unit else moments.clip_rows(rows, bound)
            for rows in blocks
        )
        return moments.DenseMoment(linalg.gram(scaled, model.d) / size)

    return Cohort.together((Provider(size, moment(size)) for size in sizes), bound)


@dataclass(frozen=True, eq=False)
class Truth:
    """Hold what estimates are measured against: the leading directions without noise, and the spectrum.

    Attributes:
        eigenvalues: All d, descending, of the rows scaled to the bound.
        bound: What rows were divided by, in the units of the data.
        find: Returns the basis. Of a model it takes d^3 operations, and bounds and predictions need none.
    """

    eigenvalues: Array
    bound: float
    find: Callable[[], Array]

    @cached_property
    def basis(self) -> Array:
        """Return the leading directions, (d, k), orthonormal columns."""
        return self.find()


def truth(population: Population, sizes: tuple[int, ...], k: int, scaling: Scaling, seed: int) -> Truth:
    """Return what k components are measured against, from the cache `TRUTHS`.

    Of a spiked model it is the model's basis and spectrum. Of a table it is PCA without privacy of the rows
    of all these hospitals, and of a twin that of a large draw of shortened rows, about their mean where the
    twin is centred. `second_moment` has d^2 numbers, too many to be kept beside every experiment's results.

    Raises ValueError for several hospitals that differ: each has a pattern of its own.
    """

    def computed() -> Truth:
        if not isinstance(population, Synthetic):
            if isinstance(population, DictionaryTwin | DifferingHospitals):
                matrix, bound = second_moment(population, sizes, scaling, seed), population.bound
            else:
                patients = cohort(population, sizes, scaling, seed, draw=0)
                matrix, bound = patients.pooled.dense(), patients.bound
            values = np.maximum(np.linalg.eigvalsh(matrix)[::-1], 0.0).astype(np.float64)
            leading = linalg.top_eigenspace(matrix, k)
            return Truth(values, bound, lambda: leading)
        bound = scaling.divisor(population, sum(sizes))

        def basis() -> Array:
            return np.array(population.basis)  # a copy: the model's is a view of its matrix (d, d)

        if scaling.kind == "clipped":
            return Truth(_clipped_eigenvalues(population, bound), bound, basis)
        if scaling.kind == "unit":
            return Truth(population.eigenvalues, bound, basis)
        return Truth(population.scaled_eigenvalues(bound), bound, basis)

    key = (*_rows_key(population, sizes, scaling, seed), k)
    return TRUTHS.get(key, computed, 8 * model_or_table(population).d * (k + 1))


def second_moment(population: Population, sizes: tuple[int, ...], scaling: Scaling, seed: int) -> Array:
    """Return the second moment of the scaled rows, (d, d), that `truth` is about, from its own cache."""

    def computed() -> Array:
        if isinstance(population, DictionaryTwin):
            return _twin_moments(population, sum(sizes)).second
        if isinstance(population, DifferingHospitals):
            return population.second_moment()
        if isinstance(population, str):
            return cohort(population, sizes, scaling, seed, draw=0).pooled.dense()
        if scaling.kind == "clipped":
            raise ValueError("scaling must not be 'clipped' where the covariance is asked for")
        return population.second_moment(scaling.divisor(population, sum(sizes)))

    key = _rows_key(population, sizes, scaling, seed)
    return MOMENTS.get(key, computed, 8 * model_or_table(population).d ** 2)


def _rows_key(
    population: Population, sizes: tuple[int, ...], scaling: Scaling, seed: int
) -> tuple[object, ...]:
    """Return what a truth depends on: of a population neither the seed nor the division among hospitals."""
    if isinstance(population, DifferingHospitals):
        return (population,)
    if isinstance(population, str):
        return population, sizes, scaling, seed
    return population, sum(sizes), scaling


def _clipped_eigenvalues(model: Synthetic, bound: float) -> Array:
    if model.tails is not None:
        return model.scaled_eigenvalues(bound)
    return clipped_eigenvalues(model.eigenvalues, bound)


def clipped_eigenvalues(eigenvalues: Array, bound: float) -> Array:
    """Return the second moment's eigenvalues of Gaussian rows clipped to `bound` and divided by it.

    It is E[lambda_j z_j^2 min(1, bound^2/|row|^2)]/bound^2 with |row|^2 = sum lambda_i z_i^2 and standard
    normal z, by simulation from a fixed seed.
    """
    rng, total = np.random.default_rng(0), np.zeros(len(eigenvalues))
    blocks = 10
    for _ in range(blocks):
        squares = eigenvalues * rng.standard_normal((_CLIPPED_DRAWS // blocks, len(eigenvalues))) ** 2
        total += (squares / np.maximum(squares.sum(axis=1, keepdims=True), bound**2)).sum(axis=0)
    return np.sort(total / _CLIPPED_DRAWS)[::-1]


def known_spectrum(population: Population, n: int, scaling: Scaling) -> dict[str, float]:
    """Return the options `spike` and `variance` of a method that supposes the spectrum to be public.

    They are the weakest spike less the bulk's mean, and the bulk's mean, of the scaled rows.
    """
    if not isinstance(population, Synthetic):
        raise ValueError(f"known must be left out: the spectrum of {population} is not public")
    if scaling.kind in ("unit", "clipped"):
        raise ValueError("known must be left out where each row has its own scale")
    values = population.scaled_eigenvalues(scaling.divisor(population, n))
    variance = float(values[population.k :].mean())
    return {"spike": float(values[population.k - 1]) - variance, "variance": variance}
