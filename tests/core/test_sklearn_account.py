"""PrivatePCA with an account: every fit is paid for before its noise, in one process or in several."""

import pickle

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dppca_core import METHODS, Budget, checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts import Account
from dppca_core.accounts.book import OverLimitError
from dppca_core.privacy import Release
from dppca_core.sklearn import PrivatePCA, rehearsal
from dppca_core.sklearn.plan import Asked
from tests.core.accounts.paying import payer

pytestmark = pytest.mark.filterwarnings("ignore:.* is predicted to err:UserWarning")
D, N = 6, 200
ROWS = np.random.default_rng(0).standard_normal((N, D)) * np.arange(D, 0, -1.0)
GIVEN = {"center": 0.0, "bound": 12.0, "epsilon": 0.5}
FITS = {
    "recommended": {},
    "private bound": {"bound": "private", "scale": 20.0},
    "rounds and variances": {"method": "dps_pca", "explained_variance": 0.2},
    "pure": {"method": "amin", "n_components": 2},
    "local": {"method": "ldp_pca"},
    "paid mean and scales": {"private_center": 0.1, "private_scale": 0.1},
    "share of the variance": {"n_components": 0.8},
    "hardened": {"hardened": True},
    "hardened, private bound": {"hardened": True, "bound": "private", "scale": 20.0},
}
EVERY = pytest.mark.parametrize("options", FITS.values(), ids=list(FITS))


class WatchedGenerator(np.random.Generator):
    """Note every draw."""

    drawn = 0

    def standard_normal(self, *args, **kwargs):
        WatchedGenerator.drawn += 1
        return super().standard_normal(*args, **kwargs)


@pytest.fixture
def draws(monkeypatch):
    """Watch the noise of fits in floating point; return how often it was drawn."""
    monkeypatch.setattr(WatchedGenerator, "drawn", 0)
    monkeypatch.setattr(Asked, "generator", lambda asked: WatchedGenerator(np.random.PCG64()))
    return lambda: WatchedGenerator.drawn


@EVERY
def test_every_private_fit_pays_what_it_spends(options):
    """From one account, for any array."""
    with Account(epsilon=50.0, delta=1e-5) as account:
        pca = PrivatePCA(**GIVEN | options, account=account)
        spent = [pca.fit(rows).spent_ for rows in (ROWS, ROWS[:150], ROWS[::-1])]
        payments = account.balance().payments
        assert [payment.events for payment in payments] == spent
        assert {payment.about["method"] for payment in payments} == {pca.method_}
        assert [payment.about["rows"] for payment in payments] == [N, 150, N]
    assert not pca.simulation_
    assert account.spent == pytest.approx(closed_form.epsilon_of(account.events, 1e-5), rel=0.1)
    with pytest.raises(ValueError, match="closed at the end of its with block"):
        pca.fit(ROWS)


@EVERY
def test_beyond_the_limit_nothing_is_drawn_or_spent(options, draws):
    account = Account(epsilon=0.3, delta=1e-5)
    with pytest.raises(OverLimitError, match="nothing was spent"):
        PrivatePCA(**GIVEN | options, account=account).fit(ROWS)
    assert not draws() and account.events == ()


STARTS = np.linalg.qr(np.random.default_rng(1).standard_normal((D, D)))[0]
REFUSED = [
    *({"method": "two_stage", "params": {"s_hat": kept}} for kept in (99, 0, 1.5, ROWS[0], "x")),
    *({"method": "two_stage", "params": {"signal": signal}} for signal in (-1.0, 1.0, np.nan)),
    *(
        {"method": name, "params": {"iterations": 4.0}}
        for name in ("stacked_rounds", "stacked_rounds_sealed")
    ),
    *({"method": "stacked_rounds_own_noise", "params": {"iterations": rounds}} for rounds in (0, 4.0, 10**6)),
    *({"method": "dps_pca", "params": {"start": start}} for start in ("x", STARTS, ROWS[:, :1])),
    *({"method": "dps_pca", "params": {"iterations": rounds}} for rounds in (2 * 10**5, 10**9, ROWS[0])),
    *({"method": "noisy_power", "params": {"iterations": rounds}} for rounds in (2 * 10**5, 10**9)),
    {"method": "two_stage", "params": {"iterations": 10**9, "share": 0.5}},
    {"method": "dp_oja", "params": {"batches": 2.5}},
    {"method": "ppca", "n_components": 2, "params": {"scans": 2.5}},
    {"method": "analyze_gauss", "params": {"noise": "loud"}},
    *(
        {"method": "analyze_gauss_sparse", "params": params, "bound": "private", "scale": 20.0}
        for params in ({"noise": "mirrored"}, {"s_hat": 3, "shrink": True}, {"s_hat": 0}, {"s_hat": 99})
    ),
    {"method": "analyze_gauss", "params": {"shrink": ROWS[0]}},
    *({"bound": bound, "hardened": hardened} for bound in (1e200, 1e-200) for hardened in (False, True)),
    *({"method": "two_stage", "params": {"s_hat": kept}, "hardened": True} for kept in (99, 1.5, ROWS[0])),
]


