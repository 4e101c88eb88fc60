"""Recommend the method with the least predicted error under a trust, from public numbers alone.

The population is a public one, such as a simulated model, or else declared: k equal spikes with k lambda_k/
tr Sigma = `signal`, over a bulk that is uniform between 0 and twice its mean. Half of the s_hat rows that are
kept carry the spikes, or all where all are kept, unless another number is declared. Predicted are two stages,
stacked rounds, and one moment, with a sparse step where rows are chosen, each in the median of runs
(`dppca_core.bounds.simulated_errors`). None is predicted to err more than a random guess.

Methods that ask for less trust than there is are candidates too. Of those within _WORTH_TRUST of the least
predicted error the one that asks for the least trust is taken. So more trust never raises a predicted error:
with less trust, the same method would have been a candidate. Sealed sums have the noise of one place, so that
one place is never asked for.

Beyond a third of a guess's error predictions are not relied on, and no method is recommended: the one that is
predicted to err least can still be shown.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.bounds import simulated_errors
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.bounds.simulated_errors import Sample
from dppca_core.mechanisms import normalised_product, stacked, symmetric_gaussian, two_stage
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.numerics.reduced_rounds import GradedRows
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED, SIGNAL

TRUSTS = ("central", "secure aggregation", "untrusted server")  # from the most trust to the least
_SUFFIX = {"central": "", "secure aggregation": "_sealed", "untrusted server": "_own_noise"}
# One moment of all rows, and with a sparse step: without central trust one method does both.
_ONE_MOMENT = {
    "central": "analyze_gauss",
    "secure aggregation": "sealed_sparse",
    "untrusted server": "own_noise_sparse",
}
_SPARSE_MOMENT = _ONE_MOMENT | {"central": "analyze_gauss_sparse"}
_WORTH_TRUST = 1.05  # times the least predicted error: what errs no more and asks for less trust is taken
_HIGHEST = 0.9  # of the spike: where the bulk would reach beyond it, it ends there
_MORE_TRUST = "More trust would gain less than 5 %."
_LIKELY = 0.5  # a chance from here on is told as one of finding all features


@dataclass(frozen=True)
class Recommendation:
    """Hold the method to use, with its options, and why.

    Attributes:
        method: Key of METHODS; it may ask for less trust than there is.
        options: Options of its `fit` beside its defaults.
        error: Predicted sin Theta, in the median of runs.
        guess: That of a random guess.
        reason: The method, its error and why it is best, in sentences.
        why: The last of these sentences alone, without capital and full stop.
        errors: Predicted sin Theta of every candidate that asks for this very trust.
        chance: Predicted chance that two stages, with the method's trust, keep all features that matter.
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
    def near_guess(self) -> bool:
        """Return whether the error is above a third of a guess's, so that no method is recommended."""
        return self.error > SMALL_SHARE * self.guess


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
    model: Synthetic | ClinicalModel | None = None,
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
        rounds: Those of stage 1 of two stages; the method's own where None.
        model: The population where it is public, as in a simulation. Its eigenvalues take the place of
            `signal`, and its number of features that matter that of `matter`. Its directions are not looked
            at.

    Returns:
        The method with the least predicted error, or one within 5 % of it that asks for less trust.

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
    if model is not None:
        checks.whole(d, d, **{"d of the model": model.d})
        matter = max(model.s, k) if matter is None else matter
    if matter is not None:
        checks.whole(k, d, matter=matter)
    numbers = _Numbers(n, d, k, budget, s_hat, signal, matter, rounds, model)
    guess = subspace_metrics.random_guess(d, k)
    best = list[tuple[str, float, float]]()  # of each trust the best method, its error, and the chance
    for level in reversed(TRUSTS[TRUSTS.index(trust) :]):  # from the least trust to the one that there is
        predicted = _predicted(numbers, normalised_product.noise_factor(level, providers))
        names = candidates(level, d=d, k=k, s_hat=s_hat, heavy=getattr(model, "tails", None) is not None)
        errors = {name: min(math.sqrt(predicted.squares[kind]), guess) for kind, name in names.items()}
        least = min(errors, key=lambda name: errors[name])
        best.append((least, errors[least], predicted.chance))
    worth = _WORTH_TRUST * min(error for _, error, _ in best)
    method, error, chance = next(each for each in best if each[1] <= worth)
    reason, why = _reason(trust, method, error, guess, chance), _why(method, error, guess, chance)
    return Recommendation(method, _options(numbers, method), error, guess, reason, why, errors, chance)


