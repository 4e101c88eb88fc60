"""Rounds for real patients, alone or before a moment of the features kept: whole sums, with exact noise.

As `mechanisms.stacked` and `mechanisms.two_stage`, but what a release reads is a sum of whole numbers
(`discrete_gaussian`).

A round. v = x/|x|, and its entries are rounded towards zero to multiples of 2^-b, so that |v| <= 1 still.
Q is public; its entries are rounded to multiples of 2^-32. Then Q^T v is a sum of whole numbers below 2^52,
exact in any order (by Cauchy and Schwarz a partial sum is at most |v||Q e_j|, whatever d is), so that
q = Q^T v/|Q^T v| is a function of this one patient to the last bit. It is rounded as v is, and a row or q
that would be longer than 1 is left out. The sum of v q^T is then whole in units of 4^-b and below 2^53. One
patient moves it by |v q^T - u p^T|_F <= 2, or 1 where a row is emptied or filled.

Stage 2. Each patient is restricted to J, scaled to length 1 again, and added up as rows of a moment are: the
sum moves by sqrt 2 or 1.

A patient with m rows. Each row counts 1/m: v and q, or the restricted row, are multiplied by 1/sqrt(m)
before they are rounded. The patient's contribution is then a mean of v q^T, or a matrix of trace at most 1:
it is no longer than one row's, however many there are.

With stds Delta z/sqrt(w b_t) and Delta z/sqrt(1 - w), or Delta z sqrt(T) for T rounds alone, the sum of
(Delta/std)^2 is 1/z^2 over all releases, each chosen by those before it: together they cost one release at
the budget's multiplier z, which is what the ledger records before the first is drawn.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Indices
from dppca_core.mechanisms import normalised_product, two_stage
from dppca_core.mechanisms.two_stage import Division
from dppca_core.numerics import block_power, linalg, stacked_rounds
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.privacy import Budget
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import Adder, Progress, StoppedError
from dppca_core.release.drawn import Drawn

MOST_FEATURES = 20_000
MOST_DIRECTIONS = 50
_BASIS_BITS = 32
_LARGEST = 2.0**52

# Hands every hospital's rows over in pieces, with the hospital's number. Each call goes through them once and
# tells the share of them that was read; it raises StoppedError where it is told to stop. Beside rows, (m, d),
# goes what each is multiplied by, (m, 1) or 1; of_mean: in the mean, which can be another number.
Use = Callable[[int, Array, Array | float], None]


class Reader(Protocol):
    """Describe what hands rows over."""

    def __call__(self, use: Use, progress: Progress, of_mean: bool = False) -> None: ...


def whole_products(rows: Array, block: Array, bits: int, weights: Array | float = 1.0) -> Array:
    """Return sum v q^T over rows, (d, k), in whole units of 4^-bits. Reads private rows.

    Args:
        rows: Rows of any length, (m, d).
        block: Q, (d, k), public.
        bits: Of the rounding, at most 20.
        weights: By which v and q are multiplied, (m, 1), at most 1.
    """
    whole = _inside(np.trunc(unit_rows(rows) * weights * 2.0**bits), bits)
    projected = whole @ np.trunc(block * (1 - 1e-12) * 2.0**_BASIS_BITS)
    # Column by column, so that the length of one row does not depend on where it stands.
    squared = np.zeros(len(rows))
    for column in (projected / _LARGEST).T:
        squared += column**2
    length = np.sqrt(squared) * (_LARGEST * (1 + 1e-12))
    q = projected / np.where(length > 0, length, 1.0)[:, None] * weights
    product: Array = whole.T @ _inside(np.trunc(q * 2.0**bits), bits)
    return product


def _inside(whole: Array, bits: int) -> Array:
    """Return whole rows, those longer than 1 left out; rounding towards zero leaves none that are."""
    return np.where(np.einsum("ij,ij->i", whole, whole)[:, None] <= 4.0**bits, whole, 0.0)


def round_std(budget: Budget, part: float, bits: int) -> float:
    """Return the std of each entry of a round's sum that takes this part of the budget, in units of 4^-bits.

    Raises ValueError for noise that integers cannot hold.
    """
    std = normalised_product.sensitivity(budget) * gaussian.noise_multiplier(budget) / math.sqrt(part)
    return discrete_gaussian.check_std(std * 4.0**bits, budget)


def check_rounds(budget: Budget, parts: Sequence[float], bits: int) -> None:
    """Raise ValueError for noise of rounds that cannot be drawn, before it is paid for."""
    for part in parts:
        round_std(budget, part, bits)


def parts_of_rounds(division: Division) -> list[float]:
    """Return what each round of stage 1 takes of the budget, as 1/z^2."""
    parts: list[float] = (division.share * two_stage.round_weights(division.rounds)).tolist()
    return parts


def check(budget: Budget, division: Division, bits: int) -> None:
    """Raise ValueError for noise of two stages that cannot be drawn, before it is paid for."""
    check_rounds(budget, parts_of_rounds(division), bits)
    discrete_gaussian.noise_std(1, bits, budget, 1 - division.share)


@dataclass(frozen=True)
class Source:
    """Hold what both kinds of release read, and how.

    Args:
        read: Hands over the rows.
        sums: Sums that get noise, `request.noisy_sums`: hospital i adds its rows to sum i modulo this number.
        budget: The guarantee of the whole run.
        drawn: What was drawn before, of a release that is gone on with.
        sizes: Patients of every hospital.
        d: Features.
        k: Components.
        bits: Of the rounding.
        progress: Is told the share done, and answers whether to go on.
    """

    read: Reader
    sums: int
    budget: Budget
    drawn: Drawn
    sizes: Sequence[int]
    d: int
    k: int
    bits: int
    progress: Progress = lambda share: True

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def scale(self) -> float:
        """Return the std of the noise of all sums' mean, for a std of 1 in each sum."""
        return math.sqrt(self.sums) / (4.0**self.bits * self.n)


