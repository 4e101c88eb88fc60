"""Recommend the method with the least predicted error under a trust model, from public numbers alone.

The numbers declare a population: k equal spikes with k lambda_k/tr Sigma = `signal`, over a bulk that is
uniform between 0 and twice its mean. Half of the s_hat rows that are kept carry the spikes, or all where all
are kept, unless another number is declared. On rows of length 1 its spikes are lambda = signal/k, the mean of
its bulk is b = (1 - signal)/(d - k). Predicted are, each in the median of runs:

    two stages        `dppca_core.bounds.two_stage_prediction`, with what missed rows cost, after as many
                      rounds as forget a random start; where more features matter than are kept, with what the
                      heaviest of them miss of a spread direction, k (1 - P(chi2_{k+2} > q))
    stacked rounds    runs on the population itself (`dppca_core.numerics.reduced_rounds`), the sampling of
                      all pairs, lambda x/(n (lambda - x)^2) each, and what the rounds leave of a random start
    one moment        pairs of (tau^2 + lambda x/n)/(lambda - x)^2, tau its off-diagonal noise

none above a random guess. One moment with a sparse step was seldom seen to beat all of these, and then by
little, so it is no candidate. The tests compare the answer with every method of the trust.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import chdtrc, chdtri

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds import perturbation
from dppca_core.bounds.two_stage_prediction import two_stage_own_noise_prediction, two_stage_prediction
from dppca_core.mechanisms import stacked, symmetric_gaussian, two_stage
from dppca_core.methods import METHODS
from dppca_core.numerics import reduced_rounds, subspace_metrics
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED, SIGNAL, Setting

TRUSTS = ("central", "secure aggregation", "untrusted server")
_SUFFIX = {"central": "", "secure aggregation": "_sealed", "untrusted server": "_own_noise"}
_ONE_MOMENT = {
    "central": "analyze_gauss",
    "secure aggregation": "cape",
    "untrusted server": "own_noise_sparse",  # which keeps all features by default
}
_GRID = 64  # eigenvalues that stand for the bulk's
_HIGHEST = 0.9  # of the spike: where the bulk would reach beyond it, it ends there
_FORGOTTEN = 20.0  # a random start is forgotten once rounds have shrunk it to 1/20 of the directions sought
_LIKELY = 0.5  # a chance from here on is told as one of finding all features
_NEAR_GUESS = 0.9  # of a guess's error: a method that errs by more is called no better than a guess


@dataclass(frozen=True)
class Recommendation:
    """Hold the method to use, with its options, and why.

    Attributes:
        method: Key of METHODS.
        options: Options of its `fit` beside its defaults.
        error: Predicted sin Theta, in the median of runs.
        guess: That of a random guess.
        reason: The method, its error and why it is best, in sentences.
        why: The last of these sentences alone, without capital and full stop.
        errors: Predicted sin Theta of every candidate.
        chance: Predicted chance that the first of two stages names all features that matter.
    """

    method: str
    options: Mapping[str, Any]
    error: float
    guess: float
    reason: str
    why: str
    errors: Mapping[str, float] = field(repr=False)
    chance: float

    @property
    def hopeless(self) -> bool:
        """True where no method is predicted to do much better than a guess."""
        return self.error > _NEAR_GUESS * self.guess


@lru_cache(maxsize=8192, typed=True)  # a chart of three methods asks for some thousands
def recommend(
    trust: str,
    *,
    n: int,
    d: int,
    k: int,
    budget: Budget,
    s_hat: int | None = None,
    providers: int = 1,
    signal: float = SIGNAL,
    matter: int | None = None,
    rounds: int | None = None,
) -> Recommendation:
    """Return the recommended method for public numbers.

    Args:
        trust: Whom the hospitals trust, one of TRUSTS.
        n: Patients of all hospitals.
        d: Features.
        k: Components.
        budget: The guarantee.
        s_hat: Features kept, which should be two to five times those that matter; d where all may matter;
            None where nobody knows, so that they are chosen from the release.
        providers: Hospitals.
        signal: A declared guess of k lambda_k/tr Sigma, in (0, 1).
        matter: Rows that carry the components; half of those kept where None, or d where all are kept.
        rounds: Those of stage 1; None where they may be as many as forget a random start.

    Returns:
        The method with the least predicted error.

    Raises:
        ValueError: For another trust, and numbers out of range.

    References:
        Derived here, in the module's text; checked against simulation in the tests.
    """
    checks.one_of(TRUSTS, trust=trust)
    checks.whole(2, d=d)
    checks.whole(1, d - 1, k=k)
    checks.whole(1, n=n, providers=providers)
    checks.inside_unit_interval(signal=signal)
    if s_hat is not None:
        checks.whole(k, d, s_hat=s_hat)
    if matter is not None:
        checks.whole(k, d, matter=matter)
    # The declared population as a setting, whose 1 round plays no part: each method has its own rounds.
    # `missed` is sin^2 by features that matter beyond those kept.
    kept = chosen_rows(d, k) if s_hat is None else s_hat
    if matter is None:
        matter = d if kept == d else max(k, kept // 2)
    missed = k * (1 - heaviest_share(kept / matter, k)) if kept < matter else 0.0
    spikes, bulk = (signal / k,) * k, min((1 - signal) / (d - k), _HIGHEST / 2 * signal / k)
    eigenvalues = np.array([*spikes, *[bulk] * (d - k)])
    setting = Setting(d, n, k, min(matter, kept), kept, providers, 1, eigenvalues, budget)
    suffix, guess = _SUFFIX[trust], subspace_metrics.random_guess(d, k)
    # Predicted sin^2 by candidate, and the options that it needs beside its defaults.
    squares = {
        f"stacked_rounds{suffix}": _stacked_rounds(setting, trust),
        _ONE_MOMENT[trust]: _one_moment(setting, trust),
    }
    options: dict[str, dict[str, Any]] = {_ONE_MOMENT[trust]: {"scaling": "unit"}}
    chance = 1.0
    if kept < d:
        predict = two_stage_own_noise_prediction if trust == "untrusted server" else two_stage_prediction
        rounds = _rounds_to_converge(setting) if rounds is None else rounds
        # What rounds leave of a random start depends on the bulk's largest eigenvalues, so it is spread out.
        _, grid = _bulk(setting)
        uneven = np.interp(np.arange(d - k), np.linspace(0, d - k - 1, _GRID), grid[::-1])
        uneven = np.concatenate([setting.eigenvalues[:k], uneven])
        predicted = predict(replace(setting, eigenvalues=uneven), iterations=rounds)
        chance = predicted.quantities["support_probability"]
        squares[f"two_stage{suffix}"] = predicted.final**2 + predicted.quantities["missed_median"] + missed
        rows = RELEASED if s_hat is None else s_hat
        options[f"two_stage{suffix}"] = {"s_hat": rows, "iterations": rounds}
    errors = {name: min(math.sqrt(square), guess) for name, square in squares.items()}
    best = min(errors, key=lambda name: errors[name])
    why = _why(best, errors[best], guess, chance)
    reason = _reason(best, errors[best], guess, why)
    return Recommendation(best, options.get(best, {}), errors[best], guess, reason, why, errors, chance)


def chosen_rows(d: int, k: int) -> int:
    """Return about how many of d rows two stages keep where they choose them from what stage 1 released.

    Where these are all, two stages are no candidate. The rule is twice the square root of d, or four for each
    component where that is more.
    """
    return min(d, max(4 * k, round(2 * math.sqrt(d))))


def heaviest_share(part: float, k: int) -> float:
    """Return the share of k spread directions that their heaviest rows hold.

    part: the share of the rows that counts as the heaviest, from 0 to 1.
    Rows of k spread directions have squared lengths like chi2_k: P(chi2_{k+2} > q), q its upper quantile.
    """
    return float(chdtrc(k + 2, chdtri(k, part)))


def _bulk(setting: Setting) -> tuple[float, Array]:
    """Return the spike's eigenvalue and a grid of eigenvalues that stands for the bulk, (64,), ascending.

    The grid is even from 0 to twice the bulk's mean, or to _HIGHEST of the spike where that is less.
    """
    spike, bulk = float(setting.eigenvalues[0]), float(setting.eigenvalues[-1])
    return spike, min(2 * bulk, _HIGHEST * spike) * (np.arange(_GRID) + 0.5) / _GRID


def _rounds_to_converge(setting: Setting) -> int:
    """Return one round more than it takes to forget a random start, from 4 to 12.

    The tangent of a random start's angle is about sqrt(d/k), and a round multiplies it by the bulk's largest
    eigenvalue over the spike.
    """
    spike, bulk = _bulk(setting)
    forgotten = math.log(_FORGOTTEN * math.sqrt(setting.d / setting.k)) / math.log(spike / bulk[-1])
    return min(max(math.ceil(forgotten) + 1, two_stage.ROUNDS), stacked.ROUNDS)


def _sampling(setting: Setting) -> float:
    """Return sin^2 by sampling n rows, over all pairs of a spike and an eigenvalue of the bulk."""
    spike, bulk = _bulk(setting)
    pairs = setting.k * (setting.d - setting.k)
    return pairs * float(perturbation.sampling_pairs(np.full(_GRID, spike), bulk, setting.n).mean())


def _stacked_rounds(setting: Setting, trust: str) -> float:
    """Return the predicted sin^2 of stacked rounds: noise, sampling, and what is left of the start."""
    d, n, k = setting.d, setting.n, setting.k
    spike, bulk = _bulk(setting)
    std = stacked.noise_std(setting.budget, trust, setting.providers, n, stacked.ROUNDS)
    # All rows are kept, so the number s that carry the spikes plays no part, and s = k is the cheapest.
    rows = reduced_rounds.SpikedRows(d, k, (spike,) * k, float(bulk.mean()))
    few = reduced_rounds.affordable(reduced_rounds.FEW_DRAWS, k, stacked.ROUNDS)
    draws = reduced_rounds.draw(rows, stacked.ROUNDS, few)
    # Sampling is added below, so there is none here.
    _, basis = reduced_rounds.stacked(rows, [std] * stacked.ROUNDS, 0.0, stacked.LEFT_OUT, draws)
    private = float(np.median(reduced_rounds.squared_errors(draws, basis)))
    steps = np.arange(stacked.LEFT_OUT + 1, stacked.ROUNDS + 1)
    # tan^2 of a random start is d tr W^-1, W a k x k Wishart matrix of k rows: about 3 k d in the median.
    left = 3 * k * d * float(np.square(np.power.outer(bulk / spike, steps).mean(axis=1)).mean())
    return private + _sampling(setting) + left


def _one_moment(setting: Setting, trust: str) -> float:
    """Return the predicted sin^2 of the top eigenvectors of one noisy moment of rows of length 1."""
    d, k = setting.d, setting.k
    spike, bulk = _bulk(setting)
    # None: noise of the default shape.
    std = symmetric_gaussian.entry_std(setting.budget, setting.n, None, trust, setting.providers)
    noise = perturbation.symmetric_pairs(np.full(_GRID, spike), bulk, std)
    return k * (d - k) * float(noise.mean()) + _sampling(setting)


def _why(method: str, error: float, guess: float, chance: float) -> str:
    """Return why the method is the best, as a clause without capital and full stop.

    error, guess: predicted sin Theta of the method, and of a random guess. chance: that two stages keep all
    features that matter.
    """
    if error > _NEAR_GUESS * guess:
        return f"no method is predicted to do much better than a guess, which has error {guess:.2g}"
    if method.startswith("two_stage") and chance >= _LIKELY:
        # The chance is estimated from 64 draws, which cannot tell 99 % from 95 %.
        shown = "above 95 %" if chance > 0.95 else f"of {100 * chance:.0f} %"
        return f"it finds all features that matter with a chance {shown}"
    if method.startswith("two_stage"):
        return "it finds most features that matter, but seldom all"
    if method.startswith("stacked_rounds"):
        return "no small group of features stands out, and rounds need less noise than a second moment"
    return "one noisy second moment of all features is enough"


def _reason(method: str, error: float, guess: float, why: str) -> str:
    """Return the sentences of `Recommendation.reason`, of which `why` is a clause."""
    title, why = METHODS[method].title, f"{why[0].upper()}{why[1:]}."
    if error > _NEAR_GUESS * guess:
        return f"{why} {title} has the least error."
    return f"{title}. Its predicted error is {error:.2g}; a guess has {guess:.2g}. {why}"
