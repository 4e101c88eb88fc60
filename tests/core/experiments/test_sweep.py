"""Sweeps: the same table on every executor, in every order, after every interruption."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dppca_core import METHODS, SpikedModel
from dppca_core.experiments import Axis, Progress, Recipe, sweep, variant
from dppca_core.experiments import __main__ as headless
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps import executors, recipe_file, run_cells, store
from dppca_core.methods import dps_pca
from tests.core.full_disk import full_disk

ROOT = Path(__file__).resolve().parents[3]
MODEL = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
EPSILON = Axis("epsilon", (0.1, 1.0, 10.0))
RECIPE = Recipe(
    MODEL,
    (variant("pca"), variant("dps_pca"), variant("analyze_gauss")),
    (EPSILON,),
    n=2000,
    s_hat=6,
    providers=3,
    iterations=4,
    repeats=3,
    metrics=("sin", "projector", "energy", "support"),
    seed=5,
)
TWO = (Axis("epsilon", (0.1, 10.0)),)
EVERY = replace(RECIPE, methods=tuple(variant(name) for name in METHODS), swept=TWO, repeats=2)
TABLE = replace(EVERY, population="breast_cancer", n=None, k=2, swept=(Axis("providers", (1, 4)),), repeats=1)
IDENTITY = ["label", "method", "repeat"]


@pytest.mark.parametrize("scaled", [{"scaling": "unit"}, {"scaling": "clipped", "bound": 20.0}])
def test_the_time_of_drawing_rows_one_by_one_is_estimated(scaled):
    """200,000 rows of 200 features take seconds, and the moment of as many a few milliseconds."""
    wide = replace(RECIPE, population=SpikedModel(d=200, k=2, s=6), n=200_000, metrics=("sin",))
    by_row, by_moment = map(run_cells.total_seconds, (replace(wide, **scaled), wide))
    assert by_row > by_moment + 0.5


def same(table: pd.DataFrame, other: pd.DataFrame) -> None:
    """Assert that all but the seconds, which no two runs share, are equal to the last bit."""
    tables = (frame.drop(columns="seconds") for frame in (table, other))
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def rows_of(table: pd.DataFrame, other: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return other[names].merge(table, on=names, how="left")[list(other.columns)]


@pytest.fixture
def counted(monkeypatch):
    cells: list[run_cells.RunnableCell] = []
    measured = run_cells.measured_columns

    def count(recipe, cell):
        cells.append(cell)
        return measured(recipe, cell)

    monkeypatch.setattr(run_cells, "measured_columns", count)
    return cells


def test_the_table_is_tidy():
    table = sweep(RECIPE)
    assert len(table) == 3 * 3 * 3
    assert not table.duplicated([*IDENTITY, "epsilon"]).any()
    assert (table["failed"] == "").all()
    np.testing.assert_allclose(table["projector_distance"], np.sqrt(2) * table["sin_theta"])
    assert table["captured_energy"].between(0, 1 + 1e-12).all()
    assert table["support_found"].between(0, 1).all()
    assert list(table.columns) == store.columns(RECIPE)


@pytest.mark.parametrize("name", ["dps_pca", "dpdis_pca", "pca"])
def test_a_sweep_measures_what_the_explorer_measures(name):
    experiment = ExplorerExperiment(
        MODEL, n=2000, k=2, s_hat=6, delta=1e-5, providers=3, iterations=4, repeats=3, seed=5
    )
    table = sweep(replace(RECIPE, methods=(variant(name),), repeats=2)).set_index(["epsilon", "repeat"])
    for (epsilon, run), row in table.iterrows():
        cell = Results(experiment).cell(name, epsilon, run)
        assert row["sin_theta"] == pytest.approx(cell.sin[-1], rel=1e-12, abs=1e-14)
        assert row["noise_std"] == cell.noise_std


@pytest.fixture(scope="module")
def serial():
    return {"synthetic": sweep(EVERY), "table": sweep(TABLE)}


@pytest.mark.parametrize(("name", "recipe"), [("synthetic", EVERY), ("table", TABLE)])
def test_processes_give_the_same_bits(serial, name, recipe):
    """Grouped and ordered by the processes' own chance."""
    same(sweep(recipe, executors.Cores(2)), serial[name])


