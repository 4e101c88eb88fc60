"""Test variances in and outside of a released subspace: their cost, and an audit that bugs fail."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

from dppca_core import METHODS, Budget, Cohort, Guarantee, Release
from dppca_core.accounting import closed_form, gaussian
from dppca_core.auditing import lower_bound
from dppca_core.auditing.cases.pairs import coordinate_along, difference_of_sums, orthogonal_pair
from dppca_core.mechanisms import eigenvalues
from dppca_core.numerics.linalg import orthonormalise
from dppca_core.privacy import ACCOUNTINGS, NEIGHBOURS
from tests.core.laws import ALPHA, HalfTheNoise

SHARED = {name: m for name, m in METHODS.items() if m.private and m.trust != "local"}
EVERY_SHARED = pytest.mark.parametrize("method", SHARED.values(), ids=SHARED.keys())
EVERY_RELATION = pytest.mark.parametrize("neighbours", NEIGHBOURS)
PURE = {"amin", "ppca"}


def total(method, budget, share, k=2):
    rest, price = eigenvalues.split(method, budget, share, d=8, k=k)
    return (*method.spends(rest, d=8, k=k), price)


# --- what they cost -------------------------------------------------------------------------------------


@EVERY_SHARED
def test_method_and_eigenvalues_are_the_budget_together(method):
    """They never cost more, and exactly as much where all is Gaussian or all is pure."""
    every = product(NEIGHBOURS, ("exact", "zcdp"), (0.01, 0.5, 0.99), (0.1, 3.0))
    for neighbours, accounting_, share, epsilon in every:
        budget = Budget(epsilon, 1e-5, neighbours, accounting_)
        events = total(method, budget, share)
        assert closed_form.epsilon_of(events, budget.delta) <= epsilon * (1 + 1e-9)
        if all(isinstance(event, Release) for event in events):
            whole = gaussian.noise_multiplier(budget)
            assert closed_form.multiplier_of(events) == pytest.approx(whole, rel=1e-9)
        elif method.name in PURE:
            assert all(event.delta == 0 for event in events)
            assert sum(event.epsilon for event in events) == pytest.approx(epsilon)


@pytest.mark.parametrize("name", ["dps_pca", "analyze_gauss_gap", "amin"])
def test_a_method_left_with_the_whole_budget_is_found_out(name):
    """The check above sees the bug that it is for, with a Gaussian, a stated and a pure price."""
    method, budget = METHODS[name], Budget(1.0, 1e-5)
    _, price = eigenvalues.split(method, budget, 0.5, d=8, k=2)
    assert closed_form.epsilon_of((*method.spends(budget, d=8, k=2), price), budget.delta) > 1.1


@EVERY_SHARED
def test_eigenvalues_get_their_share_at_least(method):
    for accounting_ in ACCOUNTINGS:
        budget, part = (Budget(e, d, accounting=accounting_) for e, d in ((1.0, 1e-5), (0.2, 0.2e-5)))
        price = total(method, budget, 0.2)[-1]
        if method.name in PURE:
            assert price == Guarantee(pytest.approx(0.2))
        else:
            assert price.noise_multiplier <= gaussian.noise_multiplier(part) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "share", "message"),
    [
        ("dps_pca", 0.0, "share must lie strictly between 0 and 1, got 0.0"),
        ("dps_pca", 1.0, "share must lie strictly between 0 and 1, got 1.0"),
        ("dps_pca", True, "share must be a number, got True"),
        ("dps_pca", 1e-17, "share must leave something beside dps_pca, got 1e-17"),
        ("pca", 0.1, "method must be private to share a budget, got pca"),
        ("ldp_pca", 0.1, "ldp_pca trusts nobody with the rows"),
    ],
)
def test_what_cannot_be_split_is_refused(name, share, message):
    with pytest.raises(ValueError, match=message):
        eigenvalues.split(METHODS[name], Budget(1.0, 1e-5), share, d=8, k=2)


# --- how far a row moves them ---------------------------------------------------------------------------

D = 4
rows = st.lists(st.floats(-1e6, 1e6), min_size=D, max_size=D).map(np.array)
bases = st.tuples(st.integers(0, 2**31), st.integers(1, D)).map(
    lambda drawn: orthonormalise(np.random.default_rng(drawn[0]).standard_normal((D, drawn[1])))
)


class NoNoise(np.random.Generator):
    def standard_normal(self, *args, **kwargs):
        return 0.0 * super().standard_normal(*args, **kwargs)


def released_sums(last, basis):
    """Return what is released of three rows and this one, clipped to 3, times n and without noise.

    It is (B, r) as one symmetric matrix, whose Frobenius norm and diagonal are those of the pair.
    """
    cohort = Cohort.from_rows([np.vstack([np.full((3, D), 0.1), last])], 3.0)
    silent = NoNoise(np.random.PCG64(0))
    released = eigenvalues.release(cohort, basis, Release(1.0), Budget(1.0, 1e-5), silent)
    return 4 * block_diag(released.block, released.rest)


@EVERY_RELATION
@given(x=rows, y=rows, basis=bases)
def test_a_row_moves_them_by_at_most_the_sensitivities(neighbours, x, y, basis):
    budget = Budget(1.0, 1e-5, neighbours)
    other = y if neighbours == "replace-one" else np.zeros(D)
    change = released_sums(x, basis) - released_sums(other, basis)
    assert np.linalg.norm(change) <= eigenvalues.sensitivity(budget) * (1 + 1e-12)
    assert np.abs(change.diagonal()).sum() <= eigenvalues.l1_sensitivity(budget) * (1 + 1e-12)


@EVERY_RELATION
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_sensitivities_are_attained(neighbours, k):
    """By rows along two axes: both of the basis or, of one component, one that is orthogonal to it."""
    budget, (e1, e2, *_) = Budget(1.0, 1e-5, neighbours), 3 * np.eye(D)
    other = e2 if neighbours == "replace-one" else np.zeros(D)
    change = released_sums(e1, np.eye(D, k)) - released_sums(other, np.eye(D, k))
    assert np.linalg.norm(change) == pytest.approx(eigenvalues.sensitivity(budget))
    assert np.abs(change.diagonal()).sum() == pytest.approx(eigenvalues.l1_sensitivity(budget))


def test_a_total_in_the_place_of_the_rest_would_move_further():
    """The planted bug: with tr S for what is outside, adding a row moves the pair by sqrt 2, not 1."""
    budget, x, basis = Budget(1.0, 1e-5, "add-remove"), 3 * np.eye(D)[0], np.eye(D, 2)
    change = released_sums(x, basis) - released_sums(np.zeros(D), basis)
    assert np.linalg.norm(change) == pytest.approx(1)
    total = change.trace()
    change[-1, -1] = total
    assert np.linalg.norm(change) > 1.4 * eigenvalues.sensitivity(budget)


def test_block_and_rest_add_up_to_the_trace():
    """Without noise, whatever holds the rows: their matrix, many rows, or few."""
    rng = np.random.default_rng(0)
    for n in (3, 40):
        table = rng.standard_normal((n, 20))
        cohort = Cohort.from_rows([table[: n // 2], table[n // 2 :]], 10.0)
        basis = orthonormalise(rng.standard_normal((20, 2)))
        silent = NoNoise(np.random.PCG64(0))
        released = eigenvalues.release(cohort, basis, Release(1.0), CLAIM, silent)
        moment = table.T @ table / n / 100
        np.testing.assert_allclose(released.block, basis.T @ moment @ basis, atol=1e-12)
        assert released.block.trace() + released.rest == pytest.approx(moment.trace())
        same = eigenvalues.of_moment(moment, basis, 0.0)
        np.testing.assert_allclose(same.block, released.block, atol=1e-12)
        assert same.rest == pytest.approx(released.rest)


# --- the noise, audited ---------------------------------------------------------------------------------

CLAIM = Budget(2.0, 0.01)


def shown(neighbours, k, kind=np.random.Generator, pure=False, draws=2500):
    """Return a lower bound on a release's epsilon, above the truth with probability ALPHA at most."""
    budget = Budget(CLAIM.epsilon, CLAIM.delta, neighbours)
    # The pair's rows are the first two axes: with one component the second is outside of the basis.
    pair, basis = orthogonal_pair(budget), np.eye(3, k)
    price = Guarantee(CLAIM.epsilon) if pure else Release(gaussian.noise_multiplier(budget))
    moved = basis.T @ difference_of_sums(pair) @ basis
    place = coordinate_along(block_diag(moved, difference_of_sums(pair).trace() - moved.trace()))

    def mechanism(cohort, rng):
        released = eigenvalues.release(cohort, basis, price, budget, rng)
        both = cohort.n * block_diag(released.block, released.rest)
        if not pure:
            return place(both)
        # Laplace noise tells most where every coordinate that moved is beyond where it moved to.
        beyond = both.diagonal() - np.eye(3)[0, : k + 1]
        return min(beyond[0], -beyond[1]) if neighbours == "replace-one" else beyond[0]

    return lower_bound.audit(
        mechanism,
        pair,
        delta=0.0 if pure else CLAIM.delta,
        draws=draws,
        rng=kind(np.random.PCG64(1)),
        bound=lower_bound.clopper_pearson if pure else lower_bound.gaussian_tradeoff,
        alpha=ALPHA,
    ).epsilon


