"""Hold settings that are unkind to the methods, as presets: what they assume does not hold, or hardly.

Rows are x = U diag(sqrt lambda) z + sqrt(b) e: U uniform on s coordinates, z standard normal, e residuals of
mean 0 and variance 1, one for each coordinate. The components of the covariance are U whatever the law of e.

Heavy tails (each row times sqrt(4/chi2_4), Student's t with 4 degrees of freedom) leave rows of length 1 as
they were: such methods do not notice them, while a bound that no row exceeds grows with n. Residuals that are
skewed move E[v v^T], so that rows of length 1 err by a floor that no number of patients lowers. It is seen
where few measurements share a row's length: 8 of them, a spike of 20 over 5, .006 for exponential residuals
and .01 for lognormal ones.
"""

from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import linalg

RESIDUALS = ("normal", "exponential", "lognormal")
_BOUND_IN_RMS = 3.0  # the public bound, in root mean square lengths of a row


@dataclass(frozen=True)
class UnkindExperiment:
    """Hold one preset: a population, the study, and what is hard about it, in one sentence.

    spikes: variances of the components' scores, which add to the residuals' variance b, `bulk`. residuals:
    their law, one of RESIDUALS. heavy: rows have the tails of Student's t with 4 degrees of freedom.
    """

    title: str
    about: str
    d: int
    n: int
    s: int
    s_hat: int
    spikes: tuple[float, ...]
    providers: int = 1
    bulk: float = 5.0
    residuals: str = "normal"
    heavy: bool = False

    def __post_init__(self) -> None:
        checks.one_of(RESIDUALS, residuals=self.residuals)

    @property
    def k(self) -> int:
        return len(self.spikes)

    def rows(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw the patients' rows, (n, d), and the true components, (d, k), anew each time."""
        basis = np.zeros((self.d, self.k))
        support = np.sort(rng.permutation(self.d)[: self.s])
        basis[support] = linalg.orthonormalise(rng.standard_normal((self.s, self.k)))
        scores = rng.standard_normal((self.n, self.k)) * np.sqrt(self.spikes)
        rows = scores @ basis.T + np.sqrt(self.bulk) * self._residuals(rng)
        if self.heavy:  # a normal row times this factor has Student's t with 4 degrees of freedom
            rows *= np.sqrt(4 / rng.chisquare(4, (self.n, 1)))
        return rows, basis

    def _residuals(self, rng: np.random.Generator) -> Array:
        """Draw residuals e of mean 0 and variance 1, (n, d)."""
        shape = (self.n, self.d)
        if self.residuals == "exponential":
            return rng.exponential(size=shape) - 1  # an exponential number has mean 1 and variance 1
        if self.residuals == "lognormal":
            drawn = rng.lognormal(size=shape)  # of mean e^(1/2) and variance e (e - 1)
            centred: Array = (drawn - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1))
            return centred
        return rng.standard_normal(shape)

    def draw(self, rng: np.random.Generator) -> tuple[Cohort, Array]:
        """Draw the hospitals, with rows clipped to a public bound, and the true components, (d, k)."""
        rows, basis = self.rows(rng)
        # The variances of a row's entries add up to k spikes and d residual variances.
        bound = _BOUND_IN_RMS * float(np.sqrt(sum(self.spikes) + self.d * self.bulk))
        return Cohort.from_rows(np.array_split(rows, self.providers), bound), basis


UNKIND: dict[str, UnkindExperiment] = {
    "unequal": UnkindExperiment(
        "Unequal components, five hospitals",
        "The weakest of three components has a fifth of the strongest's variance, and nobody is trusted.",
        d=400,
        n=10_000,
        s=10,
        s_hat=30,
        spikes=(100.0, 50.0, 20.0),
        providers=5,
    ),
    "heavy": UnkindExperiment(
        "Heavy tails",
        "A few patients are many times longer than the others.",
        d=200,
        n=20_000,
        s=10,
        s_hat=20,
        spikes=(100.0, 100.0),
        heavy=True,
    ),
    "skewed": UnkindExperiment(
        "Skewed measurements",
        "Residuals are exponential, so that rows of length 1 have other components than the covariance.",
        d=12,
        n=200_000,
        s=8,
        s_hat=8,
        spikes=(20.0,),
        residuals="exponential",
    ),
    "weak": UnkindExperiment(
        "Weak signals in standardised columns",
        "Every column carries a little of the components, so that no few rows can be found.",
        d=400,
        n=20_000,
        s=400,
        s_hat=50,
        spikes=(8.0, 8.0),
        bulk=1.0,
    ),
    "few": UnkindExperiment(
        "Too few patients",
        "The patients are below the edge where the features that matter can be told from noise.",
        d=1000,
        n=1_500,
        s=10,
        s_hat=50,
        spikes=(100.0,) * 5,
    ),
}
