"""A plan's closed form against simulation by bisection: they agree within 15 % at seven settings.

What a closed form neglects moves n by 1 % here (sin^2 by at most 1.6 %, test_predictions.py). The 95 %
interval of a simulated answer is at most 6 % wide (asserted), so its standard error is at most 1.5 %, and
14 % is nine of them. Seeds are fixed.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dppca_core import SpikedModel
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import Axis, Recipe, sweep, variant
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.planning import planning
from dppca_core.experiments.planning.bisection import Search, SimulatedAnswer
from dppca_core.experiments.planning.planning import Question, StudyPlan
from dppca_core.experiments.sweeps import recipe_file

WITHIN = 1.15


def experiment(d, k, s, *, delta=1e-5, s_hat=None, spike=100.0, bulk=(0.0, 10.0), **more):
    population = SpikedModel(d=d, k=k, s=s, spike=spike, bulk=bulk, seed=1)
    return ExplorerExperiment(population, n=1000, k=k, s_hat=s_hat or d, delta=delta, seed=3, **more)


SPARSE = {"s_hat": 16, "d": 40, "k": 2, "s": 8}
MANY = experiment(60, 3, 10, s_hat=20, providers=20, delta=1e-6)
LOOSE = experiment(**SPARSE, providers=20, delta=0.01, iterations=6)
SEVEN = {
    "DPS-PCA, 5 hospitals": (experiment(**SPARSE), "dps_pca", 0.1, 1.0),
    "DPS-PCA, 20 hospitals, ε = .5": (MANY, "dps_pca", 0.3, 0.5),
    "DPS-PCA, secure sums, δ = .01": (LOOSE, "dps_pca_summed", 0.05, 2.0),
    "Analyze Gauss, 95 % of the energy": (experiment(30, 2, 8), "analyze_gauss", 0.95, 0.2),
    "CAPE, k = 4, add or remove": (experiment(50, 4, 8, neighbours="add-remove"), "cape", 0.2, 1.0),
    "noisy projector": (experiment(25, 2, 8), "spiked_projector", 0.02, 1.0),
    "nobody trusted, δ = 1e-4": (experiment(30, 3, 8, delta=1e-4), "ldp_pca", 0.3, 4.0),
}


def simulate(search: Search) -> SimulatedAnswer:
    """Bisect to the end; each sweep takes over the rows of the one before."""
    values, rows = search.first_values(), []
    while True:
        known = tuple(rows)
        rows.clear()
        runs = sweep(search.recipe(values), progress=lambda done: rows.extend(done.rows), known=known)
        following = search.values_to_run(runs)
        if following == values:
            return search.simulated_answer(runs)
        values = following


def answers(experiment, name, target, epsilon):
    plan = StudyPlan(experiment, name, target, energy=target > 0.9)
    n = plan.patients(epsilon).value
    return n, simulate(Search(plan, Question("patients", epsilon), n, repeats=30))


@pytest.mark.parametrize("setting", SEVEN.values(), ids=SEVEN.keys())
def test_closed_form_and_simulation_agree(setting):
    n, answer = answers(*setting)
    assert answer.state == "found" and answer.runs >= 180
    assert answer.high / answer.low < 1.06
    assert 1 / WITHIN < answer.value / n < WITHIN


def test_a_closed_form_with_half_the_noise_is_refused(monkeypatch):
    """The planted bug: sensitivity short by sqrt 2, as between the two relations of neighbours."""
    experiment, name, target, epsilon = SEVEN["DPS-PCA, 5 hospitals"]
    true = StudyPlan(experiment, name, target).patients(epsilon).value
    rule = BOUNDS["dps_prediction"]

    def short(setting, **_):
        return rule.compute(replace(setting, budget=replace(setting.budget, neighbours="add-remove")))

    monkeypatch.setitem(planning.BOUNDS, "dps_prediction", replace(rule, compute=short))
    n, answer = answers(experiment, name, target, epsilon)
    assert answer.value / n > 1.3 > WITHIN
    assert answer.value / true == pytest.approx(1, abs=0.05)


def test_epsilon_and_hospitals_are_bisected_too():
    plan = StudyPlan(experiment(**SPARSE), "dps_pca", 0.15)
    epsilon = plan.answer(Question("epsilon", n=50_000)).value
    answer = simulate(Search(plan, Question("epsilon", n=50_000), epsilon, repeats=20))
    assert answer.state == "found" and answer.value == pytest.approx(epsilon, rel=0.1)
    hospitals = plan.answer(Question("hospitals", 2.0, size=5000)).value
    answer = simulate(Search(plan, Question("hospitals", 2.0, size=5000), hospitals, repeats=20))
    assert answer.state == "found" and answer.value == pytest.approx(hospitals, rel=0.1, abs=0.5)


def test_a_tuned_plan_needs_what_it_says():
    """Rows of length 1 and tuned rounds; divided by the bound, rows need five times as many."""
    published = StudyPlan(experiment(**SPARSE), "noisy_power", 0.2)
    plan = published.tuned(Question("patients", 1.0))
    n = plan.patients(1.0).value
    answer = simulate(Search(plan, Question("patients", 1.0), n, repeats=20))
    assert plan.unit_rows and answer.state == "found" and 1 / WITHIN < answer.value / n < WITHIN
    assert published.patients(1.0).value > 5 * answer.value


def test_two_stages_are_bisected_by_medians_near_their_closed_form():
    """Stage 1's edge may lie elsewhere by 20 %, as the page says; means would count single rare misses."""
    plan = StudyPlan(experiment(60, 2, 8, s_hat=16), "two_stage", 0.1)
    n = plan.patients(1.0).value
    answer = simulate(Search(plan, Question("patients", 1.0), n, repeats=20))
    assert answer.state == "found" and n == pytest.approx(answer.value, rel=0.25)
    one_miss = table(Search(plan, Question("patients", 1.0), n), lambda n: 4 / n, (200, 380, 420, 800))
    one_miss.loc[one_miss["repeat"] == 0, "sin_theta"] = 1.0
    assert Search(plan, Question("patients", 1.0), n).simulated_answer(one_miss).value == pytest.approx(
        400, rel=0.02
    )


