"""Simulate what a hospital that lies does to a joint study, and say what a curious one learns.

A liar sends what it likes, as long as the checks of `answer` let it pass. It harms the answer alone: every
other file has its own noise, which no message changes. Three lies are tried, of one hospital:

- noise: it sends nothing but its noise, as if its rows were zeros;
- invented: it invents patients who differ along one direction that means nothing, as much as honest ones do;
- largest: the same direction, with the largest numbers that the checks let pass.

What is told: how far the result is from the components of the honest hospitals' patients, with the liar, and
when everybody leaves it out; and how often `JointResult.turned`, which everybody sees, is largest for it.

Rows are invented (`populations.dictionary_twin`), and noise is drawn in floating point from a seed: for
simulations only.

What a curious one learns. A file is a Gaussian release, with its whole noise, of its hospital's patients. So
whoever has all other files, and all other hospitals' rows, tells two records of this one apart as well as
N(0, 1) from N(mu, 1), and is right at most with Phi(mu/2) where both are equally likely
(`TradeOff.best_guess`). With sealed sums of N parts of noise, all others together would leave one part of N.
"""

from typing import Literal, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import fitted_release
from dppca_core.federated.one_round import upper_triangle
from dppca_core.joint import combine
from dppca_core.joint.answer import JointAnswer, check_arrays
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.populations.dictionary_twin import DictionaryTwin, dictionary_cells, spiked_twin
from dppca_core.populations.spiked import SpikedModel

Lie = Literal["noise", "invented", "largest"]
LIES: tuple[Lie, ...] = ("noise", "invented", "largest")
_SPIKE_OVER_BULK = 6.0  # of the invented patients


class LieOutcome(NamedTuple):
    """Hold what one lie did, in the median of runs.

    honest: error when all are honest, sin Theta to the components of the honest hospitals' patients. lied,
    without: with the lie, and when the liar is left out. noticed: in which share of runs the result turns
    most without the liar. guess: that of a random guess.
    """

    lie: Lie
    honest: float
    lied: float
    without: float
    noticed: float
    guess: float


# Of the plan in examples/by_mail, whose smallest hospital lies, in 21 runs. A page and docs/by-mail.md have
# them: a simulation takes minutes where hospitals have many patients.
EXAMPLE = (
    LieOutcome("noise", honest=0.0816, lied=0.143, without=0.0862, noticed=0.76, guess=1.30),
    LieOutcome("invented", honest=0.0816, lied=0.153, without=0.0862, noticed=0.76, guess=1.30),
    LieOutcome("largest", honest=0.0816, lied=1.03, without=0.0862, noticed=1.0, guess=1.30),
)


def simulate(plan: JointPlan, lie: Lie, *, runs: int = 20, seed: int = 0) -> LieOutcome:
    """Return what the last hospital of a plan with fitted rows does by this lie.

    Raises ValueError for a plan without fitted rows, or with fewer than two hospitals.
    """
    if not plan.fitted or len(plan.hospitals) < 2:
        raise ValueError("lies are simulated for fitted rows of two hospitals or more")
    twin, liar = _twin(plan, seed), plan.hospitals[-1]
    errors = np.empty((runs, 3))
    noticed = 0
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        rows = [_rows(twin, hospital.patients, rng) for hospital in plan.hospitals]
        honest = [invented_answer(plan, h, x, rng) for h, x in zip(plan.hospitals, rows, strict=True)]
        covariance = np.cov(np.concatenate(rows[:-1]), rowvar=False, bias=True)
        truth = linalg.top_eigenspace(_in_units(plan, covariance), plan.k)
        false = _lie(plan, liar, lie, covariance, rng)
        lied = [*honest[:-1], false]
        answered = honest, lied, honest[:-1]
        bases = [combine.basis_of(plan, answers) for answers in answered]
        errors[run] = [subspace_metrics.sin_theta(truth, basis) for basis in bases]
        noticed += int(combine.turned_without(plan, lied).argmax() == len(plan.hospitals) - 1)
    honest_error, lied_error, without = np.median(errors, axis=0).tolist()
    guess = subspace_metrics.random_guess(plan.d, plan.k)
    return LieOutcome(lie, honest_error, lied_error, without, noticed / runs, guess)


def invented_answer(
    plan: JointPlan, hospital: PlannedHospital, rows: Array, rng: np.random.Generator
) -> JointAnswer:
    """Return an answer of encoded rows, (n, d), with noise from a generator: for simulations only."""
    rule = plan.rule(hospital, len(rows))
    made = fitted_release.fitted_moment(rows, rule, rng)
    arrays = {
        "squares": made.squares,
        "mean": made.mean,
        "tails": made.tails,
        "moment": upper_triangle(made.released / made.bound**2),
    }
    sent = {step: arrays[step] for step in rule.steps}
    check_arrays(plan, hospital, len(rows), sent)
    return JointAnswer(hospital, len(rows), sent)


def _twin(plan: JointPlan, seed: int) -> DictionaryTwin:
    cells, k = dictionary_cells(plan.dictionary), plan.k
    latents = max(len(cells), k + 1)
    spiked = SpikedModel(d=latents, k=k, s=latents, spike=_SPIKE_OVER_BULK, bulk=(0.0, 1.0), seed=seed)
    return spiked_twin(cells, plan.dictionary.bound, spiked)


def _rows(twin: DictionaryTwin, n: int, rng: np.random.Generator) -> Array:
    return np.concatenate(list(twin.encoded(n, rng)))


def _in_units(plan: JointPlan, covariance: Array) -> Array:
    """Return what components are of: the covariance, or correlations for standardised rows."""
    if plan.rows != "standardised":
        return covariance
    stds = np.sqrt(np.maximum(covariance.diagonal(), 1e-12))
    return np.asarray(covariance / np.outer(stds, stds))


def _lie(
    plan: JointPlan, liar: PlannedHospital, lie: Lie, covariance: Array, rng: np.random.Generator
) -> JointAnswer:
    """Return a false answer that passes the checks."""
    n, d = liar.patients, plan.d
    if lie == "noise":
        return invented_answer(plan, liar, np.tile(plan.layout.middle, (n, 1)) + 1e-9, rng)
    # Of the directions in which rows lie, the one in which honest rows lie least.
    numbers = plan.layout.numbers
    _, vectors = np.linalg.eigh(covariance[np.ix_(numbers, numbers)])
    wrong = linalg.scatter_rows(vectors[:, :1], np.flatnonzero(numbers), d)[:, 0]
    along = rng.standard_normal(n)
    if lie == "invented":
        size = float(np.sqrt(covariance.trace()))
        return invented_answer(plan, liar, plan.layout.middle + np.outer(along * size, wrong), rng)
    rule = plan.rule(liar, n)
    counts = plan.layout.count
    arrays = {"squares": np.ones(counts), "mean": np.zeros(d), "tails": np.zeros(2)}
    if not plan.layout.complete:
        weight = rule.count_weight(rule.mean_bound(arrays["squares"]))
        arrays["mean"] = np.append(arrays["mean"], weight)
    arrays["moment"] = upper_triangle(np.outer(wrong, wrong))
    sent = {step: arrays[step] for step in rule.steps}
    check_arrays(plan, liar, n, sent)
    return JointAnswer(liar, n, sent)
