"""Two stages on real patients: exact sums, noise of the stated size in every step, no step drawn twice."""

import itertools
import math
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget, Cohort, sin_theta
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, ReleaseSteps
from dppca_core.mechanisms import stacked, two_stage
from dppca_core.methods import METHODS
from dppca_core.numerics import moments, unit_rows
from dppca_core.privacy import Release
from dppca_core.release import discrete_gaussian, private_release, stages
from dppca_core.release.request import OFFERED, STACKED_ROUNDS, TWO_STAGES, Request, noisy_sums
from tests.core.accounts.paying import TABLE, DictSteps, begun

ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed
D, K, BITS = 30, 2, 20
BUDGET = Budget(1.0, 1e-5)
RNG = np.random.default_rng(5)
ODD = np.array([[0.0] * D, [1e-300] * D, [np.nan] + [1.0] * (D - 1), [1e300] * D, [1.0] + [0.0] * (D - 1)])
TRUTH = np.linalg.qr(np.vstack([RNG.standard_normal((6, K)), np.zeros((D - 6, K))]))[0]
SCORES = RNG.standard_normal((2000, K)) * 2
ROWS = moments.clip_rows(SCORES @ TRUTH.T + 0.4 * RNG.standard_normal((2000, D)), 8.0)
PARTS = [ROWS[:900], ROWS[900:]]
NAMES = [f"column {i}" for i in range(D)]


def basis(seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((D, K)))[0]


def test_products_are_exact_and_no_row_depends_on_another():
    """One by one in whole numbers of Python, and in any order, to the last bit."""
    rows, block = np.vstack([ROWS[:40], ODD]), basis()
    total = stages.whole_products(rows, block, BITS)
    alone = [stages.whole_products(row[None], block, BITS) for row in rows]
    exact = [[sum(int(part[i, j]) for part in alone) for j in range(K)] for i in range(D)]
    assert [[Fraction(entry) for entry in row] for row in total.tolist()] == exact
    np.testing.assert_array_equal(total, stages.whole_products(rows[::-1], block, BITS))
    usable = unit_rows.unit_rows(rows)
    mean = unit_rows.normalised_product(usable, block) * len(rows)
    np.testing.assert_allclose(total / 4.0**BITS, mean, atol=len(rows) * 2.0 ** (3 - BITS))


@pytest.mark.parametrize("bits", [8, 20])
def test_no_row_moves_a_sum_by_more_than_one(bits):
    """Of rows of every length, among them those whose q falls on an edge; a length of 1.01 is rejected."""
    shapes = RNG.standard_normal((300, D)) * 10.0 ** RNG.uniform(-12, 12, (300, D))
    longest = max(
        np.linalg.norm(stages.whole_products(row[None], basis(3), bits))
        for row in (*shapes, *ODD, *basis(3).T, *ROWS[:50])
    )
    assert 0.9 * 4.0**bits < longest <= 4.0**bits
    assert 1.01 * longest > 4.0**bits


def source_of(parts, request, drawn, progress=lambda share: True):
    return stages.Source(parts, noisy_sums(request.method, len(parts)), request.budget, drawn, progress)


