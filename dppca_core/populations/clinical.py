"""A synthetic clinical cohort whose hospitals differ, by as much as one number says. Not real patients.

In the units of one public reference range a patient of hospital i is

    x = M_i (a_i + D_i (L f + e)),   f ~ N(0, V_i),   e ~ N(0, I - diag(L L^T)),

L the loadings of three clinical factors, invented here. Everything that differs grows with `strength`:
shift a_i (another device or laboratory, other centre), scale D_i (other units of spread), support M_i
(columns that the hospital does not measure: they state the public centre, 0) and case mix V_i (how much its
patients differ in each factor). At 0 all hospitals hold patients of one population with covariance
L L^T + I - diag(L L^T), whose top three eigenvectors are the common truth; at 1 a column's shift has a
standard deviation of half a public scale, its spread is off by a fifth, one column in ten is missing, and
factors' variances lie between 0.55 and 1.8.

A laboratory's printed reference range carries most of its shift and scale (`PRINTED`): ranges are rounded
and come from healthy people. Means and Wishart matrices are drawn exactly, at a cost without n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Indices
from dppca_core.byte_cache import ByteCache
from dppca_core.numerics import linalg, wishart
from dppca_core.populations.gaussian_patients import seed_of
from dppca_core.populations.site_summaries import MOST_ROWS, DrawnSite
from dppca_core.populations.standardisation import Constants

# Name, columns that it loads on, and the loading of each.
FACTORS = (("circulation", 8, 0.9), ("kidney", 7, 0.87), ("inflammation", 5, 0.9))
DIFFERENCES = ("shift", "scale", "support", "case mix")
SHARES = (0.4, 0.25, 0.15, 0.1, 0.06, 0.04)  # of all patients, by hospital
PRINTED = 0.9  # share of a hospital's shift and (log) scale that its printed ranges carry
# How large the four differences are at strength 1, in the units of the module's text.
_SHIFT_STD, _LOG_SCALE_STD, _MISSING_SHARE, _MOST_LOG_VARIANCE = 0.5, 0.2, 0.1, 0.6
MOST_STRENGTH = 2.0

HOSPITALS = ByteCache(32 * 2**20)  # populations, as every draw needs them
PATIENTS = ByteCache(32 * 2**20)  # means and scatters of draws


@dataclass(frozen=True, eq=False)
class Hospital:
    """Hold the population of one hospital, in the units of the public reference range. It holds no patient.

    Attributes:
        mean: Of its patients, (d,).
        root: A root of their covariance, (d, d + 3): the covariance is root root^T.
        covariance_without_effects: The covariance that the patients would have without the hospital's own
            shift and scale, (d, d); columns that it does not measure are zero.
        printed: Centre and scale of the reference ranges that its laboratory prints.
    """

    mean: Array
    root: Array
    covariance_without_effects: Array
    printed: Constants

    @cached_property
    def covariance(self) -> Array:
        return self.root @ self.root.T


@dataclass(frozen=True)
class ClinicalModel:
    """Hold the recipe of the hospitals' populations: the same recipe gives the same populations.

    d: number of columns. strength: how strongly hospitals differ, from 0 to 2. differences: in what, some of
    DIFFERENCES. seed: of the loadings and of the hospitals.
    Raises ValueError for d below 20, a strength outside [0, 2], or an unknown difference.
    """

    d: int = 100
    strength: float = 1.0
    differences: tuple[str, ...] = DIFFERENCES
    seed: int = 0

    def __post_init__(self) -> None:
        checks.whole(self.s, d=self.d)
        checks.within(0.0, MOST_STRENGTH, strength=self.strength)
        checks.whole(0, seed=self.seed)
        for difference in self.differences:
            checks.one_of(DIFFERENCES, differences=difference)

    @property
    def k(self) -> int:
        return len(FACTORS)

    @property
    def s(self) -> int:
        return sum(columns for _, columns, _ in FACTORS)

    @property
    def eigenvalues(self) -> Array:
        """Return all eigenvalues of the common population's covariance, descending, (d,)."""
        return linalg.top_eigenpairs(self.covariance(), self.d)[0]

    def columns_by_factor(self) -> tuple[Indices, ...]:
        """Return the columns of each factor, at random places, and last the other columns."""
        order = np.random.default_rng([self.seed, self.d]).permutation(self.d)
        return tuple(np.split(order, np.cumsum([columns for _, columns, _ in FACTORS])))

    def loadings(self) -> Array:
        """Return the loadings L, (d, 3): each factor loads on columns of its own."""
        loadings = np.zeros((self.d, self.k))
        for j, (columns, (*_, loading)) in enumerate(
            zip(self.columns_by_factor()[:-1], FACTORS, strict=True)
        ):
            loadings[columns, j] = loading
        return loadings

    def covariance(self) -> Array:
        """Return the covariance of the common population, (d, d): ones on the diagonal."""
        root = self._root(np.ones(self.k))
        return root @ root.T

    def _root(self, variances: Array) -> Array:
        """Return a root R of the covariance, R R^T, where the factors have these variances, V: (d, d + 3).

        R is (L V^(1/2), (I - diag(L L^T))^(1/2)) side by side: a patient is R times d + 3 standard normals.
        """
        loadings = self.loadings()
        # What the factors leave of each column's variance of 1, when they have variance 1.
        unique_std = np.sqrt(1 - (loadings**2).sum(axis=1))
        return np.hstack([loadings * np.sqrt(variances), np.diag(unique_std)])

    def basis(self) -> Array:
        """Return the true components of the common population, (d, 3) orthonormal."""
        return linalg.top_eigenspace(self.covariance(), self.k)

    def hospital(self, index: int) -> Hospital:
        """Return the population of hospital `index`.

        The same draws serve every strength, so that only the size of the differences changes with it.
        """
        rng = np.random.default_rng([self.seed, self.d, 1, index])  # not the stream of the loadings
        shift, log_scale = rng.standard_normal((2, self.d))
        # A column is missing where its number, uniform on [0, 1), is below the share that is missing.
        missing_draw, mix = rng.random(self.d), rng.uniform(-1.0, 1.0, self.k)

        def size(difference: str, at_one: float) -> float:
            return self.strength * at_one if difference in self.differences else 0.0

        shift, log_scale = shift * size("shift", _SHIFT_STD), log_scale * size("scale", _LOG_SCALE_STD)
        measured = missing_draw >= size("support", _MISSING_SHARE)
        calibrated_root = self._root(np.exp(mix * size("case mix", _MOST_LOG_VARIANCE))) * measured[:, None]
        return Hospital(
            mean=np.where(measured, shift, 0.0),
            root=calibrated_root * np.exp(log_scale)[:, None],
            covariance_without_effects=calibrated_root @ calibrated_root.T,
            printed=Constants(  # columns that are not measured have the public centre 0 and scale 1
                np.where(measured, PRINTED * shift, 0.0),
                np.where(measured, np.exp(PRINTED * log_scale), 1.0),
            ),
        )


