"""Test the noisy power method: DPS-PCA without hospitals and thresholds, a wider block, its closed form."""

import math

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel, sin_theta
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.methods import noisy_power
from dppca_core.numerics import linalg
from dppca_core.privacy import NEIGHBOURS
from tests.core.laws import mean_is

METHOD = METHODS["noisy_power"]
MODEL = SpikedModel(d=40, k=3, s=10, spike=100.0, bulk=(0.0, 10.0), seed=2)
BUDGET = Budget(1.0, 1e-5)
PRINTED = Budget(1.0, 1e-5, accounting="as-printed")


def run(cohort: Cohort, *, k: int = 3, budget: Budget = BUDGET, seed: int = 0, **options: object):
    return METHOD.fit(cohort, k=k, budget=budget, rng=np.random.default_rng(seed), **options)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("accounting", ["exact", "zcdp"])
def test_it_is_dense_dps_pca_with_secure_aggregation(k, neighbours, accounting):
    """The same generator gives the same numbers, whatever the hospitals; independent noise is another law."""
    cohort = MODEL.draw(10**5, (1000, 99_000), np.random.default_rng(0))
    budget = Budget(1.0, 1e-5, neighbours, accounting)

    def dps(noise: str):
        rng = np.random.default_rng(0)
        options = {"s_hat": MODEL.d, "burn_in": 0, "provider_noise": noise}
        return METHODS["dps_pca"].fit(cohort, k=k, budget=budget, rng=rng, **options)

    here, there = run(cohort, k=k, budget=budget), dps("secure-aggregation")
    assert here.noise_std == pytest.approx(there.noise_std, rel=1e-12)
    assert here.spent == there.spent
    for mine, other in zip(here.iterates, there.iterates, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9)
    assert dps("independent").noise_std == pytest.approx(math.sqrt(2) * here.noise_std)


def test_a_wider_block_gives_the_leading_directions_of_its_last_product(monkeypatch):
    """The answer is numpy's top k left singular vectors of the last released product."""
    products: list[Array] = []
    release = noisy_power.release
    monkeypatch.setattr(
        noisy_power, "release", lambda *args: products.append(release(*args).copy()) or products[-1].copy()
    )
    cohort = MODEL.draw(10**5, 1, np.random.default_rng(0))
    estimate = run(cohort, width=7)
    expected = np.linalg.svd(products[-1])[0][:, :3]
    assert products[-1].shape == (MODEL.d, 7)
    assert sin_theta(estimate.basis, expected) < 1e-9
    assert sin_theta(estimate.basis, np.linalg.svd(products[-2])[0][:, :3]) > 1e-6
    assert estimate.iterates == ()
    assert estimate.bytes_sent == 8 * MODEL.d * 7 * 10


def test_a_wider_block_converges_where_the_gap_is_small():
    """With lambda_4 = .97 lambda_3 and lambda_7 = .1 lambda_3, p = 6 comes a hundred times nearer."""
    values = np.r_[1.0, 1, 1, 0.97, 0.97, 0.97, np.full(34, 0.1)]
    cohort = Cohort.from_rows([np.diag(np.sqrt(values))], 3.0)
    nearly = Budget(1e12, 0.5)
    narrow, wide = (
        sin_theta(run(cohort, budget=nearly, width=width).basis, np.eye(40)[:, :3]) for width in (3, 6)
    )
    assert narrow > 0.1
    assert wide < 0.01 * narrow


@pytest.mark.parametrize("width", [3, 4, 40])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_the_price_does_not_grow_with_the_width(width, neighbours):
    """The sensitivity is sqrt 2 or 1 for any p >= 2 (Nicolas et al. 2024)."""
    budget = Budget(1.0, 1e-5, neighbours)
    cohort = MODEL.draw(1000, 1, np.random.default_rng(0))
    moved = math.sqrt(2) if neighbours == "replace-one" else 1.0
    estimate = run(cohort, budget=budget, width=width)
    expected = moved * math.sqrt(10) * gaussian.noise_multiplier(budget) / 1000
    assert estimate.noise_std == pytest.approx(expected, rel=1e-12)
    assert METHOD.true_epsilon(budget, d=MODEL.d, k=3, width=width) == pytest.approx(1.0, rel=1e-8)


def test_one_column_moves_by_one():
    """A replaced row moves one column by 1; p = 2 has room for two rows."""
    cohort = MODEL.draw(1000, 1, np.random.default_rng(0))
    assert run(cohort, k=1, width=2).noise_std == pytest.approx(math.sqrt(2) * run(cohort, k=1).noise_std)