def drawn_of(parts, request, progress=lambda share: True, drawn=None):
    drawn = drawn or DictSteps()
    division = private_release._division(request, parts)
    answer = stages.release(source_of(parts, request, drawn, progress), request.k, division, request.kept)
    return drawn, division, answer


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("method", "factor"), [("two_stage_sealed", 1.0), ("two_stage_own_noise", 3**0.5)])
def test_the_noise_of_every_step_is_gaussian_of_its_part_of_the_budget(method, factor, neighbours):
    """Kolmogorov-Smirnov at ALPHA of patients who are all zero; 20 % more or less is rejected."""
    budget = Budget(1.0, 1e-5, neighbours)
    z, moved = gaussian.noise_multiplier(budget), 2.0 if neighbours == "replace-one" else 1.0
    parts = [np.zeros((1000, D))] * 3
    rounds, on, off = [], [], []
    for _ in range(9):
        drawn, division, answer = drawn_of(parts, Request(method, D, K, budget, s_hat=20))
        for number, weight in enumerate(two_stage.round_weights(division.rounds)):
            values = drawn.once(f"round {number + 1}", lambda: pytest.fail("drawn twice"))
            std = factor * moved * z / math.sqrt(division.share * weight)
            rounds.append(values.ravel() * 3000 / std)
        std = factor * math.sqrt(moved) * z / math.sqrt(1 - division.share)
        on.append(answer.moment.diagonal() * 3000 / std)
        off.append(answer.moment[np.triu_indices(20, 1)] * 3000 / (std / math.sqrt(2)))
    for measured in map(np.concatenate, (rounds, on, off)):
        assert stats.kstest(measured, "norm").pvalue > ALPHA
    both = np.concatenate([*rounds, *off])
    assert all(stats.kstest(both * wrong, "norm").pvalue < ALPHA for wrong in (0.8, 1.25))
    spent = (
        sum(division.share * weight / z**2 for weight in two_stage.round_weights(division.rounds))
        + (1 - division.share) / z**2
    )
    assert spent == pytest.approx(1 / z**2)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_what_follows_the_noise_knows_its_size_and_the_number_of_patients_only_where_it_is_public(
    neighbours, monkeypatch
):
    asked = {}

    def keep(leading, last, block_std, *, s_hat, n):
        asked["rows"] = last, block_std, n
        return np.arange(9)

    def directions(block, rows, d, k, std, n):
        asked["directions"] = std, n
        return basis()

    monkeypatch.setattr(two_stage, "rows_to_keep", keep)
    monkeypatch.setattr(two_stage, "directions_from_block", directions)
    budget = Budget(1.0, 1e-5, neighbours)
    request = Request("two_stage_own_noise", D, K, budget, s_hat="released")
    drawn, division, answer = drawn_of(PARTS, request)
    moved, n = (2.0, 2000) if neighbours == "replace-one" else (1.0, math.inf)
    std = math.sqrt(2 * moved / (1 - division.share)) * gaussian.noise_multiplier(budget) / 2000
    last, block_std, known = asked["rows"]
    kept = {step: drawn.once(step, lambda: pytest.fail("drawn twice")) for step in ("rows", "moment")}
    np.testing.assert_array_equal(
        last, drawn.once(f"round {division.rounds}", lambda: pytest.fail("drawn twice"))
    )
    np.testing.assert_array_equal(answer.rows, kept["rows"])
    np.testing.assert_array_equal(answer.moment, kept["moment"])
    assert (block_std, known) == (pytest.approx(std, rel=1e-4), n)
    assert asked["directions"] == (pytest.approx(std / math.sqrt(2), rel=1e-4), n)


def test_of_too_many_features_that_stand_out_the_heaviest_are_kept(monkeypatch):
    request = Request("two_stage_sealed", D, K, Budget(100.0, 1e-5), s_hat="released")
    monkeypatch.setattr(two_stage, "rows_to_keep", lambda *args, **options: np.arange(D))
    monkeypatch.setattr(discrete_gaussian, "MOST_FEATURES", 4)
    _, _, answer = drawn_of(PARTS, request)
    heaviest = np.argsort(np.linalg.norm(TRUTH * SCORES.std(axis=0), axis=1))[-4:]
    assert sorted(answer.rows) == sorted(heaviest)
    monkeypatch.setattr(two_stage, "rows_to_keep", lambda *args, **options: np.arange(4))
    assert drawn_of(PARTS, request)[2].rows.tolist() == [0, 1, 2, 3]


