# A method is one file. Copy this one to dppca_core/methods/<key>.py, where <key> is its key in METHODS, and
# change it. Then `make docs` writes its page, and the tests of every method say what is missing.
# The docstring is the mathematics: what is released, on which scale, and why its sensitivity is what it is.
"""My PCA: Analyze Gauss under another name.

A trusted curator releases the pooled second moment (1/n) sum x x^T, |x| <= 1, plus symmetric Gaussian noise.
Its leading eigenvectors are post-processing. With one patient replaced, the sum moves by

    |x x^T - y y^T|_F <= sqrt 2

and with one added or removed by |x|^2 <= 1. Noise and proof: `dppca_core.mechanisms.symmetric_gaussian`.
"""

import numpy as np

from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget, Event
from dppca_core.records import Estimate, Method


# Noise of its own needs a function in dppca_core/auditing/cases that draws it, which `audit` below names.
def release(cohort: Cohort, budget: Budget, rng: np.random.Generator) -> Array:
    """Return the noisy pooled second moment, (d, d). This is the only step that reads private rows."""
    return symmetric_gaussian.release(cohort, budget, rng, noise=None)


# A parameter of the method's own is a keyword with a default, and a line under `Args:`.
def fit(cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator) -> Estimate:
    """Return the top k eigenvectors of the noisy moment.

    Returns:
        The basis, (d, k).
    """
    return Estimate.from_moment(
        release(cohort, budget, rng),
        k,
        noise_std=symmetric_gaussian.entry_std(budget, cohort.n, noise=None),
        spent=spends(budget),
    )


# Known before a run, and so from public numbers alone.
def spends(budget: Budget, **_: object) -> tuple[Event, ...]:
    """Return one Gaussian release."""
    return symmetric_gaussian.spends(budget)


METHOD = Method(
    title="My PCA",  # on screen
    reference="a paper, or a sentence",
    trust="central",  # whom patients trust, and what they are promised: TRUSTS and GUARANTEES in records.py
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours", "accounting"),  # what its error depends on
    fit=fit,
    spends=spends,
    audit="moments.pooled",  # the release, as dppca_core/auditing/cases draws it at its worst pair
)
