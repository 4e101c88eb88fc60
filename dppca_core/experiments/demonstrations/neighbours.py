"""A picture of two neighbouring data sets in the plane, and what is released from each, again and again.

The patient who changes is at the rim, as far as a row may be, and the other one at right angles: no pair of
plane data sets is told apart more easily from a noisy second moment
(`dppca_core.mechanisms.symmetric_gaussian`). For add/remove the place stays empty. Everything released here
is Analyze Gauss's, of few patients.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form
from dppca_core.arrays import Array
from dppca_core.auditing.cases.pairs import along, moved
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget

PATIENTS = 60
_AXIS = math.radians(28)  # of most patients
_SPREAD = (0.42, 0.16)


class NeighbourReleases(NamedTuple):
    """One release: its leading direction, a unit vector (2,), and the number that the attacker reads."""

    direction: Array
    read: float


class Picture(NamedTuple):
    """Rows of the patients who stay, (59, 2), of the one who changes and of who comes instead (None: nobody),
    and the releases with and without that patient. `mu`: as in `dppca_core.auditing.membership`."""

    others: Array
    patient: Array
    instead: Array | None
    here: tuple[NeighbourReleases, ...]
    there: tuple[NeighbourReleases, ...]
    mu: float


def picture(budget: Budget, releases: int = 20, seed: int = 0) -> Picture:
    """Draw it. What is read is N(mu, 1) with the patient and N(0, 1) without, in units of the noise."""
    checks.whole(1, releases=releases)
    rng = np.random.default_rng([seed, PATIENTS])
    along_axis = np.array([math.cos(_AXIS), math.sin(_AXIS)])
    across = np.array([-along_axis[1], along_axis[0]])
    scores = rng.standard_normal((PATIENTS - 1, 2)) * _SPREAD
    others = np.clip(scores, -0.85, 0.85) @ np.array([along_axis, across])
    others /= np.maximum(1.0, np.linalg.norm(others, axis=1, keepdims=True))
    patient, instead = across, along_axis if budget.neighbours == "replace-one" else np.zeros(2)
    pair = tuple(Cohort.from_rows([np.vstack([others, one])], 1.0) for one in (patient, instead))
    way = along(moved((pair[0], pair[1])))
    with_, without = (PATIENTS * way(cohort.pooled.dense()) for cohort in pair)
    mu = 1 / closed_form.multiplier_of(symmetric_gaussian.spends(budget))
    unit = (with_ - without) / mu

    def shown(cohort: Cohort) -> NeighbourReleases:
        noisy = symmetric_gaussian.release(cohort, budget, rng, None)
        return NeighbourReleases(
            linalg.top_eigenspace(noisy, 1)[:, 0], (PATIENTS * way(noisy) - without) / unit
        )

    here, there = (tuple(shown(cohort) for _ in range(releases)) for cohort in pair)
    other = instead if budget.neighbours == "replace-one" else None
    return Picture(others, patient, other, here, there, mu)
