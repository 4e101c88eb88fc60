"""Patients with several rows: each counts once, whatever they are and however many."""

import numpy as np
import pytest

from dppca_core import Budget, sin_theta
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.arrays import PatientRows
from dppca_core.mechanisms import two_stage
from dppca_core.methods import METHODS
from dppca_core.numerics import linalg, moments
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.release import private_release, stages
from dppca_core.release.request import OFFERED, Request
from tests.core.accounts.paying import TABLE, begun
from tests.core.release.summing import sum_rows

D, K, BITS = 6, 2, 14
RNG = np.random.default_rng(11)
BASIS = np.linalg.qr(RNG.standard_normal((D, K)))[0]
NAMES = [f"column {i}" for i in range(D)]


def weights(patients):
    return (1 / (np.sqrt(np.bincount(patients)[patients]) * (1 + 1e-12)))[:, None]


def visits(n=300, seed=0):
    """Return clipped rows of n patients with 1 to 8 visits each, and whose each is."""
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(n), rng.integers(1, 9, n))
    usual = rng.standard_normal((n, D)) * [3, 2, 0.5, 0.5, 0.5, 0.5]
    rows = usual[patients] + 0.5 * rng.standard_normal((len(patients), D))
    return moments.clip_rows(rows, 6.0), patients


def contribution(kind, rows, m, sign=1.0):
    """Return what m rows of one patient add to a sum, in units of a row's greatest."""
    weight = np.full((len(rows), 1), sign / (np.sqrt(m) * (1 + 1e-12)))
    if kind == "round":
        return stages.whole_products(rows, BASIS, BITS, weight) / 4.0**BITS
    if kind == "moment":
        return sum_rows([PatientRows(rows, weight, 1)], D).total / 4.0 ** bits_of(rows)
    return np.trunc(rows * np.square(weight) * 4.0**BITS).sum(axis=0) / 4.0**BITS


def bits_of(rows):
    return stages.bits_of([PatientRows(rows, np.ones((len(rows), 1)), 1)])


@pytest.mark.parametrize(("kind", "most"), [("round", 2.0), ("moment", 2**0.5), ("mean", 2.0)])
def test_replacing_a_patient_with_all_rows_moves_a_sum_no_more_than_one_row_may(kind, most):
    """Of patients with 1 to 50 visits, alike or not; with each row counted in full it is moved further."""
    moved, unweighted = 0.0, 0.0
    for trial in range(60):
        m, other = RNG.integers(1, 51, 2)
        alike = trial % 2 == 0
        rows, others = (
            moments.clip_rows(
                np.repeat(RNG.standard_normal((1, D)), count, axis=0)
                if alike
                else RNG.standard_normal((count, D)),
                0.1,
            )
            for count in (m, other)
        )
        if alike and kind != "moment":
            others = -rows[:1] if kind == "mean" else others
            other = len(others)
        change = contribution(kind, rows, m) - contribution(kind, others, other)
        moved = max(moved, float(np.linalg.norm(change)))
        full = contribution(kind, rows, 1) - contribution(kind, others, 1)
        unweighted = max(unweighted, float(np.linalg.norm(full)))
    assert moved <= most + 1e-9 and moved > 0.6 * most
    assert unweighted > 5 * most  # the planted bug


def test_many_visits_that_are_alike_count_as_one():
    rows = moments.clip_rows(RNG.standard_normal((40, D)), 1.0)
    patients = np.repeat(np.arange(40), 5)
    many = PatientRows(rows[patients], weights(patients), 40)
    np.testing.assert_allclose(
        sum_rows([many], D).total / 4.0 ** stages.bits_of([many]),
        sum_rows([rows], D).total / 4.0 ** stages.bits_of([rows]),
        atol=1e-3,
    )
    product = stages.whole_products(many.rows, BASIS, 20, many.weights)
    np.testing.assert_allclose(product, stages.whole_products(rows, BASIS, 20), rtol=1e-4, atol=4e7)


