"""Make two releases under one budget: which features matter, then the moment of those alone.

Stage 1 spends a share w. Noisy rounds (`normalised_product`), or one noisy moment of rows of length 1, name
the s_hat heaviest rows J. Stage 2 restricts every patient to J, scales what is left to length 1 again, and
releases the s_hat x s_hat moment with the rest. Most of a patient's length lies in coordinates that carry
nothing; after the restriction the same noise hides a signal that is larger by tr S/tr S_JJ. (Rows of a basis
or of a moment are features, and J are some of these. Rows that are scaled to length 1 are patients.)

Privacy. A round moves by at most 2 (replace-one) or 1 (add or remove) over n, whatever Q. A moment of rows of
length 1 moves by sqrt 2 or 1, with the proof of `symmetric_gaussian`. The same holds for a restricted moment,
since restricting and scaling happen to each patient alone. Q and J are functions of what was released before.
Adaptive Gaussian releases compose exactly. Take the standard deviations Delta z/(n sqrt(w b_t)), sum b_t = 1,
and Delta z/(n sqrt(1 - w)). Then the sum of (Delta/std)^2 is n^2/z^2, that of one release at the budget's
multiplier z. The shares come from public numbers. Sealed sums need hospitals that follow the protocol. If t
of them collude, they know their own noise and leave (N - t)/N of its variance. n is public under replace-one.
Under add or remove the rules take only an n that is declared in public. Noise is added to sums there. It is
written here over n, on which no direction depends.

The rule for w is clip(.2 + 1.5 h/f, .2, .7) with h = z c sqrt(d)/n. Here c is the factor of the hospitals'
noise, and f the `signal`, a declared guess of k lambda_k/tr Sigma, the part of the components in the trace.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Indices, Moment
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, symmetric_gaussian
from dppca_core.numerics import block_power, linalg, row_selection, row_shrinkage, stacked_rounds
from dppca_core.numerics.moments import DenseMoment
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import RELEASED, SCALINGS, SIGNAL, Estimate, Method

STAGE_ONE = ("rounds", "moment")
ROUNDS = 4
_FIRST_ROUND = 0.5  # weight of the first round, of a random basis, where every other has 1
_LEAST_SHARE, _MOST_SHARE, _SLOPE = 0.2, 0.7, 1.5  # of the rule for w in the module's text
_PARTS = 1e-4, 0.95  # between which the share of the components in the trace is estimated
_MOST_ROUNDS, _LITTLE_NOISE = 12, 0.01  # rounds are added, up to the former, where h is below the latter
SHARE_WITHOUT_N = 0.4  # w where no number of patients is public


def left_out(iterations: int) -> int:
    """Return how many first rounds only lead to the next ones and are not stacked: a third, at least one.

    iterations: T, all rounds. Their bases are still far from the directions.
    """
    return max(1, iterations // 3)


def round_weights(iterations: int) -> Array:
    """Return b_t, (T,), the share of stage 1's budget (as 1/z^2) that each round spends; they add up to 1."""
    weights = np.ones(iterations)
    weights[0] = _FIRST_ROUND if iterations > 1 else 1.0
    shares: Array = weights / weights.sum()
    return shares


def rounds_for_choice(height: float) -> int:
    """Return the number of rounds of stage 1 where it also decides how many features are kept.

    height: h = z c sqrt(d)/n, the size of the noise. Which features stand out is seen only once the rounds
    have converged, so the smaller the noise the more rounds, between `ROUNDS` and `_MOST_ROUNDS`.
    """
    return min(max(round(ROUNDS * math.sqrt(_LITTLE_NOISE / height)), ROUNDS), _MOST_ROUNDS)