@EVERY_RELATION
@pytest.mark.parametrize("pure", [False, True], ids=["Gaussian", "Laplace"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_release_keeps_its_promise_and_half_the_noise_does_not(neighbours, k, pure):
    """Twice the noise that is due would not show half the claim."""
    assert CLAIM.epsilon / 2 < shown(neighbours, k, pure=pure) <= CLAIM.epsilon
    draws = 6000 if pure else 1000  # enough of Gaussian noise to show 1.7 times the claim
    assert shown(neighbours, k, HalfTheNoise, pure, draws) > CLAIM.epsilon


def test_a_sensitivity_of_1_where_more_is_due_is_refuted(monkeypatch):
    monkeypatch.setattr(eigenvalues, "sensitivity", lambda budget: 1.0)
    monkeypatch.setattr(eigenvalues, "l1_sensitivity", lambda budget: 1.0)
    for k in (1, 2):
        assert shown("replace-one", k) > CLAIM.epsilon
        assert shown("replace-one", k, pure=True, draws=6000) > CLAIM.epsilon


# --- what comes out -------------------------------------------------------------------------------------


def test_principal_axes_are_those_of_the_block_and_no_eigenvalue_is_negative():
    basis = orthonormalise(np.random.default_rng(0).standard_normal((6, 3)))
    turn = orthonormalise(np.random.default_rng(1).standard_normal((3, 3)))
    block = turn @ np.diag([2.0, -1.0, 5.0]) @ turn.T
    released = eigenvalues.ReleasedVariances(block, rest=3.0, std=0.5)
    variances, turned = eigenvalues.principal_axes(basis, released)
    np.testing.assert_allclose(variances.along, [5.0, 2.0, 0.0], atol=1e-12)
    assert variances.rest == 3.0
    hidden, _ = eigenvalues.principal_axes(basis, released._replace(rest=-1.0))
    assert hidden.rest == 0.5  # its noise
    assert hidden.times(2.0).rest == 1.0 and hidden.times(2.0).along[0] == pytest.approx(10.0)
    np.testing.assert_allclose(np.abs(turned.T @ basis @ turn[:, [2, 0, 1]]), np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("share", "total", "std", "axes"),
    [
        (0.5, 10.0, 0.0, 1),
        (0.51, 10.0, 0.0, 2),
        (0.8, 10.0, 0.0, 2),
        (0.81, 10.0, 0.0, 3),
        (0.95, 10.0, 0.0, 3),  # no number of them holds it
        (0.5, 4.0, 0.0, 1),  # noise took from the total what the axes hold
        (0.9, 8.0, 0.5, 2),
        (0.9, 8.0, 2.0, 3),
    ],
)
def test_the_fewest_axes_that_hold_a_share(share, total, std, axes):
    """Of variances 5, 3 and 1."""
    assert eigenvalues.fewest_axes(np.array([5.0, 3.0, 1.0]), total, std, share) == axes


def test_a_basis_that_would_break_the_sensitivity_and_a_price_with_a_delta_are_refused():
    cohort, rng = orthogonal_pair(CLAIM)[0], np.random.default_rng(0)
    with pytest.raises(ValueError, match="basis must have orthonormal columns"):
        eigenvalues.release(cohort, 3 * np.eye(3, 2), Release(1.0), CLAIM, rng)
    with pytest.raises(ValueError, match="price must be a Release or purely private"):
        eigenvalues.release(cohort, np.eye(3, 2), Guarantee(1.0, 0.1), CLAIM, rng)
