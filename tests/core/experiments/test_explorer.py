"""The explorer's experiment: cells are keyed by what they are, and cover what the page shows."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dppca_core import METHODS, SpikedModel
from dppca_core.byte_cache import ByteCache
from dppca_core.experiments import draws
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.picture import NOISES
from dppca_core.experiments.explorer.results import ON_UNIT_ROWS, RUNS, Cell, Results, quantiles
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import dps_pca
from dppca_core.numerics import subspace_metrics

MODEL = SpikedModel(d=20, k=2, s=5, spike=100.0, bulk=(0.0, 5.0), seed=2)
EXPERIMENT = ExplorerExperiment(
    MODEL, n=5000, k=2, s_hat=8, delta=1e-5, providers=3, iterations=4, repeats=3, seed=6
)
TABLE = ExplorerExperiment("breast_cancer", n=569, k=2, s_hat=10, delta=1e-5, providers=3, repeats=2)
EXPERIMENTS = pytest.mark.parametrize("experiment", [EXPERIMENT, TABLE], ids=["synthetic", "table"])


def same(cell: Cell, other: Cell) -> bool:
    arrays = zip(cell[:2], other[:2], strict=True)
    return all(np.array_equal(a, b) for a, b in arrays) and cell[2:5] == other[2:5]


@pytest.mark.parametrize(
    ("experiment", "name"),
    [(EXPERIMENT, DPS_PCA), (EXPERIMENT, "dp_oja"), (TABLE, "dp_oja"), (TABLE, "dpdis_pca")],
    ids=["synthetic, iterates", "synthetic, rows", "table, rows", "table, hospitals"],
)
def test_a_cell_is_deterministic(experiment, name):
    """Whatever was measured before it, in this object or another, and with an empty cache of draws.

    That a generator is a method's only randomness is tested with the methods; here are the ways of drawing.
    """
    alone = Results(experiment).cell(name, 1.0, 1)
    draws.DRAWS.clear()
    late = Results(experiment)
    for epsilon in (0.1, 10.0):
        late.cell(DPS_PCA, epsilon, 0)
    assert same(late.cell(name, 1.0, 1), alone)


def test_other_methods_do_not_change_a_methods_numbers():
    everything, alone = Results(EXPERIMENT), Results(EXPERIMENT, methods=("dp_oja",))
    for name in METHODS:
        everything.cell(name, 0.5, 0)
    assert same(everything.cell("dp_oja", 0.5, 0), alone.cell("dp_oja", 0.5, 0))


@EXPERIMENTS
def test_the_estimate_is_the_run_behind_the_cell(experiment):
    results = Results(experiment)
    estimate, cell = results.estimate(DPS_PCA, 1.0, 1), results.cell(DPS_PCA, 1.0, 1)
    errors = [subspace_metrics.sin_theta(basis, results.truth.basis) for basis in estimate.iterates]
    np.testing.assert_allclose(cell.sin, errors, rtol=1e-12)
    assert (cell.noise_std, cell.bytes_sent) == (estimate.noise_std, estimate.bytes_sent)


@pytest.mark.parametrize(
    "experiment", [EXPERIMENT, TABLE, replace(EXPERIMENT, start_error=0.5)], ids=["", "table", "start"]
)
def test_cells_measured_together_are_those_one_by_one(experiment):
    together, alone = Results(experiment), Results(experiment)
    together.try_cells(together.first(1.0))
    for cell in alone.missing(alone.first(1.0)):
        alone.cell(*cell)
    assert together.cells.keys() == alone.cells.keys()
    for key, cell in together.cells.items():
        np.testing.assert_allclose(cell.sin, alone.cells[key].sin, atol=1e-12)
        assert cell[2:5] == alone.cells[key][2:5]


@pytest.mark.parametrize(("name", "other"), draws.SAME_RUNS.items())
def test_methods_of_one_law_share_their_runs(name, other, monkeypatch):
    """Run by itself each has the numbers of the other; on a page that asks for both they are run once."""
    apart = Results(replace(EXPERIMENT, method=name))
    kept, of_other = apart.cell(name, 1.0, 1), apart.cell(other, 1.0, 1)
    assert kept.sin[-1] == of_other.sin[-1]
    assert kept[3:5] == of_other[3:5]  # noise and bytes
    together = Results(EXPERIMENT)
    together.try_cells([(other, 1.0, 1)])
    monkeypatch.setattr(Results, "estimate", None)
    together.try_cell(name, 1.0, 1)
    assert together.cells[name, 1.0, 1] is together.cells[other, 1.0, 1]


def test_where_runs_together_fail_each_is_tried_by_itself(monkeypatch):
    """One epsilon of three is refused: the others have their cells, and it its reason."""
    kept = Results.estimate

    def estimate(self, name, epsilon, repeat):
        if epsilon == 1.0:
            raise ValueError("not this one")
        return kept(self, name, epsilon, repeat)

    def estimates(self, name, runs):
        raise ArithmeticError("not resolved")

    monkeypatch.setattr(Results, "estimate", estimate)
    monkeypatch.setattr(Results, "estimates", estimates)
    results = Results(EXPERIMENT)
    results.try_cells((DPS_PCA, epsilon, 0) for epsilon in (0.5, 1.0, 2.0))
    assert set(results.cells) == {(DPS_PCA, 0.5, 0), (DPS_PCA, 2.0, 0)}
    assert results.failed == {(DPS_PCA, 1.0, 0): "not this one"}


def test_repeats_and_seeds_are_different_runs():
    results = Results(EXPERIMENT)
    ends = [results.cell(DPS_PCA, 1.0, repeat).sin[-1] for repeat in range(3)]
    ends.append(Results(replace(EXPERIMENT, seed=7)).cell(DPS_PCA, 1.0, 0).sin[-1])
    assert len(set(ends)) == 4


def test_noise_is_common_along_epsilon(monkeypatch):
    """The same draw scaled: curves over epsilon are smooth."""
    noises: list[np.ndarray] = []
    release = dps_pca.release

    def listen(moment, block, rows, std, rng):
        message = release(moment, block, rows, std, rng)
        noises.append(message - moment.apply(block, rows))
        return message

    monkeypatch.setattr(dps_pca, "release", listen)
    results = Results(EXPERIMENT)
    cells = [results.cell(DPS_PCA, epsilon, 2) for epsilon in (0.1, 1.0)]
    strict, loose = np.split(np.array(noises), 2)
    np.testing.assert_allclose(strict / cells[0].noise_std, loose / cells[1].noise_std, rtol=1e-9, atol=1e-9)


def test_methods_and_repeats_have_noise_of_their_own():
    keys = [(0, repeat, name) for name in METHODS for repeat in range(3)]
    assert len({draws.generator(*key).random() for key in keys}) == len(keys)


def test_patients_are_common_along_epsilon_and_methods():
    assert EXPERIMENT.cohort(1).pooled is EXPERIMENT.cohort(1).pooled
    assert not np.array_equal(EXPERIMENT.cohort(1).pooled.dense(), EXPERIMENT.cohort(2).pooled.dense())


@pytest.mark.parametrize(
    "changed",
    [{"n": 5001}, {"failure": 0.2}, {"seed": 7}, {"population": replace(MODEL, seed=3)}],
    ids=lambda changed: next(iter(changed)),
)
def test_other_settings_are_other_patients(changed):
    """Also from the cache of draws."""
    patients, other = EXPERIMENT.cohort(0), replace(EXPERIMENT, **changed).cohort(0)
    assert not np.array_equal(patients.pooled.dense(), other.pooled.dense())


def test_the_dealing_does_not_change_the_patients():
    """More hospitals, or a larger one: the same pooled moment."""
    other = replace(EXPERIMENT, providers=7, largest_share=0.6)
    np.testing.assert_array_equal(other.cohort(0).pooled.dense(), EXPERIMENT.cohort(0).pooled.dense())
    assert [provider.n for provider in other.cohort(0)] == list(other.sizes)
    assert other.sizes[0] == 3000


@pytest.mark.parametrize(
    ("d", "repeats", "different"), [(20, 10, 10), (800, 10, 3), (1000, 10, 2), (2000, 10, 1), (800, 1, 1)]
)
def test_large_problems_share_patients_between_repeats(d, repeats, different):
    experiment = replace(EXPERIMENT, population=SpikedModel(d=d, k=2, s=5), repeats=repeats)
    assert experiment.patient_draws == different


def test_repeats_cycle_through_the_draws(monkeypatch):
    monkeypatch.setattr(ExplorerExperiment, "patient_draws", 2)
    assert EXPERIMENT.cohort(0).pooled is EXPERIMENT.cohort(2).pooled
    assert EXPERIMENT.cohort(0).pooled is not EXPERIMENT.cohort(1).pooled


def test_a_table_is_always_the_same_patients():
    assert TABLE.patient_draws == 1
    np.testing.assert_array_equal(TABLE.cohort(0).pooled.dense(), TABLE.cohort(1).pooled.dense())


def wanted_cells(results: Results, epsilon: float) -> set[tuple[str, float, int]]:
    """Return everything the page may show, derived without `first` and `rest`."""
    grid, repeats = {epsilon, *EPSILONS}, results.experiment.repeats
    cells = {(DPS_PCA, epsilon, r) for r in range(NOISES)}  # more than repeats, for the picture
    cells |= {(DPS_PCA, e, r) for e in grid for r in range(3)}
    for name in results.live_methods:
        at = epsilon if METHODS[name].private else EPSILONS[0]
        cells |= {(name, at, r) for r in range(results.repeats_of(name))}
        if METHODS[name].private:
            cells |= {(name, e, r) for e in grid for r in range(min(results.repeats_of(name), 3))}
    cells |= {(NO_PRIVACY, EPSILONS[0], r) for r in range(results.experiment.patient_draws)}
    # Where all err alike, the first of the published methods of the trust is the best.
    trust, live = METHODS[DPS_PCA].trust, results.live_methods
    for unit in [n for n, name in ON_UNIT_ROWS.items() if name in live and RUNS[name].trust == trust][:1]:
        cells |= {(name, epsilon, r) for name in (unit, ON_UNIT_ROWS[unit]) for r in range(repeats)}
    return cells


@pytest.mark.parametrize(
    ("epsilon", "names"),
    [(1.0, tuple(METHODS)), (0.37, ("pca", "dps_pca", "dp_oja")), (0.37, ("pca",))],
    ids=["all", "off the grid", "pca alone"],
)
def test_first_and_rest_cover_the_page(epsilon, names, monkeypatch):
    """Filled in the order of need until nothing is missing; `first` holds what is shown first.

    Which cells are wanted depends on no number in them, so all hold those of one run.
    """
    alike = Results(EXPERIMENT).cell(DPS_PCA, 1.0, 0)
    monkeypatch.setattr(Results, "estimate", lambda results, name, at, repeat: None)
    monkeypatch.setattr(Results, "_measured", lambda results, name, estimate: alike)
    results = Results(EXPERIMENT, names)
    first = set(results.first(epsilon))
    assert {(DPS_PCA, epsilon, r) for r in range(3)} | {(DPS_PCA, e, 0) for e in EPSILONS} <= first
    assert {(name, epsilon, 0) for name in names} <= first
    wanted = wanted_cells(results, epsilon)
    while missing := results.missing(chain(results.first(epsilon), results.rest(epsilon))):
        assert results.next_missing(epsilon) == missing[0]
        for cell in missing[:20]:
            results.cell(*cell)
    assert set(results.cells) == wanted
    assert results.next_missing(epsilon) is None
    assert results.missing(chain(results.first(epsilon), results.rest(epsilon))) == []


def test_what_is_missing_comes_in_the_order_of_need():
    results = Results(EXPERIMENT)
    wanted = list(chain(results.first(1.0), results.rest(1.0)))
    results.cell(*wanted[0])
    assert results.next_missing(1.0) == wanted[1]
    assert wanted[0] not in results.missing(results.first(1.0))


@pytest.mark.parametrize("d", [401, 1000, 1200])
def test_a_large_experiment_asks_for_less_at_first(d):
    """Counted, not run: repeats that need no second draw of patients, no methods where they take long."""
    results = Results(replace(EXPERIMENT, population=SpikedModel(d=d, k=2, s=5), repeats=10))
    first = list(results.first(1.0))
    assert (DPS_PCA, 1.0, 0) in first
    assert len(first) <= 10 + len(EPSILONS) + 2 * len(METHODS)
    if d >= 1000:
        assert {repeat % results.experiment.patient_draws for _, _, repeat in first} == {0}
        assert {name for name, _, _ in first} == {DPS_PCA}


def test_methods_without_noise_are_measured_once_for_all_epsilons():
    results = Results(EXPERIMENT)
    results.cell("pca", 0.1, 0)
    results.cell("pca", 5.0, 0)
    assert set(results.cells) == {("pca", EPSILONS[0], 0)}
    assert results.measured("pca", 3.0) == list(results.cells.values())


def test_measured_keeps_the_order_of_repeats():
    results = Results(EXPERIMENT)
    for repeat in (2, 0):
        results.cell(DPS_PCA, 1.0, repeat)
    first, last = results.measured(DPS_PCA, 1.0)
    assert same(first, results.cell(DPS_PCA, 1.0, 0))
    assert same(last, results.cell(DPS_PCA, 1.0, 2))
    assert results.measured(DPS_PCA, 2.0) == []
    assert list(results.cells.values()) == [last, first]  # as they were measured


def test_the_table_is_tidy():
    """One row per iterate of the traced method, one per run of the others; no epsilon without privacy."""
    results = Results(EXPERIMENT)
    for name in METHODS:
        for repeat in (0, 1):
            results.cell(name, 1.0, repeat)
    table = results.table()
    order = table[["method", "repeat", "iteration"]].fillna(0)
    pd.testing.assert_frame_equal(order, order.sort_values(list(order)))
    rows = table.groupby("method").size()
    assert rows[DPS_PCA] == 2 * (EXPERIMENT.iterations + 1)
    assert (rows.drop(DPS_PCA) == 2).all()
    assert not table.duplicated(["method", "epsilon", "repeat", "iteration"]).any()
    assert table["sin_theta"].between(0, np.sqrt(2) + 1e-9).all()
    public = table["method"].isin([n for n, m in METHODS.items() if m.guarantee == "none"])
    assert table.loc[public, ["epsilon", "delta"]].isna().all(axis=None)
    assert (table.loc[~public, "epsilon"] == 1.0).all()
    assert (table.loc[~public, "delta"] == 1e-5).all()
    last = table[table["iteration"] == EXPERIMENT.iterations].set_index("repeat")
    for repeat in (0, 1):
        cell = results.cell(DPS_PCA, 1.0, repeat)
        assert last.loc[repeat, "sin_theta"] == cell.sin[-1]
        assert last.loc[repeat, "support_found"] == cell.support
    assert isinstance(table, pd.DataFrame)


def test_the_truth_of_a_synthetic_experiment_is_the_population():
    results = Results(replace(EXPERIMENT, energy=True))
    truth = results.truth
    np.testing.assert_array_equal(truth.basis, MODEL.basis)
    assert truth.bound == MODEL.norm_bound(5000, 0.01)
    np.testing.assert_allclose(np.linalg.eigvalsh(results.second_moment)[::-1], truth.eigenvalues, atol=1e-14)
    np.testing.assert_allclose(truth.eigenvalues * truth.bound**2, MODEL.eigenvalues, rtol=1e-12)


def test_the_truth_of_a_table_is_its_own_plain_pca():
    results = Results(TABLE)
    assert results.cell("pca", 1.0, 0).sin[-1] < 1e-12
    np.testing.assert_allclose(results.truth.eigenvalues.sum(), np.trace(TABLE.cohort(0).pooled.dense()))


@EXPERIMENTS
def test_energy_is_measured_when_asked_for(experiment):
    """One for each iterate; 1 for the truth itself."""
    results = Results(replace(experiment, energy=True))
    cell = results.cell(DPS_PCA, 10.0, 0)
    assert cell.energy.shape == cell.sin.shape
    assert (cell.energy <= 1 + 1e-12).all()
    assert Results(experiment).cell(DPS_PCA, 10.0, 0).energy.size == 0
    truth = results.truth
    best = truth.eigenvalues[:2].sum()
    assert subspace_metrics.captured_energy(truth.basis, results.second_moment, best) == pytest.approx(
        1.0, rel=1e-9
    )


@pytest.mark.parametrize("error", [0.0, 0.3, np.sqrt(2)])
def test_a_start_at_a_distance(error):
    cell = Results(replace(EXPERIMENT, start_error=error)).cell(DPS_PCA, 1.0, 0)
    assert cell.sin[0] == pytest.approx(error, abs=1e-12)


@EXPERIMENTS
def test_the_setting_of_the_bounds_is_the_experiment(experiment):
    setting = Results(experiment).setting(0.5)
    assert (setting.d, setting.n, setting.k, setting.s_hat) == (
        experiment.d,
        experiment.n,
        experiment.k,
        experiment.s_hat,
    )
    assert setting.s == (MODEL.s if experiment is EXPERIMENT else experiment.d)
    assert setting.budget == experiment.budget(0.5)
    assert setting.eigenvalues.sum() <= 1 + 1e-9  # rows of norm at most 1


def test_the_cache_of_draws_is_bounded():
    """The oldest goes first; one that is too large alone is still kept."""
    drawn = [MODEL.draw_pooled(100, np.random.default_rng(i)) for i in range(3)]
    size = drawn[0].factor.nbytes + drawn[0].moment.matrix.nbytes
    cache = ByteCache(limit=2 * size)
    for key, draw in enumerate(drawn):
        assert cache.get(key, lambda draw=draw: draw, size) is draw
        assert cache.get(0, lambda: None, size) is drawn[0]  # used last, so never the oldest
    assert cache.get(2, lambda: None, size) is drawn[2]
    assert cache.get(1, lambda: None, size) is drawn[1]  # dropped, but still in use here
    del drawn[0], draw
    assert cache.get(0, lambda: "drawn anew", size) == "drawn anew"
    tiny = ByteCache(limit=1)
    assert tiny.get("only", lambda: drawn[0], size) is tiny.get("only", lambda: None, size)


def test_hospitals_keep_their_own_moments():
    """Drawn once for an experiment and a repeat, not at every epsilon."""
    assert EXPERIMENT.cohort(0)[1].moment.dense() is EXPERIMENT.cohort(0)[1].moment.dense()


def test_slow_methods_run_only_when_asked_for():
    """At d = 300 Fantope selection takes some 100 eigenproblems."""
    results = Results(replace(EXPERIMENT, population=SpikedModel(d=300, k=2, s=5)), ("pca", "ldp_sparse_pca"))
    assert (results.live_methods, results.slow) == (("pca",), ("ldp_sparse_pca",))
    wanted = list(chain(results.first(1.0), results.rest(1.0)))
    assert "ldp_sparse_pca" not in {name for name, _, _ in wanted}
    asked = {(name, e) for name, e, _ in results.rest(1.0, slow=True) if name in results.slow}
    assert asked == {("ldp_sparse_pca", 1.0)}


def test_what_cannot_run_is_left_out_with_its_reason():
    """As if a method refused d above 10."""
    results = Results(EXPERIMENT, ("pca", "dps_pca"))
    results.__dict__["skipped"] = {"pca": "too wide"}
    assert results.live_methods == ("dps_pca",) and results.slow == ()


@given(hnp.arrays(float, hnp.array_shapes(min_dims=1, max_dims=2, max_side=9), elements=st.floats(-5, 5)))
def test_quantiles_are_those_of_numpy(values):
    expected = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
    np.testing.assert_allclose(quantiles(values), expected, atol=1e-12)


def test_methods_get_the_parameters_that_they_use():
    experiment = replace(EXPERIMENT, iterations=7)
    assert experiment.options("noisy_power") == {"iterations": 7}
    assert experiment.options("sparse_pca") == {"s_hat": EXPERIMENT.s_hat}
    assert set(experiment.options(DPS_PCA)) == {"s_hat", "iterations", "burn_in", "provider_noise"}
    assert experiment.options("pca") == {}


def test_what_needs_rows_is_left_out_where_clipped_rows_are_only_moments():
    results = Results(replace(EXPERIMENT, clip=1.2))
    needy = {name for name, method in METHODS.items() if method.scaling == "unit"} | {"dp_oja"}
    assert needy <= results.skipped.keys() and not needy & set(results.live_methods)
    for name in results.live_methods:
        results.try_cell(name, 1.0, 0)
    assert not results.failed