def selection_share(multiplier: float, factor: float, d: int, n: int, signal: float = SIGNAL) -> float:
    """Return w, the share of stage 1, from public numbers alone, by the rule in the module's text.

    multiplier: z. factor: c, the noise of the hospitals' sum in those of one curator. n: patients. Raises
    ValueError for a signal outside (0, 1).
    """
    checks.inside_unit_interval(signal=signal)
    height = multiplier * factor * math.sqrt(d) / n
    return min(max(_LEAST_SHARE + _SLOPE * height / signal, _LEAST_SHARE), _MOST_SHARE)


class Division(NamedTuple):
    """Hold how a run divides its budget: share is w, that of stage 1, and rounds is T, how many it has."""

    share: float
    rounds: int


def division(
    budget: Budget, factor: float, *, d: int, n: int | None, s_hat: int | str, signal: float = SIGNAL
) -> Division:
    """Return how a run divides its budget, by the rules, from public numbers.

    factor: c. n: patients, None where their number is not public; share and rounds are fixed then. s_hat: how
    many features are kept, or "released" for those that stand out.
    """
    if n is None:
        return Division(SHARE_WITHOUT_N, ROUNDS)
    z = gaussian.noise_multiplier(budget)
    rounds = rounds_for_choice(z * factor * math.sqrt(d) / n) if s_hat == RELEASED else ROUNDS
    return Division(selection_share(z, factor, d, n, signal), rounds)


class StageNoise(NamedTuple):
    """Hold the noise of every release of one run, on the scale of means over n patients.

    share: w. round_stds: std of an entry of each round, (T,). moment_std: std of a diagonal entry of stage
    1's moment, where that takes the place of rounds. block_std: std of a diagonal entry of stage 2's moment.
    """

    share: float
    round_stds: tuple[float, ...]
    moment_std: float
    block_std: float

    def times(self, ratio: float) -> "StageNoise":
        stds = tuple(ratio * std for std in self.round_stds)
        return StageNoise(self.share, stds, ratio * self.moment_std, ratio * self.block_std)


def stage_noise(
    budget: Budget,
    factor: float,
    *,
    d: int,
    n: int,
    share: float | None = None,
    signal: float = SIGNAL,
    iterations: int = ROUNDS,
) -> StageNoise:
    """Return the noise of every release of a run, from public numbers.

    n: patients, on the scale of whose means the noise is stated. factor: c. share: w; None takes the rule's,
    for the declared signal. iterations: T. Raises ValueError for numbers out of range.
    """
    checks.whole(1, block_power.MOST_STEPS, iterations=iterations)
    z = gaussian.noise_multiplier(budget)
    if share is None:
        share = selection_share(z, factor, d, n, signal)
    checks.inside_unit_interval(share=share)
    scale = z * factor / n
    rounds = normalised_product.sensitivity(budget) * scale / np.sqrt(share * round_weights(iterations))
    moments = symmetric_gaussian.sensitivity(budget) * scale
    return StageNoise(
        share, tuple(rounds.tolist()), moments / math.sqrt(share), moments / math.sqrt(1 - share)
    )


class ReleasedStages(NamedTuple):
    """Hold all that a run publishes.

    bases: the start and the basis after each round, T + 1 of (d, k), or that of stage 1's moment alone. rows:
    J, the features kept, ascending. block: their noisy moment, (|J|, |J|).
    """

    bases: tuple[Array, ...]
    rows: Indices
    block: Array