def test_progress_goes_up_by_equal_readings_to_all():
    reported = []
    _, division, _ = drawn_of(
        PARTS,
        Request("two_stage_sealed", D, K, BUDGET, s_hat=6),
        lambda share: reported.append(share) or True,
    )
    steps = np.diff([0.0, *reported])
    assert reported[-1] == 1.0 and (steps >= -1e-12).all() and steps.max() < 1.01 / (division.rounds + 1)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    ("method", "factor"), [("stacked_rounds_sealed", 1.0), ("stacked_rounds_own_noise", 3**0.5)]
)
def test_the_noise_of_rounds_alone_is_gaussian_of_an_equal_part(method, factor, neighbours):
    """Kolmogorov-Smirnov at ALPHA of patients who are all zero; 20 % more or less is rejected."""
    budget = Budget(1.0, 1e-5, neighbours)
    moved = 2.0 if neighbours == "replace-one" else 1.0
    std = factor * moved * gaussian.noise_multiplier(budget) * math.sqrt(stacked.ROUNDS) / 30
    drawn, wide = DictSteps(), 300
    by_rounds([np.zeros((10, wide))] * 3, Request(method, wide, K, budget), drawn)
    values = [drawn.once(f"round {t + 1}", lambda: pytest.fail("drawn twice")) for t in range(12)]
    measured = np.ravel(values) / std
    assert stats.kstest(measured, "norm").pvalue > ALPHA
    assert all(stats.kstest(measured * wrong, "norm").pvalue < ALPHA for wrong in (0.8, 1.25))


def by_rounds(parts, request, drawn=None):
    axes = private_release._release_rounds(request, source_of(parts, request, drawn or DictSteps()))
    return axes.basis, axes.loading_std


@pytest.mark.parametrize(("k", "bulk"), [(1, 0.4), (2, 0.8)])
def test_the_noise_of_loadings_is_what_many_releases_show(k, bulk):
    """The root mean square over 60 releases, within a fifth; half as much noise is rejected."""
    rng = np.random.default_rng(6)
    scores = rng.standard_normal((500, k)) * np.array([4.0, 2.0])[:k]
    rows = scores @ TRUTH[:, :k].T + bulk * rng.standard_normal((500, D))
    rows /= np.linalg.norm(rows, axis=1).max()
    request = Request("stacked_rounds", D, k, Budget(5.0, 1e-5))
    runs = [by_rounds([rows], request) for _ in range(60)]
    clean = by_rounds([rows], Request("stacked_rounds", D, k, Budget(1e6, 1e-5)))[0]
    bases = [basis * np.sign((basis * clean).sum(axis=0)) for basis, _ in runs]
    seen = np.sqrt(np.square(np.array(bases) - np.mean(bases, axis=0)).mean(axis=(0, 1)))
    stated = np.sqrt(np.square([noise for _, noise in runs]).mean(axis=(0, 1)))
    np.testing.assert_allclose(stated / seen, 1, atol=0.2)
    assert (np.abs(stated / 2 / seen - 1) > 0.2).all()


@pytest.mark.parametrize("method", ["two_stage_sealed", "two_stage_own_noise", "stacked_rounds_own_noise"])
def test_it_errs_as_the_method_does(method):
    """The same patients, 20 releases and 40 runs: two-sample Kolmogorov-Smirnov at 1e-4.

    Noise twice as large fails: its errors are all larger.
    """
    budget = Budget(0.5, 1e-5)
    cohort = Cohort.from_rows(PARTS, 1.0)

    def simulated(budget):
        rng = np.random.default_rng(1)
        fit, options = METHODS[method].fit, Request(method, D, K, budget, s_hat=8).method_options
        bases = [fit(cohort, k=K, budget=budget, rng=rng, **options).basis for _ in range(40)]
        return [sin_theta(basis, TRUTH) for basis in bases]

    def drawn_once(request):
        return by_rounds(PARTS, request)[0] if method in STACKED_ROUNDS else drawn_of(PARTS, request)[2].basis

    measured = [sin_theta(drawn_once(Request(method, D, K, budget, s_hat=8)), TRUTH) for _ in range(20)]
    assert stats.ks_2samp(measured, simulated(budget)).pvalue > 1e-4
    assert stats.ks_2samp(measured, simulated(Budget(0.2, 1e-5))).pvalue < 1e-4


def test_without_noise_it_finds_the_pattern_and_its_rows():
    request = Request("two_stage", D, K, Budget(1e6, 1e-5), s_hat="released")
    _, _, answer = drawn_of(PARTS, request)
    assert set(range(6)) <= set(answer.rows.tolist())
    assert sin_theta(answer.basis, TRUTH) < 0.1


class StopAfter:
    """Let so many steps be drawn."""

    def __init__(self, steps):
        self.steps = steps

    def __call__(self, share):
        return share * 5 < self.steps


