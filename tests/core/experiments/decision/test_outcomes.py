"""Test paired runs: that they are paired, the same as other pages' runs, and right where the answer is known.

Seeds are fixed. Over other seeds, each of the statistical tests would fail with a chance below 1e-3.
"""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, SpikedModel
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.decision import hospitals, outcomes, rule
from dppca_core.experiments.decision.hospitals import changed
from dppca_core.experiments.decision.outcomes import JoiningRuns, measured_hospitals
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.subspace_metrics import share_recovered
from tests.core.experiments.decision.settings import MODEL, joining

FLAT = SpikedModel(d=20, k=2, s=20, spike=50.0, bulk=(5.0, 5.0))
NOBODY = "untrusted server"


def test_our_patients_are_among_those_of_all():
    runs = JoiningRuns(changed(joining(200, 300, 500, 500, ours=1), 2, epsilon=0.5))
    cohort, ours = runs._cohort(3), runs._part(1)(3)
    moments = sum(part.n * part.moment.dense() for part in cohort)
    np.testing.assert_allclose(moments / cohort.n, cohort.pooled.dense(), rtol=1e-9, atol=1e-15)
    assert ours.n == 300
    assert any(part.moment is ours.pooled for part in cohort)


def paired(runs: JoiningRuns) -> bool:
    """Return whether both arms rise and fall with the same patients, half of whom are ours."""
    return float(np.corrcoef(runs.alone(), runs.without_privacy())[0, 1]) > 0.4


def test_a_planted_lack_of_pairs_is_seen(monkeypatch):
    """The correlation is about .7 over 40 runs, and that of other patients below .4 but for 1 % of seeds."""
    setting = joining(400, 400, population=FLAT)
    assert paired(JoiningRuns(setting))
    drawn = JoiningRuns._part
    monkeypatch.setattr(JoiningRuns, "_part", lambda runs, i: lambda draw: drawn(runs, i)(draw + 1))
    assert not paired(JoiningRuns(setting))


def test_runs_together_are_the_explorer_s():
    setting = replace(joining(400, 600, 1000), repeats=8)
    runs, pages = JoiningRuns(setting), Results(setting.experiment)
    for trust in TRUSTS:
        name = hospitals.arrangement(setting, trust).method
        pages.try_cells((name, 1.0, repeat) for repeat in range(8))
        sines = np.array([cell.sin[-1] for cell in pages.measured(name, 1.0)])
        np.testing.assert_allclose(runs.together(trust), 100 * share_recovered(sines, 2), rtol=1e-6)


def test_runs_without_privacy_are_those_of_every_page():
    setting = joining(400, 600)
    _, errors = no_privacy.of_best_way(MODEL, 1000, 2)
    shares = 100 * share_recovered(errors.sin, 2)
    np.testing.assert_allclose(JoiningRuns(setting).without_privacy()[:10], shares, rtol=1e-6)


def test_weights_are_those_of_a_budget_for_each_hospital():
    setting = changed(changed(joining(300, 500, 900, repeats=8), 1, epsilon=0.4), 2, epsilon=2.0)
    runs, plan = JoiningRuns(setting), hospitals.arrangement(setting, NOBODY)
    assert len(runs.parts) == 3
    drawn = draws.cohort(MODEL, setting.sizes, draws.PUBLIC, 0, 2)
    rng, options = draws.generator(0, 2, plan.method), setting.experiment.options(plan.method)
    fitted = METHODS[plan.method].fit(drawn, k=2, budget=list(setting.budgets), rng=rng, **options)
    assert fitted.spent_each
    overlap = np.linalg.norm(MODEL.basis.T @ fitted.basis) ** 2 / 2
    assert runs.together(NOBODY)[2] == pytest.approx(100 * overlap, rel=1e-6)


def test_hospitals_drawn_as_one_part_keep_their_weights_and_noise():
    setting = changed(joining(*range(100, 3100, 100), repeats=8), 3, epsilon=0.3)
    runs, plan = JoiningRuns(setting), hospitals.arrangement(setting, NOBODY)
    assert 8 < len(runs.parts) < 20
    assert sorted(i for part in runs.parts for i in part) == list(range(30))
    cohort = outcomes.joined(runs._cohort(0), runs.parts, setting.sizes, plan.weights)
    assert [provider.n for provider in cohort] == list(setting.sizes)
    assert sum(cohort.pooled.weights) == pytest.approx(1)
    for part in runs.parts:  # one part's weights for a patient are about the same
        each = [plan.weights[i] / setting.sizes[i] for i in part]
        assert max(each) <= 1.5 * min(each) * (1 + 1e-9)