@pytest.mark.parametrize("width", [3, 7])
def test_as_printed_it_is_the_noise_of_balcan(width, monkeypatch):
    """Each step has max|X_t| (4/epsilon) sqrt(p T ln(1/delta)); the last is reported."""
    calls: list[tuple[float, float]] = []
    sum_noise_std = noisy_power.sum_noise_std

    def record(budget: Budget, width: int, iterations: int, largest: float) -> float:
        calls.append((largest, sum_noise_std(budget, width, iterations, largest)))
        return calls[-1][1]

    monkeypatch.setattr(noisy_power, "sum_noise_std", record)
    cohort = MODEL.draw(1000, 1, np.random.default_rng(0))
    estimate = run(cohort, budget=PRINTED, width=width)
    nu = 4 * math.sqrt(width * 10 * math.log(1e5))
    steps = calls[:10]
    assert [std for _, std in steps] == pytest.approx([largest * nu for largest, _ in steps])
    assert estimate.noise_std == pytest.approx(steps[-1][1] / 1000)
    if width == 3:
        assert [largest for largest, _ in steps] == pytest.approx(
            [np.abs(q).max() for q in estimate.iterates[:-1]]
        )


@pytest.mark.parametrize(("d", "neighbours"), [(4, "replace-one"), (16, "replace-one"), (1024, "add-remove")])
def test_what_the_printed_noise_gives_a_row_at_its_worst(d, neighbours):
    """max|X_t| is 1/sqrt d in every step, as in Hadamard's basis: T Gaussians of that noise as one."""
    budget = Budget(1.0, 1e-5, neighbours, "as-printed")
    hadamard = np.ones((1, 1))
    while len(hadamard) < d:
        hadamard = np.kron(hadamard, [[1, 1], [1, -1]])
    block = hadamard[:, :2] / math.sqrt(d)
    np.testing.assert_allclose(block.T @ block, np.eye(2), atol=1e-12)
    std = noisy_power.sum_noise_std(budget, 2, 10, float(np.abs(block).max()))
    moved = math.sqrt(2) if neighbours == "replace-one" else 1.0
    expected = gaussian.epsilon_of(std / moved / math.sqrt(10), 1e-5)
    assert METHOD.true_epsilon(budget, d=d, k=2) == pytest.approx(expected, rel=1e-9)
    # No block with orthonormal columns has a smaller largest entry.
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert np.abs(linalg.orthonormalise(rng.standard_normal((d, 2)))).max() >= np.abs(block).max()


def test_the_printed_noise_protects_no_row_of_many_features():
    """It protects entries: at d = 10,000 the epsilon of a row is 43 for an entry's 1."""
    claimed = [METHOD.true_epsilon(PRINTED, d=d, k=3) for d in (10, 100, 10_000)]
    assert claimed == sorted(claimed)
    assert claimed == pytest.approx([0.69, 2.45, 43.0], rel=0.01)


FLAT = pytest.mark.parametrize(("bulk", "factor"), [(10.0, 1 / (1 - 0.01)), (50.0, 1 / (1 - 0.25))])


@FLAT
def test_the_closed_form(bulk, factor):
    """theory.md 1.7 gives sin^2 ~ (sigma/(n lam_k))^2 k (d - k) / (1 - (lam_{k+1}/lam_k)^2), to 3 %.

    n = 1e10 leaves the noise alone; sqrt 2 more noise is rejected, and so is the last step's noise by itself
    where the bulk is half a spike.
    """
    d, k, n = 100, 3, 10**10
    model = SpikedModel(d=d, k=k, s=d, spike=100.0, bulk=(bulk, bulk), seed=3)
    cohort = model.draw(n, 1, np.random.default_rng(0))
    budget = Budget(1e-4, 1e-5)
    squares = []
    for seed in range(60):
        estimate = run(cohort, budget=budget, seed=seed, iterations=24)
        squares.append(sin_theta(estimate.basis, model.basis) ** 2)
    sigma = estimate.noise_std * n
    last = (sigma / (n * 100 / cohort.bound**2)) ** 2 * k * (d - k)
    assert last < 0.02
    assert mean_is(squares, last * factor, slack=0.03 * last)
    assert not mean_is(squares, 2 * last * factor, slack=0.03 * last)
    if factor > 1.1:
        assert not mean_is(squares, last, slack=0.03 * last)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 2}, "width must be between 3 and 40, got 2"),
        ({"width": 41}, "width must be between 3 and 40, got 41"),
        ({"iterations": 0}, "iterations must be between 1 and 100000, got 0"),
    ],
)
def test_bad_parameters_are_refused_by_name_and_value(options, message):
    with pytest.raises(ValueError, match=message):
        run(MODEL.draw(100, 1, np.random.default_rng(0)), **options)
