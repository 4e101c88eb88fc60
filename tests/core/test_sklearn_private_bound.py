"""PrivatePCA with a bound that is fitted to the rows: its limit without noise, its price, its defaults."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.decomposition import PCA

from dppca_core import METHODS, Budget, sin_theta
from dppca_core.accounts.book import OverLimitError
from dppca_core.bounds import fitted_prediction, stated_spectra
from dppca_core.experiments import fitted_release
from dppca_core.mechanisms.paid_lengths import STEPS, FittedBound, Layout
from dppca_core.numerics import linalg
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.release import array_release, bundle, discrete_gaussian, fitted_bound, private_release
from dppca_core.release.request import Request
from dppca_core.sklearn import PrivatePCA
from tests.core.accounts.paying import payer

pytestmark = pytest.mark.filterwarnings("ignore:.* is predicted to err:UserWarning")

D, N = 6, 4000
SKIPPED = {"check_array_api_input"}  # as in test_sklearn
CENTER, SCALE = np.arange(100.0, 100 + D), np.arange(2.0, 2 + D)
PUBLIC = {"center": CENTER, "scale": SCALE}


def numbers(n=N):
    """Return numbers in and sometimes beyond [-1, 1] about 0.1; the first three go together, and two more."""
    rng = np.random.default_rng(0)
    common = rng.uniform(-1, 1, (n, 2)) @ [[0.7, 0.3, 0.2, 0, 0, 0], [0, 0, 0, 0.4, 0.1, 0]]
    return 0.1 + common + rng.uniform(-1, 1, (n, D)) * [0.3, 0.2, 0.2, 0.2, 0.1, 0.2]


ROWS = CENTER + SCALE * numbers()
CUT = np.clip(numbers(), -1, 1)


def fitted(rows=ROWS, **options):
    return PrivatePCA(**PUBLIC | {"bound": "private", "random_state": 0} | options).fit(rows)


def sentences(rows=ROWS, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted(rows, **options)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("options", [{}, {"private_scale": True, "method": "analyze_gauss_sparse"}])
def test_scikit_learn_finds_nothing_to_object_to(options):
    from sklearn.utils.estimator_checks import check_estimator  # slow, and every process collects this file

    results = check_estimator(PrivatePCA(bound="private", center=0.5, scale=3.0, **options), on_skip=None)
    assert {check["check_name"] for check in results if check["status"] != "passed"} <= SKIPPED


# --- what it is without noise ----------------------------------------------------------------------------


def shortened(rows, bound):
    return rows * np.minimum(1, bound / np.linalg.norm(rows, axis=1, keepdims=True))


@pytest.mark.parametrize("method", ["recommended", "analyze_gauss_sparse"])
def test_at_little_noise_it_is_pca_of_cut_rows_that_are_shortened_to_the_bound(method):
    """One row in fifty is cut at its range, and is too long afterwards still."""
    far = numbers()
    far[::50] *= 9
    cut = np.clip(far, -1, 1)
    ours = fitted(CENTER + SCALE * far, method=method, n_components=2, epsilon=100)
    # The mean is of cut rows shortened to 1.05 root mean square lengths about the middles.
    mean = shortened(cut, 1.05 * np.sqrt(np.square(cut).sum() / N)).mean(axis=0)
    np.testing.assert_allclose(ours.mean_, CENTER + SCALE * mean, atol=0.01)
    np.testing.assert_array_equal(ours.scale_, SCALE)
    about = cut - (ours.mean_ - CENTER) / SCALE
    assert 0.005 < (np.linalg.norm(about, axis=1) > ours.bound_).mean() < 0.02
    short = shortened(about, ours.bound_)
    values, vectors = linalg.top_eigenpairs(short.T @ short / N, 2)
    assert sin_theta(ours.components_.T, vectors) < 0.01
    squares = np.square(ours.components_ * SCALE).sum(axis=1)
    np.testing.assert_allclose(ours.explained_variance_, values * squares, rtol=0.01)
    shares = values / np.square(short).sum(axis=1).mean()
    np.testing.assert_allclose(ours.explained_variance_ratio_, shares, rtol=0.01)
    assert sin_theta(linalg.top_eigenspace(about.T @ about / N, 2), vectors) > 0.05
    scores = ours.transform(ROWS)
    np.testing.assert_allclose(scores, (ROWS - ours.mean_) / SCALE @ ours.components_.T)
    np.testing.assert_allclose(ours.transform(ours.inverse_transform(scores)), scores, atol=1e-9)


def test_without_noise_standardised_components_are_those_of_correlations():
    ours = fitted(n_components=2, epsilon=1e9, private_scale=True)
    standard = (CUT - CUT.mean(axis=0)) / CUT.std(axis=0)
    pca = PCA(2).fit(standard)
    assert sin_theta(ours.components_.T, pca.components_.T) < 0.05
    squares = np.square(ours.components_ * ours.scale_).sum(axis=1)
    np.testing.assert_allclose(ours.explained_variance_, pca.explained_variance_ * squares, rtol=0.05)
    np.testing.assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=0.05)
    np.testing.assert_allclose(ours.scale_, SCALE * CUT.std(axis=0), rtol=0.05)
    assert sin_theta(fitted(n_components=2, epsilon=1e9).components_.T, pca.components_.T) > 0.3


@pytest.mark.parametrize("standardised", [False, True])
def test_it_is_the_fitted_release_with_the_same_draws(standardised):
    rule = FittedBound(Layout.of_numbers(D), Budget(1.0, 1e-6), N, standardised=standardised)
    numbers = array_release.encoded(ROWS, CENTER, SCALE)
    np.testing.assert_allclose(numbers, CUT, atol=1e-12)
    out = fitted_release.fitted_moment(numbers, rule, np.random.default_rng(0))
    ours = fitted(n_components=2, private_scale=standardised)
    values, vectors = linalg.top_eigenpairs(out.moment, 2)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(vectors.T), atol=1e-9)
    squares = np.square(ours.components_ * ours.scale_).sum(axis=1)
    np.testing.assert_allclose(ours.explained_variance_, values * squares * N / (N - 1))
    np.testing.assert_allclose(ours.explained_variance_ratio_, values / np.trace(out.moment))
    np.testing.assert_allclose(ours.mean_, CENTER + SCALE * out.mean)
    np.testing.assert_allclose(ours.scale_, SCALE * out.divisors)
    assert ours.bound_ == out.bound and ours.spent_ == out.spent


def test_a_value_outside_of_its_range_counts_as_one_on_its_edge():
    rows, farther = ROWS.copy(), ROWS.copy()
    rows[0] = CENTER + SCALE * [1, -1, 1, 0.5, -1, 0]
    farther[0] = CENTER + SCALE * [1e3, -2, 1e300, 0.5, -1.1, 0]
    np.testing.assert_array_equal(fitted(rows).components_, fitted(farther).components_)
    huge = fitted(np.full((4, D), 1e308), center=-1e308, scale=1e-9)  # what overflows is outside too
    assert np.isfinite(huge.components_).all()


# --- what it costs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("private_scale", [False, True])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_four_steps_are_paid_for_and_are_the_whole_budget(neighbours, private_scale):
    """Eigenvalues are part of them, whatever share is named."""
    options = {"neighbours": neighbours, "private_scale": private_scale, "params": {"declared_n": N}}
    ours = fitted(**options, explained_variance=0.2)
    assert len(ours.spent_) == len(STEPS) and ours.epsilon_ == pytest.approx(1.0, rel=1e-9)
    assert ours.spent_ == fitted(**options).spent_
    assert ours.explained_variance_.shape == (1,) and ours.simulation_ and ours.notes_ == ()


def test_under_add_remove_the_declared_number_stands_for_that_of_the_rows():
    declared = {"neighbours": "add-remove", "params": {"declared_n": N}, "n_components": 2}
    for method in ("recommended", "analyze_gauss"):
        ours, fewer = (fitted(rows, method=method, **declared) for rows in (ROWS, ROWS[:50]))
        assert ours.spent_ == fewer.spent_
        warned = sentences(ROWS, method=method, **declared, epsilon=0.002, delta=1 / N)
        assert warned == sentences(ROWS[:50], method=method, **declared, epsilon=0.002, delta=1 / N)
        assert len(warned) == 2
    # Sums over all rows are divided by what is declared.
    loud = declared | {"epsilon": 1e10}
    half, whole = fitted(ROWS[: N // 2], **loud), fitted(**loud)
    about_middle = [(each.mean_ - CENTER) / SCALE for each in (half, whole)]
    np.testing.assert_allclose(about_middle[0], about_middle[1] / 2, atol=0.02)


def test_a_share_of_the_variance_is_read_off_the_released_moment():
    for seed, share in ((0, 0.8), (1, 0.8), (2, 0.9), (3, 0.9)):
        ours = fitted(n_components=share, random_state=seed)
        k, spent = ours.n_components_, fitted().spent_
        assert ours.explained_variance_ratio_.sum() >= share and ours.spent_ == spent
        fewer = fitted(n_components=k - 1, random_state=seed)
        assert fewer.explained_variance_ratio_.sum() < share
    assert fitted(private_center=True).spent_ == spent  # it says what is so


def test_it_keeps_nothing_of_the_size_of_its_rows():
    assert all(np.size(value) <= 3 * D for value in vars(fitted(n_components=3)).values())


# --- when it is meant ------------------------------------------------------------------------------------


def is_private(**options):
    """Return whether a fit without a bound takes a private one; else it is that of bound=1, to the bit."""
    ours = fitted(bound=None, **options)
    if len(ours.spent_) == len(STEPS) and ours.bound_ != 1.0:
        np.testing.assert_array_equal(ours.components_, fitted(**options).components_)
        return True
    named = fitted(bound=1.0, **options)
    np.testing.assert_array_equal(ours.components_, named.components_)
    assert (ours.bound_, ours.spent_) == (named.bound_, named.spent_)
    return False


@pytest.mark.filterwarnings("ignore:center is None:UserWarning")
@pytest.mark.parametrize(
    ("options", "private"),
    [
        ({}, True),
        ({"method": "analyze_gauss"}, True),
        ({"method": "analyze_gauss_sparse", "params": {"s_hat": 3}}, True),
        ({"private_scale": True, "center": 100.0, "scale": 9.0}, True),
        ({"neighbours": "add-remove", "params": {"declared_n": N}}, True),
        ({"center": None}, False),
        ({"scale": None}, False),
        ({"method": "two_stage"}, False),
        ({"method": "amin"}, False),
        ({"private_center": 0.1}, False),
        ({"private_center": False}, False),
        ({"private_center": None, "private_scale": None}, True),
        ({"private_scale": 0.1}, False),
        ({"method": "analyze_gauss", "accounting": "zcdp"}, False),
        ({"method": "analyze_gauss", "neighbours": "add-remove"}, False),
    ],
)
def test_without_a_bound_it_is_private_wherever_it_can_be(options, private):
    assert is_private(**options) == private


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": "fitted"}, "bound must be one of private, got 'fitted'"),
        ({"center": None}, "center and scale must be given, the middle and the half width of each column's"),
        ({"scale": None}, "center and scale must be given"),
        (
            {"method": "two_stage"},
            "method must be recommended or one of analyze_gauss, analyze_gauss_sparse, g",
        ),
        ({"method": "pca"}, "method must be recommended or one of analyze_gauss"),
        ({"private_center": False}, "private_center must be None or True, since a mean is paid for by its"),
        ({"private_center": 0.1}, "private_center must be None or True"),
        ({"n_components": 0.9, "method": "analyze_gauss_sparse"}, "whole number with analyze_gauss_sparse"),
        ({"private_scale": 0.1}, "private_scale must be True or False, since a rule states what each step"),
        ({"accounting": "zcdp"}, "accounting must be exact, got 'zcdp'"),
        ({"neighbours": "add-remove"}, "params must have declared_n where neighbours protect n"),
        ({"neighbours": "add-remove", "params": {"declared_n": 0}}, "declared_n must be at least 1, got 0"),
        ({"params": {"s_hat": 3}}, "params of a recommended method can only be declared_n"),
        (
            {"method": "analyze_gauss", "params": {"s_hat": 3}},
            r"params must be among those of analyze_gauss with a private bound \(none\)",
        ),
        ({"explained_variance": 1.0}, "explained_variance must lie strictly between 0 and 1"),
    ],
)
def test_what_does_not_go_with_it_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(**options)


def test_rows_of_length_one_are_taken_by_name_only():
    """Where they are recommended for a public bound, a private one takes one moment, and says so."""
    rows = np.random.default_rng(0).normal(size=(300, 100))
    given = {"center": 0.0, "scale": 5.0, "n_components": 2}
    assert METHODS[fitted(rows, **given, bound=1.0).method_].scaling == "unit"
    ours = fitted(rows, **given)
    assert ours.method_ == "analyze_gauss" and ours.recommendation_.startswith("Analyze Gauss is one noisy")
    assert fitted(rows, **given, method="analyze_gauss").recommendation_ is None


def test_a_series_goes_by_the_names_of_columns_and_a_copy_keeps_the_word():
    frame = pd.DataFrame(ROWS, columns=list("fedcba"))
    series = {name: pd.Series(value, index=frame.columns)[::-1] for name, value in PUBLIC.items()}
    ours = fitted(frame, **series)
    np.testing.assert_array_equal(ours.components_, fitted().components_)
    assert clone(ours).get_params()["bound"] == "private" and PrivatePCA().get_params()["bound"] is None


# --- what it warns of ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, []),
        (
            {"epsilon": 0.02},
            ["Analyze Gauss is predicted to err over a third as much as a guess"],
        ),
        ({"epsilon": 0.002, "private_scale": True}, []),  # nothing is predicted of correlations
        ({"epsilon": 0.002, "method": "analyze_gauss_sparse"}, []),  # nor with a sparse step
        ({"delta": 1 / N}, ["delta = "]),
    ],
)
def test_it_warns_of_what_public_numbers_tell(options, parts):
    warned = sentences(**options)
    assert len(warned) == len(parts)
    assert all(part in sentence for part, sentence in zip(parts, warned, strict=True))
    assert sentences(np.random.default_rng(1).standard_cauchy((N, D)), **options) == warned


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_error_that_it_warns_of_is_that_of_rows_with_the_worst_spectrum(epsilon):
    """Rows about the middles of their ranges; the median of 41 fits is within a third of the prediction."""
    n, d, k = 2000, 12, 2
    spikes = stated_spectra.patterns(d, k)[-1].spikes
    spectrum = np.r_[spikes, 1 - (np.arange(d - k) + 0.5) / (d - k)]
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((d, d)))[0]
    rows = rng.standard_normal((n, d)) * np.sqrt(spectrum / spectrum.sum()) @ axes.T
    truth = PCA(k).fit(rows).components_.T
    given = {"center": 0.0, "scale": 4.0, "n_components": k, "epsilon": epsilon}
    errors = [sin_theta(fitted(rows, **given, random_state=seed).components_.T, truth) for seed in range(41)]
    rule = FittedBound(Layout.of_numbers(d), Budget(epsilon, 1e-6), n)
    predicted = fitted_prediction.worst_prediction(k, rule, d / 3)
    assert predicted < random_guess(d, k) / 3
    assert predicted == pytest.approx(float(np.median(errors)), rel=1 / 3)


# --- for real rows ---------------------------------------------------------------------------------------

HARDENED = {"hardened": True, "random_state": None, "n_components": 2}


def with_known_noise(monkeypatch, size):
    """Replace noise by whole numbers that are always the same; return the list of the sums that got it."""
    sums, rng = [], np.random.default_rng(5)

    def draw(whole, std, keep_drawing=lambda drawn: True):
        sums.append(np.array(whole))
        return whole + np.round(size * std * rng.standard_normal(np.shape(whole)))

    monkeypatch.setattr(discrete_gaussian, "add_noise", draw)
    return sums


@pytest.mark.parametrize("private_scale", [False, True])
@pytest.mark.parametrize(
    ("method", "params"), [("analyze_gauss", {}), ("analyze_gauss_sparse", {"s_hat": 4})]
)
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_hardened_is_to_the_bit_the_release_of_the_same_rows(
    monkeypatch, method, params, private_scale, neighbours
):
    """With the same draws: its sums, its components, and what rows are taken through."""
    options = {"method": method, "params": params, "private_scale": private_scale, "neighbours": neighbours}
    with monkeypatch.context() as drawn:
        mine = with_known_noise(drawn, 1.0)
        ours = fitted(**HARDENED, **options)
    asked = Request(method, d=D, k=2, budget=Budget(1.0, 1e-6, neighbours), **params)
    layout = Layout.of_numbers(D)
    asked = fitted_bound.requested(asked, layout, N, standardised=private_scale)
    numbers = array_release.encoded(ROWS, CENTER, SCALE)
    account = {"features": [*"abcdef"], "public": {}, "layout": layout}
    with monkeypatch.context() as drawn:
        theirs = with_known_noise(drawn, 1.0)
        made = private_release.make(asked, [numbers], payer(neighbours=neighbours), **account)
    assert len(mine) == len(theirs) >= len(STEPS)
    for first, second in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(first, second)
    for name in ("components", "eigenvalues", "mean", "scales", "length after scaling", "events"):
        assert ours.release_.document[name] == made.document[name]
    assert ours.spent_ == asked.events and ours.epsilon_ == pytest.approx(1.0, rel=1e-6)
    # Rows are taken through what the document says: its scores are those of the estimator, over the length.
    document = made.document
    scaled = (numbers - document["mean"]) / (document["scales"] or 1) / document["length after scaling"]
    inside = (np.abs(numbers) < 1).all(axis=1)
    scores = np.abs(scaled @ np.transpose(document["components"]))
    np.testing.assert_allclose(np.abs(ours.transform(ROWS))[inside], scores[inside] * ours.bound_, atol=1e-9)
    assert set(ours.release_.document["public"]) == {"center", "scale"}


@pytest.mark.parametrize("private_scale", [False, True])
def test_hardened_without_noise_it_is_the_other_path(monkeypatch, private_scale):
    with_known_noise(monkeypatch, 0.0)
    options = {"epsilon": 1e8, "private_scale": private_scale, "n_components": 2}
    ours, other = fitted(**HARDENED | options), fitted(**options)
    np.testing.assert_allclose(ours.components_, other.components_, atol=1e-3)
    np.testing.assert_allclose(ours.explained_variance_, other.explained_variance_, rtol=1e-3)
    np.testing.assert_allclose(ours.mean_, other.mean_, rtol=1e-5)
    np.testing.assert_allclose(ours.scale_, other.scale_, rtol=1e-3)
    assert ours.bound_ == pytest.approx(other.bound_, rel=1e-2) and ours.method_ == other.method_


def test_hardened_it_is_paid_for_before_anything_is_drawn(monkeypatch):
    account = payer(1.2, delta=1e-6)
    ours = fitted(**HARDENED, account=account)
    (payment,) = account.balance().payments
    assert payment.events == ours.spent_ and len(payment.events) == len(STEPS)
    assert not ours.simulation_ and ours.release_.payment.id == payment.id
    texts = bundle.files(ours.release_.document, account.balance(), payment)
    assert "Names of columns; center and scale of rows (public" in texts["guarantee.md"]
    assert bundle.recipe(ours.release_.document).fitted
    sums = with_known_noise(monkeypatch, 1.0)
    with pytest.raises(OverLimitError, match="nothing was spent"):
        fitted(**HARDENED, account=account)
    assert not sums
    monkeypatch.setattr(discrete_gaussian, "MOST_FEATURES", D - 1)
    with pytest.raises(ValueError, match="exact noise of a moment can be drawn of 5 features at most, got 6"):
        fitted(**HARDENED)


# --- what it is worth ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("private_scale", "before", "now"), [(False, 1.19, 0.93), (True, 1.08, 0.81)])
def test_on_breast_cancer_it_errs_clearly_less_than_a_guessed_bound(private_scale, before, now):
    """With the table's own ranges, at epsilon = 1; before is bound 5 and a paid mean. Medians of 21 fits."""
    rows = datasets.load_breast_cancer().data
    low, high = rows.min(axis=0), rows.max(axis=0)
    given = {"center": (low + high) / 2, "scale": (high - low) / 2, "n_components": 2}
    given |= {"private_scale": private_scale}
    scaled = rows / (rows.std(axis=0) if private_scale else given["scale"])
    truth = PCA(2).fit(scaled).components_.T

    def median(**options):
        fits = (fitted(rows, **given | options, random_state=seed) for seed in range(21))
        return float(np.median([sin_theta(fit.components_.T, truth) for fit in fits]))

    guessed = {"bound": 5.0, "private_center": True, "method": "analyze_gauss"}
    assert median(**guessed) == pytest.approx(before, rel=0.05)
    assert median() == pytest.approx(now, rel=0.05)
