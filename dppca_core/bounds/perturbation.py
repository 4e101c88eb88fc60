"""First-order perturbation of the top k eigenvectors: the sin^2 Theta that sampling and noise each add.

To first order a symmetric error E turns direction j <= k towards i > k by E_ij / (lambda_j - lambda_i), so

    sin^2 Theta = sum over j <= k < i of  E|E_ij|^2 / (lambda_j - lambda_i)^2.

Sampling n Gaussian rows: E|E_ij|^2 = lambda_i lambda_j / n. Symmetric noise of standard deviation s off the
diagonal: s^2. Fresh noise N(0, s^2) in each step X <- S X + G of a power iteration: the last step counts
(s/lambda_j)^2. Each step before it counts (lambda_i/lambda_j)^2 times the next, so they give a geometric sum.

Turning j towards i costs (lambda_j - lambda_i) of captured energy for each unit of sin^2. So the pairs also
give the loss of energy: energy_lost = sum over j <= k < i of (lambda_j - lambda_i) sin^2_ij.

Derived here and checked against simulation in tests/core/bounds/test_predictions.py. Eigenvalues are those
of the scaled rows, standard deviations those of their mean moment's noise; sines have no unit.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.rule import Check, check_gap, make_bound, spectrum
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Assumption, Bound, Setting

Number = TypeVar("Number", float, Array)

# Beyond a third of a random guess the second order shows, so closed forms no longer apply.
SMALL_SHARE = 1 / 3


def pair_eigenvalues(top: Array, bulk: Array) -> tuple[Array, Array]:
    """Return lambda_j as (k, 1) and lambda_i as (1, d - k), which combine into all pairs, (k, d - k)."""
    return top[:, None], bulk[None, :]


def sampling_pairs(over: Number, under: Number, n: int) -> Number:
    """Return sin^2 from sampling for a pair lambda_j = `over`, lambda_i = `under`, elementwise."""
    return over * under / (over - under) ** 2 / n


def iterated_pairs(over: Number, under: Number, std: float) -> Number:
    """Return sin^2 from fresh noise in each step of a power iteration, elementwise.

    The pair is lambda_j = `over` and lambda_i = `under`; `std` is the noise of each entry of a step.
    """
    return (std / over) ** 2 / (1 - (under / over) ** 2)


def symmetric_pairs(over: Number, under: Number, std: float) -> Number:
    """Return sin^2 from a symmetric noise matrix with this std off the diagonal, elementwise.

    The pair is lambda_j = `over` and lambda_i = `under`.
    """
    return (std / (over - under)) ** 2


def sampling(top: Array, bulk: Array, n: int) -> float:
    """Return sin^2 from sampling over all pairs, which remains without privacy."""
    return float(sampling_pairs(*pair_eigenvalues(top, bulk), n).sum())


def check_small_error(setting: Setting, total: float) -> Assumption:
    """Check that a predicted sin Theta is at most a third of a guess's, where the first order is right."""
    guess = random_guess(setting.d, setting.k)
    text = (
        f"first order: predicted error {total:.3g} should be below {SMALL_SHARE * guess:.3g}, "
        f"{SMALL_SHARE:.2g} of a guess's"
    )
    return Assumption(total <= SMALL_SHARE * guess, text, of_size=True)


def check_converged(setting: Setting, total: float) -> Check:
    """Check that T steps leave less of a random start than `total`, the predicted sin Theta.

    Each step shrinks what is left of the start by lambda_{k+1}/lambda_k.
    """
    top, bulk = spectrum(setting)
    ratio = float(bulk[0] / top[-1])
    left = random_guess(setting.d, setting.k) * ratio**setting.iterations
    most = max(total, 1e-12)
    return left <= most, (
        f"T = {setting.iterations} steps: what is left of the start = {left:.2g} should be at most {most:.2g}"
    )


def predict(
    setting: Setting,
    private: float | Array,
    sampled: float | Array,
    gaps: float | Array,
    conditions: Sequence[Check] = (),
    quantities: Mapping[str, float] | None = None,
) -> Bound:
    """Return the record of a closed form: sin^2 from privacy plus sin^2 from sampling, where both are small.

    Args:
        private: sin^2 by privacy of every pair, (k, d - k), or summed over pairs with one gap.
        sampled: sin^2 by sampling, likewise.
        gaps: lambda_j - lambda_i of every pair, or the one gap.
        conditions: Assumptions beside that of a small error.
        quantities: Intermediate numbers by name; "energy_lost" is added, in the units of the setting's
            eigenvalues.
    """
    squares = {"privacy": float(np.sum(private)), "sampling": float(np.sum(sampled))}
    total = math.sqrt(sum(squares.values()))
    terms = {name: math.sqrt(square) for name, square in squares.items()}
    lost = {"energy_lost": float(np.sum((private + sampled) * gaps))}
    return make_bound(
        (check_small_error(setting, total), *conditions), terms, total, lost | dict(quantities or {})
    )


def predict_from_pairs(
    setting: Setting, private: Array, quantities: Mapping[str, float], *conditions: Check
) -> Bound:
    """Return the record of a closed form from sin^2 of every pair by privacy, (k, d - k).

    The error by sampling is that of n Gaussian rows.
    """
    top, bulk = spectrum(setting)
    over, under = pair_eigenvalues(top, bulk)
    sampled = sampling_pairs(over, under, setting.n)
    return predict(setting, private, sampled, over - under, (check_gap(top, bulk), *conditions), quantities)


def predict_one_release(setting: Setting, std: float) -> Bound:
    """Return the closed form for the top eigenvectors of a moment with noise `std` off the diagonal."""
    private = symmetric_pairs(*pair_eigenvalues(*spectrum(setting)), std)
    return predict_from_pairs(setting, private, {"noise_std": std})