def release(
    cohort: Cohort,
    noise: StageNoise,
    start: Array,
    rng: np.random.Generator,
    *,
    s_hat: int | str,
    stage_one: str = "rounds",
    scaling: str = "unit",
    n: float = math.inf,
) -> ReleasedStages:
    """Release both stages. This is the only step that reads private rows.

    Args:
        cohort: All hospitals' patients, as rows or drawn from a population.
        noise: The noise of every release.
        start: Basis of the first round, (d, k) orthonormal.
        rng: Draws the noise.
        s_hat: Features kept, or "released" for those that stand out of stage 1's noise.
        stage_one: "rounds" or "moment".
        scaling: "unit", or "inside" for rows as the cohort holds them, in moments; rounds need no scale.
        n: Patients, where rows that stand out are kept and their number is public or declared.
    """
    # What stands out is told on the scale of means over n, so that no number but a public one decides it.
    ratio = cohort.n / n if math.isfinite(n) else 1.0
    public_noise = noise.times(ratio)
    # `part` is the share of the components in the trace, known only where stage 1 releases a moment.
    # `leading` is stage 1's directions, each times its strength, whose heaviest rows are kept.
    moment, part = cohort.pooled, None
    if stage_one == "moment":
        scaled = moment.unit() if scaling == "unit" else moment
        noisy = ratio * symmetric_gaussian.with_noise(scaled, noise.moment_std, "isotropic", rng)
        values, basis = linalg.top_eigenpairs(noisy, start.shape[1])
        bases: tuple[Array, ...] = (basis,)
        # Rows of length 1 have a moment of trace 1; that of others is read off the noisy moment.
        trace = 1.0 if scaling == "unit" else float(np.trace(noisy))
        leading, part = basis * values, float(values.sum()) / max(trace, np.finfo(float).tiny)
        rows = rows_to_keep(leading, leading, public_noise.block_std, s_hat=s_hat, n=n, part=part)
    else:
        skipped = left_out(len(noise.round_stds))
        bases, rounds = normalised_product.release_rounds(cohort, noise.round_stds, start, skipped, rng)
        rows = rows_of_rounds([ratio * each for each in rounds], public_noise, s_hat=s_hat, n=n)
    return ReleasedStages(bases, rows, release_block(moment, rows, noise, rng, scaling))


def release_block(
    moment: Moment, rows: Indices, noise: StageNoise, rng: np.random.Generator, scaling: str = "unit"
) -> Array:
    """Return stage 2's noisy moment of these features, (|J|, |J|): it reads private rows, as in `release`."""
    if scaling == "unit":
        restricted = moment.restricted_unit(rows)
    else:  # the rows and columns of these features in the moment as it is
        restricted = DenseMoment(moment.apply(np.eye(len(rows)), rows)[rows])
    return symmetric_gaussian.with_noise(restricted, noise.block_std, "isotropic", rng)


def rows_of_rounds(rounds: Sequence[Array], noise: StageNoise, *, s_hat: int | str, n: float) -> Indices:
    """Return J as `rows_to_keep` does, from stage 1's noisy rounds: post-processing."""
    leading = stacked_rounds.leading(rounds, noise.round_stds, left_out(len(rounds)))
    return rows_to_keep(leading, rounds[-1], noise.block_std, s_hat=s_hat, n=n, part=None)


def rows_to_keep(
    leading: Array, last: Array, block_std: float, *, s_hat: int | str, n: float, part: float | None = None
) -> Indices:
    """Return J, the features that stage 2 keeps, ascending, from what stage 1 released: post-processing.

    Args:
        leading: Stage 1's directions, each times its strength, (d, k): the heaviest features are kept.
        last: The last round, (d, k).
        block_std: Noise of a diagonal entry of stage 2's moment.
        s_hat: How many rows are kept, or "released" for those that stand out.
        n: Patients, infinite where their number is protected.
        part: k lambda_k/tr Sigma, the part of the components in the trace; None estimates it from the last
            round.
    """
    # A number of rows was asked for; the word "released" asks for those that stand out.
    if not isinstance(s_hat, str):
        return linalg.largest_rows(leading, s_hat)
    fitted = row_selection.mixture(leading)
    part = float(np.clip(_signal_part(last, fitted) if part is None else part, *_PARTS))
    return row_selection.rows_worth_keeping(leading, fitted, part, block_std / math.sqrt(2), n)


