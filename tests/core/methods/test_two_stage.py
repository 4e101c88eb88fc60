"""The two-stage and stacked methods: their errors, their noise, what they spend, and when they fail.

The errors are medians over draws of population, patients and noise, beside those that a program apart from
this project gave (`BOLD`, itself good to 10 %); 1.2 times them is allowed. Over such draws the logarithm of
the error has a standard deviation of about .25, the median of eleven of .1, of five of .14: where ours is
equal, another random stream fails with probability .04, or .1, so seeds are fixed. DPS-PCA, three and more
times worse, is refused.
"""

import math

import numpy as np
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.mechanisms import normalised_product, stacked, two_stage
from dppca_core.numerics import row_shrinkage
from dppca_core.numerics.moments import DenseMoment, RowMoment
from dppca_core.privacy import NEIGHBOURS

BUDGET = Budget(1.0, 1e-5)
TWO_STAGE = ("two_stage", "two_stage_sealed", "two_stage_own_noise")
STACKED = ("stacked_rounds", "stacked_rounds_sealed", "stacked_rounds_own_noise")
# d, k, s_hat, n, hospitals (0: one place): error sin Theta.
BOLD = {
    (200, 3, 20, 100_000, 0): 0.0038,
    (200, 3, 20, 100_000, 5): 0.0054,
    (400, 5, 30, 10_000, 5): 0.042,
    (1000, 5, 50, 5_000, 0): 0.058,
}


def errors(name: str, d: int, k: int, s_hat: int, n: int, providers: int) -> list[float]:
    results = []
    for seed in range(3 if d == 1000 else 7):
        model = SpikedModel(d=d, k=k, s=10, seed=seed)
        cohort = model.draw(n, max(providers, 1), np.random.default_rng([seed, n]))
        fit = METHODS[name].fit(cohort, k=k, budget=BUDGET, rng=np.random.default_rng(seed), s_hat=s_hat)
        results.append(sin_theta(fit.basis, model.basis))
    return results


@pytest.mark.parametrize("setting", BOLD, ids=str)
def test_errors_are_those_that_were_found_apart_from_this_project(setting):
    name = "two_stage_own_noise" if setting[-1] else "two_stage"
    assert np.median(errors(name, *setting)) <= 1.2 * BOLD[setting]
    if setting[0] == 200:
        assert np.median(errors("dps_pca", *setting)) > 3 * 1.2 * BOLD[setting]


def rows_cohort(n: int = 30, d: int = 6, hospitals: int = 2) -> Cohort:
    rng = np.random.default_rng(0)
    return Cohort.from_rows([rng.standard_normal((n, d)) for _ in range(hospitals)], 3.0)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("stage_one", two_stage.STAGE_ONE)
@pytest.mark.parametrize(("trust", "factor"), [("central", 1.0), ("untrusted server", math.sqrt(2))])
def test_the_noise_of_both_stages_composes_to_the_budget(neighbours, stage_one, trust, factor):
    """Sum of (sensitivity/std)^2 on the scale of one hospital's, or the curator's, sums: 1/z^2 to 1e-9."""
    budget, cohort = Budget(0.7, 1e-6, neighbours), rows_cohort()
    d = cohort.features
    chosen = two_stage.stage_noise(
        budget, normalised_product.noise_factor(trust, len(cohort)), d=d, n=cohort.n, iterations=4
    )
    moved = math.sqrt(2) if neighbours == "replace-one" else 1.0
    round_moved = 2.0 if neighbours == "replace-one" else 1.0
    sums = cohort.n / factor
    first = (
        [(round_moved / (std * sums)) ** 2 for std in chosen.round_stds]
        if stage_one == "rounds"
        else [(moved / (chosen.moment_std * sums)) ** 2]
    )
    spent = math.fsum([*first, (moved / (chosen.block_std * sums)) ** 2])
    assert spent == pytest.approx(gaussian.noise_multiplier(budget) ** -2, rel=1e-9)
    assert chosen.share == pytest.approx(0.7)  # 60 patients: the rule is at its limit


