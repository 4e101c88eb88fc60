"""All that a release reads of real patients: whole sums, with exact noise, each drawn once and kept.

Every sum is of whole numbers (`discrete_gaussian`), so that it is exact, in any order. There are four kinds:
of rows, for a paid mean; of their squares, for paid scales (`mechanisms.paid_centre`, `paid_scale`); of
x x^T, a second moment; and a round, one noisy product of all rows with Q, the basis found so far, (d, k), as
in `mechanisms.stacked` and `mechanisms.two_stage`. Two stages are a few rounds (stage 1), from which the
features J to keep are chosen, and then one noisy second moment of these features alone (stage 2). A part is
what a round takes of the budget, measured in 1/z^2.

A round. v = x/|x|, and its entries are rounded towards zero to multiples of 2^-b, so that |v| <= 1 still.
Q is public; its entries are rounded to multiples of 2^-32. Then Q^T v is a sum of whole numbers below 2^52,
exact in any order (by Cauchy and Schwarz a partial sum is at most |v||Q e_j|, whatever d is), so that
q = Q^T v/|Q^T v| is a function of this one patient to the last bit. It is rounded as v is, and a row or q
that would be longer than 1 is left out. The sum of v q^T is then whole in units of 4^-b and below 2^53. One
patient moves it by |v q^T - u p^T|_F <= 2, or 1 where a row is emptied or filled.

Stage 2. Each patient is restricted to J, scaled to length 1 again, and added up as rows of a moment are: the
sum moves by sqrt 2 or 1.

A patient with m rows. Each row counts 1/m: v and q, or the row of a moment, are multiplied by 1/sqrt(m)
before they are rounded. The patient's contribution is then a mean of v q^T, or a matrix of trace at most 1:
it is no longer than one row's, however many there are.

With stds Delta z/sqrt(w b_t) and Delta z/sqrt(1 - w), or Delta z sqrt(T) for T rounds alone, the sum of
(Delta/std)^2 is 1/z^2 over all releases, each chosen by those before it: together they cost one release at
the budget's multiplier z, which is what the payment says before the first is drawn.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.accounts.book import ReleaseSteps
from dppca_core.arrays import Array, Indices, Part, PatientRows
from dppca_core.mechanisms import normalised_product, paid_centre, two_stage
from dppca_core.mechanisms.two_stage import Division
from dppca_core.numerics import block_power, linalg, stacked_rounds
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.privacy import Budget
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import Adder, IntegerSum, Progress, StoppedError

_BASIS_BITS = 32
_LARGEST_PRODUCT = 2.0**52

# Called with a hospital's number, a piece of its rows, (m, d), and what each is multiplied by, (m, 1) or 1.
Use = Callable[[int, Array, Array | float], None]


def patients(part: Part) -> int:
    """Return a hospital's n: how many rows or, where a column names them, how many patients it has."""
    return part.n if isinstance(part, PatientRows) else len(part)


def matrix_of(part: Part) -> Array:
    return part.rows if isinstance(part, PatientRows) else part


def bits_of(parts: Sequence[Part]) -> int:
    """Return the number of bits to which entries are rounded, so that sums over all hospitals stay exact.

    It follows from the number of patients, and not from that of all their rows, which is not public: a
    patient's rows together take no more room than one (`Adder.add`).
    """
    return discrete_gaussian.bits_for(sum(map(patients, parts)))


def check(parts: Sequence[Part], d: int, averaged: bool, clipped: bool = True) -> None:
    """Raise ValueError, before anything is paid, for rows that cannot be released with the stated guarantee.

    averaged: whether the rows of a patient count as one, so that rows must come with their patients.
    clipped: whether rows must be no longer than 1.
    """
    for part in parts:
        rows = matrix_of(part)
        if rows.ndim != 2:
            raise ValueError(f"rows must be a matrix, got shape {rows.shape}")
        if rows.shape[1] != d:
            raise ValueError(f"rows must have the {d} columns that were asked for")
        if clipped:
            discrete_gaussian.check_clipped(rows)
        if isinstance(part, PatientRows) != averaged:
            raise ValueError("rows must come with their patients exactly where these are averaged")
    if not parts or min(map(patients, parts)) < 1:
        raise ValueError("every hospital must have a patient")