def test_a_dask_cluster_gives_the_same_bits(serial, monkeypatch):
    """By address, over TCP; its two worker threads live here, as two processes take long to start."""
    from distributed import LocalCluster  # here: it takes a second, and every process collects this file

    workers = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "protocol": "tcp"}
    with (
        LocalCluster(**workers, dashboard_address="127.0.0.1:0", host="127.0.0.1") as cluster,
        executors.opened(cluster.scheduler_address) as executor,
    ):
        same(sweep(EVERY, executor), serial["synthetic"])


@pytest.mark.parametrize("forgiven", [3, 0], ids=["Dask runs it again", "the sweep does"])
def test_a_worker_of_a_cluster_that_is_killed_costs_no_run(forgiven, monkeypatch):
    """With all that it holds, midway; forgiven: workers that may die of a task, for Dask, which has 3."""
    import dask
    from distributed import LocalCluster

    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    long = replace(RECIPE, population=replace(MODEL, d=60), repeats=20)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    killed: list[int] = []
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": forgiven}),
        LocalCluster(**workers, dashboard_address="127.0.0.1:0", host="127.0.0.1") as cluster,
        executors.opened(cluster.scheduler_address) as executor,
    ):

        def kill(at: Progress) -> None:
            if 0 < at.completed < at.total and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        table = sweep(long, executor, progress=kill)
    assert killed
    same(table, sweep(long))


@pytest.mark.parametrize("seconds", [0.0, 1e9], ids=["cell by cell", "one task"])
def test_grouping_changes_nothing(monkeypatch, serial, seconds):
    monkeypatch.setattr(run_cells, "TASK_SECONDS", seconds)
    same(sweep(EVERY), serial["synthetic"])
    same(sweep(TABLE), serial["table"])


@pytest.mark.parametrize(
    "more",
    [
        {"methods": (variant("sulq"), *RECIPE.methods, variant("dps_pca", "paper", burn_in=0))},
        {"swept": (Axis("epsilon", (0.01, 0.1, 0.5, 1.0, 10.0)),)},
        {"repeats": 5},
    ],
    ids=["methods", "values", "repeats"],
)
def test_more_cells_change_no_other_row(more):
    names = [*IDENTITY, "epsilon"]
    small = sweep(RECIPE)
    same(rows_of(sweep(replace(RECIPE, **more)), small, names), small)


@pytest.mark.parametrize(
    ("name", "values", "more"),
    [
        ("n", (500, 2000), (50, 500, 2000)),
        ("d", (12, 14), (10, 12, 14)),
        ("k", (1, 2), (1, 2, 3)),
        ("s", (4, 5), (3, 4, 5)),
        ("s_hat", (4, 6), (3, 4, 6)),
        ("iterations", (2, 3), (1, 2, 3)),
        ("providers", (1, 4), (1, 2, 4)),
        ("delta", (1e-5, 0.1), (1e-5, 1e-3, 0.1)),
    ],
)
def test_every_parameter_can_be_swept(name, values, more):
    small = sweep(replace(RECIPE, swept=(Axis(name, values),)))
    large = sweep(replace(RECIPE, swept=(Axis(name, more),)))
    assert (small["failed"] == "").all()
    same(rows_of(large, small, [*IDENTITY, name]), small)


def test_the_order_of_two_axes_does_not_matter():
    axes = (Axis("n", (500, 2000)), Axis("s_hat", (4, 6)))
    table, other = (sweep(replace(RECIPE, swept=order)) for order in (axes, axes[::-1]))
    same(rows_of(other, table, [*IDENTITY, "n", "s_hat"]), table)