def sizes(n: int) -> tuple[int, ...]:
    """Return the six hospitals' sizes, n patients in the shares `SHARES`, at least two each."""
    checks.whole(100, n=n)
    others = tuple(max(2, round(share * n)) for share in SHARES[1:])
    return (n - sum(others), *others)


def name(index: int) -> str:
    """Return the name of a hospital by its index: A to Z, then AA, AB and so on."""
    before, letter = divmod(index, 26)
    return (name(before - 1) if before else "") + chr(ord("A") + letter)


NAMES = tuple(map(name, range(len(SHARES))))


def hospital(model: ClinicalModel, index: int) -> Hospital:
    return HOSPITALS.get((model, index), lambda: model.hospital(index), 32 * model.d**2)


def hospitals(model: ClinicalModel) -> tuple[Hospital, ...]:
    return tuple(hospital(model, index) for index in range(len(SHARES)))


def draw(
    model: ClinicalModel,
    sizes: Sequence[int],
    seed: int,
    repeat: int,
    indices: Sequence[int] | None = None,
    most_rows: int = MOST_ROWS,
) -> tuple[DrawnSite, ...]:
    """Draw patients at hospitals, as each hospital's sample mean and scatter about it.

    The means are N(mean, covariance/n_i), and n_i times the scatters are Wishart with n_i - 1 degrees of
    freedom: exact for every n_i. The same random numbers serve every strength, so that curves over it are
    smooth. A hospital's patients depend neither on the others nor on their sizes.

    repeat: another number gives other patients. indices: which hospitals of the model these are; the first
    ones, in their order, by default. most_rows: how many rows stand in at most for a hospital's patients.
    """
    numbers = range(len(sizes)) if indices is None else indices
    pairs = zip(numbers, sizes, strict=True)
    return tuple(patients(model, index, size, seed, repeat, most_rows) for index, size in pairs)


def patients(model: ClinicalModel, index: int, n: int, seed: int, repeat: int, most_rows: int) -> DrawnSite:
    """Draw the sample mean and scatter of n patients of one hospital, as `draw` says; they are kept."""

    def drawn() -> DrawnSite:
        its, rng = hospital(model, index), np.random.default_rng([seed, repeat, index])
        columns = its.root.shape[1]  # of the root: a patient is the root times so many standard normals
        mean = its.mean + its.root @ rng.standard_normal(columns) / math.sqrt(n)
        # half half^T is the scatter.
        half = its.root @ wishart.wishart_factor(n - 1, columns, rng) / math.sqrt(n)
        return DrawnSite(n, mean, half @ half.T, its.mean, its.covariance, seed_of(rng, 0), most_rows)

    return PATIENTS.get((model, index, n, seed, repeat, most_rows), drawn, 8 * model.d**2)