@pytest.mark.parametrize("options", REFUSED, ids=lambda options: checks.shown(options))
def test_what_public_numbers_refuse_costs_nothing(options):
    """The account is as it was, can be read, and pays for the next fit."""
    account = Account(epsilon=50.0, delta=1e-5)
    with pytest.raises(ValueError, match="must") as refusal:
        PrivatePCA(**GIVEN | options, account=account).fit(ROWS)
    assert "ambiguous" not in str(refusal.value)
    assert account.events == () and account.spent == 0
    assert PrivatePCA(**GIVEN, account=account).fit(ROWS).spent_ == account.events


@pytest.mark.parametrize(
    "options",
    [
        {"method": "noisy_power", "params": {"iterations": np.int64(4)}},
        {"method": "two_stage", "params": {"s_hat": np.int32(3), "share": np.float32(0.5)}},
        {"method": "two_stage", "params": {"s_hat": np.str_("released")}},
        {"epsilon": np.int64(1), "hardened": True},
        {"epsilon": np.float32(0.5), "delta": np.float32(1e-6), "hardened": np.True_},
        {"epsilon": np.float32(0.5), "method": "amin"},
        {"epsilon": np.float32(0.5), "bound": np.float32(12), "private_center": np.float32(0.25)},
        {"n_components": np.float32(0.75), "hardened": np.False_},
        {"explained_variance": np.float32(0.25), "method": "dps_pca"},
    ],
    ids=lambda options: checks.shown(options),
)
def test_numbers_of_numpy_are_paid_for_as_those_of_python(options, tmp_path):
    """All of one kind can be told from a float or an int by no file."""
    of_python = {name: checks.plain(value) for name, value in options.items()}
    if "params" in options:
        of_python["params"] = {name: checks.plain(value) for name, value in options["params"].items()}
    path = tmp_path / "book"
    account = Account(np.float32(40), np.float64(1e-5), path=path)
    ours = PrivatePCA(**GIVEN | options, account=account).fit(ROWS)
    same = PrivatePCA(**GIVEN | of_python, account=account).fit(ROWS)
    assert ours.spent_ == same.spent_ and account.events == (*ours.spent_, *same.spent_)
    assert Account(np.int64(50), 1e-5, path=path).events == account.events


def test_hardened_takes_truth_values_of_numpy_as_a_grid_search_gives_them():
    grid = {"hardened": np.array([False, True])}
    search = GridSearchCV(PrivatePCA(method="analyze_gauss", **GIVEN), grid, cv=2, error_score="raise").fit(
        ROWS
    )
    assert len(search.cv_results_["params"]) == 2
    with pytest.raises(ValueError, match="hardened must be a bool, got 1"):
        PrivatePCA(**GIVEN, hardened=1).fit(ROWS)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.private])
def test_options_are_checked_without_rows_for_every_method(name):
    """None looks at rows before it has checked its options, and none gets further without them."""
    sizes = {"n": N, "d": D, "k": 1, "budget": Budget(1.0, 1e-6)}
    assert rehearsal.check_options(METHODS[name], {}, **sizes) is None
    with pytest.raises(ValueError, match="k must be"):
        rehearsal.check_options(METHODS[name], {}, **sizes | {"k": D})


def test_the_watch_sees_noise(draws):
    """Without an account the same fits draw, so that the check above would see one that pays too late."""
    PrivatePCA(**GIVEN).fit(ROWS)
    assert draws() > 0