@pytest.mark.parametrize("axis", [EPSILON, Axis("delta", (1e-9, 1e-5, 0.1))], ids=lambda axis: axis.name)
def test_noise_and_patients_are_common_along_epsilon_and_delta(monkeypatch, axis):
    """The same draw scaled, so that curves are smooth."""
    noises, patients, release = [], [], dps_pca.release

    def listen(moment, block, rows, std, rng):
        message = release(moment, block, rows, std, rng)
        noises.append(message - moment.apply(block, rows))
        patients.append(moment.dense())
        return message

    monkeypatch.setattr(dps_pca, "release", listen)
    table = sweep(replace(RECIPE, methods=(variant("dps_pca"),), swept=(axis,), repeats=1))
    runs = np.split(np.array(noises), len(axis.values))
    for run, std in zip(runs, table["noise_std"], strict=True):
        np.testing.assert_allclose(run / std, runs[0] / table["noise_std"][0], rtol=1e-9, atol=1e-9)
    assert all(np.array_equal(moment, patients[0]) for moment in patients)
    assert table["noise_std"].nunique() == len(axis.values)


def test_repeats_and_sizes_have_patients_and_noise_of_their_own():
    table = sweep(replace(RECIPE, swept=(Axis("n", (500, 2000)),)))
    for _, rows in table.groupby("label"):
        assert rows["sin_theta"].nunique() == len(rows)


def test_what_a_method_does_not_use_is_run_once(counted):
    """Flat curves: plain PCA along epsilon, and a method whose option fixes what is swept."""
    fixed = variant("dps_pca", "fixed", s_hat=5)
    axes = (EPSILON, Axis("s_hat", (4, 6)))
    table = sweep(replace(RECIPE, methods=(variant("pca"), fixed), swept=axes, repeats=1))
    assert len(counted) == 1 + 3
    assert table[table["label"] == "pca"]["sin_theta"].nunique() == 1
    assert table[table["label"] == "fixed"].groupby("epsilon")["sin_theta"].nunique().tolist() == [1, 1, 1]


def test_options_are_the_variants_own():
    methods = (variant("dps_pca"), variant("dps_pca", "printed", accounting="as-printed"))
    table = sweep(replace(RECIPE, methods=methods)).set_index(["label", "epsilon", "repeat"])
    assert (table.loc["printed", "noise_std"] > table.loc["dps_pca", "noise_std"]).all()


def test_rules_stand_in_for_numbers():
    """Tuned rounds and rows chosen from the release are options of a variant whose method has the rule."""
    variants = (
        variant("dps_pca", "tuned", iterations="tuned", signal=0.5),
        variant("noisy_power", "power", iterations="tuned"),
        variant("two_stage", "chosen", s_hat="released"),
    )
    table = sweep(Recipe(MODEL, variants, (Axis("epsilon", (5.0,)),), n=3000, s_hat=6, repeats=1))
    assert table["sin_theta"].notna().all()
    refused = (
        ("analyze_gauss_sparse", {"s_hat": "released"}),
        ("cape", {"iterations": "tuned"}),
        ("dps_pca", {"signal": 0.1}),
    )
    for method, options in refused:
        with pytest.raises(ValueError, match=next(iter(options))):
            variant(method, **options)


def test_a_failing_cell_is_a_row_with_its_reason():
    table = sweep(replace(RECIPE, swept=(Axis("s_hat", (1, 6)),)))
    bad = (table["method"] == "dps_pca") & (table["s_hat"] == 1)
    assert table.loc[bad, "failed"].str.startswith("s_hat must be between 2").all()
    assert table.loc[bad, ["sin_theta", "noise_std", "bytes_sent_per_hospital"]].isna().all(axis=None)
    assert (table.loc[~bad, "failed"] == "").all() and table.loc[~bad, "sin_theta"].notna().all()


def test_a_bug_in_a_method_is_a_row_as_well(monkeypatch):
    def broken(*_, **__):
        raise TypeError("a value of the program")

    monkeypatch.setitem(METHODS, "pca", replace(METHODS["pca"], fit=broken))
    assert (
        sweep(replace(RECIPE, methods=(variant("pca"),)))["failed"] == "the program failed with TypeError"
    ).all()


class Deadly(executors.Executor):
    """Its workers die of every task that holds this method."""

    def __init__(self, label):
        self.label = label

    def submit(self, fn, /, recipe, keys, path):
        future = Future()
        if any(key.label == self.label for key in keys):
            future.set_exception(BrokenProcessPool("out of memory"))
        else:
            future.set_result(fn(recipe, keys, path))
        return future


