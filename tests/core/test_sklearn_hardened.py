"""PrivatePCA fit for real rows: the sums, the noise and the payment of a release, from an array."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.decomposition import PCA

from dppca_core import Budget
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts.book import Book, OverLimitError
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.numerics import block_power, linalg, moments
from dppca_core.numerics.subspace_metrics import sin_theta
from dppca_core.release import array_release, bundle, discrete_gaussian, private_release
from dppca_core.release.array_release import CENTRAL
from dppca_core.sklearn import PrivatePCA
from tests.core.accounts.paying import payer
from tests.core.release.summing import sum_rows

pytestmark = pytest.mark.filterwarnings("ignore:.* is predicted to err:UserWarning")
ALPHA = 1e-6  # of the statistical test; noise comes from the operating system, so no seed
D, N, BOUND = 6, 400, 12.0
RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((N, D)) * np.arange(D, 0, -1.0) @ np.linalg.qr(RNG.standard_normal((D, D)))[0] + 3
GIVEN = {"center": 3.0, "bound": BOUND, "hardened": True, "delta": 1e-5}  # one row in seven is longer
CLIPPED = moments.clip_rows(ROWS - 3.0, BOUND)
EVERY = pytest.mark.parametrize("method", CENTRAL)


def fitted(rows=ROWS, **options):
    return PrivatePCA(**(GIVEN | options)).fit(rows)


def without_noise(monkeypatch):
    """Replace noise by zeros; return the list of the whole numbers that got none."""
    sums = []

    def draw(whole, std, keep_drawing=lambda drawn: True):
        sums.append(np.array(whole))
        return whole

    monkeypatch.setattr(discrete_gaussian, "add_noise", draw)
    return sums


def test_all_that_is_offered_for_one_party_is_hardened():
    assert set(CENTRAL) == {"two_stage", "stacked_rounds", "analyze_gauss", "analyze_gauss_sparse"}


@pytest.mark.parametrize("scale", [None, [1.0, 2, 1, 1, 4, 1]])
@pytest.mark.parametrize("method", ["analyze_gauss", "analyze_gauss_sparse"])
def test_without_noise_it_is_plain_pca_of_the_clipped_rows(monkeypatch, method, scale):
    without_noise(monkeypatch)
    ours = fitted(method=method, n_components=3, scale=scale)
    rows = moments.clip_rows((ROWS - 3.0) / (1.0 if scale is None else np.array(scale)), BOUND)
    values, vectors = linalg.top_eigenpairs(rows.T @ rows / N, 3)
    signs = np.sign((ours.components_ * vectors.T).sum(axis=1))
    np.testing.assert_allclose(ours.components_, signs[:, None] * vectors.T, atol=1e-5)
    squares = np.square(ours.components_ * ours.scale_).sum(axis=1)
    variances = values * BOUND**2 * N / (N - 1)
    np.testing.assert_allclose(ours.explained_variance_, variances * squares, rtol=1e-5)
    if method == "analyze_gauss":  # the moment of a sparse one tells nothing else
        plain = PCA(3).fit(np.r_[rows, -rows] * BOUND)  # about 0
        np.testing.assert_allclose(ours.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-5)
        scaled = (ROWS - 3.0) / ours.scale_
        plain.explained_variance_, plain.noise_variance_ = (
            each * (2 * N - 1) / (2 * N - 2) for each in (plain.explained_variance_, plain.noise_variance_)
        )
        logs = plain.score_samples(scaled) - np.log(ours.scale_).sum()
        np.testing.assert_allclose(ours.score_samples(ROWS), logs, rtol=1e-4)
    np.testing.assert_allclose(ours.transform(ROWS), ((ROWS - 3.0) / ours.scale_) @ ours.components_.T)
    heaviest = np.abs(ours.components_).argmax(axis=1)
    assert (ours.components_[range(3), heaviest] > 0).all()


@EVERY
def test_without_noise_others_find_its_directions(monkeypatch, method):
    without_noise(monkeypatch)
    rows = np.random.default_rng(2).standard_normal((N, D)) * [9, 7, 1, 1, 1, 1]
    ours = fitted(rows, method=method, n_components=2, epsilon=1e6, center=0.0)
    assert sin_theta(ours.components_.T, np.eye(D)[:, :2]) < 0.1


def test_paid_mean_and_scales_stand_for_a_standard_scaler(monkeypatch):
    """In the units of the data, whatever the public center and scale; no row is clipped."""
    without_noise(monkeypatch)
    rows = 100 + ROWS * np.geomspace(1, 0.05, D)
    paid = {"private_center": 0.1, "private_scale": 0.2, "scale": 2.0, "epsilon": 1e12}
    ours = fitted(
        rows, method="analyze_gauss", n_components=2, **GIVEN | {"center": 90.0, "bound": 60.0} | paid
    )
    np.testing.assert_allclose(ours.mean_, rows.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(ours.scale_, rows.std(axis=0), rtol=1e-3)
    moved = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    vectors = PCA(2).fit(moved).components_.T
    assert sin_theta(ours.components_.T, vectors) < 0.05 and ours.bound_ > 1
    assert len(ours.spent_) == 3 and ours.epsilon_ == pytest.approx(1e12, rel=1e-6)
    square = np.square(ours.components_[0] * ours.scale_).sum()
    expected = PCA(1).fit(moved).explained_variance_[0] * square
    assert ours.explained_variance_[0] == pytest.approx(expected, rel=0.1)
    np.testing.assert_allclose(
        ours.transform(ours.inverse_transform(ours.transform(rows))), ours.transform(rows)
    )


@EVERY
def test_sums_are_to_the_bit_those_of_the_same_rows_in_a_release(monkeypatch, method):
    """Whatever is paid for before: every whole number that gets noise is the same, in the same order."""
    monkeypatch.setattr(block_power, "begin", lambda *given: np.eye(D)[:, :2])  # not at random
    sums = without_noise(monkeypatch)
    paid = {"private_center": 0.1, "private_scale": 0.2}
    for options, shares in (({}, {}), (paid, {"mean_share": 0.1, "scale_share": 0.2})):
        ours = fitted(method=method, n_components=2, **options)
        mine, sums[:] = list(sums), []
        request = array_release.requested(method, Budget(1.0, 1e-5), {}, d=D, k=2, **shares)
        names = [f"column {i}" for i in range(D)]
        made = private_release.make(request, [CLIPPED], payer(), features=names, public={})
        assert len(mine) == len(sums) >= 2
        for first, second in zip(mine, sums, strict=True):
            np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(made.basis, ours.release_.basis)
        sums.clear()


def test_it_is_paid_before_noise_is_drawn_and_stays_paid(monkeypatch, tmp_path):
    pays = payer(2.0, tmp_path / "book")

    def fail(*given):
        raise RuntimeError("while noise was drawn")

    with monkeypatch.context() as planted:
        planted.setattr(discrete_gaussian, "add_noise", fail)
        with pytest.raises(RuntimeError, match="while noise"):
            fitted(account=pays)
    (payment,) = payer(2.0, tmp_path / "book").balance().payments
    ours = fitted(account=pays)
    assert ours.spent_ == payment.events and ours.release_.payment.id != payment.id
    assert ours.epsilon_ == closed_form.epsilon_of(payment.events, 1e-5) == pytest.approx(1.0)
    assert pays.balance().payments == (payment, ours.release_.payment)


def test_beyond_the_limit_nothing_is_drawn(monkeypatch):
    pays, sums = payer(1.2), without_noise(monkeypatch)
    first = fitted(account=pays)
    drawn = len(sums)
    with pytest.raises(OverLimitError, match="nothing was spent"):
        fitted(account=pays)
    assert pays.balance().payments == (first.release_.payment,) and len(sums) == drawn
    with pytest.raises(ValueError, match="those of the account"):
        fitted(account=pays, epsilon=0.1, neighbours="add-remove", method="analyze_gauss")
    with pytest.raises(ValueError, match="set a limit first"):
        fitted(account=Book().payer(pays.table))


@pytest.mark.parametrize(
    "options", [{}, {"accounting": "zcdp"}, {"neighbours": "add-remove"}, {"epsilon": 1e-3}]
)
def test_without_an_account_a_book_in_memory_pays(options):
    ours = fitted(method="analyze_gauss", **options)
    assert ours.release_.payment.events == ours.spent_ and ours.epsilon_ <= ours.epsilon * (1 + 1e-9)


def of_moment(budget, factor=1.0):
    """Return the two-sided chance of the noise in the upper triangle of a released moment, as one chi-square.

    factor: of the std that the budget asks for.
    """
    d, n = 40, 2000
    rows = np.random.default_rng(1).standard_normal((n, d))
    pays = payer()
    options = {"center": 0.0, "bound": 5.0, "method": "analyze_gauss", "epsilon": budget.epsilon}
    made = fitted(rows, **options, account=pays).release_
    noisy = pays.drawn(made.payment.id).once("moment 1", lambda: pytest.fail("it was drawn before"))
    summed = sum_rows([moments.clip_rows(rows, 5.0)], d)
    noise = (noisy - summed.total / 4.0**summed.bits / n)[np.triu_indices(d, 1)]
    std = factor * symmetric_gaussian.sum_noise_std(budget) / np.sqrt(2) / n
    below = stats.chi2.cdf(float(np.sum((noise / std) ** 2)), len(noise))
    return 2 * min(below, 1 - below)


def test_noise_in_a_moment_has_its_std_and_half_of_it_is_found_out(monkeypatch):
    """A chi-square of 780 entries: sound noise fails once in a million runs."""
    budget, add_noise = Budget(1.0, 1e-5), discrete_gaussian.add_noise
    assert symmetric_gaussian.sum_noise_std(budget) == np.sqrt(2) * gaussian.noise_multiplier(budget)
    assert of_moment(budget) > ALPHA
    monkeypatch.setattr(
        discrete_gaussian, "add_noise", lambda whole, std, *more: add_noise(whole, std / 2, *more)
    )
    assert of_moment(budget) < ALPHA


def test_the_recommended_method_is_that_of_the_other_path_and_shortens_as_it_does():
    for epsilon in (0.5, 100.0):
        ours = fitted(epsilon=epsilon)
        other = fitted(epsilon=epsilon, hardened=False)
        for name in ("method_", "bound_", "recommendation_", "epsilon_"):
            assert getattr(ours, name) == getattr(other, name)
        assert ours.release_.document["public"]["bound"] == ours.bound_ and other.release_ is None
    assert not ours.simulation_
    assert fitted(epsilon=0.5, private_center=0.1).bound_ == BOUND


def test_a_share_of_the_variance_decides_after_the_release(monkeypatch):
    """The whole moment is paid for, whatever k: the release has all axes, the estimator those it needs."""
    without_noise(monkeypatch)
    for share in (0.3, 0.8):
        ours = fitted(n_components=share, method="analyze_gauss")
        values, vectors = linalg.top_eigenpairs(CLIPPED.T @ CLIPPED, D)
        k = int(np.searchsorted(np.cumsum(values) / values.sum(), share)) + 1
        assert ours.n_components_ == k and ours.release_.basis.shape == (D, D - 1)
        assert sin_theta(ours.components_.T, vectors[:, :k]) < 1e-4
        np.testing.assert_allclose(ours.explained_variance_ratio_, values[:k] / values.sum(), rtol=1e-4)
        assert ours.spent_ == fitted(method="analyze_gauss").spent_
    assert fitted(n_components=0.5).method_ == "analyze_gauss"
    with pytest.raises(ValueError, match="a whole number with two_stage"):
        fitted(n_components=0.5, method="two_stage")


def test_a_moment_of_too_many_features_is_not_recommended(monkeypatch):
    assert fitted(epsilon=0.5).method_ == "analyze_gauss"
    monkeypatch.setattr(discrete_gaussian, "MOST_FEATURES", D - 1)
    assert fitted(epsilon=0.5).method_ != "analyze_gauss"


def test_components_that_may_be_noise_are_noted():
    """In 15 of 20 fits at least: noise stands out of itself in one or two of a hundred (9 of 600)."""
    noted = [fitted(epsilon=0.01, n_components=2).notes_ for _ in range(20)]
    assert noted.count(("components that may be axes of noise: 1, 2",)) >= 15
    assert fitted(epsilon=1e5, method="analyze_gauss").notes_ == ()


@pytest.mark.parametrize("method", ["two_stage", "stacked_rounds"])
def test_only_a_method_of_one_moment_has_variances(method):
    with pytest.raises(AttributeError, match=f"no part of a hardened release by {method}"):
        fitted(method=method).explained_variance_  # noqa: B018
    with pytest.raises(ValueError, match=f"explained_variance must be None or False: {method} releases none"):
        fitted(method=method, explained_variance=0.1)
    ours = fitted(method="analyze_gauss", explained_variance=0.1)  # which costs nothing beside it
    assert len(ours.spent_) == 1 and ours.explained_variance_.shape == (1,)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"random_state": 0}, "random_state must be None where hardened"),
        ({"method": "dps_pca"}, "method must be one of analyze_gauss, analyze_gauss_sparse, recommended"),
        ({"method": "amin"}, "method must be one of"),
        (
            {"method": "two_stage", "params": {"iterations": 3}},
            "params of a hardened release can only be s_hat",
        ),
        ({"method": "analyze_gauss", "accounting": "as-printed"}, "accounting must be one of exact, zcdp"),
        ({"hardened": "yes"}, "hardened must be a bool"),
        ({"account": 3}, "account must be an Account or a Payer"),
    ],
)
def test_what_does_not_go_with_it_is_refused(options, says):
    with pytest.raises(ValueError, match=says):
        fitted(**options)


def test_rows_that_overflow_are_refused_before_they_are_paid_for():
    pays = payer()
    with pytest.raises(ValueError, match="finite numbers only"):
        fitted(np.full((4, D), 1e308), center=-1e308, account=pays)
    assert not pays.balance().payments


def test_the_bundle_of_an_array_has_its_document_and_nothing_of_a_dictionary():
    frame = pd.DataFrame(ROWS, columns=list("abcdef"))
    pays = payer(3.0)
    made = fitted(frame, account=pays, method="two_stage", params={"s_hat": 4}, n_components=2).release_
    texts = bundle.files(made.document, pays.balance(), made.payment)
    assert json.loads(texts["release.json"]) == made.document and made.document["features"] == list("abcdef")
    assert made.document["public"] == {"center": [3.0] * D, "scale": [1.0] * D, "bound": BOUND}
    assert bundle.recipe(made.document).s_hat == 4
    absent = {"dictionary.json", "apply.py", "apply.R", "apply.csv"}
    assert not absent & texts.keys() and not any(name in texts["README.txt"] for name in absent)
    assert "dictionary.json" not in texts["guarantee.md"] and "PrivatePCA.transform" in texts["guarantee.md"]


def test_parameters_are_kept_as_they_were_given():
    plain = PrivatePCA(center=3.0, bound=BOUND, random_state=0).fit(ROWS)
    assert (plain.get_params()["hardened"], plain.get_params()["account"]) == (False, None)
    pays = payer()
    for account in (None, pays):
        copied = clone(PrivatePCA(**GIVEN, account=account))
        assert copied.get_params() == {**PrivatePCA(**GIVEN).get_params(), "account": account}
        copied.fit(ROWS)
    assert len(pays.balance().payments) == 1  # a copy pays from the same account
