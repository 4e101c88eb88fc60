"""Plans on a table's public numbers: the predictions of a release, inverted, at the worst of its spectra."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core.accounting import gaussian
from dppca_core.bounds.stated_spectra import STATED, predicted_errors
from dppca_core.experiments.planning.planning import NO_NOISE, Question
from dppca_core.experiments.planning.table_plan import PREDICTED_AS, PublicTable, TablePlan
from dppca_core.experiments.planning.table_search import TableSearch, can_search
from dppca_core.mechanisms import paid_centre
from dppca_core.methods import METHODS
from dppca_core.numerics import unit_rows
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.populations.dictionary_twin import NumberCells
from dppca_core.privacy import Budget

TABLE = PublicTable(d=20, n=900, providers=1, bound=2.3, mean_share=None)
K, DELTA, TARGET = 2, 1e-6, 0.2


def plan(name="analyze_gauss", table=TABLE, target=TARGET, providers=1):
    return TablePlan(table.experiment(K, DELTA, "replace-one", providers), name, target, table=table)


def by_hand(name, n, epsilon, providers=1, spectra=None):
    """Return the largest predicted error, with a mean that is paid for by rule."""
    budget = Budget(epsilon, DELTA)
    left = gaussian.remaining(budget, paid_centre.share(budget, d=20, n=n))
    spectra = spectra or [(each.times(20, K), each.carriers(20, K)) for each in STATED]
    size = {"n": n, "d": 20, "k": K, "budget": left, "providers": providers}
    return max(
        predicted_errors(METHODS[name].trust, ratio=ratio, carriers=s, **size)[0][PREDICTED_AS[name]]
        for ratio, s in spectra
    )


def halved(reaches, low, high):
    """Return the least whole number that does, by halving."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


@pytest.mark.parametrize("name", ["analyze_gauss", "stacked_rounds_sealed", "own_noise_sparse"])
def test_the_answers_are_those_of_halving_the_prediction(name):
    """Up to how near an answer comes where a closed form has an edge: 0.2 %, and 0.2 % more."""
    study = plan(name)
    needed = halved(lambda n: by_hand(name, n, 1.0) <= TARGET, 2, 10**6)
    assert needed <= study.patients(1.0).value <= 1.005 * needed + 1
    assert max(study.errors(900, 1.0)) == by_hand(name, 900, 1.0) == study.loss(900, 1.0)
    epsilon = study.answer(Question("epsilon", n=1500)).value
    assert by_hand(name, 1500, epsilon) <= TARGET < by_hand(name, 1500, epsilon / 1.005)
    several = study.answer(Question("hospitals", 1.0, size=100)).value
    assert by_hand(name, 100 * several, 1.0, several) <= TARGET
    assert by_hand(name, 100 * (several - 1), 1.0, several - 1) > TARGET


def test_without_noise_only_sampling_is_left_and_more_privacy_needs_more_patients():
    study = plan(table=PublicTable(20, 900, 1, 2.3))
    needed = [study.patients(epsilon).value for epsilon in (0.1, 0.3, 1.0, 3.0, 10.0)]
    assert needed == sorted(needed, reverse=True) and len(set(needed)) == 5
    weakest = STATED[2]
    signal = 2 * K * weakest.times(20, K) / (2 * K * weakest.times(20, K) + 20 - K)
    # The median of the sum of all pairs, for rows of length 1, over a bulk that is even from 0 to top.
    top = 2 * (1 - signal) / (20 - K)
    values = np.array([*[signal / K] * K, *top * (1 - (np.arange(20 - K) + 0.5) / (20 - K))])
    unit = unit_rows.expected_unit_eigenvalues(values)
    squares = unit_rows.expected_pair_moments(values, K) / 5000 / (unit[:K, None] - unit[None, K:]) ** 2
    draws = np.random.default_rng(0).chisquare(1, (100_000, squares.size)) @ squares.ravel()
    assert study.loss(5000, NO_NOISE) == pytest.approx(math.sqrt(np.median(draws)), rel=5e-3)


def test_paid_eigenvalues_take_the_place_of_stated_ones_unless_noise_hides_them():
    eigenvalues = (0.3, 0.2, 0.1, *[0.01] * 17)
    paid = Budget(0.05, DELTA)
    study = plan(table=PublicTable(20, 900, 1, 2.3, None, 0.0, eigenvalues, 0.001, paid))
    ratio = 0.1 / (2 * float(np.mean(eigenvalues[K:])))  # rows about their mean: the first is left out
    few = STATED[0].carriers(20, K)
    assert max(study.errors(900, 1.0)) == by_hand(
        "analyze_gauss", 900, 1.0, spectra=[(ratio, few), (ratio, 20)]
    )
    assert study.patients(1.0).value < plan().patients(1.0).value
    hidden = PublicTable(20, 900, 1, 2.3, None, 0.0, eigenvalues, 0.1, paid)
    scaled = PublicTable(20, 900, 1, 2.3, None, None, eigenvalues, 0.001, paid)
    assert hidden.patterns(K) == scaled.patterns(K) == TABLE.patterns(K)


def test_rows_are_invented_for_narrow_tables_whose_dictionary_is_known():
    number = NumberCells(-1.0, 1.0)
    known = replace(TABLE, columns=(number,) * 20)
    assert can_search(plan(table=known), 900) and not can_search(plan(table=known), 10**5)
    assert not can_search(plan(), 900)
    assert not can_search(plan(table=replace(known, scale_share=None)), 900)
    assert not can_search(plan(table=replace(known, d=500, columns=(number,) * 500)), 900)
    with pytest.raises(ValueError, match="columns"):
        TableSearch(plan(), Question("patients", 1.0), 900.0)


def test_what_cannot_be_planned_says_why():
    wide = PublicTable(d=500, n=900, providers=1, bound=2.3)
    assert plan(table=wide).patients(1.0).kind == "too large"
    assert plan("stacked_rounds", wide).patients(1.0).value > 900
    few = PublicTable(d=6, n=900, providers=1, bound=2.3)
    assert plan("two_stage", few).patients(1.0).kind == "simulation"  # it would keep all features
    assert plan("dps_pca").patients(1.0).kind == "simulation"
    assert plan(target=random_guess(20, K)).patients(1.0).kind == "guess"
    with pytest.raises(ValueError, match="energy"):
        TablePlan(TABLE.experiment(K, DELTA, "replace-one"), "two_stage", 0.9, True, table=TABLE)