def test_it_is_paid_before_noise_and_stays_paid(draws, monkeypatch):
    def fail(*given, **named):
        raise RuntimeError("while noise was drawn")

    account = Account(epsilon=1.0, delta=1e-5)
    monkeypatch.setattr(WatchedGenerator, "standard_normal", fail)
    with pytest.raises(RuntimeError, match="while noise"):
        PrivatePCA(**GIVEN, account=account).fit(ROWS)
    assert len(account.balance().payments) == 1
    with pytest.raises(ValueError, match="finite numbers only"):  # and refused before it is paid for
        PrivatePCA(**GIVEN | {"center": -1e308}, account=account).fit(np.full((4, D), 1e308))
    assert len(account.balance().payments) == 1


@pytest.mark.parametrize("state", [0, np.random.default_rng(0), np.random.RandomState(0)])
def test_a_simulation_is_not_paid_for(state):
    account = Account(epsilon=1.0, delta=1e-5)
    with pytest.raises(
        ValueError, match="random_state must be None where an account pays: noise that can be"
    ):
        PrivatePCA(**GIVEN, account=account, random_state=state).fit(ROWS)
    assert account.events == ()


def test_neighbours_are_those_of_the_account():
    account = Account(epsilon=1.0, delta=1e-5, neighbours="add-remove")
    with pytest.raises(ValueError, match="neighbours must be those of the account, add-remove"):
        PrivatePCA(**GIVEN, account=account).fit(ROWS)
    PrivatePCA(**GIVEN, method="analyze_gauss", neighbours="add-remove", account=account).fit(ROWS)
    assert len(account.events) == 1


def test_what_pays_for_a_table_pays_for_fits_in_floating_point_too():
    pays = payer(1.0)
    ours = PrivatePCA(**GIVEN, account=pays).fit(ROWS)
    assert pays.balance().events == ours.spent_


def test_copies_and_what_is_saved_pay_from_one_book(tmp_path):
    account = Account(epsilon=2.0, delta=1e-5, path=tmp_path / "book")
    pca = PrivatePCA(**GIVEN, account=account)
    loaded = pickle.loads(pickle.dumps(pca.fit(ROWS)))  # noqa: S301
    for each in (pca, clone(pca), loaded):
        each.fit(ROWS)
    assert len(account.balance().payments) == 4
    assert clone(pca).account is account
    with pytest.raises(TypeError, match="a book in memory cannot be sent to another process"):
        pickle.dumps(PrivatePCA(account=Account(1.0, 1e-5)))


# --- a grid search on two processes -------------------------------------------------------------------------

# What the recommended method spends at this epsilon; folds and refit are five fits.
EACH = Release(gaussian.noise_multiplier(Budget(0.5, 1e-6)))


@pytest.fixture
def workers():
    yield
    get_reusable_executor().shutdown(wait=True)


def search(account, **more):
    """Return a search over two candidates and two folds, in two processes."""
    pca = PrivatePCA(**GIVEN, account=account)
    return GridSearchCV(pca, {"n_components": [1, 2]}, cv=2, n_jobs=2, **more)


def first_components(pca, rows, _=None):
    return float(np.abs(pca.components_[0]).max())


def test_a_search_in_two_processes_pays_for_every_fit_and_stops_at_the_limit(tmp_path, workers):
    """Two candidates times two folds, and the refit; then a limit for three, of which no fit passes it."""
    with Account(epsilon=5.0, delta=1e-6, path=tmp_path / "enough") as account:
        chosen = search(account, scoring=first_components).fit(ROWS)
        payments = account.balance().payments
        assert len(payments) == 2 * 2 + 1
        assert sorted(payment.about["rows"] for payment in payments) == [N // 2] * 4 + [N]
        assert account.events == (EACH,) * 5 and chosen.best_estimator_.spent_ == (EACH,)
        assert account.spent == pytest.approx(closed_form.epsilon_of(account.events, 1e-6), rel=1e-3)
    limit = closed_form.epsilon_of((EACH,) * 3, 1e-6) * 1.01
    with Account(epsilon=limit, delta=1e-6, path=tmp_path / "little") as account:
        with pytest.raises(OverLimitError, match="nothing was spent"):
            search(account, scoring=first_components, error_score="raise").fit(ROWS)
        assert account.events == (EACH,) * 3 and account.spent <= limit


def test_a_search_in_threads_needs_no_file():
    from joblib import parallel_config

    with Account(epsilon=5.0, delta=1e-6) as account, parallel_config("threading"):
        search(account, scoring=first_components).fit(ROWS)
    assert account.events == (EACH,) * 5
