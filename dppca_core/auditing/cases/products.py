"""Audit noisy products with a block: adaptive releases, seen together over all steps.

The block is [e1 .. ek] at every step, as in a run that other patients dominate; the claim allows any.
"""

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Provider
from dppca_core.auditing.cases import pairs
from dppca_core.auditing.cases.pairs import Case, Pair, gaussian_case, orthogonal_pair
from dppca_core.cohort import Cohort
from dppca_core.methods import dp_oja, dps_pca, noisy_power
from dppca_core.numerics.moments import DenseMoment
from dppca_core.privacy import Budget

STEPS = 2  # products of one run, where the caller does not say how many
RUNS_AT_ONCE = 100  # runs that `rounds` draws by one call


def _block(k: int) -> Array:
    """Return [e1 .. ek], (3, k), the directions in which the pair differs; e1 alone for k = 1."""
    return np.eye(3)[:, :k].copy()


def power(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of all products of the noisy power method, which are added up."""
    pair, block = orthogonal_pair(budget), _block(k)
    coordinate = pairs.coordinate_along(pairs.difference_of_sums(pair) @ block)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        products = (noisy_power.release(cohort, budget, block, STEPS, rng) for _ in range(STEPS))
        return cohort.n * sum(map(coordinate, products))

    spent = noisy_power.spends(budget, d=3, k=k, iterations=STEPS)
    return (gaussian_case(f"{STEPS} products, k = {k}", pair, mechanism, spent, budget),)


def oja(budget: Budget, k: int) -> tuple[Case, ...]:
    """Return the case of the one batch of DP-Oja that the changed patient enters."""
    pair, block = orthogonal_pair(budget), _block(k)
    coordinate = pairs.coordinate_along(pairs.difference_of_sums(pair) @ block)
    sum_std = dp_oja.sensitivity(budget, k) * gaussian.noise_multiplier(budget)

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
        """Return how far the product of the batch moves, on the scale of sums; the cohort is the batch."""
        return cohort.n * coordinate(dp_oja.release(cohort.pooled, block, sum_std / cohort.n, rng))

    return (gaussian_case(f"one batch, k = {k}", pair, mechanism, dp_oja.spends(budget), budget),)


def rounds(budget: Budget, k: int, steps: int) -> Case:
    """Return the case of one hospital's messages in all `steps` rounds of DPS-PCA, which are added up.

    RUNS_AT_ONCE independent runs are drawn by one call of `release` a round, beside each other as further
    columns of the block, which a product does not mix. So the case's mechanism returns as many numbers.
    """
    pair, block = orthogonal_pair(budget), _block(k)
    sum_std = dps_pca.sum_noise_std(budget, k=k, iterations=steps)
    direction = pairs.difference_of_sums(pair) @ block
    unit, tiled = direction / np.linalg.norm(direction), np.tile(block, (1, RUNS_AT_ONCE))

    def mechanism(cohort: Cohort, rng: np.random.Generator) -> Array:
        total = np.zeros(tiled.shape)
        for _ in range(steps):
            # None: the block is given whole, not some of its rows.
            total += cohort.n * dps_pca.release(cohort.pooled, tiled, None, sum_std / cohort.n, rng)
        coordinates: Array = np.einsum("dmk,dk->m", total.reshape(len(block), RUNS_AT_ONCE, k), unit)
        return coordinates

    spent = dps_pca.spends(budget, k=k, iterations=steps)
    return gaussian_case(f"messages of {steps} rounds, k = {k}", pair, mechanism, spent, budget)


def server_view(
    cohort: Cohort, block: Array, budget: Budget, provider_noise: str, rng: np.random.Generator
) -> Array:
    """Return what the server of DPS-PCA sees: all messages, each as a sum, (steps, hospitals, d, k).

    Of a secure aggregation it sees the sum alone, (steps, 1, d, k). block: the Q of every step, (d, k).
    provider_noise: as for `fit` of DPS-PCA.
    """
    sum_std = dps_pca.sum_noise_std(budget, k=block.shape[1], iterations=STEPS)
    summed = provider_noise == "secure-aggregation"
    senders = [Provider(cohort.n, cohort.pooled)] if summed else list(cohort)

    def messages() -> list[Array]:
        state, sent = rng.bit_generator.state, []
        for sender in senders:
            if provider_noise == "shared":
                rng.bit_generator.state = state  # so that every hospital draws the same noise
            sent.append(sender.n * dps_pca.release(sender.moment, block, None, sum_std / sender.n, rng))
        return sent

    return np.array([messages() for _ in range(STEPS)])


def two_hospitals(budget: Budget) -> Pair:
    """Return the pair in which the changed patient is at the first of two hospitals.

    The second hospital has three patients, one at each axis.
    """
    second = Provider(3, DenseMoment(np.eye(3) / 3))
    first, other = (Cohort.together((cohort[0], second)) for cohort in orthogonal_pair(budget))
    return first, other


def dps(budget: Budget, k: int, provider_noise: str = "independent") -> tuple[Case, ...]:
    """Return DPS-PCA's cases: the first hospital's messages, and how they differ from the second's.

    Noise that hospitals share cancels in the difference. Of a secure aggregation there is only the sum.
    provider_noise: as for `fit` of DPS-PCA.
    """
    pair, block = two_hospitals(budget), _block(k)
    # The pooled sum moves exactly as the first hospital's sum does.
    coordinate = pairs.coordinate_along(pairs.difference_of_sums(pair) @ block)
    spent = dps_pca.spends(budget, k=k, iterations=STEPS)

    def case(title: str, *, weights: tuple[float, ...], tight: bool, draws: int) -> Case:
        def mechanism(cohort: Cohort, rng: np.random.Generator) -> float:
            view = server_view(cohort, block, budget, provider_noise, rng).sum(axis=0)
            return coordinate(np.tensordot(weights, view, 1))

        return gaussian_case(f"{title}, k = {k}", pair, mechanism, spent, budget, tight=tight, draws=draws)

    if provider_noise == "secure-aggregation":
        return (case("the sum", weights=(1.0,), tight=True, draws=12_000),)
    return (
        case("one hospital's messages", weights=(1.0, 0.0), tight=True, draws=12_000),
        # Independent noise of two hospitals hides a difference better than that of one.
        case("two hospitals' difference", weights=(1.0, -1.0), tight=False, draws=5000),
    )