class Rounds(NamedTuple):
    """Hold the basis after each round, the first a random start; noisy rounds; the noise of their entries."""

    bases: tuple[Array, ...]
    answers: list[Array]
    stds: list[float]


def release_rounds(source: Source, parts: Sequence[float], left_out: int, readings: int) -> Rounds:
    """Release rounds, each of the basis that those before it give. Reads private rows once in each.

    A round that was drawn is not drawn again.

    Args:
        source: The patients, and how they are read.
        parts: What each round takes of the budget, as 1/z^2.
        left_out: First rounds that are not stacked.
        readings: How often the rows are read in all, by which progress is counted.

    Raises:
        StoppedError: Where progress says no. What was drawn before is kept.
    """
    done, d, k = 0, source.d, source.k

    def report(share: float) -> bool:
        return source.progress((done + share) / readings)

    def ask(block: Array, std: float) -> Array:
        nonlocal done

        def draw() -> Array:
            sums = np.zeros((source.sums, d, k))

            def add(hospital: int, rows: Array, weights: Array | float) -> None:
                sums[hospital % source.sums] += whole_products(rows, block, source.bits, weights)

            source.read(add, report)
            noisy = [discrete_gaussian.add_noise(whole.ravel(), whole_stds[done]) for whole in sums]
            total: Array = np.sum(noisy, axis=0)
            return total.reshape(d, k) / (4.0**source.bits * source.n)

        answer = source.drawn.once(f"round {done + 1}", draw)
        done += 1
        if not report(0.0):
            raise StoppedError
        return answer

    start = source.drawn.once("start", lambda: block_power.begin(None, d, k, np.random.default_rng()))
    whole_stds = [round_std(source.budget, part, source.bits) for part in parts]
    stds = [std * source.scale for std in whole_stds]
    return Rounds(*normalised_product.follow_rounds(ask, stds, start, left_out), stds)


class Answer(NamedTuple):
    """Hold the directions, (d, k), the rows J they lie in, and stage 2's noisy moment of these rows."""

    basis: Array
    rows: Indices
    moment: Array


def release(source: Source, division: Division, s_hat: int | str) -> Answer:
    """Release both stages. Reads private rows, T + 1 times; a step that was drawn is not drawn again.

    Args:
        source: The patients, and how they are read.
        division: How the run divides its budget.
        s_hat: Features kept, or "released" for those that stand out of stage 1's noise, at most 400.

    Raises:
        StoppedError: Where progress says no. What was drawn before is kept.
    """
    budget, bits, n = source.budget, source.bits, source.n
    public_n = n if budget.neighbours == "replace-one" else math.inf
    left_out = two_stage.left_out(division.rounds)
    rounds = release_rounds(source, parts_of_rounds(division), left_out, division.rounds + 1)
    leading = stacked_rounds.leading(rounds.answers, rounds.stds, left_out)
    block_std = discrete_gaussian.noise_std(1, bits, budget, 1 - division.share) * source.scale

    def choose() -> Array:
        rows = two_stage.rows_to_keep(leading, rounds.answers[-1], block_std, s_hat=s_hat, n=public_n)
        if len(rows) > discrete_gaussian.MOST_FEATURES:
            rows = linalg.largest_rows(leading, discrete_gaussian.MOST_FEATURES)
        return rows.astype(float)

    # Kept too: on another machine rows of nearly the same weight could change places.
    rows = source.drawn.once("rows", choose).astype(int)

    def draw_moment() -> Array:
        adders = [Adder(len(rows), bits) for _ in range(source.sums)]

        def add(hospital: int, part: Array, weights: Array | float) -> None:
            adders[hospital % source.sums].add(unit_rows(part[:, rows]), weights)

        before = division.rounds / (division.rounds + 1)
        source.read(add, lambda share: source.progress(before + share * (1 - before)))
        noisy = [
            discrete_gaussian.release(adder.sum._replace(n=n), budget, share=1 - division.share)
            for adder in adders
        ]
        total: Array = np.sum(noisy, axis=0)
        return total

    moment = source.drawn.once("moment", draw_moment)
    source.progress(1.0)
    basis = two_stage.directions_from_block(
        moment, rows, source.d, source.k, block_std / math.sqrt(2), public_n
    )
    return Answer(basis, rows, moment)