def test_a_worker_that_dies_takes_only_the_guilty_cell_with_it(tmp_path):
    path = tmp_path / "out.csv"
    table = sweep(RECIPE, Deadly("dps_pca"), out=path)
    bad = table["label"] == "dps_pca"
    assert table.loc[bad, "failed"].str.contains("the worker died: BrokenProcessPool").all()
    assert (table.loc[~bad, "failed"] == "").all()
    same(sweep(RECIPE, out=path), sweep(RECIPE))  # tried again


def test_progress_only_grows_and_ends(monkeypatch):
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.005)
    reports: list[Progress] = []
    sweep(replace(RECIPE, repeats=40), progress=reports.append)
    done = [report.completed for report in reports]
    assert done == sorted(set(done)) and len(done) > 2
    assert (reports[0].completed, reports[0].seconds_left) == (0, None)
    assert replace(reports[-1], rows=()) == Progress(360, 360, 0.0)
    cells = [(row["label"], row["epsilon"], row["repeat"]) for report in reports for row in report.rows]
    assert len(cells) == len(set(cells)) == 360
    assert all(report.seconds_left > 0 for report in reports[1:-1])


def slow_recipe() -> Recipe:
    """Minutes of work, in cells of some tenths of a second."""
    model = SpikedModel(d=400, k=2, s=5)
    return replace(RECIPE, population=model, methods=(variant("cape"),), repeats=2000, metrics=("sin",))


@pytest.mark.parametrize("executor", [None, executors.Cores(2)], ids=["serial", "cores"])
def test_cancel_hands_over_nothing_more_and_keeps_what_is_finished(executor, tmp_path, monkeypatch):
    cancelled: list[bool] = []
    enough: list[int] = []
    late: list[bool] = []
    where, name = (run_cells, "run") if executor is None else (executor, "submit")
    hand_over = getattr(where, name)
    monkeypatch.setattr(where, name, lambda *task: (late.append(bool(cancelled)), hand_over(*task))[1])

    def cancel() -> bool:
        if enough and not cancelled:
            cancelled.append(True)
        return bool(enough)

    def progress(report: Progress) -> None:
        if report.completed:
            enough.append(report.completed)

    path = tmp_path / "out.csv"
    table = sweep(slow_recipe(), executor, progress=progress, cancel=cancel, out=path)
    assert late and not any(late)
    assert 0 < len(table) < 6000 and len(table) == enough[-1]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1 + len(table)


def test_resume_completes_without_computing_anything_twice(tmp_path, counted, monkeypatch):
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    recipe = replace(RECIPE, methods=RECIPE.methods[1:])  # plain PCA is run once a task
    path, whole = tmp_path / "out.csv", sweep(recipe)
    counted.clear()
    answers = chain([False] * 4, repeat(True))
    part = sweep(recipe, out=path, cancel=lambda: next(answers))
    assert 0 < len(part) < len(whole)
    same(sweep(recipe, out=path), whole)
    assert len(counted) == len(set(counted)) == len(whole)
    counted.clear()
    same(sweep(recipe, out=path), whole)
    assert counted == []


def test_a_larger_recipe_continues_a_file(tmp_path, counted):
    path = tmp_path / "out.csv"
    sweep(RECIPE, out=path)
    counted.clear()
    larger = replace(RECIPE, repeats=4, methods=(*RECIPE.methods, variant("sulq")))
    same(sweep(larger, out=path), sweep(larger))
    assert len(counted) == (1 + 3 + 3 + 4 * 3) + (4 + 3 * 12)


@pytest.mark.parametrize("cut", [1, 60, 10**6], ids=["end of line", "line and more", "all"])
def test_a_file_that_was_cut_off_is_completed(tmp_path, cut):
    path = tmp_path / "out.csv"
    whole = sweep(RECIPE, out=path)
    text = path.read_bytes()
    path.write_bytes(text[: max(len(text) - cut, 5)])
    same(sweep(RECIPE, out=path), whole)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 1 + len(whole)


def test_the_file_holds_the_table(tmp_path):
    path = tmp_path / "out.csv"
    table = sweep(RECIPE, out=path)
    read = pd.read_csv(path)
    ordered = table[[*IDENTITY, "epsilon"]].merge(read, on=[*IDENTITY, "epsilon"], how="left")
    np.testing.assert_allclose(ordered["sin_theta"], table["sin_theta"], rtol=1e-14)