@pytest.mark.parametrize("options", [{}, {"share": 0.3}, {"share": 0.9, "stage_one": "moment"}], ids=str)
@pytest.mark.parametrize("name", TWO_STAGE)
def test_the_ledger_is_told_the_whole_budget(name, options):
    fit = METHODS[name].fit(rows_cohort(), k=2, budget=BUDGET, rng=np.random.default_rng(0), **options)
    assert fit.spent == METHODS[name].spends(BUDGET, d=6, k=2, **options)
    z = gaussian.noise_multiplier(BUDGET)
    assert closed_form.multiplier_of(fit.spent) == pytest.approx(z, rel=1e-9)


@pytest.mark.parametrize("name", STACKED)
def test_stacked_rounds_compose_to_the_budget(name):
    cohort = rows_cohort()
    fit = METHODS[name].fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(0), iterations=7)
    z = gaussian.noise_multiplier(BUDGET)
    assert closed_form.multiplier_of(fit.spent) == pytest.approx(z, rel=1e-9)
    factor = normalised_product.noise_factor(METHODS[name].trust, 2)
    assert fit.noise_std == pytest.approx(2 * math.sqrt(7) * z * factor / 60, rel=1e-12)


def test_the_share_of_stage_1_follows_public_numbers():
    """.2 for many patients, .7 for few, and .2 + 1.5 h/f between: h = z c sqrt(d)/n."""
    assert two_stage.selection_share(4.0, 1.0, 100, 10**9) == pytest.approx(0.2, abs=1e-6)
    assert two_stage.selection_share(4.0, 1.0, 100, 100) == 0.7
    assert two_stage.selection_share(4.0, 1.0, 100, 4000, signal=0.1) == pytest.approx(0.2 + 1.5 * 0.1)
    with pytest.raises(ValueError, match="signal must"):
        METHODS["two_stage"].fit(rows_cohort(), k=2, budget=BUDGET, rng=np.random.default_rng(0), signal=0.0)


@pytest.mark.parametrize("name", [*TWO_STAGE, *STACKED])
def test_a_matrix_without_rows_is_refused_by_what_is_missing(name):
    moment = DenseMoment(np.eye(6) / 6)
    cohort = Cohort.from_rows([np.eye(6)], 1.0)
    bare = Cohort(cohort.providers, moment)
    with pytest.raises(ValueError, match="must hold rows, or be drawn from a population"):
        METHODS[name].fit(bare, k=2, budget=BUDGET, rng=np.random.default_rng(0))


def test_sealed_sums_have_the_law_of_one_place():
    """The same generator gives the same answer, bit by bit; noise of one's own is sqrt(N) times as much."""
    cohort = rows_cohort()
    bases = {
        name: METHODS[name].fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(1))
        for name in TWO_STAGE
    }
    np.testing.assert_array_equal(bases["two_stage"].basis, bases["two_stage_sealed"].basis)
    ratio = bases["two_stage_own_noise"].noise_std / bases["two_stage"].noise_std
    assert ratio == pytest.approx(math.sqrt(2))


def test_without_noise_the_rows_kept_and_their_directions_are_those_of_unit_rows():
    model = SpikedModel(d=40, k=2, s=5, seed=3)
    rows = next(model.rows(4000, np.random.default_rng(0)))
    cohort = Cohort.from_rows([rows], 1.0)
    fit = METHODS["two_stage"].fit(
        cohort, k=2, budget=Budget(1e9, 0.5), rng=np.random.default_rng(0), s_hat=5, shrink=False
    )
    kept = np.flatnonzero(fit.basis.any(axis=1))
    assert kept.tolist() == np.flatnonzero(model.basis.any(axis=1)).tolist()
    part = rows[:, kept] / np.linalg.norm(rows[:, kept], axis=1, keepdims=True)
    expected = np.linalg.eigh(part.T @ part)[1][:, -2:]
    assert sin_theta(fit.basis[kept], expected) < 1e-5


@pytest.mark.parametrize(("scaling", "feature"), [("unit", 1), ("inside", 0)])
def test_a_moment_in_stage_1_is_of_rows_scaled_as_asked(scaling, feature):
    """Ten long rows along the first feature have more energy than thirty short ones along the second."""
    e = np.eye(6)
    rows = np.vstack([np.tile(e[0], (10, 1)), np.tile(0.1 * e[1], (30, 1)), np.tile(0.1 * e[2], (5, 1))])
    options = {"s_hat": 2, "stage_one": "moment", "scaling": scaling, "rng": np.random.default_rng(0)}
    cohort, budget = Cohort.from_rows([rows], 1.0), Budget(1000.0, 1e-5)
    fit = METHODS["two_stage"].fit(cohort, k=1, budget=budget, **options)
    for basis in fit.iterates:
        assert abs(basis[feature, 0]) > 0.99


