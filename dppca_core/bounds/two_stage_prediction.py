"""A closed form for the error of two stages, and the chance that stage 1 names all rows that matter.

Derived here for rows of length 1, v = x/|x|, of a population with k spikes on s rows over a dense bulk whose
mean eigenvalue is b. Within the s_hat rows kept, the restricted rows have the k spikes and b, s_hat - k
times; lambda~ are the eigenvalues of E[v v^T] there and m_ij = E[v_i^2 v_j^2]. To first order

    sin^2 = sum over i <= k < j <= s_hat of (o^2 + m_ij F/n)/(lambda~_i - lambda~_j)^2,

o the off-diagonal noise of stage 2. F is 1 but for the rows kept by chance: the same patients chose them, so
that of the s_hat - s rows of the bulk the share rho of stage 1's error that is sampling counts more, by
F_2 = P(chi2_{k+2} > q)/P(chi2_k > q) at the level q that keeps s_hat - s + 1/2 of d - s rows:

    F = [(s - k) + (s_hat - s)(1 + rho (F_2 - 1))]/(s_hat - k).

Shrinking rows at the end removes the rows that carry nothing: both parts times (s - k)/(s_hat - k).

The chance is that of DRAWS runs of stage 1 without patients: a round is its mean over a population whose bulk
is round,

    E(chi_k)/k S Q (Q^T S Q)^(-1/2)/sqrt(tr S) + N(0, sd_t^2 + b/(k n tr S))

with S = U Lambda U^T + b (I - U U^T) and U uniform on s rows. It errs by .06 (one standard deviation at 1/2),
and more where the rows that matter are uneven. The closed form is that of the runs whose rows are right.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, chdtri

from dppca_core.bounds import perturbation
from dppca_core.bounds.rule import BoundRule, spectrum
from dppca_core.mechanisms import normalised_product, two_stage
from dppca_core.numerics import unit_rows
from dppca_core.records import Bound, Setting

DRAWS = 64
_LIKELY = 0.5


def selection_factor(d: int, k: int, s: int, s_hat: int, sampled: float) -> float:
    """Return F; `sampled` is rho, the share of stage 1's error that is sampling."""
    if s_hat <= s or s_hat <= k:
        return 1.0
    kept = min((s_hat - s + 0.5) / (d - s), 1.0)
    level = float(chdtri(k, kept))
    inflated = float(chdtrc(k + 2, level)) / kept
    return ((s - k) + (s_hat - s) * (1 + sampled * (inflated - 1))) / (s_hat - k)


@lru_cache(maxsize=256)
def support_probability(
    d: int,
    s: int,
    s_hat: int,
    spikes: tuple[float, ...],
    bulk: float,
    sampling: float,
    stds: tuple[float, ...],
) -> float:
    """Return the share of DRAWS runs of stage 1 in which all s rows are among the s_hat heaviest.

    spikes: the k largest eigenvalues over the trace; bulk: b over the trace. sampling: b/(k n tr), the
    variance of an entry of a round by sampling. stds: noise of every round.
    """
    k, rng = len(spikes), np.random.default_rng(0)
    mean_length = math.sqrt(2) * math.exp(math.lgamma((k + 1) / 2) - math.lgamma(k / 2)) / k
    above = np.array(spikes) - bulk
    basis = np.zeros(
        (DRAWS, d, k)
    )  # all draws at once, so that a screen may ask at every setting of a slider
    basis[:, :s] = np.linalg.qr(rng.standard_normal((DRAWS, s, k)))[0]
    block = np.linalg.qr(rng.standard_normal((DRAWS, d, k)))[0]
    stack = np.zeros((DRAWS, d, 0))
    for step, std in enumerate(stds):
        product = (basis * above) @ (basis.transpose(0, 2, 1) @ block) + bulk * block
        values, axes = np.linalg.eigh(block.transpose(0, 2, 1) @ product)
        mean = mean_length * product @ ((axes / np.sqrt(values)[:, None]) @ axes.transpose(0, 2, 1))
        noisy = mean + math.sqrt(std**2 + sampling) * rng.standard_normal((DRAWS, d, k))
        stack = np.concatenate([stack if step > two_stage.LEFT_OUT else stack[:, :, :0], noisy / std], axis=2)
        leading = stack @ np.linalg.eigh(stack.transpose(0, 2, 1) @ stack)[1][:, :, -k:]
        block = np.linalg.qr(leading)[0]
    weights = np.square(leading).sum(axis=2)
    threshold = np.partition(weights, d - s_hat, axis=1)[:, d - s_hat]
    return float((weights[:, :s].min(axis=1) >= threshold).mean())


