"""What a plan should give, before anybody takes part: from public numbers alone.

The method is asked of the one recommendation (`dppca_core.bounds.recommendation`) for hospitals that trust
nobody, at the noise that their guarantees put together. By mail only one moment can be sent, so a method of
many rounds is named, with its error, and not taken. A moment with a fitted bound is predicted as the one of
one table is (`bounds.fitted_prediction`), at the worst of three stated spectra, with the noise of each
hospital's own moment and mean (`pooling`): to first order, s^2 = sum p_i^2 s_i^2 + sum_ij A_ij^2 t_i^2 t_j^2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.bounds import fitted_prediction
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.bounds.recommendation import Recommendation, recommend
from dppca_core.joint import pooling
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.mechanisms import hospital_budgets
from dppca_core.mechanisms.paid_lengths import FittedBound

TRUST = "untrusted server"


@dataclass(frozen=True)
class Forecast:
    """Hold what a plan should give with some of its hospitals.

    Attributes:
        error: Predicted sin Theta, in the median of runs, a guess's at most; None for a method that the
            recommendation does not predict.
        guess: A random guess's.
        advised: The recommendation for hospitals that trust nobody, whatever the number of rounds.
        shares: The weight of each hospital, which add up to 1.
    """

    error: float | None
    guess: float
    advised: Recommendation
    shares: tuple[float, ...]

    @property
    def near_guess(self) -> bool:
        """Return whether the error is above a third of a guess's, so that no such study is recommended."""
        return self.error is not None and self.error > SMALL_SHARE * self.guess

    @property
    def better_by_rounds(self) -> bool:
        """Return whether a method of many rounds, over a network, is predicted to err less."""
        return (
            self.error is not None
            and self.advised.method != "own_noise_sparse"
            and self.advised.error < self.error
        )


def forecast(plan: JointPlan, hospitals: Sequence[PlannedHospital] | None = None) -> Forecast:
    """Return what a plan should give with these hospitals; None: with all."""
    there = plan.hospitals if hospitals is None else tuple(hospitals)
    sizes = [hospital.patients for hospital in there]
    sampling = hospital_budgets.sampling_ratio(plan.d, plan.k, plan.s_hat)
    budgets = [plan.budget(hospital) for hospital in there]
    _, common = hospital_budgets.pooled_budget(sizes, budgets, TRUST, sampling)
    advised = recommend(
        TRUST, n=sum(sizes), d=plan.d, k=plan.k, budget=common, s_hat=plan.s_hat, providers=len(there)
    )
    shares = weights(plan, there, sizes)
    if plan.fitted:
        error: float | None = min(_fitted_error(plan, there, shares), advised.guess)
        if plan.s_hat is not None and plan.s_hat < plan.d:  # what the sparse step gains is in the other one
            error = min(error or 0.0, advised.errors["own_noise_sparse"])
    else:
        error = advised.errors.get(plan.method)
    return Forecast(error, advised.guess, advised, tuple(shares.tolist()))


def weights(plan: JointPlan, hospitals: Sequence[PlannedHospital], sizes: Sequence[int]) -> Array:
    """Return the weight of each hospital, by precision: from guarantees and these sizes alone."""
    multipliers = []
    for hospital, n in zip(hospitals, sizes, strict=True):
        budget = plan.budget(hospital)
        fitted = plan.rule(hospital, n).price("moment").noise_multiplier if plan.fitted else None
        multipliers.append(fitted or gaussian.noise_multiplier(budget))
    return pooling.weights(multipliers, sizes, plan.d, plan.k, plan.s_hat)


def _fitted_error(plan: JointPlan, hospitals: Sequence[PlannedHospital], shares: Array) -> float:
    rules: list[FittedBound] = [plan.rule(hospital, hospital.patients) for hospital in hospitals]
    mean_square, rank = plan.dictionary.default_bound**2, plan.layout.rank
    trace = float(rank) if plan.rows == "standardised" else mean_square
    errors = []
    for spectrum in fitted_prediction.spectra_of(rank, plan.k, trace):
        noises = [fitted_prediction.entry_noise(trace, rule, mean_square) for rule in rules]
        moments, means = (np.array(each) for each in zip(*noises, strict=True))
        quadratic = 2 * np.diag(shares) - np.outer(shares, shares)
        of_means = np.square(means) @ np.square(quadratic) @ np.square(means)
        std = math.sqrt(float(np.square(shares) @ np.square(moments) + of_means))
        errors.append(fitted_prediction.median_error(spectrum, plan.k, std))
    return max(errors)