@dataclass(frozen=True)
class Source:
    """Hold the patients of a release, and how their sums are drawn.

    Args:
        parts: What each hospital hands in.
        number_of_sums: How many sums get noise, `request.noisy_sums`: hospital i adds its rows to sum i
            modulo this.
        budget: The guarantee of the steps to come.
        drawn: Keeps each step that is drawn; of a resumed release it has those drawn before.
        progress: Is told the share done, and answers whether to go on.
    """

    parts: Sequence[Part]
    number_of_sums: int
    budget: Budget
    drawn: ReleaseSteps
    progress: Progress = lambda share: True

    @property
    def n(self) -> int:
        return sum(map(patients, self.parts))

    @property
    def d(self) -> int:
        return int(matrix_of(self.parts[0]).shape[1])

    @property
    def bits(self) -> int:
        """Return b: entries are rounded to multiples of 2^-b."""
        return bits_of(self.parts)

    @property
    def scale(self) -> float:
        """Return the std of an entry's noise in the mean over all patients, per unit of its std in each sum.

        Sums are in units of 4^-bits, the mean is not. The noises of several sums add up in squares.
        """
        return math.sqrt(self.number_of_sums) / (4.0**self.bits * self.n)

    def read(self, use: Use, progress: Progress, of_mean: bool = False) -> None:
        """Hand every hospital's rows over to `use`, piece by piece.

        progress: is told the share of rows read; StoppedError is raised where it answers False. of_mean: rows
        go with their weights in a mean of rows, which can differ from those in a second moment.
        """
        for hospital, part in enumerate(self.parts):
            matrix, weights = matrix_of(part), None
            if isinstance(part, PatientRows):
                weights = part.of_mean if of_mean and part.of_mean is not None else part.weights
            for piece in linalg.pieces(*matrix.shape):
                use(hospital, matrix[piece], 1.0 if weights is None else weights[piece])
            if not progress((hospital + 1) / len(self.parts)):
                raise StoppedError

    def changed(self, change: Callable[[Array], Array]) -> "Source":
        """Return the source after each row was changed by itself, as by centring or scaling.

        change: takes rows, (m, d), and returns as many changed ones. A row of zeros stays one, since it
        stands for a patient who was left out for a missing cell.
        """

        def apply(rows: Array) -> Array:
            return paid_centre.empty_rows_kept(change(rows), rows)

        parts: list[Part] = [
            part._replace(rows=apply(part.rows)) if isinstance(part, PatientRows) else apply(part)
            for part in self.parts
        ]
        return replace(self, parts=parts)


def mean(source: Source, std: float, squared: bool = False) -> Array:
    """Return the noisy mean of all rows, (d,), or of their squared entries. Reads private rows.

    std: of the noise in each entry of a sum, in units of 4^-bits. Hospitals that trust nobody each add noise
    to their own sum.
    """
    unit = 4.0**source.bits
    sums = np.zeros((source.number_of_sums, source.d))

    def add(hospital: int, rows: Array, weights: Array | float) -> None:
        # The m rows of one patient count as their mean: their weights are 1/sqrt(m), so 1/m each.
        entries = np.square(rows) if squared else rows
        whole = np.trunc(entries * np.square(weights) * unit)
        sums[hospital % source.number_of_sums] += whole.sum(axis=0)

    # Progress is counted by what follows; here it only asks whether to go on.
    source.read(add, lambda share: source.progress(0.0), of_mean=True)
    total: Array = np.sum([discrete_gaussian.add_noise(whole, std) for whole in sums], axis=0)
    return total / (unit * source.n)


def whole_moments(
    source: Source,
    d: int,
    change: Callable[[Array], Array] = lambda rows: rows,
    progress: Progress | None = None,
) -> list[IntegerSum]:
    """Return the exact sums of x x^T that get noise: one of all hospitals, or one each. Reads private rows.

    d: of features that are left by `change`, which is made of rows before they are added, as to length 1.
    progress: as for `Source.read`; by default the source is only asked whether to go on.
    """
    groups = range(source.number_of_sums)
    adders = [Adder(d, source.bits) for _ in groups]

    def add(hospital: int, rows: Array, weights: Array | float) -> None:
        adders[hospital % source.number_of_sums].add(change(rows), weights)

    source.read(add, progress or (lambda share: source.progress(0.0)))
    # An adder counts squared weights, of which a patient can have less than 1; n is the public number.
    return [
        adder.sum._replace(n=sum(map(patients, source.parts[i :: source.number_of_sums])))
        for i, adder in zip(groups, adders, strict=True)
    ]


