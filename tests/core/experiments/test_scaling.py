"""How rows come to a length of at most 1 in a sweep, and what else a recipe may ask for."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, Budget, SpikedModel, datasets, sin_theta
from dppca_core.experiments import Axis, Recipe, draws, sweep, variant
from dppca_core.experiments.draws import PUBLIC, Scaling
from dppca_core.experiments.sweeps import recipe_file
from dppca_core.experiments.sweeps.iterate_table import by_round
from dppca_core.numerics.linalg import top_eigenspace

MODEL = SpikedModel(d=40, k=3, s=10, spike=100.0, bulk=(0.0, 10.0), seed=0)
EPSILON = Axis("epsilon", (0.5, 5.0))
RECIPE = Recipe(MODEL, (variant("analyze_gauss"),), (EPSILON,), n=2000, s_hat=20, repeats=2, seed=3)
DIGITS = Recipe("digits", (variant("pca"),), (Axis("n", (300, 1797)),), k=3, repeats=2)


def test_unit_rows_have_the_stated_eigenvalues():
    """Every row has length 1, and the top eigenvalue shrinks to .87 of lambda/trace (theory.md section 7).

    20,000 rows: its standard deviation over draws is below .005 of it, and .94 of it is rejected.
    """
    cohort = draws.cohort(MODEL, (12_000, 8_000), Scaling("unit"), 0, 0)
    moment = cohort.pooled.dense()
    assert np.trace(moment) == pytest.approx(1.0, rel=1e-12) and cohort.bound == 1.0
    lead = np.linalg.eigvalsh(moment)[-3:].mean() / (100 / MODEL.eigenvalues.sum())
    assert lead == pytest.approx(0.87, abs=0.02)
    shares = [provider.n / cohort.n * provider.moment.dense() for provider in cohort]
    np.testing.assert_allclose(sum(shares), moment, atol=1e-12)


def test_clipped_rows_are_those_that_clipping_gives():
    """Against numpy on the population's own rows; directions stay, and eigenvalues are those of the mean.

    40,000 rows of d = 40: a top eigenvalue's standard deviation over draws is about .7 %.
    """
    scaling = Scaling("clipped", bound=0.9)
    cohort = draws.cohort(MODEL, (30_000, 10_000), scaling, 0, 0)
    bound = 0.9 * np.sqrt(MODEL.eigenvalues.sum())
    assert cohort.bound == pytest.approx(bound)
    rows = np.concatenate(list(MODEL.rows(40_000, np.random.default_rng(5))))
    rows *= np.minimum(1.0, bound / np.linalg.norm(rows, axis=1, keepdims=True)) / bound
    lengths = np.linalg.norm(rows, axis=1)
    assert 0.1 < np.mean(lengths > 1 - 1e-9) < 0.9 and lengths.max() <= 1 + 1e-12
    truth = draws.truth(MODEL, (40_000,), 3, scaling, 0)
    for moment in (cohort.pooled.dense(), rows.T @ rows / len(rows)):
        assert np.trace(moment) == pytest.approx(truth.eigenvalues.sum(), rel=0.01)
        lead = np.linalg.eigvalsh(moment)[::-1][:3]
        assert lead.mean() == pytest.approx(truth.eigenvalues[:3].mean(), rel=0.02)
        assert sin_theta(top_eigenspace(moment, 3), truth.basis) < 0.1
    with pytest.raises(ValueError, match="scaling must not be 'clipped' where the covariance"):
        draws.second_moment(MODEL, (40_000,), scaling, 0)
    with pytest.raises(ValueError, match="bound must be given where scaling is 'clipped'"):
        Scaling("clipped")


def test_unit_rows_by_the_million_are_refused():
    with pytest.raises(ValueError, match="n d of unit rows"):
        draws.cohort(MODEL, (10**9,), Scaling("unit"), 0, 0)


def test_rows_are_divided_by_a_given_bound():
    ours = Scaling(bound=200.0)
    usual = draws.cohort(MODEL, (2000,), PUBLIC, 0, 0)
    scaled = draws.cohort(MODEL, (2000,), ours, 0, 0)
    assert scaled.bound == ours.divisor(MODEL, 2000) == 200.0
    np.testing.assert_allclose(scaled.pooled.dense() * 200**2, usual.pooled.dense() * usual.bound**2)
    with pytest.raises(ValueError, match="bound must be at least"):
        draws.cohort(MODEL, (2000,), Scaling(bound=10.0), 0, 0)


def test_a_bound_that_grows_with_sqrt_d_gives_the_eigenvalues_of_wang_and_xu():
    """Sigma = lambda/(5p(lambda+1)) VV^T + 1/(5p(lambda+1)) I at lambda = 1, at two p."""
    scaling = Scaling("bound-sqrt-d", bound=np.sqrt(10))
    for p in (20, 80):
        model = SpikedModel(d=p, k=5, s=20, spike=2.0, bulk=(1.0, 1.0))
        cohort = draws.cohort(model, (10**9,), scaling, 0, 0)
        assert cohort.bound == scaling.divisor(model, 10**9) == pytest.approx(np.sqrt(10 * p), rel=1e-15)
        printed = model.basis @ model.basis.T / (10 * p) + np.eye(p) / (10 * p)
        truth = draws.truth(model, (10**9,), 5, scaling, 0)
        moment = draws.second_moment(model, (10**9,), scaling, 0)
        np.testing.assert_allclose(moment, printed, atol=1e-12)
        np.testing.assert_allclose(truth.eigenvalues, np.linalg.eigvalsh(printed)[::-1], rtol=1e-9)
        np.testing.assert_allclose(cohort.pooled.dense(), printed, atol=1e-3 / p)


def test_a_swept_dimension_changes_the_bound():
    """A cell of the sweep is the same population under a bound that is written out."""
    model = SpikedModel(d=16, k=2, s=8, spike=2.0, bulk=(1.0, 1.0))
    given = {"n": 10**7, "methods": (variant("pca"),)}
    grown = replace(RECIPE, population=model, **given, scaling="bound-sqrt-d", bound=4.0)
    written = replace(RECIPE, population=model, **given, bound=4.0 * np.sqrt(64))
    table, other = (sweep(replace(chosen, swept=(Axis("d", (64,)),))) for chosen in (grown, written))
    np.testing.assert_array_equal(table["sin_theta"], other["sin_theta"])
    assert recipe_file.from_dict(json.loads(json.dumps(recipe_file.to_dict(grown)))) == grown


def test_a_bound_that_grows_is_refused_where_it_does_not_apply():
    with pytest.raises(ValueError, match="bound must be given where scaling is 'bound-sqrt-d'"):
        Scaling("bound-sqrt-d")
    with pytest.raises(ValueError, match="bound must be left out: digits has its own"):
        replace(DIGITS, scaling="bound-sqrt-d", bound=3.0)
    with pytest.raises(ValueError, match="scaling must not be 'bound-sqrt-d' for a table, got 'digits'"):
        draws.cohort("digits", (1797,), Scaling("bound-sqrt-d", bound=3.0), 0, 0)


def test_the_largest_row_of_a_population_is_the_median_of_its_length():
    assert Scaling("largest").divisor(MODEL, 2000) == MODEL.norm_bound(2000, 0.5)
    assert draws.cohort(MODEL, (2000,), Scaling("largest"), 0, 0).bound == MODEL.norm_bound(2000, 0.5)


def test_a_table_as_published_is_centred_and_divided_by_its_largest_row():
    cohort = datasets.cohort("digits", (1000, 797), 0, scaling="largest")
    rows = np.concatenate([provider.moment.rows for provider in cohort])
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-12)
    assert np.linalg.norm(rows, axis=1).max() == pytest.approx(1.0, rel=1e-12)
    unit = datasets.cohort("digits", (1797,), 0, scaling="unit")
    np.testing.assert_allclose(np.linalg.norm(unit[0].moment.rows, axis=1), 1.0)


def test_fewer_rows_are_other_rows_for_another_draw():
    few = [draws.cohort("digits", (300,), PUBLIC, 0, draw).pooled.dense() for draw in (0, 1, 1)]
    assert not np.allclose(few[0], few[1]) and np.array_equal(few[1], few[2])
    whole = [draws.cohort("digits", (1797,), PUBLIC, 0, draw) for draw in (0, 1)]
    assert whole[0] is whole[1]
    with pytest.raises(ValueError, match="sizes must add up to at most n"):
        draws.cohort("digits", (1798,), PUBLIC, 0, 0)


def test_the_truth_of_a_sample_is_the_whole_table():
    """All rows are their own truth; 300 of them are not, by as much as PCA of those rows says."""
    table = sweep(DIGITS).set_index(["n", "repeat"])["sin_theta"]
    assert (table.loc[1797] < 1e-9).all()
    moment = draws.cohort("digits", (300,), PUBLIC, 0, 1).pooled.dense()
    truth = draws.truth("digits", (1797,), 3, PUBLIC, 0).basis
    basis = top_eigenspace(moment, 3)
    expected = np.linalg.norm(basis - truth @ (truth.T @ basis))
    assert table.loc[300, 1] == pytest.approx(expected, rel=1e-9)


def test_one_hospital_alone_and_all_in_one():
    """`alone` is the method on the largest hospital, `providers` another number of hospitals."""
    both = (variant("dpdis_pca", "alone", alone=True), variant("dpdis_pca", "pooled", providers=1))
    table = sweep(replace(RECIPE, methods=both, providers=4)).set_index("label")["noise_std"]
    method = METHODS["dpdis_pca"]
    cohort = draws.cohort(MODEL, (500,) * 4, PUBLIC, 3, 0)
    alone = method.fit(
        type(cohort)((cohort[0],), cohort[0].moment),
        k=3,
        budget=Budget(0.5, 1e-5),
        rng=np.random.default_rng(0),
    )
    assert table["alone"].iloc[0] == pytest.approx(alone.noise_std)
    assert table["alone"].iloc[0] == pytest.approx(4 * table["pooled"].iloc[0])


def test_every_round_is_kept():
    methods = (variant("dps_pca"), variant("pca"))
    recipe = replace(RECIPE, methods=methods, metrics=("sin", "rounds"), swept=(Axis("iterations", (3, 5)),))
    table = sweep(recipe)
    long = by_round(table)
    assert long[long["label"] == "dps_pca"].groupby(["iterations", "repeat"]).size().tolist() == [4, 4, 6, 6]
    assert (long[long["label"] == "pca"]["round"] == 0).all()
    last = long.groupby(["label", "iterations", "repeat"])["sin_theta"].last()
    output = table.set_index(["label", "iterations", "repeat"])["sin_theta"].sort_index()
    np.testing.assert_allclose(last, output, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="must be of a recipe with"):
        by_round(sweep(RECIPE))


def test_rounds_survive_a_file(tmp_path):
    recipe = replace(RECIPE, methods=(variant("dps_pca"),), metrics=("sin", "rounds"))
    first = sweep(recipe, out=tmp_path / "table.csv")
    again = sweep(recipe, out=tmp_path / "table.csv")
    assert first["sin_theta_by_round"].tolist() == again["sin_theta_by_round"].tolist()


def test_the_covariance_error_is_relative_to_the_populations():
    """Against the noisy moment itself; methods without a covariance have none."""
    recipe = replace(RECIPE, metrics=("covariance",), methods=(variant("analyze_gauss"), variant("pca")))
    table = sweep(recipe).set_index(["label", "epsilon", "repeat"])["covariance_error"]
    cohort = draws.cohort(MODEL, (2000,), PUBLIC, 3, 0)
    rng = draws.generator(3, 0, "analyze_gauss")
    covariance = METHODS["analyze_gauss"].fit(cohort, k=3, budget=Budget(0.5, 1e-5), rng=rng).covariance
    truth = MODEL.covariance() / cohort.bound**2
    expected = np.linalg.norm(covariance - truth) / np.linalg.norm(truth)
    assert table["analyze_gauss", 0.5, 0] == pytest.approx(expected, rel=1e-12)
    assert table["pca"].isna().all()


def test_curves_over_the_spike_see_the_same_random_numbers():
    """A spike of the recipe's own strength is the cell of a sweep over something else."""
    spikes = sweep(replace(RECIPE, swept=(Axis("spike", (50.0, 100.0)),), epsilon=0.5))
    other = sweep(RECIPE)
    at = spikes.loc[spikes["spike"] == 100.0, "sin_theta"].to_numpy()
    assert np.array_equal(at, other.loc[other["epsilon"] == 0.5, "sin_theta"])


