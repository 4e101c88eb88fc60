"""Two stages for real patients: whole sums of normalised products, then of the rows kept, with exact noise.

As `mechanisms.two_stage`, but what a release reads is a sum of whole numbers (`discrete_gaussian`).

A round. v = x/|x|, and its entries are rounded towards zero to multiples of 2^-b, so that |v| <= 1 still.
Q is public; its entries are rounded to multiples of 2^-32. Then Q^T v is a sum of whole numbers below 2^52,
exact in any order, so that q = Q^T v/|Q^T v| is a function of this one patient to the last bit. It is rounded
as v is, and a row or q that would be longer than 1 is left out. The sum of v q^T is then whole in units of
4^-b and below 2^53. One patient moves it by |v q^T - u p^T|_F <= 2, or 1 where a row is emptied or filled.

Stage 2. Each patient is restricted to J, scaled to length 1 again, and added up as rows of a moment are: the
sum moves by sqrt 2 or 1.

A patient with m rows. Each row counts 1/m: v and q, or the restricted row, are multiplied by 1/sqrt(m)
before they are rounded. The patient's contribution is then a mean of v q^T, or a matrix of trace at most 1:
it is no longer than one row's, however many there are.

With stds Delta z/sqrt(w b_t) and Delta z/sqrt(1 - w) the sum of (Delta/std)^2 is 1/z^2 over all releases,
each chosen by those before it: together they cost one release at the budget's multiplier z, which is what the
ledger records before the first is drawn.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

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
# goes what each is multiplied by, (m, 1) or 1.
Use = Callable[[int, Array, Array | float], None]
Reader = Callable[[Use, Progress], None]


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


def round_std(budget: Budget, division: Division, number: int, bits: int) -> float:
    """Return the std of each entry of a round's sum, in units of 4^-bits; numbers begin at 0.

    Raises ValueError for noise that integers cannot hold.
    """
    weight = division.share * two_stage.round_weights(division.rounds)[number]
    std = normalised_product.sensitivity(budget) * gaussian.noise_multiplier(budget) / math.sqrt(weight)
    return discrete_gaussian.check_std(std * 4.0**bits, budget)


def check(budget: Budget, division: Division, bits: int) -> None:
    """Raise ValueError for noise that cannot be drawn, before it is paid for."""
    for number in range(division.rounds):
        round_std(budget, division, number, bits)
    discrete_gaussian.noise_std(1, bits, budget, 1 - division.share)


class Answer(NamedTuple):
    """Hold the directions, (d, k), the rows J they lie in, and stage 2's noisy moment of these rows."""

    basis: Array
    rows: Indices
    moment: Array


def release(
    read: Reader,
    groups: Sequence[Sequence[int]],
    budget: Budget,
    division: Division,
    drawn: Drawn,
    *,
    sizes: Sequence[int],
    d: int,
    k: int,
    s_hat: int | str,
    bits: int,
    progress: Progress = lambda share: True,
) -> Answer:
    """Release both stages. Reads private rows, T + 1 times; a step that was drawn is not drawn again.

    Args:
        read: Hands over the rows.
        groups: Hospitals whose rows go into one noisy sum: all together, or each alone.
        budget: The guarantee of the whole run.
        division: How the run divides it.
        drawn: What was drawn before, of a release that is gone on with.
        sizes: Patients of every hospital.
        d: Features.
        k: Components.
        s_hat: Rows kept, or "released" for those that stand out of stage 1's noise, at most 400.
        bits: Of the rounding.
        progress: Is told the share done, and answers whether to go on.

    Raises:
        StoppedError: Where `progress` says no. What was drawn before is kept.
    """
    n, rounds = sum(sizes), division.rounds
    public_n = n if budget.neighbours == "replace-one" else math.inf
    group_of = {hospital: index for index, group in enumerate(groups) for hospital in group}
    done = 0

    def report(share: float) -> bool:
        return progress((done + share) / (rounds + 1))

    def ask(block: Array, std: float) -> Array:
        nonlocal done
        number = done

        def draw() -> Array:
            sums = np.zeros((len(groups), d, k))

            def add(hospital: int, rows: Array, weights: Array | float) -> None:
                sums[group_of[hospital]] += whole_products(rows, block, bits, weights)

            read(add, report)
            std = round_std(budget, division, number, bits)
            noisy = [discrete_gaussian.add_noise(whole.ravel(), std) for whole in sums]
            total: Array = np.sum(noisy, axis=0)
            return total.reshape(d, k) / (4.0**bits * n)

        answer = drawn.once(f"round {number + 1}", draw)
        done += 1
        if not report(0.0):
            raise StoppedError
        return answer

    start = drawn.once("start", lambda: block_power.begin(None, d, k, np.random.default_rng()))
    factor = math.sqrt(len(groups))
    stds = [round_std(budget, division, number, bits) * factor / 4.0**bits / n for number in range(rounds)]
    left_out = two_stage.left_out(rounds)
    _, answers = normalised_product.follow_rounds(ask, stds, start, left_out)
    leading = stacked_rounds.leading(answers, stds, left_out)
    block_std = discrete_gaussian.noise_std(1, bits, budget, 1 - division.share) * factor / 4.0**bits / n

    def choose() -> Array:
        rows = two_stage.rows_to_keep(leading, answers[-1], block_std, s_hat=s_hat, n=public_n)
        if len(rows) > discrete_gaussian.MOST_FEATURES:
            rows = linalg.largest_rows(leading, discrete_gaussian.MOST_FEATURES)
        return rows.astype(float)

    # Kept too: on another machine rows of nearly the same weight could change places.
    rows = drawn.once("rows", choose).astype(int)

    def draw_moment() -> Array:
        adders = [Adder(len(rows), bits) for _ in groups]

        def add(hospital: int, part: Array, weights: Array | float) -> None:
            adders[group_of[hospital]].add(unit_rows(part[:, rows]) * weights)

        read(add, report)
        noisy = [
            discrete_gaussian.release(adder.sum._replace(n=n), budget, share=1 - division.share)
            for adder in adders
        ]
        total: Array = np.sum(noisy, axis=0)
        return total

    moment = drawn.once("moment", draw_moment)
    progress(1.0)
    basis = two_stage.answer(moment, rows, d, k, block_std / math.sqrt(2), public_n)
    return Answer(basis, rows, moment)
