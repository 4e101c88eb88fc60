"""Studies run what pages, sweeps and methods run: the same settings give the same numbers."""

import gc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dppca_core import METHODS, Budget, Cohort, SpikedModel, datasets, sin_theta
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import draws, studies, sweep, variant
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.figure_tables import bounds as bound_tables
from dppca_core.experiments.figure_tables import sweeps as sweep_tables
from dppca_core.numerics.subspace_metrics import in_unit
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.populations.differing import DifferingHospitals

MODEL = SpikedModel(d=20, k=2, s=5)
BUDGET = Budget(1.0, 1e-6)
NAMES = ["dps_pca", "analyze_gauss", "two_stage", "pca"]
QUIET = {"progress": False}
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 5)) * [5, 3, 1, 1, 1]
FRAME = pd.DataFrame(ROWS, columns=["age", "weight", "pulse", "height", "sugar"])


@pytest.fixture(scope="module")
def compared():
    return studies.compare(MODEL, NAMES, BUDGET, n=5000, providers=3, repeats=3, values=(0.5,), **QUIET)


def test_a_comparison_is_the_methods_called_by_hand(compared):
    """The same patients, generators and budgets, without a sweep in between."""
    for row in compared.runs.itertuples():
        cohort = draws.cohort(MODEL, (1667, 1667, 1666), draws.PUBLIC, 0, row.repeat)
        estimate = METHODS[row.method].fit(
            cohort,
            k=2,
            budget=Budget(row.epsilon, 1e-6),
            rng=draws.generator(0, row.repeat, row.method),
        )
        assert row.sin_theta == pytest.approx(sin_theta(estimate.basis, MODEL.basis), rel=1e-9), row
        assert row.noise_std == pytest.approx(estimate.noise_std, rel=1e-12)
    assert len(compared.runs) == len(NAMES) * 2 * 3 and not compared.runs["failed"].any()


def test_where_nothing_can_be_run_the_reason_is_said():
    with pytest.raises(ValueError, match="no run has an answer: n must be at least 3"):
        studies.compare(MODEL, ["analyze_gauss"], BUDGET, n=2, providers=3, repeats=1, values=(0.5,), **QUIET)
    with pytest.warns(UserWarning, match="two_stage has no answer: s_hat"):
        study = studies.compare(
            MODEL, ["two_stage", "pca"], BUDGET, n=1000, s_hat=1, repeats=1, values=(0.5,), **QUIET
        )
    assert study.to_frame().loc["pca"].notna().all(axis=None)
    with pytest.raises(TypeError, match=r"methods must be a list of keys, got one text: write \['pca'\]"):
        studies.compare(MODEL, "pca", BUDGET, n=1000, **QUIET)


@pytest.mark.parametrize("metric", ["sin", "share", "degrees"])
def test_its_frame_has_the_quantiles_of_its_runs(compared, metric):
    frame = compared.to_frame(metric)
    assert list(frame) == ["10 %", "50 %", "90 %"] and frame.index.names == ["label", "epsilon"]
    assert list(dict.fromkeys(frame.index.get_level_values("label"))) == NAMES
    for (label, epsilon), row in frame.iterrows():
        runs = compared.runs[(compared.runs["label"] == label) & (compared.runs["epsilon"] == epsilon)]
        shown = runs["largest_angle"] if metric == "degrees" else in_unit(metric, runs["sin_theta"], 2)
        np.testing.assert_allclose(row, np.quantile(shown, [0.1, 0.5, 0.9]), rtol=1e-12)
    assert sweep_tables.against((compared.recipe,), "epsilon", "sin_theta", 2, "sin").shape == frame.shape


def test_its_recipe_is_a_sweep_of_the_same_rows(compared):
    again = sweep(compared.recipe)
    columns = [name for name in again if name != "seconds"]
    pd.testing.assert_frame_equal(again[columns], compared.runs[columns])


def test_variants_have_options_of_their_own():
    chosen = [variant("dps_pca"), variant("dps_pca", "without burn-in", burn_in=0)]
    study = studies.compare(MODEL, chosen, BUDGET, n=5000, values=(), repeats=2, s_hat=8, **QUIET)
    frame = study.to_frame()["50 %"]
    assert list(frame.index) == [("dps_pca", 1.0), ("without burn-in", 1.0)] and frame.nunique() == 2


def test_all_features_are_kept_unless_told_and_a_release_may_choose_them():
    every = studies.compare(MODEL, ["two_stage"], BUDGET, n=5000, values=(), repeats=2, **QUIET)
    same = studies.compare(MODEL, ["two_stage"], BUDGET, n=5000, values=(), repeats=2, s_hat=20, **QUIET)
    chosen = studies.compare(
        MODEL, ["two_stage"], BUDGET, n=5000, values=(), repeats=2, s_hat="released", **QUIET
    )
    np.testing.assert_array_equal(every.runs["sin_theta"], same.runs["sin_theta"])
    assert dict(chosen.recipe.methods[0].options) == {"s_hat": "released"}