class Forgetful(ReleaseSteps):
    """Keep nothing, as a bug would."""

    def once(self, step, draw):
        return draw()


def steps_drawn(monkeypatch, drawn, request):
    """Interrupt a release after every step, and go on; return how often noise was drawn."""
    calls, draw = [], discrete_gaussian.add_noise
    monkeypatch.setattr(discrete_gaussian, "add_noise", lambda *a, **o: calls.append(a) or draw(*a, **o))
    for steps in range(1, 5):
        with pytest.raises(discrete_gaussian.StoppedError):
            drawn_of(PARTS, request, StopAfter(steps), drawn)
    _, _, answer = drawn_of(PARTS, request, drawn=drawn)
    monkeypatch.undo()
    return len(calls), answer


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_release_that_is_interrupted_after_every_step_draws_each_once(monkeypatch, tmp_path, where):
    request = Request("two_stage", D, K, BUDGET, s_hat=8)
    drawn = begun(path=tmp_path / "book" if where == "disk" else None)
    once = 4 + 2  # rounds, and the moment on and off its diagonal
    calls, answer = steps_drawn(monkeypatch, drawn, request)
    assert calls == once
    again = drawn_of(PARTS, request, drawn=drawn)[2]
    np.testing.assert_array_equal(again.basis, answer.basis)
    assert steps_drawn(monkeypatch, Forgetful(Book(), ""), request)[0] > once  # the planted bug


def test_two_who_go_on_at_once_get_the_same(tmp_path):
    drawn = begun(path=tmp_path / "book")
    request = Request("two_stage", D, K, BUDGET, s_hat=8)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: drawn_of(PARTS, request, drawn=drawn)[2].basis, range(4)))
    assert all(np.array_equal(answers[0], other) for other in answers)


def released(payer, request, parts=PARTS, **options):
    return private_release.make(request, parts, payer, features=NAMES, public={"bound": 8.0}, **options)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("method", OFFERED)
def test_a_paid_release_goes_on_at_no_cost_until_it_is_deleted(tmp_path, method, on_disk):
    """A crash after paying, and another program with the same book."""

    def opened():
        return Book(tmp_path / "book").payer(TABLE) if on_disk else kept

    kept = Book().payer(TABLE)
    payer, request = opened(), Request(method, D, K, BUDGET, s_hat=8)
    payer.set_limit(Limit(1.0, 1e-5))
    with pytest.raises(MemoryError):
        released(payer, request, progress=crash) if method != "dps_pca" else crash_in(payer, request)
    (payment,) = opened().balance().payments
    asked = private_release.as_asked(request, [900, 1100], NAMES, {"bound": 8.0})
    assert Request.from_plain(opened().drawn(payment.id).asked["request"]) == request
    assert opened().drawn(payment.id).asked == asked
    result = released(opened(), request, resumed=payment)
    assert result.payment == payment and opened().balance().payments == (payment,)
    np.testing.assert_array_equal(released(opened(), request, resumed=payment).basis, result.basis)
    for other in ({"k": 1}, {"budget": Budget(2.0, 1e-5)}):
        with pytest.raises(ValueError, match="what was paid for is another release"):
            released(opened(), Request(**vars(request) | other), resumed=payment)
    with pytest.raises(ValueError, match="what was paid for is another release"):
        released(opened(), request, [ROWS], resumed=payment)
    opened()._book.delete(payment.id)
    with pytest.raises(ValueError, match="what was paid for is another release"):
        released(opened(), request, resumed=payment)


def _release_until(path, request, point):
    """Release, or go on with what was paid for, and be killed at the moment with this number."""
    points, writing, noise = itertools.count(), Book.writing, discrete_gaussian.add_noise

    def pass_point():
        if next(points) == point:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def watched(self):
        with writing(self) as book:
            yield book
            pass_point()  # it is written, and not committed
        pass_point()

    Book.writing = watched
    discrete_gaussian.add_noise = lambda *a, **o: (noise(*a, **o), pass_point())[0]
    payer = Book(path).payer(TABLE)
    payments = payer.balance().payments
    released(payer, request, resumed=payments[0] if payments else None)


def steps_of(path):
    with Book(path).reading() as book:
        return book.execute("SELECT step, content FROM steps ORDER BY number").fetchall()