@pytest.mark.parametrize("scaling", two_stage.SCALINGS)
@pytest.mark.parametrize("stage_one", two_stage.STAGE_ONE)
def test_rows_are_chosen_by_strengths_the_last_round_and_the_components_share(
    stage_one, scaling, monkeypatch
):
    """Of rows half as long as their bound, without noise: the share is of all variance, not of 1."""
    cohort, k = rows_cohort(), 2
    noise = two_stage.StageNoise(0.5, (1e-9, 1e-9, 1e-9), 0.0, 0.0)
    rounds, chosen = [], []
    release_rounds, keep = normalised_product.release_rounds, two_stage.rows_to_keep

    def released(*args):
        bases, products = release_rounds(*args)
        rounds.extend(products)
        return bases, products

    def kept(leading, last, block_std, **options):
        chosen.append((leading, last, options["part"]))
        return keep(leading, last, block_std, **options)

    monkeypatch.setattr(normalised_product, "release_rounds", released)
    monkeypatch.setattr(two_stage, "rows_to_keep", kept)
    rng = np.random.default_rng(0)
    options = {"s_hat": 4, "stage_one": stage_one, "scaling": scaling}
    two_stage.release(cohort, noise, np.eye(6, k), rng, **options)
    ((leading, last, part),) = chosen
    if stage_one == "rounds":
        assert part is None and len(rounds) == 3
        np.testing.assert_array_equal(last, rounds[-1])
        return
    moment = (cohort.pooled.unit() if scaling == "unit" else cohort.pooled).dense()
    values, axes = np.linalg.eigh(moment)
    strengths = np.linalg.norm(leading, axis=0)
    np.testing.assert_allclose(strengths, values[::-1][:k], rtol=1e-9)
    np.testing.assert_allclose(
        leading @ leading.T, axes[:, -k:] * values[-k:] ** 2 @ axes[:, -k:].T, atol=1e-12
    )
    assert part == pytest.approx(values[-k:].sum() / np.trace(moment), rel=1e-9) and last is leading


def test_rows_inside_a_bound_are_a_choice_for_every_method():
    cohort, options = rows_cohort(), {"k": 2, "budget": Budget(1e9, 0.5)}
    unit = Cohort.from_rows([provider.moment.rows for provider in cohort], 1e-9)  # all are clipped to 1
    for name in ("pca", "two_stage", "analyze_gauss_sparse"):
        fit = METHODS[name].fit
        scaled, inside, clipped = (
            fit(patients, rng=np.random.default_rng(0), scaling=scaling, **options).basis
            for patients, scaling in ((cohort, "unit"), (cohort, "inside"), (unit, "inside"))
        )
        assert sin_theta(scaled, clipped) < 1e-4 < sin_theta(scaled, inside)
    with pytest.raises(ValueError, match="scaling must be one of inside, unit, got 'longest'"):
        METHODS["pca"].fit(cohort, rng=np.random.default_rng(0), scaling="longest", **options)


def test_dense_and_weak_signals_are_found_by_stacked_rounds():
    """d = 400, n = 20,000, k = 2, eigenvalue 4 over 1: .31, where Analyze Gauss of length-1 rows has .74."""
    model = SpikedModel(d=400, k=2, s=400, spike=4.0, bulk=(0.9, 1.1), seed=0)
    cohort = model.draw(20_000, 1, np.random.default_rng(0))
    stacked_error, one_moment = (
        sin_theta(
            METHODS[name].fit(cohort, k=2, budget=BUDGET, rng=np.random.default_rng(0), scaling="unit").basis,
            model.basis,
        )
        for name in ("stacked_rounds", "analyze_gauss")
    )
    assert stacked_error < 0.4 < 0.6 < one_moment


def test_rows_of_noise_alone_vanish_and_those_that_stand_out_stay():
    """Two rows of size 1 beside 18 of noise 1e-2: sum l^2 V^2/o^2 is 1e4 against about k = 1."""
    rng = np.random.default_rng(0)
    direction = np.zeros(20)
    direction[:2] = math.sqrt(0.5)
    noise = rng.standard_normal((20, 20)) * 0.01
    moment = np.outer(direction, direction) + (noise + noise.T) / math.sqrt(2)
    basis = np.linalg.eigh(moment)[1][:, -1:]
    shrunk = row_shrinkage.shrunk(moment, basis, 0.01, 10**12)
    assert sin_theta(shrunk, direction[:, None]) < 0.5 * sin_theta(basis, direction[:, None])
    assert np.count_nonzero(shrunk) < 8 and shrunk[0, 0] != 0
    np.testing.assert_array_equal(row_shrinkage.shrunk(moment, basis, 1e3, 10**12), basis)