def test_own_rows_are_compared_as_a_bundled_table_is():
    """The rows of a bundled table, given as own ones, have its numbers, bit for bit."""
    table = datasets.table("breast_cancer")
    settings = {"k": 2, "providers": 3, "values": (3.2,), "repeats": 2, **QUIET}
    bundled = studies.compare("breast_cancer", NAMES, BUDGET, **settings)
    rows = datasets.rows("breast_cancer")
    for own_rows in (rows, pd.DataFrame(rows, columns=table.features)):
        study = studies.compare(own_rows, NAMES, BUDGET, bound=table.bound, **settings)
        columns = ["label", "epsilon", "repeat", "sin_theta", "largest_angle", "noise_std"]
        pd.testing.assert_frame_equal(study.runs[columns], bundled.runs[columns])
    assert study.runs.query("method == 'pca'")["sin_theta"].max() < 1e-6


def test_own_rows_are_compared_with_pca_of_the_same_clipped_rows():
    study = studies.compare(FRAME, ["analyze_gauss"], BUDGET, 2, bound=4.0, values=(), repeats=2, **QUIET)
    cohort = Cohort.from_rows([FRAME], 4.0)
    truth = METHODS["pca"].fit(cohort, k=2, budget=BUDGET, rng=RNG).basis
    for repeat, error in enumerate(study.runs["sin_theta"]):
        rng = draws.generator(0, repeat, "analyze_gauss")
        estimate = METHODS["analyze_gauss"].fit(cohort, k=2, budget=BUDGET, rng=rng)
        assert error == pytest.approx(sin_theta(estimate.basis, truth), rel=1e-9)
    assert study.held.table.features == tuple(FRAME)


def test_own_rows_are_forgotten_with_their_study():
    before = datasets.ROWS.size, datasets.COHORTS.size, draws.ASSIGNED.size
    study = studies.compare(ROWS, ["pca"], BUDGET, 2, bound=4.0, values=(), repeats=1, **QUIET)
    name = study.experiment.population
    assert name in datasets.names() and str(ROWS[0, 0])[:8] not in repr(study)
    assert (datasets.ROWS.size, datasets.COHORTS.size, draws.ASSIGNED.size) == before
    del study
    gc.collect()
    assert name not in datasets.names()
    with pytest.raises(ValueError, match="name must be one of"):
        datasets.table(name)


def test_trajectories_end_where_a_comparison_does():
    settings = {"n": 5000, "providers": 3, "repeats": 3, "values": (0.5,), **QUIET}
    study = studies.convergence(MODEL, "dps_pca", BUDGET, iterations=6, **settings)
    ends = studies.compare(MODEL, ["dps_pca"], BUDGET, iterations=6, **settings)
    for metric in ("sin", "share", "degrees"):
        frame = study.to_frame(metric)
        assert frame.index.names == ["epsilon", "round"] and len(frame) == 2 * 7
        np.testing.assert_allclose(
            frame.xs(6, level="round"), ends.to_frame(metric).droplevel("label"), rtol=1e-6
        )
        table = sweep_tables.trajectories(study.recipe, "epsilon", 2, metric)
        np.testing.assert_array_equal(frame, table)


@pytest.mark.parametrize("over", ["n", "d", "k", "s", "providers", "delta", "iterations"])
def test_every_swept_parameter_has_the_experiment_of_each_value(over):
    values = {"n": (1000,), "d": (10,), "k": (1,), "s": (4,), "delta": (1e-4,)}.get(over, (2,))
    study = studies.convergence(
        MODEL, "dps_pca", BUDGET, n=5000, over=over, values=values, repeats=1, **QUIET
    )
    assert set(study.values) == {study.here, *values} and not study.runs["failed"].any()
    experiment, epsilon = study.at(values[0])
    owner = experiment.population if over == "s" else experiment
    assert getattr(owner, over) == values[0] and epsilon == 1.0
    setting = experiment.setting(epsilon, np.zeros(experiment.d))
    assert setting.s_hat == setting.d  # all features, wherever d is swept


@pytest.fixture(scope="module")
def bounded():
    constants = {"ge2018": {"c2": 3.0}}
    names = ["ge2018", "dps_prediction", "sparse_minimax"]
    options = {"n": 5000, "providers": 3, "repeats": 2, "constants": constants, **QUIET}
    return studies.bounds(MODEL, names, BUDGET, **options)


@pytest.mark.parametrize("metric", ["sin", "share"])
def test_bounds_are_those_of_the_page(bounded, metric):
    frame = bounded.to_frame(metric)
    table = bound_tables.against_epsilon(bounded.experiment, "dps_pca", bounded.constants, 3.3, metric)
    assert list(frame.index) == list(EPSILONS) == list(table.index)
    np.testing.assert_allclose(frame, table, rtol=1e-9)


def test_bounds_are_those_of_the_registry_at_the_same_setting(bounded):
    frame = bounded.to_frame()
    for epsilon in (0.1, 1.0, 10.0):
        setting = replace(bounded.results.setting(epsilon), tau=3.3)
        assert frame.loc[epsilon, "ge2018"] == BOUNDS["ge2018"](setting, c2=3.0).final
        assert frame.loc[epsilon, "sparse_minimax"] == BOUNDS["sparse_minimax"](setting).final