def directions_from_block(block: Array, rows: Indices, d: int, k: int, std: float | None, n: float) -> Array:
    """Return the directions that stage 2's noisy moment gives, (d, k), zero outside J: post-processing.

    block: that moment, of the features `rows`, J. std: of the noise in its off-diagonal entries, by which the
    basis's rows are shrunk; None leaves them as they are. n: patients, infinite where their number is
    protected.
    """
    basis = linalg.top_eigenspace(block, k)
    if std is not None:
        basis = row_shrinkage.shrunk(block, basis, std, n)
    return linalg.scatter_rows(basis, rows, d)


def _signal_part(last: Array, fitted: row_selection.Mixture) -> float:
    """Return an estimate of k lambda_k/tr Sigma, the part of the components in the trace: post-processing.

    The mean of the last round, (d, k), is about E(chi_k)/k U sqrt(lambda/tr Sigma), so its squares, less
    those of the noise, add up to (E(chi_k)/k)^2 k lambda/tr Sigma. fitted: each feature's chance to matter;
    those that do not matter show the noise.
    """
    squares = np.square(last).sum(axis=1)  # of each feature
    noise = float((1 - fitted.chances) @ squares) / max(float((1 - fitted.chances).sum()), 1.0)
    length = normalised_product.mean_length(last.shape[1])
    return float(fitted.chances @ (squares - noise)) / length**2


class StagePlan(NamedTuple):
    """Hold what public numbers say of a run: its noise, how many features it keeps, and n.

    kept: a number, or "released". n: patients, infinite where their number is protected.
    """

    noise: StageNoise
    kept: int | str
    n: float


def plan(
    cohort: Cohort,
    trust: str,
    k: int,
    budget: Budget,
    *,
    s_hat: int | str | None = None,
    iterations: int | None = None,
    share: float | None = None,
    signal: float = SIGNAL,
    declared_n: int | None = None,
) -> StagePlan:
    """Return what a run does, by the options of `fit`. It reads no rows."""
    d = cohort.features
    kept = d if s_hat is None else s_hat
    if not (isinstance(kept, str) and kept == RELEASED):
        checks.whole(k, d, s_hat=kept)
    factor = normalised_product.noise_factor(trust, len(cohort))
    public_n = cohort.n if budget.neighbours == "replace-one" else declared_n
    rule = division(budget, factor, d=d, n=public_n, s_hat=kept, signal=signal)
    share = rule.share if share is None else share
    rounds = rule.rounds if iterations is None else iterations
    noise = stage_noise(budget, factor, d=d, n=cohort.n, share=share, signal=signal, iterations=rounds)
    return StagePlan(noise, kept, math.inf if public_n is None else public_n)