@pytest.mark.parametrize("room", [0, 300, 2000], ids=["none", "part of a line", "some lines"])
@pytest.mark.usefixtures("handlers")
def test_a_full_disk_keeps_what_was_written_and_the_command_continues(tmp_path, monkeypatch, capsys, room):
    """In one sentence; once there is room, the same command measures the rest and nothing twice."""
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    recipe, path = tmp_path / "recipe.json", tmp_path / "out.csv"
    recipe.write_text(json.dumps(recipe_file.to_dict(RECIPE)), encoding="utf-8")
    arguments = [str(recipe), "--out", str(path), "--executor", "serial"]
    with full_disk(tmp_path / "nothing", room):
        assert headless.main(arguments) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message == (
        f"error: {path} cannot be written (File too large): what it holds is kept, and the same command goes "
        "on from there"
    )
    kept = path.read_bytes()
    assert headless.main(arguments) == 0
    assert path.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    same(sweep(RECIPE, out=path), sweep(RECIPE))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 1 + len(sweep(RECIPE))


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"seed": 6}, "of another"), ({"iterations": 5}, "of another"), ({"metrics": ("sin",)}, "the columns")],
    ids=["seed", "iterations", "metrics"],
)
def test_a_file_of_another_recipe_is_refused(tmp_path, changed, message):
    path = tmp_path / "out.csv"
    sweep(RECIPE, out=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        sweep(replace(RECIPE, **changed), out=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a thesis in one line", "the columns"),
        (b"a,b\n1,2\n3", "the columns"),
        (b'"a,b\n1,2\n3', "CSV, line 1"),
        (b"\x89PNG\r\n\x1a\n\x00", "CSV, line 1"),
    ],
    ids=["one line", "table", "quote", "picture"],
)
def test_a_wrong_file_is_named_and_left_as_it_is(tmp_path, text, message):
    path = tmp_path / "out.csv"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=rf"out\.csv must .*{message}"):
        sweep(RECIPE, out=path)
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("column", "word", "message"),
    [
        ("sin_theta", "abc", "number for sin_theta in line 3, got 'abc'"),
        ("sin_theta", "nan", "number for sin_theta in line 3, got 'nan'"),
        ("sin_theta", "1e999", "number for sin_theta in line 3, got '1e999'"),
        ("sin_theta", "-1.0", "number for sin_theta in line 3, got '-1.0'"),
        ("repeat", "", "number for repeat in line 3, got ''"),
        ("repeat", "1.5", "number for repeat in line 3, got '1.5'"),
        ("bytes_sent_per_hospital", "9" * 30, "number for bytes_sent_per_hospital in line 3"),
        ("notes", '"open', "CSV, line 3"),
        ("notes", "x" * 131_073, "CSV, line 3: field larger"),
        ("notes", "a,b", "values in line 3"),
    ],
    ids=[
        "word",
        "no number",
        "overflow",
        "negative",
        "no repeat",
        "half",
        "digits",
        "quote",
        "long",
        "comma",
    ],
)
def test_a_garbled_row_is_named_and_the_file_left_as_it_is(tmp_path, column, word, message):
    path = tmp_path / "out.csv"
    row = dict.fromkeys(store.columns(RECIPE), "") | {"repeat": "0"}
    rows = (dict(zip(row, row, strict=True)), row, row | {column: word})
    lines = [",".join(values.values()) for values in rows]
    before = ("\n".join([*lines, ",".join(row.values())]) + "\nunfinished").encode()
    path.write_bytes(before)
    with pytest.raises(ValueError, match=rf"out\.csv must .*{message}"):
        sweep(RECIPE, out=path)
    assert path.read_bytes() == before


