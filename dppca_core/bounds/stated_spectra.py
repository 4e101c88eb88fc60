"""Recommend a method for a table of which nothing is known but its size: best at the worst of three spectra.

A hospital that has paid for nothing yet cannot say how strong its pattern is, or how many measurements carry
it. Three spectra are stated in its place: k equal spikes over a bulk that is uniform from 0,

    strong, in few measurements    k lambda/tr Sigma at least 1/2, spikes at least 10 times the bulk's top
    weak, in few measurements      at least 1/5, and twice
    weak, in all measurements      the same, carried by all d

few being sqrt(d), or eight a component, at most two thirds of d. Eight clinical tables were measured
(lifelines, scikit-survival, and R's survival and MASS; k = 1 to 3). There lambda_k was 1.04 to 11 times the
next eigenvalue, in the median 1.5, and k lambda_k/tr Sigma was .13 to .71. Rows that follow a table's
dictionary with these spectra were kinder than the release in 5 of 20 cases (ten tables, k = 2, epsilon = 1
and 2). The worst of the three erred .6 to 3.1 times as much, 1.6 times in the median. Gaussian rows with
spikes three times the top, the median of tables, were kinder in 13 of 16 (`benchmarks/own_tables.py`).

Throughout, the top of the bulk is its largest eigenvalue, and a spike's size is stated as a multiple of it.
The bulk is taken as spread evenly from 0 to its top, so that its mean is half of the top. Carriers are the
measurements on which the spikes' directions have entries that are not zero.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import recommend
from dppca_core.mechanisms import symmetric_gaussian, two_stage
from dppca_core.privacy import Budget

_LEAST_SPIKE = 1.01  # times the top of the bulk, since a spike must lie above it
NOISE_HEIGHT = 0.014  # a of `row_length`, beyond which rows are shortened


class StatedSpectrum(NamedTuple):
    """Hold one of the module's stated spectra, in words and in numbers that give it for every d and k.

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
        """Return how many times the top of the bulk the spikes are.

        That is `ratio`, or more where `signal`, the share k lambda/tr Sigma, asks for more.
        """
        return max(self.ratio, self.signal * (d - k) / (2 * k * (1 - self.signal)))

    def carriers(self, d: int, k: int) -> int:
        """Return how many measurements carry the pattern: all d, or few by the rule of the module's text."""
        return d if self.dense else min(max(8 * k, round(math.sqrt(d))), max(2 * k, round(2 * d / 3)), d)


STATED = (
    StatedSpectrum("strong, in few measurements", 1 / 2, 10.0, dense=False),
    StatedSpectrum("weak, in few measurements", 1 / 5, 2.0, dense=False),
    StatedSpectrum("weak, in all measurements", 1 / 5, 2.0, dense=True),
)


class Pattern(NamedTuple):
    """Hold the spectrum of a population on which a release is tried out before it is made.

    Attributes:
        title: The spectrum in words.
        spikes: The k spikes, falling, each as a multiple of the top of the bulk.
        carriers: How many features carry the spikes.
        paid: Whether it follows from private eigenvalues, for whose release a budget was spent.
        mean_square_length: The mean squared length of rows over the square of their bound, which such
            eigenvalues add up to; 0 where none were paid for.
    """

    title: str
    spikes: tuple[float, ...]
    carriers: int
    paid: bool = False
    mean_square_length: float = 0.0


def paid_spikes(eigenvalues: Array, std: float, k: int, centred: bool) -> tuple[float, ...]:
    """Return the k spikes that privately released eigenvalues promise, as multiples of the top of the bulk.

    The eigenvalues are of the second moment about the middle of the ranges: C + m m^T, for rows of covariance
    C and mean m. The i-th eigenvalue of C is at least the (i+1)-th of these (Weyl). So for rows about their
    mean the first, which may be that of m m^T, is left out. The top of the bulk is twice the mean of all but
    the k largest, as if these were spread evenly from zero up.

    Args:
        eigenvalues: Noisy, (d,), falling, none below 0.
        std: Standard deviation of their noise.
        k: Components.
        centred: Whether a release is of rows about their mean.

    Returns:
        k numbers above 1; none where the k-th spike is below two standard deviations of the noise.
    """
    shift = int(centred)
    rest = 2 * float(eigenvalues[k:].mean())
    if len(eigenvalues) <= k + shift or float(eigenvalues[k - 1 + shift]) < 2 * std or rest <= 0:
        return ()
    return tuple(max(float(value) / rest, _LEAST_SPIKE) for value in eigenvalues[shift : k + shift])