def two_stage_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of two stages at one place, or with sealed sums.

    Args:
        setting: Where the closed form is evaluated; its iterations are not used, stage 1 has its own four.

    Returns:
        The prediction; its terms privacy and sampling add in squares. quantities["support_probability"] is
        the chance that all rows that matter are kept; `applies` is False where it is below 1/2, and where
        first-order reasoning does not reach.

    References:
        Derived here, in the module's text; checked against simulation in the tests.
    """
    return _predicted(setting, "central")


def two_stage_own_noise_prediction(setting: Setting) -> Bound:
    """Predict sin Theta of two stages where each hospital adds noise of its own.

    Args:
        setting: Where the closed form is evaluated; its iterations are not used, stage 1 has its own four.

    Returns:
        The prediction, as that of `two_stage_prediction`.

    References:
        Derived here, in the module's text; checked against simulation in the tests.
    """
    return _predicted(setting, "untrusted server")


def _predicted(setting: Setting, trust: str) -> Bound:
    d, n, k, s, kept = setting.d, setting.n, setting.k, setting.s, setting.s_hat
    top, others = spectrum(setting)
    bulk, trace = float(others.mean()), float(top.sum() + others.sum())
    factor = normalised_product.noise_factor(trust, setting.providers)
    noise = two_stage.stage_noise(setting.budget, factor, d=d, n=n)
    off_diagonal = noise.block_std / math.sqrt(2)
    within = np.concatenate([top, np.full(kept - k, bulk)])
    values = unit_rows.expected_unit_eigenvalues(within)
    gaps = values[:k, None] - values[None, k:]
    sampling = bulk / (k * n * trace)
    private_rounds = noise.round_stds[-1] ** 2 / max(len(noise.round_stds) - two_stage.LEFT_OUT, 1)
    by_chance = selection_factor(d, k, s, kept, sampling / (sampling + private_rounds))
    shrunk = (s - k) / (kept - k) if kept > k else 1.0
    private = shrunk * (off_diagonal / gaps) ** 2
    sampled = shrunk * by_chance * unit_rows.expected_pair_moments(within, k) / n / gaps**2
    chance = float(kept >= s)
    if s <= kept < d:
        spikes = tuple((top / trace).tolist())
        chance = support_probability(d, s, kept, spikes, bulk / trace, sampling, noise.round_stds)
    conditions = (
        (kept >= s, f"rows kept ŝ = {kept} at least s = {s}"),
        (
            chance >= _LIKELY,
            f"all rows that matter are kept with a chance of {chance:.2f}, at least {_LIKELY}",
        ),
    )
    quantities = {"support_probability": chance, "noise_std": off_diagonal, "share": noise.share}
    over, under = perturbation.pair_eigenvalues(top, np.full(kept - k, bulk))
    return perturbation.predict(setting, private, sampled, over - under, conditions, quantities)


_FORMULA = (
    r"\sin^2\Theta \approx \frac{s-k}{\hat s-k}\sum_{i\le k<j\le\hat s}"
    r"\frac{o^2 + m_{ij}F/n}{(\tilde\lambda_i-\tilde\lambda_j)^2}"
)

BOUNDS = (
    BoundRule(
        title="Closed form for two stages",
        kind="prediction",
        methods=("two_stage", "two_stage_sealed"),
        formula=_FORMULA,
        compute=two_stage_prediction,
        source=perturbation.SOURCE,
    ),
    BoundRule(
        title="Closed form for two stages, own noise",
        kind="prediction",
        methods=("two_stage_own_noise",),
        formula=_FORMULA,
        compute=two_stage_own_noise_prediction,
        source=perturbation.SOURCE,
    ),
)