class _Numbers(NamedTuple):
    """Hold what predictions rest on beside the noise, as `recommend` takes it."""

    n: int
    d: int
    k: int
    budget: Budget
    s_hat: int | None
    signal: float
    matter: int | None
    rounds: int | None
    model: Synthetic | ClinicalModel | None

    @property
    def kept(self) -> int:
        """Return how many rows two stages keep, or about how many where they choose them."""
        return chosen_rows(self.d, self.k) if self.s_hat is None else self.s_hat

    def sample(self) -> Sample:
        """Return the patients of the public or of the declared population."""
        d, k, matter = self.d, self.k, self.matter
        if matter is None:
            matter = d if self.kept == d else max(k, self.kept // 2)
        if self.model is not None:
            return Sample(GradedRows.reduced(self.model.eigenvalues, k), d, matter, self.n)
        spike = self.signal / k
        top = min(2 * (1 - self.signal) / (d - k), _HIGHEST * spike)  # of the bulk
        bulk = top * (1 - (np.arange(d - k) + 0.5) / (d - k))
        return Sample(GradedRows.reduced(np.concatenate([[spike] * k, bulk]), k), d, matter, self.n)


class _Predicted(NamedTuple):
    """Hold predicted sin^2 Theta by kind of method, and the chance that two stages keep all that matters."""

    squares: dict[str, float]
    chance: float


@lru_cache(maxsize=1024)  # two trusts have the same noise
def _predicted(numbers: _Numbers, factor: float) -> _Predicted:
    """Return the predictions at one noise; factor: that of the hospitals' sum in those of one curator."""
    n, d, budget, sample = numbers.n, numbers.d, numbers.budget, numbers.sample()
    of_moment = factor * symmetric_gaussian.entry_std(budget, n, noise=None)  # None: of the default shape
    of_round = factor * stacked.noise_std(budget, "central", 1, n, stacked.ROUNDS)
    squares, chance = {"rounds": simulated_errors.stacked_rounds(sample, of_round)}, 1.0
    if numbers.s_hat is None or numbers.s_hat == d:
        squares["moment"] = simulated_errors.one_moment(sample, of_moment)
    else:
        squares["moment"] = simulated_errors.sparse_moment(sample, of_moment, numbers.s_hat)
    if numbers.kept < d:
        public_n = n if budget.neighbours == "replace-one" else None
        s_hat = RELEASED if numbers.s_hat is None else numbers.s_hat
        rule = two_stage.division(budget, factor, d=d, n=public_n, s_hat=s_hat)
        rounds = rule.rounds if numbers.rounds is None else numbers.rounds
        noise = two_stage.stage_noise(budget, factor, d=d, n=n, share=rule.share, iterations=rounds)
        squares["stages"], chance = simulated_errors.two_stages(
            sample, noise, numbers.kept, math.inf if public_n is None else n
        )
    return _Predicted(squares, chance)


def candidates(trust: str, *, d: int, k: int, s_hat: int | None, heavy: bool = False) -> dict[str, str]:
    """Return the methods that ask for this trust and whose errors are predicted, by kind.

    Two stages are one where they keep fewer rows than there are, and a sparse moment where it does.
    Predictions are of rows of length 1, which rows inside a bound err about as much as, but for those with
    `heavy` tails: there a moment is always one of rows of length 1.
    """
    kept = chosen_rows(d, k) if s_hat is None else s_hat
    two_stages = {"stages": f"two_stage{_SUFFIX[trust]}"} if kept < d else {}
    moment = (_SPARSE_MOMENT if s_hat is not None and s_hat < d else _ONE_MOMENT)[
        "secure aggregation" if heavy and trust == "central" else trust
    ]
    return two_stages | {"moment": moment, "rounds": f"stacked_rounds{_SUFFIX[trust]}"}


def _options(numbers: _Numbers, method: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if METHODS[method].chooses_rows:
        options["s_hat"] = RELEASED if numbers.s_hat is None else numbers.s_hat
        if numbers.rounds is not None:
            options["iterations"] = numbers.rounds
    elif "s_hat" in METHODS[method].uses and numbers.s_hat is not None:
        options["s_hat"] = numbers.s_hat
    return options


def chosen_rows(d: int, k: int) -> int:
    """Return about how many of d rows two stages keep where they choose them from what stage 1 released.

    Where these are all, two stages are no candidate. The rule is twice the square root of d, or four for each
    component where that is more.
    """
    return min(d, max(4 * k, round(2 * math.sqrt(d))))


def _why(method: str, error: float, guess: float, chance: float) -> str:
    """Return why the method is the best, as a clause without capital and full stop.

    error, guess: predicted sin Theta of the method, and of a random guess. chance: that two stages keep all
    features that matter.
    """
    if error > SMALL_SHARE * guess:
        return f"every method is predicted to err near a guess, which has error {guess:.2g}"
    if method.startswith("two_stage") and chance >= _LIKELY:
        # The chance is estimated from some hundred runs, which cannot tell 99 % from 95 %.
        shown = "above 95 %" if chance > 0.95 else f"of {100 * chance:.0f} %"
        return f"it finds all features that matter with a chance {shown}"
    if method.startswith("two_stage"):
        return "it finds most features that matter, but seldom all"
    if method.startswith("stacked_rounds"):
        return "no small group of features stands out, and rounds need less noise than a second moment"
    return "one noisy second moment of all features is enough"


def _reason(trust: str, method: str, error: float, guess: float, chance: float) -> str:
    """Return the sentences of `Recommendation.reason`; trust: the one that there is."""
    why = _why(method, error, guess, chance)
    why = f"{why[0].upper()}{why[1:]}."
    if error > SMALL_SHARE * guess:
        return f"{why} The least predicted error is {error:.2g}, so no method is recommended."
    reason = f"{METHODS[method].title}. Its predicted error is {error:.2g}; a guess has {guess:.2g}. {why}"
    return reason if METHODS[method].trust == trust else f"{reason} {_MORE_TRUST}"