def moments(source: Source, unit: bool) -> tuple[list[Array], list[int]]:
    """Return the noisy second moments, (d, d) each, and of how many patients each is."""
    sums = whole_moments(source, source.d, unit_rows) if unit else whole_moments(source, source.d)
    noisy: list[Array] = []

    def report(share: float) -> bool:
        return source.progress((len(noisy) + share) / len(sums))

    for number, summed in enumerate(sums, start=1):
        draw = partial(discrete_gaussian.release, summed, source.budget, report)
        noisy.append(source.drawn.once(f"moment {number}", draw))
    return noisy, [summed.n for summed in sums]


def whole_products(rows: Array, block: Array, bits: int, weights: Array | float = 1.0) -> Array:
    """Return the exact sum over rows of v q^T, v = x/|x| and q = Q^T v/|Q^T v|, (d, k). Reads private rows.

    Args:
        rows: Rows x of any length, (m, d).
        block: Q with orthonormal columns, (d, k), public.
        bits: v and q are rounded to multiples of 2^-bits, and the sum is in units of 4^-bits; at most 20.
        weights: By which v and q are multiplied, (m, 1), at most 1.
    """
    whole = _without_longer_rows(np.trunc(unit_rows(rows) * weights * 2.0**bits), bits)
    # Rows are multiplied by a whole Q as well, so that the products are whole and exact.
    # Columns of Q are orthonormal up to rounding: shorten them so that none is longer than 1.
    projected = whole @ np.trunc(block * (1 - 1e-12) * 2.0**_BASIS_BITS)
    # Add column by column: NumPy could add the squares of one row in an order that depends on where the row
    # stands, and q must depend on the row alone, to the last bit.
    squared = np.zeros(len(rows))
    for column in (projected / _LARGEST_PRODUCT).T:
        squared += column**2
    # Take the length larger by more than rounding can err, so that q is no longer than 1.
    length = np.sqrt(squared) * (_LARGEST_PRODUCT * (1 + 1e-12))
    q = projected / np.where(length > 0, length, 1.0)[:, None] * weights
    product: Array = whole.T @ _without_longer_rows(np.trunc(q * 2.0**bits), bits)
    return product


def _without_longer_rows(whole: Array, bits: int) -> Array:
    """Return rows in whole units of 2^-bits, with those longer than 1 set to zero.

    This only makes sure: rows were rounded towards zero, so none should be longer.
    """
    return np.where(np.einsum("ij,ij->i", whole, whole)[:, None] <= 4.0**bits, whole, 0.0)


def round_std(budget: Budget, part: float, bits: int) -> float:
    """Return the std of the noise in each entry of a round's sum, in units of 4^-bits.

    part: what the round takes of the budget, measured in 1/z^2, between 0 and 1.
    Raises ValueError for noise too small or too large to be drawn in integers.
    """
    std = normalised_product.sensitivity(budget) * gaussian.noise_multiplier(budget) / math.sqrt(part)
    return discrete_gaussian.check_std(std * 4.0**bits, budget)


def check_rounds(budget: Budget, parts: Sequence[float], bits: int) -> None:
    """Raise ValueError, before anything is paid, where the noise of one of these rounds cannot be drawn."""
    for part in parts:
        round_std(budget, part, bits)  # for what it raises


def parts_of_rounds(division: Division) -> list[float]:
    """Return what each round of stage 1 takes of the budget, measured in 1/z^2: they add up to its share."""
    parts: list[float] = (division.share * two_stage.round_weights(division.rounds)).tolist()
    return parts


def check_stages(budget: Budget, division: Division, bits: int) -> None:
    """Raise ValueError, before anything is paid, where the noise of one of the two stages cannot be drawn."""
    check_rounds(budget, parts_of_rounds(division), bits)
    # Asked for 1 feature, since J is not known yet: the std is the same for any number of them.
    discrete_gaussian.noise_std(1, bits, budget, 1 - division.share)


class Rounds(NamedTuple):
    """Hold what T rounds published.

    bases: T + 1 of (d, k), the random start and the basis after each round. answers: the T noisy means of
    v q^T, (d, k) each. stds: of the noise in each entry of every answer.
    """

    bases: tuple[Array, ...]
    answers: list[Array]
    stds: list[float]


