"""Ge, Wang, Wang & Liu (AISTATS 2018), Theorem 4.3: sin Theta of iterate t of DPS-PCA.

    gamma = (3 lambda_{k+1} + lambda_k) / (3 lambda_k + lambda_{k+1}),   rho = gamma / (1 - alpha)
    alpha = 2 k c (sqrt s_hat + sqrt k + tau) sigma / (n lambda_k)       the smallest admissible
    stat  = C1 sqrt k / (1 - rho^1/4) sqrt(lambda_1 lambda_{k+1}) / gap sqrt(s (k + log d) / n)
    priv  = (1 + 2 sqrt(k s / s_hat)) / (sqrt 3 (1 - rho^1/4)) alpha / (1 - alpha)
    opt_t = rho^((t-1)/4) min{sqrt(rho (1 - sqrt rho)) / 2, 1/4}

and sin Theta(t) <= stat + priv + opt_t for all t <= T with probability at least
1 - 2T e^(-tau^2/2) - 4/(n-1) - 1/d - 6 log(n)/n - 1/n. The assumptions B.3 to B.6 stand in the
paper's supplement only. Here c is N as printed (one noise matrix shared by all), and sqrt N or 1 for the
other noise modes. The proof uses only the noise of the average.

C1 (stat), the C1 of B.4 and C2 (B.5) are not specified by the paper; all three are free here.
"""

import math

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.rule import BoundRule, make_bound, spectrum, void_bound
from dppca_core.methods.dps_pca import aggregate_factor, sum_noise_std
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound, Setting

SOURCE = "Ge, Wang, Wang & Liu, AISTATS 2018, Theorem 4.3 and (supplement) Assumption B.1"


def contraction(top: float, below: float) -> float:
    """Return gamma, which rho is without noise, for lambda_k = `top` and lambda_{k+1} = `below`.

    It is below 1 whenever top > below.
    """
    return (3 * below + top) / (3 * top + below)


def contraction_with_noise(gamma: float, alpha: float) -> float:
    """Return rho = gamma/(1 - alpha), whose fourth root is the factor by which a step shrinks the term opt.

    For alpha >= 1 - gamma, where it would reach 1 and the theorem is void, it is 1.
    """
    return gamma / (1 - alpha) if alpha < 1 - gamma else 1.0


def noise_room(rho: float, k: int) -> float:
    """Return the largest alpha/(1 - alpha) that assumption B.3 allows."""
    least: float = min((1 - rho**2) ** 1.5 / 3, (1 - rho**0.25) / 6)
    return least / (1 + 2 * math.sqrt(k))


def error_terms(
    rho: float, alpha: float, *, sampling: float, selection: float, iterations: int
) -> dict[str, float | Array]:
    """Return the module's terms stat, priv and opt for a rho below 1; opt is an array over t, (iterations,).

    sampling: the part of stat that does not depend on rho, which is stat times 1 - rho^1/4. selection: the
    ratio k s / s_hat in priv.
    """
    geometric = 1 - rho**0.25
    lead = min(math.sqrt(rho * (1 - math.sqrt(rho))) / 2, 0.25)
    return {
        "stat": sampling / geometric,
        "priv": (1 + 2 * math.sqrt(selection)) / (math.sqrt(3) * geometric) * alpha / (1 - alpha),
        "opt": lead * rho ** (np.arange(iterations) / 4),
    }


