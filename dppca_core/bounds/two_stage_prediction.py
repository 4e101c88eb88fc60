"""A closed form for the error of two stages, and the chance that stage 1 names all features that matter.

Derived here for rows of length 1, v = x/|x|, of a population with k spikes on s rows over a dense bulk whose
mean eigenvalue is b. Within the s_hat features kept, the restricted rows have the k spikes and b, s_hat - k
times. Let lambda~ be the eigenvalues of E[v v^T] there and m_ij = E[v_i^2 v_j^2]. To first order

    sin^2 = (s - k + (s_hat - s) e)/(s_hat - k) sum over i <= k < j <= s_hat of g_ij (o^2 + m_ij/n),

g_ij = 1/(lambda~_i - lambda~_j)^2, o the off-diagonal noise of stage 2. The s_hat - s rows of the bulk that
are kept by chance are shrunk at the end, which leaves the share e of them. `row_shrinkage` takes their
variance for (o^2 + lambda~_i b~/n)/lambda~_i^2, which is too small by r = g_ij lambda~_i^2 (o^2 + m_ij/n)/
(o^2 + lambda~_i b~/n). Where n is protected, shares and shrinking do without n.

The same patients chose these rows, so that they err more than others. Let y be such a row in stage 1 and z in
stage 2, entry by entry. Their squared correlation is rho_1 kappa rho_2: rho is the share of sampling in a
row's variance, kappa the correlation^2 of both errors by sampling. Patients with the part t of their squared
length in the spikes count 1/(t + (s_hat - k) b) in stage 2, and t^(-1/2) in a round, 1 in a moment:

    kappa = (E t g h)^2/(E t g^2 E t h^2),   t ~ lambda chi2_k, g and h both weights.

Then e is `row_shrinkage.chosen_noise_left`. Rounds choose also by what they leave of a random start. Of its
tangents, about 3 in the median of an entry's square, the bulk's direction j keeps (b_j/lambda)^t after round
t, and the stack the mean of these: rho_1 falls to 0 as n grows, since the start does not.

The sum has about nu = k (s - k + (s_hat - s) e) equal terms. The closed form is the median of runs, that of
chi2_nu/nu times the mean.

Where rounds choose the features, the chance that all s are kept is that of runs without patients
(`dppca_core.numerics.reduced_rounds`). They know a flat bulk alone. After T rounds a random start leaves as
much in an uneven bulk as in a flat one of the eigenvalue (mean of b_j^(2T))^(1/(2T)). With 64 runs the chance
errs by .06 (one standard deviation at 1/2), and more where the features that matter are uneven. Where one
moment chooses them it is, over the same draws of U,

    prod_r P(chi2'_k(ncp_r) > q),   ncp_r = sum_i U_ri^2 lambda~_i^2/(o_1^2 + lambda~_i b~/n),

with the eigenvalues of all d rows and o_1 that moment's noise. The closed form is of runs whose rows are
right; `missed` is the expected sin^2 Theta by rows that are not kept, to be added to its square.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import chdtri, chndtr

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
_FEWEST_TERMS = 1.5  # of equal size in sin^2, below which many runs hardly err at all
_START = 3.0  # square of an entry of a random start's tangents, in the median
_NODES = 64  # of an expectation over a squared length
_HOPELESS = 0.02  # a chance below this in FEW_DRAWS is not drawn more often


def _left_of_start(ratios: Array, rounds: int) -> float:
    """Return the mean square of what the stacked rounds leave of each direction of a random start.

    ratios: the eigenvalues of the bulk over that of the spikes, (d - k,). The first stacked round multiplies
    the start by a power of them, and each later one what those before it left on average.
    """
    first = min(two_stage.left_out(rounds) + 1, rounds)
    parts = [ratios**first]
    while len(parts) <= rounds - first:
        parts.append(ratios * np.mean(parts, axis=0))
    return float(np.square(np.mean(parts, axis=0)).mean())


def _likeness(spike: float, rest: float, k: int, by_rounds: bool) -> float:
    """Return kappa, how alike the errors of both stages by sampling are in a row of the bulk.

    rest: (s_hat - k) b, what the bulk adds to the squared length of restricted rows, in the units of `spike`.
    """
    part = spike * chdtri(k, (np.arange(_NODES) + 0.5) / _NODES)  # t
    first, second = part**-0.5 if by_rounds else np.ones(_NODES), 1 / (part + rest)  # weights g and h
    both = (part * first * second).mean()
    return float(both**2 / ((part * first**2).mean() * (part * second**2).mean()))


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


@dataclass(frozen=True)
class StagesPrediction:
    """Predict the error of two stages under one trust, which decides who adds the noise."""

    trust: str

    def predict(self, setting: Setting, *, stage_one: str = "rounds", iterations: int = ROUNDS) -> Bound:
        """Predict sin Theta of two stages, by one curator's noise or with each hospital's own.

        Args:
            stage_one: "rounds", or "moment" for one noisy moment that names the rows.
            iterations: Rounds of stage 1; those of the setting are not used.

        Returns:
            The prediction, for the median of runs; its terms privacy and sampling add in squares. The
            quantity "support_probability" is the chance that all features that matter are kept. The quantity
            "missed" is the sin^2 that features which are not kept cost on average, and "missed_median" what
            they cost in half of the runs. The field `applies` is False where that chance is below 1/2, where
            next to nothing is left to err, and where first-order reasoning does not reach.

        Raises:
            ValueError: For another stage 1.
        """
        return _predicted(setting, self.trust, stage_one, iterations)


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
    # Stage 1: how well it names the features. Both branches also give the variance of one of its entries in a
    # row of the bulk by sampling, and by all else. Eigenvalues are shares of the trace here.
    rows = SpikedRows(d, s, tuple((top / trace).tolist()), bulk / trace)
    if stage_one == "rounds":
        sampling = rows.bulk / (k * n)
        rounds = len(noise.round_stds)
        # A random start leaves as much in a flat bulk of this eigenvalue as in the true one.
        effective = float(np.mean((others / trace) ** (2 * rounds)) ** (1 / (2 * rounds)))
        rows = rows._replace(bulk=effective, rest=float(others.sum()) / trace)
        strength = normalised_product.mean_length(k) ** 2 * rows.spikes[-1]  # of a spike's entries, squared
        by_start = strength * _START * _left_of_start(others / top[-1], rounds)
        not_sampling = by_start + noise.round_stds[-1] ** 2 / max(rounds - two_stage.left_out(rounds), 1)
        kept = _kept_by_rounds(rows, s_hat, noise.round_stds, sampling)
    else:
        whole = unit_rows.expected_unit_eigenvalues(np.concatenate([top, others]))
        sampling, not_sampling = float(whole[k - 1] * whole[k:].mean()) / n, noise.moment_std**2 / 2
        kept = _kept_by_moment(rows, s_hat, whole[:k], not_sampling + whole[:k] * whole[k:].mean() / n)
    # Stage 2: the moment of the s_hat rows kept, which hold the spikes and s_hat - k eigenvalues of the bulk.
    off_diagonal = noise.block_std / math.sqrt(2)
    within = np.concatenate([top, np.full(s_hat - k, bulk)])
    values = unit_rows.expected_unit_eigenvalues(within)
    gaps = values[:k, None] - values[None, k:]
    sampled = unit_rows.expected_pair_moments(within, k) / n
    errs, left = float(min(s, s_hat) - k), 1.0  # rows of the sum that are not shrunk, and e
    if s_hat > s:
        assumed = off_diagonal**2 + (values[:k] * values[-1] / n if public_n else 0.0)  # by `row_shrinkage`
        variances = off_diagonal**2 + sampled[:, -1]
        alike = sampling / (sampling + not_sampling) * float((sampled[:, -1] / variances).mean())
        alike *= _likeness(float(top.mean()), bulk * (s_hat - k), k, stage_one == "rounds")
        ratio = float((variances / assumed * (values[:k] / gaps[:, -1]) ** 2).mean())
        left = min(row_shrinkage.chosen_noise_left(k, ratio, (s_hat - s) / (d - s), alike), 1.0)
        errs += (s_hat - s) * left
    terms = k * errs
    # The median of runs over their mean, of a sum of this many squares.
    scale = float(chdtri(terms, 0.5)) / terms * errs / (s_hat - k) if terms else 0.0
    private = scale * (off_diagonal / gaps) ** 2
    sampled = scale * sampled / gaps**2
    conditions = (
        (s_hat >= s, f"features kept ŝ = {s_hat} should be at least s = {s}"),
        (
            kept.chance >= _LIKELY,
            f"chance that all features that matter are kept = {kept.chance:.2f} should be at least {_LIKELY}",
        ),
        (
            terms >= _FEWEST_TERMS,
            f"directions that err = {terms:.2g} should be at least {_FEWEST_TERMS}: else few runs err",
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
    r"\sin^2\Theta \approx \frac{\mathrm{med}\,\chi^2_\nu}{\nu}\,\frac{s-k+(\hat s-s)e}{\hat s-k}"
    r"\sum_{i\le k<j\le\hat s}\frac{o^2 + m_{ij}/n}{(\tilde\lambda_i-\tilde\lambda_j)^2}"
)

BOUNDS = (
    BoundRule(
        title="Closed form for two stages",
        methods=("two_stage", "two_stage_sealed"),
        formula=_FORMULA,
        compute=StagesPrediction("central").predict,
        name="two_stage_prediction",
        smooth=False,
    ),
    BoundRule(
        title="Closed form for two stages, own noise",
        methods=("two_stage_own_noise",),
        formula=_FORMULA,
        compute=StagesPrediction("untrusted server").predict,
        name="two_stage_own_noise_prediction",
        smooth=False,
    ),
)