def release_rounds(source: Source, k: int, parts: Sequence[float], left_out: int, readings: int) -> Rounds:
    """Release rounds one after the other, each of the basis that those before it give.

    Reads private rows once in each. A round that was drawn before is taken from what was kept.

    parts: what each round takes of the budget, measured in 1/z^2. left_out: how many first rounds are left
    out when later bases are computed, since the basis that they were asked of was still far off
    (`numerics.stacked_rounds`). readings: how often the whole release reads the rows, by which progress is
    counted. Raises StoppedError where progress says no; what was drawn before is kept.
    """
    rounds_done, d = 0, source.d

    def report(share: float) -> bool:
        return source.progress((rounds_done + share) / readings)

    def ask(block: Array, std: float) -> Array:
        """Return one noisy round of the basis `block`, a mean with noise of this std.

        `std` itself is not used: each sum is drawn with the same noise in its own units, from `sum_stds`.
        """
        nonlocal rounds_done

        def draw() -> Array:
            sums = np.zeros((source.number_of_sums, d, k))

            def add(hospital: int, rows: Array, weights: Array | float) -> None:
                sums[hospital % source.number_of_sums] += whole_products(rows, block, source.bits, weights)

            source.read(add, report)
            noisy = [discrete_gaussian.add_noise(whole.ravel(), sum_stds[rounds_done]) for whole in sums]
            total: Array = np.sum(noisy, axis=0)
            return total.reshape(d, k) / (4.0**source.bits * source.n)

        answer = source.drawn.once(f"round {rounds_done + 1}", draw)
        rounds_done += 1
        if not report(0.0):
            raise StoppedError
        return answer

    # Keep the start too: the rounds that are kept were asked of it and of what followed from it.
    start = source.drawn.once("start", lambda: block_power.begin(None, d, k, np.random.default_rng()))
    sum_stds = [round_std(source.budget, part, source.bits) for part in parts]
    stds = [std * source.scale for std in sum_stds]
    return Rounds(*normalised_product.follow_rounds(ask, stds, start, left_out), stds)


class StagesResult(NamedTuple):
    """Hold what two stages published.

    basis: the directions, (d, k), zero outside J. rows: J, the indices of the features kept, (j,). moment:
    stage 2's noisy second moment of these features, (j, j).
    """

    basis: Array
    rows: Indices
    moment: Array


def release(source: Source, k: int, division: Division, s_hat: int | str) -> StagesResult:
    """Release both stages. Reads private rows T + 1 times; a step drawn before is taken from what was kept.

    s_hat: number of features kept, or "released" for those that stand out of stage 1's noise, at most 400.
    Raises StoppedError where progress says no; what was drawn before is kept.
    """
    budget, bits, n = source.budget, source.bits, source.n
    # Where n is protected no rule may use it; infinity leaves the error of sampling out of them.
    public_n = n if budget.neighbours == "replace-one" else math.inf
    left_out = two_stage.left_out(division.rounds)
    # The rows are read once a round, and once for the moment.
    rounds = release_rounds(source, k, parts_of_rounds(division), left_out, readings=division.rounds + 1)
    leading = stacked_rounds.leading(rounds.answers, rounds.stds, left_out)
    # Of a diagonal entry, asked for 1 feature: the std is the same for any number of them.
    block_std = discrete_gaussian.noise_std(1, bits, budget, 1 - division.share) * source.scale

    def choose() -> Array:
        rows = two_stage.rows_to_keep(leading, rounds.answers[-1], block_std, s_hat=s_hat, n=public_n)
        if len(rows) > discrete_gaussian.MOST_FEATURES:
            rows = linalg.largest_rows(leading, discrete_gaussian.MOST_FEATURES)
        return rows.astype(float)

    # Keep J too, though it follows from the rounds: on another machine features of nearly the same weight
    # could change places.
    rows = source.drawn.once("rows", choose).astype(int)

    def draw_moment() -> Array:
        # Progress goes on from the rounds, which are all readings but this one.
        before = division.rounds / (division.rounds + 1)
        sums = whole_moments(
            source,
            len(rows),
            lambda part: unit_rows(part[:, rows]),
            lambda share: source.progress(before + share * (1 - before)),
        )
        # Each sum is divided by all n patients, so that the noisy sums add up to the mean over all.
        noisy = [
            discrete_gaussian.release(summed._replace(n=n), budget, share=1 - division.share)
            for summed in sums
        ]
        total: Array = np.sum(noisy, axis=0)
        return total

    moment = source.drawn.once("moment", draw_moment)
    source.progress(1.0)
    # Off the diagonal the noise is sqrt 2 smaller.
    basis = two_stage.directions_from_block(moment, rows, source.d, k, block_std / math.sqrt(2), public_n)
    return StagesResult(basis, rows, moment)