@pytest.mark.parametrize(("truth", "power"), [(800, 1.0), (10**5, 3.0)])
def test_a_power_law_needs_no_closed_form(truth, power):
    searched = Search(StudyPlan(experiment(**SPARSE), "wishart", 0.1), Question("patients", 1.0), 1000)
    _, answer = bisected(searched, lambda n: 0.01 * (truth / n) ** power)
    assert answer.state == "found" and answer.value == pytest.approx(truth, rel=0.01)


def search(target=0.1, asked="patients", start=1000, repeats=20):
    return Search(StudyPlan(experiment(**SPARSE), "dps_pca", target), Question(asked, 1.0), start, repeats)


def table(search, loss, values):
    """Return a sweep's table with mean squared errors `loss` of these values."""
    rows = [
        {search.name: value, "repeat": r, "sin_theta": math.sqrt(loss(value))}
        for value in values
        for r in range(search.repeats)
    ]
    return pd.DataFrame(rows)


def bisected(search, loss):
    values = search.first_values()
    while True:
        runs = table(search, loss, values)
        following = search.values_to_run(runs)
        if following == values:
            return values, search.simulated_answer(runs)
        assert set(values) < set(following)
        values = following


@pytest.mark.parametrize(("truth", "power"), [(40, 2.0), (800, 1.0), (10**5, 2.0), (10**5, 1.0)])
def test_it_finds_a_power_law_from_any_start(truth, power):
    values, answer = bisected(search(), lambda n: 0.01 * (truth / n) ** power)
    assert answer.state == "found" and len(values) <= 12
    assert answer.low == pytest.approx(answer.high) and answer.value == pytest.approx(truth, rel=0.02)


def test_the_interval_covers_about_as_often_as_it_says():
    """95 % intervals off 10 repeats cover in 92 % (a bootstrap of few falls short): of 60 tables, 47 is 4
    standard errors below that. One standard error each way would cover in 68 %: 47 or more once in 20."""
    searched, truth, hits = search(repeats=10), 1000, 0
    drawn = table(searched, lambda n: 0.01 * truth / n, (500, 790, 890, 1000, 1120, 2000))
    for seed in range(60):
        rng = np.random.default_rng([9, seed])
        noise = np.sqrt(rng.gamma(10, 0.1, len(drawn)))
        answer = searched.simulated_answer(drawn.assign(sin_theta=drawn["sin_theta"] * noise))
        hits += answer.low <= truth <= answer.high
    assert hits >= 47


def test_what_is_never_or_always_reached_says_so():
    assert bisected(search(asked="epsilon"), lambda epsilon: 1.0)[1].state == "none"
    always = bisected(search(), lambda n: 1e-9)[1]
    assert always.state == "least" and always.value == 5  # a patient for each hospital
    nothing = pd.DataFrame({"n": [], "repeat": [], "sin_theta": []})
    assert search().simulated_answer(nothing).state == "measuring"


def test_a_value_counts_when_all_its_runs_are_there():
    searched = search()
    whole = table(searched, lambda n: 10 / n, (500, 2000))
    part = pd.concat([whole, table(searched, lambda n: 10 / n, (1000,)).head(3)])
    answer = searched.simulated_answer(whole)
    assert searched.simulated_answer(part) == answer
    assert answer.state == "measuring" and answer.value == pytest.approx(1000, rel=0.05)


def test_a_table_cannot_be_simulated():
    real = StudyPlan(
        ExplorerExperiment("breast_cancer", n=569, k=2, s_hat=30, delta=1e-5), "analyze_gauss", 0.2
    )
    with pytest.raises(ValueError, match="population must be synthetic"):
        Search(real, Question("patients", 1.0), 1000)


def test_patients_of_a_size_fill_hospitals():
    """The same rows as with their number given; and it is part of what a row depends on, where it is set."""
    population = SpikedModel(**{name: SPARSE[name] for name in ("d", "k", "s")})
    base = {"population": population, "methods": (variant("dps_pca"),), "repeats": 2, "s_hat": 16}
    each = Recipe(**base, swept=(Axis("n", (4000,)),), patients_each=1000)
    given = Recipe(**base, swept=(Axis("n", (4000,)),), providers=4)
    assert sweep(each)["sin_theta"].tolist() == sweep(given)["sin_theta"].tolist()
    unset = replace(each, patients_each=None)
    fingerprints = {recipe_file.fingerprint(recipe, recipe.methods[0]) for recipe in (each, unset)}
    assert len(fingerprints) == 2
    assert recipe_file.from_dict(recipe_file.to_dict(each)) == each
    with pytest.raises(ValueError, match="patients_each"):
        replace(each, patients_each=0)
