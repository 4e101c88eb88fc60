"""Recommend a method for a table of which nothing is known but its size: best at the worst of three spectra.

A hospital that has paid for nothing yet cannot say how strong its pattern is, or how many measurements carry
it. Three spectra are stated in its place: k equal spikes over a bulk that is uniform from 0,

    strong, in few measurements    k lambda/tr Sigma at least 1/2, spikes at least 10 times the bulk's top
    weak, in few measurements      at least 1/5, and twice
    weak, in all measurements      the same, carried by all d

few being sqrt(d), or eight a component, at most two thirds of d. On eight clinical tables (lifelines, scikit-
survival, and R's survival and MASS; k = 1 to 3) lambda_k was 1.04 to 11 times the next eigenvalue, in the
median 1.5, and k lambda_k/tr Sigma .13 to .71. Rows that follow a table's dictionary with these spectra were
kinder than the release in 5 of 20 (ten tables, k = 2, epsilon = 1 and 2): the worst of the three erred .4 to
4.2 times as much, twice in the median. Gaussian rows with spikes three times the top, the median of tables,
were kinder in 13 of 16 (`benchmarks/own_tables.py`).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dppca_core.bounds.recommendation import recommend
from dppca_core.privacy import Budget


class StatedSpectrum(NamedTuple):
    """Hold a spectrum in words and numbers, for every d and k.

    Attributes:
        title: How its pattern is, in words.
        signal: The least k lambda/tr Sigma.
        ratio: The least that spikes are times the top of the bulk.
        dense: Whether all measurements carry the pattern.
    """

    title: str
    signal: float
    ratio: float
    dense: bool

    def times(self, d: int, k: int) -> float:
        """Return how many times the top of the bulk the spikes are; the bulk's mean is half of its top."""
        return max(self.ratio, self.signal * (d - k) / (2 * k * (1 - self.signal)))

    def carriers(self, d: int, k: int) -> int:
        """Return how many measurements carry the pattern."""
        return d if self.dense else min(max(8 * k, round(math.sqrt(d))), max(2 * k, round(2 * d / 3)), d)


STATED = (
    StatedSpectrum("strong, in few measurements", 1 / 2, 10.0, dense=False),
    StatedSpectrum("weak, in few measurements", 1 / 5, 2.0, dense=False),
    StatedSpectrum("weak, in all measurements", 1 / 5, 2.0, dense=True),
)


def predicted(
    trust: str,
    *,
    n: int,
    d: int,
    k: int,
    budget: Budget,
    ratio: float,
    carriers: int,
    s_hat: int | None = None,
    providers: int = 1,
) -> tuple[dict[str, float], float]:
    """Return the predicted error of every candidate on one population, and that of a random guess.

    Args:
        trust: Whom the hospitals trust, one of `recommendation.TRUSTS`.
        n: Patients of all hospitals.
        d: Features.
        k: Components.
        budget: The guarantee.
        ratio: How many times the top of the bulk the spikes are.
        carriers: Features that carry the spikes.
        s_hat: Rows that two stages keep; None where they choose them.
        providers: Hospitals.

    Returns:
        sin Theta by method, in the median of runs, and sin Theta of a guess.

    Raises:
        ValueError: For numbers out of range.

    References:
        `recommendation`, with k lambda/tr Sigma = 2 k ratio/(2 k ratio + d - k): the bulk's mean is half of
        its top.
    """
    signal = 2 * k * ratio / (2 * k * ratio + d - k)
    answer = recommend(
        trust,
        n=n,
        d=d,
        k=k,
        budget=budget,
        s_hat=s_hat,
        providers=providers,
        signal=signal,
        matter=carriers,
    )
    return dict(answer.errors), answer.guess


def recommend_blindly(
    trust: str, *, n: int, d: int, k: int, budget: Budget, providers: int, among: Sequence[str]
) -> str:
    """Return the method, among some, with the least predicted error at the worst of the three spectra.

    Where two are as bad there, as where both are a guess, it is the one with less in all, then the first.

    Args:
        trust: Whom the hospitals trust, one of `recommendation.TRUSTS`.
        n: Patients of all hospitals.
        d: Features.
        k: Components.
        budget: The guarantee.
        providers: Hospitals.
        among: Keys of METHODS, of which one at least is a candidate of this trust.

    Returns:
        A key of METHODS.

    Raises:
        ValueError: For numbers out of range, and where no candidate is among them.

    References:
        Derived here: the minimax choice over the spectra of the module's text.
    """
    same: dict[str, Any] = {"n": n, "d": d, "k": k, "budget": budget, "providers": providers}
    errors = [
        predicted(trust, ratio=each.times(d, k), carriers=each.carriers(d, k), **same)[0] for each in STATED
    ]
    candidates = [name for name in among if name in errors[0]]
    if not candidates:
        raise ValueError(f"among must hold one of {sorted(errors[0])}")

    def worst_and_all(name: str) -> tuple[float, float]:
        each = [round(error[name], 9) for error in errors]
        return max(each), sum(each)

    return min(candidates, key=worst_and_all)