def test_rows_keep_their_weight_where_too_few_would_remain():
    standing_out = np.array([[16.0, 8.0, 1.0], [16.0, 1.0, 2.0]])
    expected = [[0.75, 0.5, 0.0], [1.0, 1.0, 1.0]]
    np.testing.assert_array_equal(row_shrinkage.weights(standing_out, 2), expected)
    np.testing.assert_array_equal(row_shrinkage.weights(standing_out[0], 2), expected[0])


@pytest.mark.parametrize(("k", "chosen", "alike", "ratio"), [(1, 0.16, 0.4, 1.5), (3, 0.06, 0.7, 1.0)])
def test_rows_that_stood_out_before_keep_more(k, chosen, alike, ratio):
    """Against 2e5 rows, of which a standard error is 2 %; the formula is good to 4 %."""
    rng = np.random.default_rng(0)
    first, other = rng.standard_normal((2, round(2e5 / chosen), k))
    lengths = np.square(first).sum(axis=1)
    heavy = lengths > np.quantile(lengths, 1 - chosen)
    x = np.square(math.sqrt(alike) * first[heavy] + math.sqrt(1 - alike) * other[heavy]).sum(axis=1)
    kept = (np.maximum(1 - 2 * k / (ratio * x), 0) ** 2 * x).mean() / k
    assert row_shrinkage.chosen_noise_left(k, ratio, chosen, alike) == pytest.approx(kept, rel=0.1)
    # Where nothing was chosen it is the other function's integral, and less than half.
    usual = row_shrinkage.noise_left(k, ratio)
    assert row_shrinkage.chosen_noise_left(k, ratio, 1.0, 0.0) == pytest.approx(usual, rel=0.01)
    assert usual < 0.5 * kept


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in ("analyze_gauss", "cape", "wishart")),
        *((name, {"s_hat": 60}) for name in ("analyze_gauss_sparse", "sealed_sparse", "own_noise_sparse")),
        ("dpdis_pca", {"rank": 100}),
    ],
)
def test_every_method_that_ends_in_a_noisy_moment_may_shrink_its_rows(name, options):
    """Medians of three draws at d = 100, 8 features that matter: less error, and the same release."""
    errors = {True: [], False: []}
    for seed in range(3):
        model = SpikedModel(d=100, k=2, s=8, seed=seed)
        cohort = model.draw(300_000, 2, np.random.default_rng([seed, 9]))
        for shrink, kept in errors.items():
            fit = METHODS[name].fit(
                cohort, k=2, budget=BUDGET, rng=np.random.default_rng(seed), shrink=shrink, **options
            )
            kept.append(sin_theta(fit.basis, model.basis))
    assert np.median(errors[True]) < 0.9 * np.median(errors[False])


def test_the_first_rounds_only_lead_to_the_next():
    cohort = rows_cohort()
    bases, rounds = normalised_product.release_rounds(
        cohort, [1e-9] * 3, np.eye(6)[:, :2], 1, np.random.default_rng(0)
    )
    assert len(bases) == 4 and len(rounds) == 3
    whole = RowMoment(np.concatenate([provider.moment.rows for provider in cohort]))
    exact = [whole.normalised_product(basis) for basis in bases[:3]]
    np.testing.assert_allclose(rounds, exact, atol=1e-7)
    assert sin_theta(bases[1], np.linalg.qr(exact[0])[0]) < 1e-6
    left = np.linalg.svd(np.hstack(exact[1:]))[0][:, :2]
    assert sin_theta(bases[3], left) < 1e-5


def test_the_noise_of_stacked_rounds_is_that_of_the_trust():
    cohort = rows_cohort(hospitals=4)
    curator, hospitals = (
        stacked.noise_std(BUDGET, trust, len(cohort), cohort.n, 5)
        for trust in ("central", "untrusted server")
    )
    assert hospitals == pytest.approx(2 * curator)
