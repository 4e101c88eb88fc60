"""Ge, Wang, Wang & Liu (AISTATS 2018), Theorem 4.3: sin Theta of iterate t of DPS-PCA.

    gamma = (3 lambda_{k+1} + lambda_k) / (3 lambda_k + lambda_{k+1}),   rho = gamma / (1 - alpha)
    alpha = 2 k c (sqrt s_hat + sqrt k + tau) sigma / (n lambda_k)       the smallest admissible
    stat  = C1 sqrt k / (1 - rho^1/4) sqrt(lambda_1 lambda_{k+1}) / gap sqrt(s (k + log d) / n)
    priv  = (1 + 2 sqrt(k s / s_hat)) / (sqrt 3 (1 - rho^1/4)) alpha / (1 - alpha)
    opt_t = rho^((t-1)/4) min{sqrt(rho (1 - sqrt rho)) / 2, 1/4}

and sin Theta(t) <= stat + priv + opt_t for all t <= T with probability at least
1 - 2T e^(-tau^2/2) - 4/(n-1) - 1/d - 6 log(n)/n - 1/n. The assumptions B.3 to B.6 stand in the
paper's supplement only. c is N as printed (one noise matrix shared by all), sqrt N or 1 for the other
noise modes: the proof uses only the noise of the average.

C1 (stat), the C1 of B.4 and C2 (B.5) are not specified by the paper; all three are free here.
"""

import math

import numpy as np

from dppca_core.methods.dps_pca import aggregate_factor, sum_noise_std
from dppca_core.metrics import random_guess
from dppca_core.types import Bound, Setting

SOURCE = "Ge, Wang, Wang & Liu, AISTATS 2018, Theorem 4.3 and (supplement) Assumption B.1"


def contraction(top: float, below: float) -> float:
    """gamma for lambda_k = `top` and lambda_{k+1} = `below`; below 1 whenever top > below."""
    return (3 * below + top) / (3 * top + below)


def _says(holds: bool, text: str) -> str:
    return f"{'holds' if holds else 'fails'}: {text}"


def ge2018(setting: Setting, *, c1: float = 1.0, c1_rows: float = 1.0, c2: float = 1.0) -> Bound:
    """The theorem at `setting`; terms stat (number), priv (number), opt (array over t = 1..T).

    c1 is the constant of stat, c1_rows that of B.4, c2 that of B.5. Void (no terms, infinite total)
    when alpha >= 1 - gamma, where rho would reach 1.
    """
    d, n, k, s, s_hat = setting.d, setting.n, setting.k, setting.s, setting.s_hat
    first, top, below = (max(float(setting.eigenvalues[i]), 0.0) for i in (0, k - 1, k))
    constants = {"C1": c1, "C1 of B.4": c1_rows, "C2": c2}
    gamma = contraction(top, below) if top > 0 else 1.0
    sigma = sum_noise_std(setting.budget, k=k, iterations=setting.iterations)
    spread = sigma * aggregate_factor(setting.provider_noise, setting.providers)
    slack = math.sqrt(s_hat) + math.sqrt(k) + setting.tau
    alpha = 2 * k * slack * spread / (n * top) if top > 0 else math.inf
    fails = 2 * setting.iterations * math.exp(-(setting.tau**2) / 2)
    fails += 4 / max(n - 1, 1) + 1 / d + 6 * math.log(n) / n + 1 / n
    quantities = {"alpha": alpha, "gamma": gamma, "sigma": sigma, "probability": 1 - fails}
    rho = gamma / (1 - alpha) if alpha < 1 - gamma else 1.0
    geometric = 1 - rho**0.25
    noise_ok = geometric > 0
    why = [
        _says(noise_ok, f"noise small enough: α = {alpha:.3g} below 1 − γ = {1 - gamma:.3g}"),
        _says(fails < 1, f"success probability {1 - fails:.3g} above 0"),
    ]
    if not noise_ok:
        return Bound({}, math.inf, False, tuple(why), SOURCE, constants, quantities)

    gap = math.sqrt(first * below) / (top - below)
    stat = c1 * math.sqrt(k) / geometric * gap * math.sqrt(s * (k + math.log(d)) / n)
    inflation = alpha / (1 - alpha)
    priv = (1 + 2 * math.sqrt(k * s / s_hat)) / (math.sqrt(3) * geometric) * inflation
    lead = min(math.sqrt(rho * (1 - math.sqrt(rho))) / 2, 0.25)
    opt = lead * rho ** (np.arange(setting.iterations) / 4)

    room = min((1 - rho**2) ** 1.5 / 3, geometric / 6)
    noise_room = room / (1 + 2 * math.sqrt(k))
    rows_needed = c1_rows * max(math.ceil(4 * k / (rho**-0.5 - 1) ** 2), 1) * s
    psi = c2 * gap * math.sqrt(s_hat * (k + math.log(d)) / n)
    psi_room = min((1 - rho**2) ** 1.5 / 24, geometric / 6)
    start_room = min(math.sqrt(rho * (1 - math.sqrt(rho))) / 2, math.sqrt(rho) / 4)
    start = random_guess(d, k) if setting.start_error is None else setting.start_error
    why += [
        _says(inflation <= noise_room, f"B.3: α/(1 − α) = {inflation:.3g} at most {noise_room:.3g}"),
        _says(s_hat >= rows_needed, f"B.4: rows kept ŝ = {s_hat} at least {rows_needed:.0f}"),
        _says(psi <= psi_room, f"B.5: Ψ = {psi:.3g} at most {psi_room:.3g}"),
        _says(start <= start_room, f"B.6: starting error {start:.3g} at most {start_room:.3g}"),
    ]
    quantities |= {"rho": rho, "s_hat_min": rows_needed, "psi": psi, "start": start}
    applies = all(line.startswith("holds") for line in why)
    terms = {"stat": stat, "priv": priv, "opt": opt}
    return Bound(terms, stat + priv + opt, applies, tuple(why), SOURCE, constants, quantities)


BOUNDS = {"ge2018": ge2018}
