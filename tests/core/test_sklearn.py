"""Test PrivatePCA with scikit-learn's own checks, its PCA as the oracle, and a budget that adds up."""

import doctest
import sys
from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from dppca_core import METHODS, Budget, Guarantee, Release, sin_theta
from dppca_core.accounting import closed_form
from dppca_core.bounds.recommendation import recommend
from dppca_core.mechanisms import eigenvalues
from dppca_core.privacy import NEIGHBOURS
from dppca_core.sklearn import PrivatePCA
from tests.core.laws import ALPHA

D, N = 6, 400
PRIVATE = [name for name, method in METHODS.items() if method.private]
FREE = ["analyze_gauss", "spiked_projector"]  # their own release holds eigenvalues
# Not ours to pass: it wants an environment variable set before SciPy is imported, for arrays of other kinds.
SKIPPED = {"check_array_api_input"}


def table(seed=0, n=N):
    """Return columns of deviation 6, 5, ..., 1 and mean exactly 3, rotated at random."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, D)) * np.arange(D, 0, -1.0) @ np.linalg.qr(rng.standard_normal((D, D)))[0]
    return rows - rows.mean(axis=0) + 3.0


ROWS = table()
GIVEN = {"center": 3.0, "bound": 40.0, "random_state": 0}  # no row is longer


def fitted(rows=ROWS, **options):
    return PrivatePCA(**{**GIVEN, **options}).fit(rows)


@pytest.mark.parametrize(
    "estimator",
    [
        PrivatePCA(),
        PrivatePCA(method="amin", explained_variance=0.2, neighbours="add-remove"),
        PrivatePCA(method="two_stage", params={"s_hat": "released"}),
        PrivatePCA(method="recommended"),
        PrivatePCA(method="analyze_gauss", accounting="zcdp", scale=2.0, bound=5.0),
        PrivatePCA(method="stacked_rounds", private_center=0.2, private_scale=True, bound=5.0),
    ],
    ids=lambda estimator: estimator.method,
)
def test_scikit_learn_finds_nothing_to_object_to(estimator):
    results = check_estimator(estimator, on_skip=None)
    assert {check["check_name"] for check in results if check["status"] != "passed"} <= SKIPPED


def test_the_example_runs():
    module = sys.modules[PrivatePCA.__module__]
    failed, tried = doctest.testmod(module)
    assert tried > 3 and not failed


# --- scikit-learn's PCA is what remains without noise ---------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("dps_pca", {"iterations": 200}),
        ("noisy_power", {"iterations": 200}),
        ("analyze_gauss", None),
        ("analyze_gauss_gap", None),
        ("dpdis_pca", None),
        ("spiked_projector", None),
        ("amin", None),
    ],
)
def test_without_noise_it_is_scikit_learns_pca(method, params, k):
    """At epsilon = 1e12 axes, variances over n - 1, scores and restored rows agree to 1e-4."""
    ours = fitted(method=method, params=params, n_components=k, epsilon=1e12, explained_variance=0.1)
    plain = PCA(k).fit(ROWS)
    signs = np.sign((ours.components_ * plain.components_).sum(axis=1))
    np.testing.assert_allclose(ours.components_, signs[:, None] * plain.components_, atol=1e-4)
    np.testing.assert_allclose(ours.explained_variance_ * N / (N - 1), plain.explained_variance_, rtol=1e-4)
    np.testing.assert_allclose(ours.transform(ROWS), signs * plain.transform(ROWS), atol=1e-2)
    restored = plain.inverse_transform(plain.transform(ROWS))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(ROWS)), restored, atol=1e-2)


def test_public_center_and_scale_stand_for_a_standard_scaler():
    scale = np.arange(1.0, D + 1)
    ours = fitted(n_components=2, epsilon=1e12, scale=scale, params={"iterations": 100})
    plain = PCA(2).fit((ROWS - 3.0) / scale)
    assert sin_theta(ours.components_.T, plain.components_.T) < 1e-4
    np.testing.assert_allclose((ours.mean_, ours.scale_), (np.full(D, 3.0), scale))
    scores = ((ROWS - 3.0) / scale) @ ours.components_.T
    np.testing.assert_allclose(ours.transform(ROWS), scores)
    np.testing.assert_allclose(ours.transform(ours.inverse_transform(scores)), scores)


def test_a_center_that_is_paid_for_stands_for_the_mean():
    """Twelve away from the public center PCA about it finds the mean; at 1 % of a loud budget it does not."""
    pca = PCA(2).fit(ROWS)
    away = {"center": 15.0, "bound": 80.0, "method": "analyze_gauss", "n_components": 2, "epsilon": 1e4}
    hidden = fitted(**away).components_
    assert np.linalg.norm(hidden @ np.full(D, D**-0.5)) > 0.99
    ours = fitted(**away, private_center=0.01)
    assert sin_theta(ours.components_.T, pca.components_.T) < 0.05
    np.testing.assert_allclose(ours.mean_, ROWS.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(np.abs(ours.transform(ROWS)), np.abs(pca.transform(ROWS)), atol=1.5)
    assert ours.epsilon_ <= 1e4 and len(ours.spent_) == 2


@pytest.mark.parametrize("paid", [{"private_center": True}, {"private_scale": True}, {"private_scale": 0.2}])
def test_what_is_paid_for_spends_the_budget_and_no_more(paid):
    ours = fitted(**{"private_center": 0.1} | paid, explained_variance=0.1)
    assert ours.epsilon_ == pytest.approx(1.0, rel=1e-6) and ours.epsilon_ <= 1 + 1e-9


def test_scales_that_are_paid_for_stand_for_a_standard_scaler():
    """Without noise it is StandardScaler and PCA, whatever the public scale."""
    rows = 100 + ROWS * np.geomspace(1, 0.05, D)
    loud = {"center": 90.0, "bound": 60.0, "method": "analyze_gauss", "n_components": 2, "epsilon": 1e12}
    ours = fitted(rows, **loud, private_center=True, private_scale=True, scale=2.0)
    scaler = StandardScaler().fit(rows)
    pca = PCA(2).fit(scaler.transform(rows))
    signs = np.sign((ours.components_ * pca.components_).sum(axis=1))
    np.testing.assert_allclose(ours.components_, signs[:, None] * pca.components_, atol=1e-3)
    np.testing.assert_allclose((ours.mean_, ours.scale_), (scaler.mean_, scaler.scale_), rtol=1e-3)
    np.testing.assert_allclose(ours.explained_variance_ * N / (N - 1), pca.explained_variance_, rtol=1e-3)
    scores = ours.transform(rows)
    np.testing.assert_allclose(scores, signs * pca.transform(scaler.transform(rows)), atol=0.02)
    np.testing.assert_allclose(ours.transform(ours.inverse_transform(scores)), scores, atol=1e-9)
    plain = fitted(rows, **loud, private_center=True)
    assert sin_theta(plain.components_.T, pca.components_.T) > 0.5


def test_a_row_beyond_the_bound_counts_as_one_on_it():
    far, farther = ROWS.copy(), ROWS.copy()
    far[0] = 3.0 + 40 * np.eye(D)[0]
    farther[0] = 3.0 + 4e9 * np.eye(D)[0]
    np.testing.assert_allclose(fitted(far).components_, fitted(farther).components_, atol=1e-6)


# --- the budget -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIVATE)
def test_what_a_fit_spends_is_stated_and_within_the_budget(name):
    for share, neighbours in product([False, 0.2], NEIGHBOURS):
        if share and METHODS[name].trust == "local":
            with pytest.raises(ValueError, match="trusts nobody with the rows"):
                fitted(method=name, explained_variance=share, neighbours=neighbours)
            continue
        ours = fitted(method=name, n_components=2, explained_variance=share, neighbours=neighbours)
        assert all(isinstance(event, Release | Guarantee) for event in ours.spent_)
        assert ours.epsilon_ == closed_form.epsilon_of(ours.spent_, ours.delta) <= 1 + 1e-9
        alone = METHODS[name].spends(Budget(1.0, 1e-6, neighbours), d=D, k=2)
        assert len(ours.spent_) == len(alone) + bool(share)
        assert hasattr(ours, "explained_variance_") == (bool(share) or name in FREE)


def test_the_whole_budget_is_used():
    assert fitted().epsilon_ == pytest.approx(1.0, rel=1e-9)
    assert fitted(n_components=3, explained_variance=0.3).epsilon_ == pytest.approx(1.0, rel=1e-9)


def test_eigenvalues_carry_the_noise_that_was_paid_for():
    """The spread over 300 fits is that of the price (chi-square at ALPHA), not sqrt 2 times more or less."""
    line = np.outer(np.linspace(-1, 1, 4000), np.eye(D)[0])
    options = {"center": 0.0, "epsilon": 4.0, "explained_variance": 0.1, "bound": 2.0}
    fits = [fitted(line, **options, random_state=seed) for seed in range(300)]
    std = 2.0**2 * eigenvalues.noise_scale(Budget(4.0, 1e-6), fits[0].spent_[-1], len(line), 1)
    variance = np.var([fit.explained_variance_[0] for fit in fits], ddof=1)

    def fits_law(expected):
        return ALPHA / 2 < stats.chi2(299).cdf(299 * variance / expected**2) < 1 - ALPHA / 2

    assert fits_law(std)
    assert not fits_law(std * np.sqrt(2))
    assert not fits_law(std / np.sqrt(2))


def test_eigenvalues_that_were_not_paid_for_are_not_there():
    with pytest.raises(
        AttributeError, match=r"not paid for: set explained_variance to a share .* such as 0\.1"
    ):
        fitted().explained_variance_  # noqa: B018
    with pytest.raises(AttributeError, match="not fitted yet"):
        PrivatePCA().explained_variance_  # noqa: B018


def test_a_calibration_that_overspends_warns_of_its_true_epsilon():
    """The numbers are theory.md's example of the printed constant."""
    with pytest.warns(UserWarning, match=r"epsilon = 20\.1\d? at delta = 0\.01, more than the 10 asked for"):
        fitted(method="analyze_gauss", epsilon=10.0, delta=0.01, accounting="as-printed")