@pytest.mark.parametrize("mean_share", [0.0, 0.1])
@pytest.mark.parametrize("method", OFFERED)
def test_without_noise_it_is_pca_of_the_patients_means_of_squares(method, mean_share):
    """E_p[mean over visits of x x^T], about the mean of the patients' means; the number of patients is n."""
    rows, patients = visits()
    part = PatientRows(rows, weights(patients), 300)
    asked = Request(method, D, K, Budget(1e6, 1e-5), rank=D, averaged=True, mean_share=mean_share)
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(1e9, 1e-5))
    result = private_release.make(asked, [part], payer, features=NAMES, public={})
    mean = np.sum(rows * part.weights**2, axis=0) / 300 if mean_share else 0.0
    shown = rows - mean
    if METHODS[method].scaling == "unit":
        shown = unit_rows(shown)
    weighted = shown * part.weights
    assert sin_theta(result.basis, linalg.top_eigenspace(weighted.T @ weighted, K)) < 0.05
    assert result.document["hospitals"] == [300] and result.document["unit"] == "patient"
    assert "any one patient's rows, however many, by any other" in result.document["guarantee"]
    assert payer.balance().payments[0].about["averaged patients"] == 300


def test_rows_come_with_their_patients_exactly_where_these_are_averaged():
    rows, patients = visits()
    part, payer = PatientRows(rows, weights(patients), 300), Book().payer(TABLE)
    payer.set_limit(Limit(1e9, 1e-5))
    for given, averaged in (([rows], True), ([part], False)):
        asked = Request("analyze_gauss", D, K, Budget(1.0, 1e-5), averaged=averaged)
        with pytest.raises(ValueError, match="exactly where these are averaged"):
            private_release.make(asked, given, payer, features=NAMES, public={})
    assert not payer.balance().payments


def test_where_the_first_rows_are_kept_the_mean_is_of_patients_and_the_moment_of_rows():
    """Without noise; a mean with the moment's weights would be pulled to 0."""
    rng = np.random.default_rng(2)
    patients = np.repeat(np.arange(400), rng.integers(1, 4, 400))
    rows = moments.clip_rows(rng.standard_normal((len(patients), D)) * [3, 2, 0.5, 0.5, 0.5, 0.5] + 3, 16.0)
    third = np.full((len(rows), 1), 1 / (np.sqrt(3) * (1 + 1e-12)))
    kept = PatientRows(rows, third, 400, weights(patients))
    asked = Request("analyze_gauss", D, K, Budget(1e5, 1e-5), mean_share=0.2, averaged=True)
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(1e6, 1e-5))
    result = private_release.make(asked, [kept], payer, features=NAMES, public={})
    by_patient = np.stack([rows[patients == i].mean(axis=0) for i in range(400)]).mean(axis=0)
    np.testing.assert_allclose(result.document["mean"], by_patient, atol=1e-3)
    assert np.linalg.norm(by_patient - rows.sum(axis=0) / 1200) > 0.05
    about = rows - by_patient
    truth = linalg.top_eigenspace(about.T @ about, K)
    assert sin_theta(result.basis, truth) < 0.02


def test_in_the_second_stage_too_a_patient_counts_once():
    """With nearly no noise: of alike rows, however many, each patient adds the square of one."""
    rng, n, budget = np.random.default_rng(3), 300, Budget(1e5, 1e-5)
    once = moments.clip_rows(rng.standard_normal((n, D)) * [3, 2, 0.5, 0.5, 0.5, 0.5], 6.0)
    patients = np.repeat(np.arange(n), rng.integers(1, 9, n))

    source = stages.Source([PatientRows(once[patients], weights(patients), n)], 1, budget, begun())
    answer = stages.release(source, K, two_stage.division(budget, 1.0, d=D, n=n, s_hat=4), 4)
    units = unit_rows(once[:, answer.rows])
    np.testing.assert_allclose(answer.moment, units.T @ units / n, atol=0.01)


def test_rounding_does_not_tell_how_many_rows_there_are():
    """It follows from the patients, whose number is public; their rows leave room at any number."""
    rows = np.tile(np.eye(D)[:1], (2**14, 1))
    few, many = (PatientRows(part, np.full((len(part), 1), 2.0**-7), 1) for part in (rows[:1], rows))
    assert stages.bits_of([few]) == stages.bits_of([many]) == 20
    assert sum_rows([many], D).total[0, 0] == 4.0**20