def test_two_sweeps_do_not_write_one_file(tmp_path):
    """Both would measure everything, and their lines would meet in the middle."""
    path = tmp_path / "out.csv"
    with (
        store.Store(path, RECIPE).locked(),
        pytest.raises(
            ValueError, match=r"out\.csv is written by another sweep: wait for it, or give another"
        ),
    ):
        sweep(RECIPE, out=path)
    assert len(sweep(RECIPE, out=path)) == RECIPE.size


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "dppca_core.experiments", *map(str, arguments)]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_the_command_runs_a_recipe_and_continues_a_file(tmp_path):
    recipe, out = tmp_path / "recipe.json", tmp_path / "out.csv"
    recipe.write_text(json.dumps(recipe_file.to_dict(RECIPE)), encoding="utf-8")
    whole = sweep(replace(RECIPE, repeats=2), out=out)
    ended = command(recipe, "--out", out, "--executor", "serial")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "18 of 27 cells" in ended.stderr and "27 of 27 cells" in ended.stderr
    table = sweep(RECIPE, out=out)
    same(table, sweep(RECIPE))
    assert len(whole) == 18


@pytest.mark.usefixtures("handlers")
def test_the_command_keeps_what_is_finished_when_it_is_stopped(tmp_path, monkeypatch):
    recipe, out = tmp_path / "recipe.json", tmp_path / "out.csv"
    recipe.write_text(json.dumps(recipe_file.to_dict(RECIPE)), encoding="utf-8")
    monkeypatch.setattr(run_cells, "TASK_SECONDS", 0.0)
    monkeypatch.setattr(
        headless, "report", lambda progress: progress.completed and signal.raise_signal(signal.SIGTERM)
    )
    assert headless.main([str(recipe), "--out", str(out), "--executor", "serial"]) == 130
    assert 0 < len(out.read_text(encoding="utf-8").splitlines()) - 1 < 27
    same(sweep(RECIPE, out=out), sweep(RECIPE))


@pytest.fixture
def handlers():
    """The command's signal handlers are put back."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("s_hats", "code"), [((1,), 1), ((1, 6), 0)], ids=["every cell failed", "some cells failed"]
)
def test_the_command_says_when_every_cell_failed(tmp_path, s_hats, code):
    recipe = replace(RECIPE, methods=(variant("dps_pca"),), swept=(Axis("s_hat", s_hats),), repeats=1)
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(recipe_file.to_dict(recipe)), encoding="utf-8")
    assert headless.main([str(path), "--out", str(tmp_path / "out.csv"), "--executor", "serial"]) == code


@pytest.mark.usefixtures("handlers")
@pytest.mark.parametrize(
    ("plain", "held"),
    [
        ("[" * 100_000, ""),
        (json.dumps(recipe_file.to_dict(RECIPE) | {"repeats": 10**18}), ""),
        (json.dumps(recipe_file.to_dict(RECIPE)), 'a,"b\n'),
    ],
    ids=["nested", "cells", "quote"],
)
def test_the_command_refuses_in_one_sentence(tmp_path, capsys, plain, held):
    path, out = tmp_path / "recipe.json", tmp_path / "out.csv"
    path.write_text(plain, encoding="utf-8")
    out.write_text(held, encoding="utf-8")
    assert headless.main([str(path), "--out", str(out), "--executor", "serial"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and message.count("\n") == 1
    assert out.read_text(encoding="utf-8") == held


def test_an_unknown_executor_is_named():
    with pytest.raises(ValueError, match="executor must be"), executors.opened("many"):
        pass


def test_a_cluster_without_its_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv(executors.ADDRESS, "tcp://127.0.0.1:9")
    with pytest.raises(ValueError, match="requirements-cluster"), executors.opened():
        pass


def test_known_rows_are_taken_over(counted, tmp_path):
    """As after another method was added: rows of another seed are not, and known rows reach the file."""
    reports: list[Progress] = []
    sweep(RECIPE, progress=reports.append)
    rows = [row for report in reports for row in report.rows]
    other = sweep(replace(RECIPE, seed=6, repeats=1))
    counted.clear()
    more = replace(RECIPE, methods=(*RECIPE.methods, variant("sulq")))
    table = sweep(more, known=[*rows, *other.to_dict("records")], out=tmp_path / "table.csv")
    assert {cell.variant.method for cell in counted} == {"sulq"}
    same(table, sweep(more))
    counted.clear()
    same(sweep(more, out=tmp_path / "table.csv"), table)
    assert not counted