def test_without_a_number_the_noise_is_new_and_with_one_it_is_a_simulation():
    real, again = fitted(random_state=None), fitted(random_state=None)
    drawn, redrawn = fitted(random_state=7), fitted(random_state=7)
    assert not np.array_equal(real.components_, again.components_)
    np.testing.assert_array_equal(drawn.components_, redrawn.components_)
    assert (real.simulation_, drawn.simulation_) == (False, True)


def test_what_a_gap_test_says_of_its_answer_is_kept():
    ours = fitted(method="analyze_gauss_gap", n_components=2, epsilon=0.01)
    assert ours.notes_ == ("the gap could not be certified at this budget: the answer is a random guess",)


def test_a_fitted_estimator_keeps_nothing_of_the_size_of_its_rows():
    ours = fitted(n_components=3, explained_variance=0.1)
    assert all(np.size(value) <= 3 * D for value in vars(ours).values())


# --- in scikit-learn's company --------------------------------------------------------------------------


def test_names_and_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS, columns=list("abcdef"))
    ours = PrivatePCA(n_components=2, **GIVEN).set_output(transform="pandas").fit(frame)
    scores = ours.transform(frame)
    assert list(scores.columns) == list(ours.get_feature_names_out()) == ["privatepca0", "privatepca1"]
    assert list(ours.feature_names_in_) == list("abcdef") and ours.n_features_in_ == D
    with pytest.raises(ValueError, match="feature names should match"):
        ours.transform(frame.rename(columns={"a": "z"}))


