"""A closed form for the error of two stages, and the chance that stage 1 names all features that matter.

Derived here for rows of length 1, v = x/|x|, of a population with k spikes on s rows over a dense bulk whose
mean eigenvalue is b. Within the s_hat features kept, the restricted rows have the k spikes and b, s_hat - k
times. Let lambda~ be the eigenvalues of E[v v^T] there and m_ij = E[v_i^2 v_j^2]. To first order

    sin^2 = sum over i <= k < j <= s_hat of (o^2 + m_ij F/n)/(lambda~_i - lambda~_j)^2,

o the off-diagonal noise of stage 2. F is 1 but for the s_hat - s rows of the bulk that are kept by chance,
because the same patients chose them. Let rho be the share of stage 1's error that is sampling. In these rows
it counts more, by F_2 = P(chi2_{k+2} > q)/P(chi2_k > q) at the level q that keeps s_hat - s + 1/2 of d - s
rows:

    F = [(s - k) + (s_hat - s)(1 + rho (F_2 - 1))]/(s_hat - k).

Shrinking rows at the end leaves a row of noise the share e_k of it (`row_shrinkage.noise_left`): both parts
times [(s - k) + (s_hat - s) e_k]/(s_hat - k). Where n is protected, shares and shrinking do without it.

Where rounds choose the features, the chance that all s are kept is that of runs without patients
(`dppca_core.numerics.reduced_rounds`). They know a flat bulk alone. After T rounds a random start leaves as
much in an uneven bulk as in a flat one of the eigenvalue (mean of b_j^(2T))^(1/(2T)). With 64 runs the chance
errs by .06 (one standard deviation at 1/2), and more where the features that matter are uneven. Where one
moment chooses them it is, over the same draws of U,

    prod_r P(chi2'_k(ncp_r) > q),   ncp_r = sum_i U_ri^2 lambda~_i^2/(o_1^2 + lambda~_i b~/n),

with the eigenvalues of all d rows and o_1 that moment's noise. The closed form is of runs whose rows are
right; `missed` is the expected sin^2 Theta by rows that are not kept, to be added to its square. Where
stage 1 errs by sampling rather than by noise, F counts too much: the closed form was up to 40 % high at
epsilon = 10.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import chndtr

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, spectrum
from dppca_core.mechanisms import normalised_product, two_stage
from dppca_core.mechanisms.two_stage import ROUNDS
from dppca_core.numerics import reduced_rounds, row_shrinkage, unit_rows
from dppca_core.numerics.reduced_rounds import Draws, Kept, KeptDraws, SpikedRows
from dppca_core.records import Bound, Setting

_LIKELY = 0.5  # the chance of keeping all features that matter, from which on the closed form applies
_HOPELESS = 0.02  # a chance below this in FEW_DRAWS is not drawn more often


def selection_factor(d: int, k: int, s: int, s_hat: int, sampled: float) -> float:
    """Return F, by which rows kept by chance raise the sampling error; `sampled` is rho.

    rho is the share of stage 1's error that is sampling, from 0 to 1. `inflated` is F_2 of the module's text.
    """
    if s_hat <= s or s_hat <= k:
        return 1.0
    # The share depends on d, k, s and s_hat alone, so the eigenvalues 1 and 0 stand for any.
    _, share = reduced_rounds.level_and_share_kept(SpikedRows(d, s, (1.0,) * k, 0.0), s_hat)
    inflated = share * (d - s) / (s_hat - s)
    return ((s - k) + (s_hat - s) * (1 + sampled * (inflated - 1))) / (s_hat - k)


@lru_cache(maxsize=1024)
def _kept_by_rounds(rows: SpikedRows, s_hat: int, stds: tuple[float, ...], sampling: float) -> Kept:
    """Return how well the noisy rounds of stage 1 name the s rows that matter, from runs without patients.

    stds: noise of each entry of every round, (T,). sampling: variance of such an entry by sampling.
    """
    k, rounds = len(rows.spikes), len(stds)
    few, most = (
        reduced_rounds.affordable(draws, k, rounds)
        for draws in (reduced_rounds.FEW_DRAWS, reduced_rounds.DRAWS)
    )

    def each(draws: Draws) -> KeptDraws:
        """Run stage 1 with these draws, and return which rows it keeps."""
        leading, _ = reduced_rounds.stacked(rows, stds, sampling, two_stage.left_out(rounds), draws)
        return reduced_rounds.kept_rows(rows, draws, leading, s_hat)

    first = each(reduced_rounds.draw(rows, rounds, few))
    # A chance near 0 is known from few draws. One near 1 is not: it fails by rare, weak rows of the truth.
    if few == most or first.summary().chance < _HOPELESS:
        return first.summary()
    # More draws begin with the few, which need not be run again.
    return first.followed_by(each(reduced_rounds.draw(rows, rounds, most).after(few))).summary()


def _kept_by_moment(rows: SpikedRows, s_hat: int, top: Array, variances: Array) -> Kept:
    """Return how well one noisy moment, in place of rounds, names the s rows that matter.

    top: the k largest eigenvalues of the moment, (k,). variances: of its entries in each of these directions,
    by noise and sampling, (k,). A row of the truth is missed if its chi-square lies below the level of the
    lightest row kept.
    """
    truth = reduced_rounds.draw(rows, rounds=0, draws=reduced_rounds.DRAWS).truth[:, : rows.s]
    level, _ = reduced_rounds.level_and_share_kept(rows, s_hat)
    missing = chndtr(level, len(top), np.square(truth) @ (top**2 / variances))
    missed = (missing * np.square(truth).sum(axis=2)).sum(axis=1)
    chance = float(np.prod(1 - missing, axis=1).mean())
    return Kept(chance, float(missed.mean()), float(np.median(missed)))


def two_stage_prediction(setting: Setting, *, stage_one: str = "rounds", iterations: int = ROUNDS) -> Bound:
    """Predict sin Theta of two stages at one place, or with sealed sums.

    Args:
        setting: Where the closed form is evaluated; its iterations are not used, stage 1 has its own.
        stage_one: "rounds", or "moment" for one noisy moment that names the rows.
        iterations: Rounds of stage 1.

    Returns:
        The prediction; its terms privacy and sampling add in squares. The quantity "support_probability" is
        the chance that all features that matter are kept. The quantity "missed" is the sin^2 that features
        which are not kept cost on average, and "missed_median" what they cost in half of the runs. The field
        `applies` is False where that chance is below 1/2, and where first-order reasoning does not reach.

    Raises:
        ValueError: For another stage 1.

    References:
        Derived here, in the module's text; checked against simulation in the tests.
    """
    return _predicted(setting, "central", stage_one, iterations)


def two_stage_own_noise_prediction(
    setting: Setting, *, stage_one: str = "rounds", iterations: int = ROUNDS
) -> Bound:
    """Predict sin Theta of two stages where each hospital adds noise of its own.

    Args:
        setting: Where the closed form is evaluated; its iterations are not used, stage 1 has its own.
        stage_one: "rounds", or "moment" for one noisy moment that names the rows.
        iterations: Rounds of stage 1.

    Returns:
        The prediction, as that of `two_stage_prediction`.

    Raises:
        ValueError: For another stage 1.

    References:
        Derived here, in the module's text; checked against simulation in the tests.
    """
    return _predicted(setting, "untrusted server", stage_one, iterations)


def _predicted(setting: Setting, trust: str, stage_one: str, iterations: int) -> Bound:
    """Return the closed form of the module's text; `trust` decides who adds the noise."""
    checks.one_of(two_stage.STAGE_ONE, stage_one=stage_one)
    d, n, k, s, s_hat = setting.d, setting.n, setting.k, setting.s, setting.s_hat
    top, others = spectrum(setting)
    bulk, trace = float(others.mean()), float(top.sum() + others.sum())
    factor = normalised_product.noise_factor(trust, setting.providers)
    public_n = setting.budget.neighbours == "replace-one"
    share = None if public_n else two_stage.SHARE_WITHOUT_N
    noise = two_stage.stage_noise(setting.budget, factor, d=d, n=n, share=share, iterations=iterations)
    # Stage 1: how well it names the features. Both branches also give the variance of one of its entries by
    # sampling and by noise, whose shares are those of its error. Eigenvalues are shares of the trace here.
    rows = SpikedRows(d, s, tuple((top / trace).tolist()), bulk / trace)
    if stage_one == "rounds":
        sampling = rows.bulk / (k * n)
        rounds = len(noise.round_stds)
        # A random start leaves as much in a flat bulk of this eigenvalue as in the true one.
        lasting = float(np.mean((others / trace) ** (2 * rounds)) ** (1 / (2 * rounds)))
        rows = rows._replace(bulk=lasting, rest=float(others.sum()) / trace)
        by_noise = noise.round_stds[-1] ** 2 / max(rounds - two_stage.left_out(rounds), 1)
        kept = _kept_by_rounds(rows, s_hat, noise.round_stds, sampling)
    else:
        whole = unit_rows.expected_unit_eigenvalues(np.concatenate([top, others]))
        sampling, by_noise = float(whole[k - 1] * whole[k:].mean()) / n, noise.moment_std**2 / 2
        kept = _kept_by_moment(rows, s_hat, whole[:k], by_noise + whole[:k] * whole[k:].mean() / n)
    # Stage 2: the moment of the s_hat rows kept, which hold the spikes and s_hat - k eigenvalues of the bulk.
    off_diagonal = noise.block_std / math.sqrt(2)
    within = np.concatenate([top, np.full(s_hat - k, bulk)])
    values = unit_rows.expected_unit_eigenvalues(within)
    gaps = values[:k, None] - values[None, k:]
    by_chance = selection_factor(d, k, s, s_hat, sampling / (sampling + by_noise))
    sampled = by_chance * unit_rows.expected_pair_moments(within, k) / n
    # Where n is protected, rows are shrunk by stage 2's noise alone.
    ratio = 1.0 if public_n or s_hat == k else 1 + float(sampled.mean()) / off_diagonal**2
    left = row_shrinkage.noise_left(k, ratio)
    shrunk = min(((s - k) + (s_hat - s) * left) / max(s_hat - k, 1), 1.0)
    private = shrunk * (off_diagonal / gaps) ** 2
    sampled = shrunk * sampled / gaps**2
    conditions = (
        (s_hat >= s, f"features kept ŝ = {s_hat} should be at least s = {s}"),
        (
            kept.chance >= _LIKELY,
            f"chance that all features that matter are kept = {kept.chance:.2f} should be at least {_LIKELY}",
        ),
    )
    quantities = {
        "support_probability": kept.chance,
        "missed": kept.missed,
        "missed_median": kept.missed_median,
        "noise_std": off_diagonal,
        "share": noise.share,
    }
    over, under = perturbation.pair_eigenvalues(top, np.full(s_hat - k, bulk))
    return perturbation.predict(setting, private, sampled, over - under, conditions, quantities)


_FORMULA = (
    r"\sin^2\Theta \approx \frac{s-k+(\hat s-s)e_k}{\hat s-k}\sum_{i\le k<j\le\hat s}"
    r"\frac{o^2 + m_{ij}F/n}{(\tilde\lambda_i-\tilde\lambda_j)^2}"
)

BOUNDS = (
    BoundRule(
        title="Closed form for two stages",
        methods=("two_stage", "two_stage_sealed"),
        formula=_FORMULA,
        compute=two_stage_prediction,
        smooth=False,
    ),
    BoundRule(
        title="Closed form for two stages, own noise",
        methods=("two_stage_own_noise",),
        formula=_FORMULA,
        compute=two_stage_own_noise_prediction,
        smooth=False,
    ),
)