def estimate(
    run: StagePlan,
    released: ReleasedStages,
    shape: tuple[int, int],
    spent: tuple[Event, ...],
    *,
    stage_one: str = "rounds",
    shrink: bool = True,
) -> Estimate:
    """Return the estimate of a run from what it released; shape: (d, k). It reads no rows."""
    d, k = shape
    off_diagonal, kept = run.noise.block_std / math.sqrt(2), len(released.rows)
    basis = directions_from_block(
        released.block, released.rows, d, k, off_diagonal if shrink else None, run.n
    )
    # A hospital sends rounds or a moment's triangle in stage 1, and the block's triangle in stage 2.
    sent = d * k * len(run.noise.round_stds) if stage_one == "rounds" else d * (d + 1) // 2
    return Estimate(
        basis,
        iterates=(*released.bases, basis),
        noise_std=off_diagonal,
        bytes_sent=8 * (sent + kept * (kept + 1) // 2),
        spent=spent,
    )


@dataclass(frozen=True)
class TwoStageRun:
    """Run two stages under one trust, which decides who adds the noise."""

    trust: str

    def fit(
        self,
        cohort: Cohort,
        *,
        k: int,
        budget: Budget,
        rng: np.random.Generator,
        s_hat: int | str | None = None,
        iterations: int | None = None,
        share: float | None = None,
        signal: float = SIGNAL,
        stage_one: str = "rounds",
        scaling: str = "unit",
        shrink: bool = True,
        start: Array | None = None,
        declared_n: int | None = None,
    ) -> Estimate:
        """Release noisy rounds, then the moment of the rows that they name.

        Args:
            budget: The guarantee of the whole run.
            rng: Draws the noise, and the start.
            s_hat: Features kept, from k to d; all by default; "released" keeps those that stand out of stage
                1's noise (`dppca_core.numerics.row_selection`).
            iterations: T, rounds of stage 1; by default four, or more where they are cheap and say which rows
                stand out.
            share: w, the share of the budget (as 1/z^2) of stage 1, in (0, 1); by the rule by default.
            signal: A declared guess of k lambda_k/tr Sigma in (0, 1), for that rule; never read off the rows.
            stage_one: "rounds", or "moment" for one noisy moment of all rows.
            scaling: "unit" scales rows to length 1, "inside" takes those of moments as the cohort has them.
            declared_n: Patients that are declared in public, for the rules under add or remove, where the
                true number is protected; without it they take a fixed share and fixed rounds.

        Returns:
            The basis, (d, k), zero outside the features kept; iterates are the bases of stage 1 and the
            answer; noise_std is of an off-diagonal entry of stage 2.

        Raises:
            ValueError: For options out of range, another start, and moments of unknown rows.
        """
        checks.one_of(STAGE_ONE, stage_one=stage_one)
        checks.one_of(SCALINGS, scaling=scaling)
        chosen: dict[str, Any] = {"s_hat": s_hat, "iterations": iterations, "share": share}
        run = plan(cohort, self.trust, k, budget, signal=signal, declared_n=declared_n, **chosen)
        begin = block_power.begin(start, cohort.features, k, rng)
        released = release(
            cohort, run.noise, begin, rng, s_hat=run.kept, stage_one=stage_one, scaling=scaling, n=run.n
        )
        spent = spends(budget, stage_one=stage_one, **chosen)
        return estimate(run, released, (cohort.features, k), spent, stage_one=stage_one, shrink=shrink)


def method_for_trust(trust: str, title: str, audit: str) -> Method:
    """Return the method of a module of `dppca_core.methods`: two stages, released under this trust.

    trust: who adds the noise. audit: the releases that an audit draws, as for `Method`.
    """
    several = trust != "central"
    chosen = ("s_hat", *("providers",) * several)
    return Method(
        title=title,
        reference="normalised rounds, then the moment of the rows they name",
        trust=trust,
        guarantee="(ε, δ)",
        uses=("epsilon", "delta", "d", "n", "k", "s", *chosen, "neighbours", "accounting"),
        fit=TwoStageRun(trust).fit,
        pools="restricted" if several else "",
        spends=spends,
        matrix=False,
        # The cost of drawing the patients' rows, which all methods that ask for them share.
        cost=lambda d, k, providers: 3.0,
        scaling="unit",
        audit=audit,
    )


def spends(
    budget: Budget,
    *,
    s_hat: int | str | None = None,
    iterations: int | None = None,
    share: float | None = None,
    stage_one: str = "rounds",
    **_: object,
) -> tuple[Event, ...]:
    """Return the Gaussian releases of one run.

    Where a rule shares the budget they count as one release at its multiplier, which is exact: however it is
    shared, the parts compose to the same. So do the rounds of stage 1 where a rule says how many there are.
    Where `share` is given, stage 2 is the last release. The options are those of `fit`.
    """
    z = gaussian.noise_multiplier(budget)
    if share is None:
        return (Release(z),)
    stage_two = Release(z / math.sqrt(1 - share))
    if stage_one == "moment" or (iterations is None and s_hat == RELEASED):
        return (Release(z / math.sqrt(share)), stage_two)
    multipliers = z / np.sqrt(share * round_weights(ROUNDS if iterations is None else iterations))
    return (*map(Release, multipliers.tolist()), stage_two)