def test_in_a_pipeline_and_a_search():
    labels = (ROWS @ PCA(1).fit(ROWS).components_[0]) > 0
    pipeline = make_pipeline(PrivatePCA(**GIVEN), LogisticRegression())
    search = GridSearchCV(pipeline, {"privatepca__epsilon": [1e-6, 1e6]}, cv=2).fit(ROWS, labels)
    assert search.best_params_ == {"privatepca__epsilon": 1e6}
    assert search.best_score_ > 0.9
    assert clone(search.best_estimator_[0]).get_params() == search.best_estimator_[0].get_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pca"}, "method must be one of amin, .*got 'pca'"),
        ({"n_components": D}, "n_components must be between 1 and 5, got 6"),
        ({"n_components": 0.9}, r"n_components must be a whole number, got 0\.9"),
        ({"epsilon": 0}, "epsilon must be positive and finite, got 0"),
        ({"delta": 1.0}, r"delta must lie strictly between 0 and 1, got 1\.0"),
        ({"bound": -1.0}, r"bound must be positive and finite, got -1\.0"),
        (
            {"center": [1.0, 2.0]},
            r"center must be a finite number, or 6 of them, one a feature, got \[1\.0, 2",
        ),
        ({"center": np.nan}, "center must be a finite number, .*got nan"),
        ({"center": [[1.0], [2.0, 3.0]]}, "center must be a finite number, "),
        ({"center": "mean"}, "center must be a finite number, .*got 'mean'"),
        ({"scale": [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]}, "scale must be positive, got"),
        ({"neighbours": "any"}, "neighbours must be one of add-remove, replace-one, got 'any'"),
        ({"accounting": "none"}, "accounting must be one of .*got 'none'"),
        ({"private_center": 1.0}, "private_center must lie strictly between 0 and 1"),
        ({"private_center": True, "neighbours": "add-remove"}, "private_center must be a share where"),
        ({"private_center": 0.1, "method": "amin"}, "private_center goes with Gaussian noise"),
        ({"private_scale": 1.5}, "private_scale must lie strictly between 0 and 1"),
        ({"private_center": 0.5, "private_scale": 0.5}, "share must lie strictly between 0 and 1"),
        ({"private_scale": True, "method": "amin"}, "private_scale goes with Gaussian noise"),
        ({"private_center": 0.1, "accounting": "zcdp"}, "accounting must be one of exact"),
        ({"explained_variance": True}, "explained_variance must be a number, got True"),
        ({"explained_variance": 1.0}, r"explained_variance must lie strictly between 0 and 1, got 1\.0"),
        (
            {"params": {"rounds": 3}},
            r"params must be among those of dps_pca \(burn_in, .*got \{'rounds': 3\}",
        ),
        ({"params": [("iterations", 3)]}, r"params must be a dict, got \[\('iterations', 3\)\]"),
        ({"params": {"rng": 3}}, "params must be among those of dps_pca"),
        ({"random_state": -1}, "random_state must be at least 0, got -1"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be a whole number"),
    ],
)
def test_bad_parameters_are_refused_by_name_and_value(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(**options)


@pytest.mark.parametrize(
    "options", [{"center": -1e308}, {"center": 0.0, "scale": 1e-9}], ids=["center", "scale"]
)
def test_rows_that_overflow_are_refused(options):
    with pytest.raises(ValueError, match="rows must hold finite numbers only"):
        fitted(np.full((4, D), 1e308), **options)


def test_scores_of_another_width_are_refused():
    with pytest.raises(ValueError, match="X must have 1 columns, one for each component, got 2"):
        fitted().inverse_transform(np.ones((3, 2)))


def test_a_recommended_method_is_the_core_s_and_says_why():
    rows = np.random.default_rng(0).normal(size=(4000, 30)) * np.r_[6.0, 5.0, np.ones(28)]
    pca = PrivatePCA(method="recommended", n_components=2, bound=15.0, random_state=0).fit(rows)
    answer = recommend("central", n=4000, d=30, k=2, budget=Budget(1.0, 1e-6))
    assert pca.recommendation_ == answer.reason
    named = PrivatePCA(method=answer.method, n_components=2, bound=15.0, random_state=0)
    assert pca.epsilon_ == pytest.approx(1.0)
    dense = PrivatePCA(
        method="recommended", n_components=2, bound=15.0, params={"s_hat": 30, "signal": 0.5}, random_state=0
    ).fit(rows)
    assert "features that matter" not in dense.recommendation_
    assert named.fit(rows).spent_ == pca.spent_ or answer.method.startswith("stacked")


@pytest.mark.parametrize(
    ("changed", "named"),
    [({"neighbours": "add-remove"}, "must be named"), ({"params": {"iterations": 3}}, "s_hat and signal")],
)
def test_what_a_recommendation_cannot_rest_on_is_refused(changed, named):
    with pytest.raises(ValueError, match=named):
        PrivatePCA(method="recommended", **changed).fit(np.ones((20, 5)))


def test_rounds_may_be_tuned():
    rows = np.random.default_rng(0).normal(size=(4000, 30)) * np.r_[6.0, 5.0, np.ones(28)]
    params = {"s_hat": 6, "iterations": "tuned", "signal": 0.5}
    pca = PrivatePCA(method="dps_pca", n_components=2, bound=15.0, params=params, random_state=0).fit(rows)
    rounds = METHODS["dps_pca"].tuned(Budget(1.0, 1e-6), d=30, n=4000, k=2, s_hat=6, signal=0.5)
    assert [event.steps for event in pca.spent_] == [rounds]
    with pytest.raises(ValueError, match="params must be among those of dps_pca"):
        PrivatePCA(method="dps_pca", params={"signal": 0.5}).fit(rows)
    with pytest.raises(ValueError, match="declared_n must be given"):
        PrivatePCA(method="dps_pca", neighbours="add-remove", params={"iterations": "tuned"}).fit(rows)