def test_a_known_spectrum_is_the_populations():
    """As if spike and variance were given by hand, in units of the scaled rows."""
    model = SpikedModel(d=12, k=2, s=3, spike=(9.0, 5.0), bulk=(1.0, 1.0))
    bound = model.norm_bound(400)
    given = variant("spiked_projector", "given", spike=4 / bound**2, variance=1 / bound**2)
    known, released = (variant("spiked_projector", f"{word}", known=word) for word in (True, False))
    table = sweep(Recipe(model, (given, known, released), (Axis("epsilon", (1.0,)),), n=400, repeats=3))
    errors = table.pivot(index="repeat", columns="label", values="sin_theta")
    np.testing.assert_allclose(errors["True"], errors["given"], rtol=1e-9)
    assert (errors["False"] != errors["given"]).all()


def test_the_spectrum_of_a_table_is_not_known():
    chosen = variant("spiked_projector", known=True)
    table = sweep(Recipe("digits", (chosen,), (Axis("epsilon", (1.0,)),), k=2, repeats=1))
    assert table["failed"][0] == "known must be left out: the spectrum of digits is not public"
    with pytest.raises(ValueError, match="options of dps_pca must be one of"):
        variant("dps_pca", known=True)


def test_the_spectrum_of_unit_rows_is_not_known():
    with pytest.raises(ValueError, match="known must be left out where each row has its own scale"):
        draws.known_spectrum(SpikedModel(d=12, k=2, s=3), 400, Scaling("unit"))
