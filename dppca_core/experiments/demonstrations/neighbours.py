"""A picture of two neighbouring data sets in the plane, and repeated releases from each.

The patient who changes has a row of length 1, the largest allowed, and the one who comes instead is at a
right angle: no pair of plane data sets is easier to tell apart from a noisy second moment
(`dppca_core.mechanisms.symmetric_gaussian`). For add/remove nobody comes instead. All releases are those of
Analyze Gauss, from few patients.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form
from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import coordinate_along, difference_of_sums
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget

PATIENTS = 60
_AXIS_ANGLE = math.radians(28)  # between the first coordinate and the axis along which most patients lie
_SCORE_STDS = (0.42, 0.16)  # of patients along that axis, and across
_MOST_SCORE = 0.85  # of patients who stay: only those who change have rows near the largest length


class NeighbourRelease(NamedTuple):
    """Hold one release: its leading direction, a unit vector (2,), and the number that the attacker reads.

    `reading` is in units of the noise: N(mu, 1) with the patient and N(0, 1) without.
    """

    direction: Array
    reading: float


class Picture(NamedTuple):
    """Hold the rows of two neighbouring data sets, and the releases from each."""

    others: Array  # the rows of the patients who stay, (59, 2)
    patient: Array  # the row of the patient who changes, (2,)
    instead: Array | None  # the row of the patient who comes instead; None for nobody
    with_patient: tuple[NeighbourRelease, ...]  # the releases from the data set with the patient
    without_patient: tuple[NeighbourRelease, ...]  # the releases from the data set without
    mu: float  # the distance of their laws in units of the noise, as in `dppca_core.auditing.membership`

    @property
    def limit(self) -> float:
        """Return above which number read the attacker says "with the patient".

        Half-way between two normal laws of one width: from even odds no other test is right more often.
        """
        return self.mu / 2

    @property
    def tries(self) -> int:
        return len(self.with_patient) + len(self.without_patient)

    def right_guesses(self, pairs: int | None = None) -> int:
        """Return how many of the first `pairs` of releases the attacker assigns to the right data set."""
        right = sum(release.reading > self.limit for release in self.with_patient[:pairs])
        return right + sum(release.reading <= self.limit for release in self.without_patient[:pairs])


def picture(budget: Budget, releases: int = 20, seed: int = 0) -> Picture:
    """Draw the two data sets, and so many releases from each."""
    checks.whole(1, releases=releases)
    rng = np.random.default_rng([seed, PATIENTS])
    along_axis = np.array([math.cos(_AXIS_ANGLE), math.sin(_AXIS_ANGLE)])
    across = np.array([-along_axis[1], along_axis[0]])
    scores = rng.standard_normal((PATIENTS - 1, 2)) * _SCORE_STDS
    others = np.clip(scores, -_MOST_SCORE, _MOST_SCORE) @ np.array([along_axis, across])
    others /= np.maximum(1.0, np.linalg.norm(others, axis=1, keepdims=True))
    # For add/remove an empty row stands where the patient was, as the number of patients is public.
    patient, instead = across, along_axis if budget.neighbours == "replace-one" else np.zeros(2)
    pair = tuple(Cohort.from_rows([np.vstack([others, row])], 1.0) for row in (patient, instead))
    # The noisy second moment's coordinate along the patient's change tells best which data set it is of.
    # Without noise it has these two values, which are mu standard deviations of the noise apart.
    coordinate = coordinate_along(difference_of_sums((pair[0], pair[1])))
    with_, without = (PATIENTS * coordinate(cohort.pooled.dense()) for cohort in pair)
    mu = 1 / closed_form.multiplier_of(symmetric_gaussian.spends(budget))
    unit = (with_ - without) / mu  # one standard deviation of the noise

    def draw(cohort: Cohort) -> NeighbourRelease:
        noisy = symmetric_gaussian.release(cohort, budget, rng, noise=None)  # of the accounting's shape
        reading = (PATIENTS * coordinate(noisy) - without) / unit
        return NeighbourRelease(linalg.top_eigenspace(noisy, 1)[:, 0], reading)

    releases_with, releases_without = (tuple(draw(cohort) for _ in range(releases)) for cohort in pair)
    newcomer = instead if budget.neighbours == "replace-one" else None
    return Picture(others, patient, newcomer, releases_with, releases_without, mu)
