"""Releases to attack, and the bugs that can be planted in them: what the privacy page audits.

A bug changes what is released and not what is claimed. Each is one that programs of this kind have had:
noise of half its size, a sensitivity of 1 where a replaced patient moves the release by sqrt 2, one noise
for all hospitals, rows that nobody clipped.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.auditing.cases import moments, products, stages
from dppca_core.auditing.cases.pairs import Case, orthogonal_pair
from dppca_core.mechanisms import matrix_product, symmetric_gaussian
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget

LONG_ROW = 3.0  # norm of a row that was not clipped
BUGS = ("half", "sensitivity", "shared", "unclipped")

# By method a function of (budget, columns, steps), which returns the case of what an attacker sees of one
# hospital, or user, in one run. Methods that make one release ignore the steps.
_ATTACKED: dict[str, Callable[[Budget, int, int], Case]] = {
    "dps_pca": products.rounds,
    "analyze_gauss": lambda budget, k, _: moments.pooled(budget, k)[0],
    "dpdis_pca": lambda budget, k, _: moments.one_hospital(budget, k)[0],
    "dp_oja": lambda budget, k, _: products.oja(budget, k)[0],
    "two_stage": lambda budget, k, steps: stages.both_stages(
        budget, k, stages.noise_at(budget, iterations=steps)
    ),
    "two_stage_own_noise": lambda budget, k, steps: stages.both_stages(
        budget, k, stages.noise_at(budget, "untrusted server", steps)
    ),
    "ldp_pca": lambda budget, k, _: moments.one_user(budget, k)[0],
}
_PRODUCTS = ("dps_pca", "dp_oja")  # methods that release a moment's products with a block
METHODS_ATTACKED = tuple(_ATTACKED)


class Scaled(np.random.Generator):
    """Draw normal variables times `noise_factor`, for a release with more or less noise, or none."""

    def __init__(self, seed: Any, noise_factor: float) -> None:
        super().__init__(np.random.default_rng(seed).bit_generator)
        self.noise_factor = noise_factor

    def standard_normal(self, *args: Any, **kwargs: Any) -> Any:
        return super().standard_normal(*args, **kwargs) * self.noise_factor


class Planted(NamedTuple):
    """Hold the case to draw, and how its noise differs from what it claims.

    noise_factor: what the noise that the program draws is multiplied by (`Scaled`). mu: how far the pair
    truly moves what is released, in units of the noise that it truly has; infinite without noise.
    """

    case: Case
    noise_factor: float
    mu: float


def attacked(method: str, budget: Budget, k: int, steps: int) -> Case:
    """Return the release of a method at its worst pair, as `fit` would make it.

    k: components; beyond 2 it is attacked at 2, as sensitivities do not grow further. steps: rounds of the
    run, where the method has rounds. Raises ValueError for a method that is not in METHODS_ATTACKED.
    """
    checks.one_of(METHODS_ATTACKED, method=method)
    checks.whole(1, k=k, steps=steps)
    return _ATTACKED[method](budget, min(k, 2), steps)


def why_no_bug(bug: str, method: str, budget: Budget, k: int) -> str | None:
    """Return why this bug changes nothing here, or None. Raises ValueError for an unknown bug."""
    checks.one_of(BUGS, bug=bug)
    if bug == "shared" and method != "dps_pca":
        return "only DPS-PCA has a noise that hospitals could share"
    if bug == "unclipped" and METHODS[method].scaling == "unit":
        return "every row is scaled to length 1 here, however long it was"
    if bug == "sensitivity" and _sensitivity(method, budget, k) == 1.0:
        return "1 is the right sensitivity here"
    if bug == "sensitivity" and budget.accounting == "as-printed":
        return "the printed noise has its paper's own sensitivity"
    return None


def planted(bug: str, method: str, budget: Budget, k: int, steps: int) -> Planted:
    """Return a method's release, as `attacked` does, with one of BUGS in it."""
    reason = why_no_bug(bug, method, budget, k)
    if reason is not None:
        raise ValueError(f"bug must break the release, but {reason}, got {checks.shown(bug)}")
    case = attacked(method, budget, k, steps)
    if bug == "half":
        return Planted(case, 0.5, 2 * case.mu)
    if bug == "sensitivity":
        right = _sensitivity(method, budget, k)
        return Planted(case, 1 / right, right * case.mu)  # noise for a sensitivity of 1
    if bug == "shared":
        _, difference = products.dps(budget, min(k, 2), "shared")
        return Planted(difference, 1.0, math.inf)  # the same noise in two messages cancels
    # A row that is longer by a factor moves the second moment by its square.
    unclipped = replace(case, pair=orthogonal_pair(budget, n=case.pair[0].n, norm=LONG_ROW))
    return Planted(unclipped, 1.0, LONG_ROW**2 * case.mu)


def _sensitivity(method: str, budget: Budget, k: int) -> float:
    """Return the right sensitivity, for which the bug "sensitivity" puts 1: of products or of a moment."""
    if method in _PRODUCTS:
        return matrix_product.sensitivity(budget, k)
    return symmetric_gaussian.sensitivity(budget)


def readings(case: Case) -> tuple[float, float]:
    """Return the number that each of the two cohorts gives without noise: with the patient, and without."""
    silent = Scaled(0, 0.0)
    # A mechanism may make several releases at once: without noise their numbers are equal.
    with_, without = (float(np.ravel(case.mechanism(cohort, silent))[0]) for cohort in case.pair)
    if math.isclose(with_, without, rel_tol=1e-12, abs_tol=1e-12):
        raise ValueError(
            f"case must tell its two cohorts apart, got {checks.shown(with_)} for both in {case.title!r}"
        )
    return with_, without