def test_without_names_all_bounds_of_the_method_are_taken():
    study = studies.bounds(FRAME, None, BUDGET, 2, bound=9.0, method="analyze_gauss", repeats=1, **QUIET)
    assert set(study.constants) == {
        name
        for name, rule in BOUNDS.items()
        if rule.measure == "sin" and (not rule.methods or "analyze_gauss" in rule.methods)
    }
    assert study.to_frame().shape == (len(EPSILONS), 3 + len(study.constants))


def test_patients_needed_are_those_of_the_sweep():
    values = (1000, 10_000, 100_000)
    study = studies.patients_needed(MODEL, 0.3, ["dps_pca", "pca"], BUDGET, values=values, repeats=4, **QUIET)
    frame = study.to_frame()
    pd.testing.assert_frame_equal(frame, sweep_tables.needed((study.recipe,), 0.3, 0))
    assert list(frame["label"]) == ["dps_pca", "pca"]
    reached = frame.set_index("label")["patients"]["dps_pca"]
    medians = study.runs.query("label == 'dps_pca'").groupby("n")["sin_theta"].median()
    below, above = medians[medians > 0.3].index.max(), medians[medians <= 0.3].index.min()
    assert below < reached <= above


def test_an_executor_may_be_named():
    settings = {"n": 5000, "values": (), "repeats": 2, **QUIET}
    here = studies.compare(MODEL, ["pca"], BUDGET, **settings)
    serial = studies.compare(MODEL, ["pca"], BUDGET, executor="serial", **settings)
    np.testing.assert_array_equal(here.runs["sin_theta"], serial.runs["sin_theta"])


@pytest.mark.parametrize(
    ("population", "options", "message"),
    [
        (ROWS, {"k": 2}, "bound must be given for own rows"),
        (ROWS, {"k": 2, "bound": -1.0}, "bound must be positive and finite, got -1.0"),
        (ROWS, {"bound": 1.0}, "k must be a whole number, got None"),
        (ROWS, {"bound": 1.0, "k": 5}, "k must be between 1 and 4, got 5"),
        (ROWS, {"bound": 1.0, "k": 2, "n": 9}, "n must be left out: there are 300 rows"),
        (ROWS, {"bound": 1.0, "k": 2, "executor": "cores"}, "executor must be left out for own rows"),
        (ROWS, {"bound": 1.0, "k": 2, "over": "d"}, "over must be another parameter than d"),
        (ROWS[0], {"bound": 1.0, "k": 2}, "rows must be a non-empty matrix"),
        (FRAME.assign(age="x"), {"bound": 1.0, "k": 2}, "must hold numbers, got other values in 'age'"),
        ([[1.0] * 6] * 2, {"bound": 1.0, "k": 2}, "a matrix or a data frame, got list of length 2"),
        ("digitz", {"k": 2}, "name must be one of"),
        ("digits", {"k": 2, "bound": 1.0}, "bound must be left out"),
        (MODEL, {}, "n must be a whole number, got None"),
        (MODEL, {"n": 500, "k": 3}, "k must be the population's, 2, got 3"),
        (MODEL, {"n": 500, "over": "epsilonn"}, "over must be one of"),
        (SpikedModel(d=20, k=2, s=5, spike=(90.0, 60.0)), {"n": 500, "over": "spike"}, "there are several"),
        (DifferingHospitals(), {"n": 500, "k": 2}, "population must be"),
        (DictionaryTwin, {"k": 2}, "population must be a model"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(population, options, message):
    with pytest.raises(ValueError, match=message):
        studies.compare(population, ["pca"], BUDGET, **options, **QUIET)


def test_other_mistakes_are_answered_by_the_nearest():
    with pytest.raises(TypeError, match=r"^a study takes no option 'repeat': did you mean repeats\?$"):
        studies.compare(MODEL, ["pca"], BUDGET, n=500, repeat=3)
    with pytest.raises(ValueError, match=r"^method must be one of .*dps_pca.*, or others, got 'dps_pcb'$"):
        studies.compare(MODEL, ["dps_pcb"], BUDGET, n=500)
    with pytest.raises(KeyError, match=r"no bound is named 'ge2019': did you mean ge2018\?"):
        studies.bounds(MODEL, ["ge2019"], BUDGET, n=500)
    with pytest.raises(ValueError, match=r"bounds named, got ge2018: there are sparse_minimax"):
        studies.bounds(MODEL, ["sparse_minimax"], BUDGET, n=500, constants={"ge2018": {"c2": 1.0}})
    with pytest.raises(ValueError, match="names must be of bounds on sin Theta, got"):
        studies.bounds(MODEL, [next(n for n, r in BOUNDS.items() if r.measure != "sin")], BUDGET, n=500)
    for fixed in ("digits", ROWS, DifferingHospitals()):
        with pytest.raises(ValueError, match="of which any number can be drawn"):
            studies.patients_needed(fixed, 0.1, ["pca"], BUDGET)