def test_without_noise_pooling_gains_what_the_closed_form_says():
    """One eigenvalue over a flat bulk: sin^2 Theta = k (d - k) l b/(n (l - b)^2), to order 1/n.

    The mean of 200 runs has a standard error of 2 %, and the next order is 2 % here.
    """
    runs = JoiningRuns(joining(1000, 9000, population=FLAT, repeats=200))
    loss = 100 * 18 * 50 * 5 / 45**2
    assert runs.alone().mean() == pytest.approx(100 - loss / 1000, abs=0.1 * loss / 1000)
    assert runs.without_privacy().mean() == pytest.approx(100 - loss / 10_000, abs=0.1 * loss / 10_000)
    gain = (runs.without_privacy() - runs.alone()).mean()
    assert gain == pytest.approx(loss / 1000 - loss / 10_000, rel=0.1)


def test_with_noise_beyond_all_signal_what_is_recovered_is_a_guess():
    """The share of a guess has mean k/d: the mean of 100 runs is within 4 standard errors."""
    runs = JoiningRuns(joining(100, 100, epsilon=1e-6, repeats=100, use="publish", population=FLAT))
    assert runs.guess == pytest.approx(100 * 2 / 20)
    for shares in (runs.together(NOBODY), runs.alone()):
        assert shares.mean() == pytest.approx(runs.guess, abs=4 * shares.std() / 10)


@pytest.mark.parametrize("use", ["in-house", "publish"])
def test_a_hospital_with_all_patients_gains_nothing(use):
    runs = JoiningRuns(joining(2000, use=use))
    for trust in TRUSTS:
        lower, upper = rule.median_interval(runs.gain(trust))
        assert lower <= 0 if use == "publish" else upper <= 0
        assert upper < rule.MARGIN
    if use == "in-house":
        np.testing.assert_array_equal(runs.alone(), runs.without_privacy())


@pytest.mark.parametrize("strict", [0.02, 1.0])
def test_more_trust_is_not_worse(strict):
    """The 99 % interval of the paired difference does not lie below -.5 points."""
    runs = JoiningRuns(changed(joining(600, 600, 600), 2, epsilon=strict))
    difference = runs.together("central") - runs.together(NOBODY)
    assert rule.median_interval(difference)[1] > -0.5
    assert runs.together("central") is runs.together("secure aggregation")


def test_quantities_are_named_and_paired():
    quantities = JoiningRuns(joining(200, 300, repeats=8)).quantities()
    names = ["alone", *(f"together, {trust}" for trust in reversed(TRUSTS))]
    assert list(quantities) == [*names, "together, no privacy", "a random guess"]
    assert {shares.shape for shares in quantities.values()} == {(8,)}


def test_one_hospital_of_each_size_is_measured_and_of_many_eight():
    assert measured_hospitals(joining(300, 100, 300, 200)) == (1, 3, 0)
    many = joining(*range(100, 2100, 100), ours=10)
    chosen = measured_hospitals(many)
    assert len(chosen) == 8
    assert {0, 10, 19} <= set(chosen)
    assert [many.sizes[i] for i in chosen] == sorted(many.sizes[i] for i in chosen)


def test_only_who_publishes_is_measured_by_epsilon():
    setting = changed(joining(300, 300, 300), 2, epsilon=0.5)
    assert measured_hospitals(setting) == (0,)
    assert measured_hospitals(replace(setting, use="publish")) == (2, 0)
    with pytest.raises(ValueError, match="hospital must be one of"):
        JoiningRuns(setting).alone(1)


def test_a_table_has_its_own_pattern():
    setting = joining(200, 369, population="breast_cancer", epsilon=20.0, repeats=8)
    runs = JoiningRuns(setting)
    assert runs.without_privacy() == pytest.approx(100, abs=2)  # of rows of length 1 perhaps a little less
    assert (runs.alone() <= 100).all()
    assert np.median(runs.together("central")) > 2 * runs.guess


def test_more_runs_begin_with_the_first_ones():
    few = JoiningRuns(joining(200, 300, use="publish", repeats=8))
    runs, more = few.quantities(), few.extended(20)
    for name, shares in more.quantities().items():
        assert shares.shape == (20,)
        np.testing.assert_array_equal(shares[:8], runs[name])
    assert few.together(NOBODY).shape == (8,)