def test_a_release_that_is_killed_at_any_moment_goes_on_to_the_bit(tmp_path):
    """kill -9 at every write, before and after its commit, and after every draw: paid once, drawn once."""
    request, fork = Request("two_stage", D, K, BUDGET, s_hat=8), multiprocessing.get_context("fork")
    warm = Book().payer(TABLE)
    warm.set_limit(Limit(1.0, 1e-5))
    released(warm, request)  # what it imports, each process would have to import
    for point in itertools.count():
        path = tmp_path / f"{point}"
        Book(path).payer(TABLE).set_limit(Limit(1.0, 1e-5))
        victim = fork.Process(target=_release_until, args=(path, request, point))
        victim.start()
        victim.join()
        before, account = steps_of(path), Book(path).payer(TABLE).balance()
        if victim.exitcode == 0:
            break
        assert victim.exitcode == -signal.SIGKILL
        healer = fork.Process(target=_release_until, args=(path, request, None))
        healer.start()
        healer.join()
        assert healer.exitcode == 0
        after, finished = steps_of(path), Book(path).finished()
        assert after[: len(before)] == before and len(after) == 8 and len(finished) == 1
        assert len(finished[0].account.payments) == 1
        assert not account.payments or finished[0].account == account
    # Eight steps and the payment, each with two moments, and noise four times by round and twice by moment.
    assert point == 2 * 9 + 6


def crash(share):
    raise MemoryError


def crash_in(payer, request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private_release, "_release_powers", lambda *_: crash(0))
        released(payer, request)


@pytest.mark.parametrize("method", TWO_STAGES)
def test_both_stages_are_paid_together_before_anything_is_read(method, monkeypatch):
    payer, reading = Book().payer(TABLE), []
    payer.set_limit(Limit(1.2, 1e-5))
    result = released(payer, Request(method, D, K, BUDGET, s_hat=8))
    (payment,) = payer.balance().payments
    assert payment.events == (Release(gaussian.noise_multiplier(BUDGET)),)
    assert closed_form.epsilon_of(payment.events, 1e-5) == pytest.approx(1.0, rel=1e-4)
    division = result.document["stages"]
    assert division["rounds"] == 4 and 0.2 <= division["share of the first stage"] <= 0.7
    assert set(division["features kept"]) >= {NAMES[i] for i in np.flatnonzero(result.basis.any(axis=1))}
    monkeypatch.setattr(stages, "whole_products", lambda *a: reading.append(a))
    with pytest.raises(ValueError, match="nothing was spent"):
        released(payer, Request(method, D, K, BUDGET, s_hat=8))
    assert reading == [] and len(payer.balance().payments) == 1


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("rows", [ROWS[:1], np.zeros((5, D)), np.tile(ROWS[:1], (7, 1)), ODD[[0, 4]]])
@pytest.mark.parametrize(("k", "s_hat"), [(1, 1), (D - 1, D), (D - 1, D - 1), (3, "released")])
def test_unkind_tables_are_released_without_a_warning(rows, k, s_hat, neighbours):
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(1.0, 1e-5, neighbours))
    request = Request("two_stage", D, k, Budget(1.0, 1e-5, neighbours), s_hat=s_hat)
    result = released(payer, request, [rows])
    np.testing.assert_allclose(result.basis.T @ result.basis, np.eye(k), atol=1e-9)
    assert np.isfinite(result.eigenvalues).all()
    assert (np.diff(result.eigenvalues) <= 0).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"d": 20_001, "s_hat": 10}, "d must be between 2 and 20000"),
        ({"d": 1000, "s_hat": 401}, "s_hat must be between 2 and 400"),
        ({"d": 1000, "s_hat": None}, "s_hat must be between 2 and 400"),
        ({"d": 100, "k": 51}, "k must be between 1 and 50"),
        ({"method": "analyze_gauss_sparse", "s_hat": "released"}, "s_hat must be"),
    ],
)
def test_a_request_of_two_stages_checks_itself(changed, message):
    with pytest.raises(ValueError, match=message):
        Request(**{"method": "two_stage", "d": D, "k": K, "budget": BUDGET, "s_hat": 8} | changed)