def ge2018(setting: Setting, *, c1: float = 1.0, c1_rows: float = 1.0, c2: float = 1.0) -> Bound:
    """Return the theorem's bound on sin Theta of every iterate of DPS-PCA.

    Args:
        c1: Constant of the term stat.
        c1_rows: C1 of assumption B.4.
        c2: Constant of assumption B.5.

    Returns:
        The bound, with terms stat (number), priv (number) and opt, (T,). Void (no terms, infinite total) when
        alpha >= 1 - gamma, where rho would reach 1.
    """
    d, n, k, s, s_hat = setting.d, setting.n, setting.k, setting.s, setting.s_hat
    over, under = spectrum(setting)
    first, top, below = float(over[0]), float(over[-1]), float(under[0])
    gamma = contraction(top, below) if top > 0 else 1.0
    sigma = sum_noise_std(setting.budget, k=k, iterations=setting.iterations)
    spread = sigma * aggregate_factor(setting.provider_noise, setting.providers)
    slack = math.sqrt(s_hat) + math.sqrt(k) + setting.tau
    alpha = 2 * k * slack * spread / (n * top) if top > 0 else math.inf
    fails = 2 * setting.iterations * math.exp(-(setting.tau**2) / 2)
    fails += 4 / max(n - 1, 1) + 1 / d + 6 * math.log(n) / n + 1 / n
    quantities = {"alpha": alpha, "gamma": gamma, "sigma": sigma, "probability": 1 - fails}
    rho = contraction_with_noise(gamma, alpha)
    geometric = 1 - rho**0.25
    conditions = [
        (geometric > 0, f"noise: α = {alpha:.3g} should be below 1 − γ = {1 - gamma:.3g}"),
        (fails < 1, f"the probability with which it holds, at least {1 - fails:.3g}, should be above 0"),
    ]
    if not geometric > 0:
        return void_bound(conditions, quantities)

    gap = math.sqrt(first * below) / (top - below)
    sampling = c1 * math.sqrt(k) * gap * math.sqrt(s * (k + math.log(d)) / n)
    terms = error_terms(rho, alpha, sampling=sampling, selection=k * s / s_hat, iterations=setting.iterations)

    # What follows are the two sides of assumptions B.3 to B.6, in the supplement's notation.
    noise, room = alpha / (1 - alpha), noise_room(rho, k)
    rows_needed = c1_rows * max(math.ceil(4 * k / (rho**-0.5 - 1) ** 2), 1) * s
    psi = c2 * gap * math.sqrt(s_hat * (k + math.log(d)) / n)
    psi_room = min((1 - rho**2) ** 1.5 / 24, geometric / 6)
    start_room = min(math.sqrt(rho * (1 - math.sqrt(rho))) / 2, math.sqrt(rho) / 4)
    start = random_guess(d, k) if setting.start_error is None else setting.start_error
    conditions += [
        (noise <= room, f"B.3: α/(1 − α) = {noise:.3g} should be at most {room:.3g}"),
        (s_hat >= rows_needed, f"B.4: features kept ŝ = {s_hat} should be at least {rows_needed:.0f}"),
        (psi <= psi_room, f"B.5: Ψ = {psi:.3g} should be at most {psi_room:.3g}"),
        (start <= start_room, f"B.6: starting error {start:.3g} should be at most {start_room:.3g}"),
    ]
    quantities |= {"rho": rho, "s_hat_min": rows_needed, "psi": psi, "start": start}
    total = terms["stat"] + terms["priv"] + terms["opt"]
    return make_bound(conditions, terms, total, quantities)


BOUNDS = (
    BoundRule(
        title="Ge et al. 2018, Theorem 4.3",
        kind="upper",
        methods=("dps_pca",),
        formula=(
            r"\sin\Theta_t \le \frac{C_1\sqrt k}{1-\rho^{1/4}}\frac{\sqrt{\lambda_1\lambda_{k+1}}}"
            r"{\lambda_k-\lambda_{k+1}}\sqrt{\frac{s(k+\log d)}{n}}"
            r"+\frac{1+2\sqrt{ks/\hat s}}{\sqrt3(1-\rho^{1/4})}\frac{\alpha}{1-\alpha}"
            r"+\rho^{\frac{t-1}{4}}\min\{\tfrac12\sqrt{\rho(1-\sqrt\rho)},\tfrac14\}"
        ),
        compute=ge2018,
        source=SOURCE,
        symbols={"c1": "C1", "c1_rows": "C1 of B.4", "c2": "C2"},
        fits="c1",
        needs_gap=False,
    ),
)