def patterns(
    d: int, k: int, centred: bool = False, eigenvalues: Array | None = None, std: float = 0.0
) -> list[Pattern]:
    """Return the spectra that a table's population may have, on which a release is tried out.

    They follow from privately released eigenvalues where these tell a pattern. Else they are the three of the
    module's text.

    Args:
        d: Features.
        k: Components.
        centred: Whether a release is of rows about their mean.
        eigenvalues: Noisy eigenvalues of the table that a budget was spent on, as in `paid_spikes`; None
            where there are none.
        std: Standard deviation of their noise.

    Returns:
        Two where paid eigenvalues tell a pattern, carried by few features or by all; else three.
    """
    spikes = () if eigenvalues is None else paid_spikes(eigenvalues, std, k, centred)
    if not spikes:
        return [Pattern(each.title, (each.times(d, k),) * k, each.carriers(d, k)) for each in STATED]
    # Eigenvalues do not tell how many features carry the pattern, so both ends are taken.
    ends = {STATED[0].carriers(d, k): "in few measurements", d: "in all measurements"}
    assert eigenvalues is not None
    square = float(eigenvalues[int(centred) :].sum())
    return [
        Pattern(f"as you paid to know, {where}", spikes, s, paid=True, mean_square_length=square)
        for s, where in ends.items()
    ]


def predicted_errors(
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
    """Return the predicted error of every candidate method on one population, and that of a random guess.

    Other arguments, and errors, are those of `recommendation.recommend`, with k lambda/tr Sigma =
    2 k ratio/(2 k ratio + d - k): the bulk's mean is half of its top.

    Args:
        ratio: How many times the top of the bulk the spikes are.
        carriers: Features that carry the spikes.

    Returns:
        sin Theta by method, in the median of runs, and sin Theta of a guess.
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
        rounds=two_stage.ROUNDS,
    )
    return dict(answer.errors), answer.guess


def errors_on(
    populations: Sequence[Pattern],
    trust: str,
    *,
    n: int,
    d: int,
    k: int,
    budget: Budget,
    providers: int,
) -> dict[str, tuple[float, ...]]:
    """Return the predicted errors of every candidate method on some populations.

    Other arguments, and errors, are those of `recommendation.recommend`.

    Args:
        populations: Spectra as `patterns` returns them; of each, all k spikes count as the weakest.

    Returns:
        sin Theta in the median of runs, on each population, by key of METHODS.
    """
    same: dict[str, Any] = {"n": n, "d": d, "k": k, "budget": budget, "providers": providers}
    pairs = (predicted_errors(trust, ratio=at.spikes[-1], carriers=at.carriers, **same) for at in populations)
    by_population = [errors for errors, _ in pairs]  # without a guess's error
    return {name: tuple(errors[name] for errors in by_population) for name in by_population[0]}


def _worst_then_all(errors: Sequence[float]) -> tuple[float, float]:
    """Return what methods are compared by: the largest of their errors on some spectra, then the sum.

    Errors are rounded, so that two that differ by rounding alone tie and the sum decides.
    """
    rounded = [round(error, 9) for error in errors]
    return max(rounded), sum(rounded)


def recommend_blindly(
    trust: str, *, n: int, d: int, k: int, budget: Budget, providers: int, among: Sequence[str]
) -> str:
    """Return the method, among some, with the least predicted error at the worst of the three spectra.

    Where two are as bad there, as where both are a guess, it is the one with less in all, then the first.
    Other arguments are those of `recommendation.recommend`.

    Args:
        among: Keys of METHODS, of which one at least is a candidate of this trust.

    Returns:
        A key of METHODS.

    Raises:
        ValueError: For numbers out of range, and where no candidate is among them.

    References:
        Derived here: the minimax choice over the spectra of the module's text.
    """
    errors = errors_on(patterns(d, k), trust, n=n, d=d, k=k, budget=budget, providers=providers)
    candidates = [name for name in among if name in errors]
    if not candidates:
        raise ValueError(f"among must hold one of {sorted(errors)}")
    return min(candidates, key=lambda name: _worst_then_all(errors[name]))


def row_length(*, n: int, d: int, budget: Budget) -> float:
    """Return the share of their public bound to which rows are shortened before one noisy moment is released.

    Symmetric noise of standard deviation t off the diagonal has a largest eigenvalue near 2 a, a = t sqrt d.
    If rows are shortened to a share c of their bound and divided by it, all that were longer count by their
    direction. Compared with the rows, the noise is then only c^2 as high. But the components of shortened
    rows are others, which decides where noise is low. So c = min(1, sqrt(h/a)): the noise stays below 2 h of
    the squared bound, h = .014.

    Args:
        n: Rows; their number is public.
        d: Features.
        budget: The guarantee of the moment.

    Returns:
        c, above 0 and at most 1.

    Raises:
        ValueError: For numbers out of range.

    References:
        Derived here, but for h: it was fitted on ten clinical tables (`benchmarks/recommended.py`, k = 2,
        epsilon = 1 and 4), on which every h from .010 to .017 errs at most 1.1 times as much as the best
        method. On breast cancer and digits the same holds, and they set no limit to h.
    """
    height = symmetric_gaussian.entry_std(budget, n, noise=None) * math.sqrt(d)
    return min(1.0, math.sqrt(NOISE_HEIGHT / height))
