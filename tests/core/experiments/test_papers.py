"""Figures of the papers: recipes, stored results, and verdicts that follow from them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from dppca_core import METHODS, Budget, datasets, sin_theta
from dppca_core.experiments import Recipe
from dppca_core.experiments.papers import FIGURES, Figure, Outcome, PaperRun, Verdict, claims, ge, results
from dppca_core.experiments.sweeps import store
from dppca_core.methods import dps_pca

RUNS = [(figure, run) for figure in FIGURES.values() for run in figure.runs]
NOT_RUN = {"imtiaz-covertype"}  # nobody had the table
STORED = sorted({run.recipe for _, run in RUNS if run.recipe} - NOT_RUN)


def each(runs: list[tuple[Figure, PaperRun]]) -> pytest.MarkDecorator:
    names = [f"{figure.key}, {run.title}" for figure, run in runs]
    return pytest.mark.parametrize(("figure", "run"), runs, ids=names)


WITH_RESULT = [(figure, run) for figure, run in RUNS if run.recipe in STORED or not run.recipe]
WITH_TABLE = [(figure, run) for figure, run in WITH_RESULT if run.recipe]
DIFFERENT_CHECKS = list({run.checks: (figure, run) for figure, run in WITH_TABLE}.values())
FIRST_RUNS = list({figure.key: (figure, run) for figure, run in reversed(WITH_TABLE)}.values())


@pytest.fixture
def every_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace optional tables by rows of zeros, so that their recipes can be read."""
    datasets.ROWS.clear()
    for name, table in datasets.OPTIONAL.items():
        zeros = np.broadcast_to(0.0, (table.n, table.d))
        monkeypatch.setitem(datasets._OPTIONAL_LOADERS, name, lambda zeros=zeros: (zeros, None))
    monkeypatch.setattr(datasets, "require", datasets.table)
    yield
    datasets.ROWS.clear()


def table_of(run: PaperRun) -> pd.DataFrame | None:
    return results.stored(run.recipe).table if run.recipe else None


def test_every_recipe_is_of_a_figure():
    assert {run.recipe for _, run in RUNS if run.recipe} == set(results.names())


def test_every_result_is_of_a_recipe():
    kept = {path.stem for path in (results.DATA / "results").iterdir()}
    assert kept == set(STORED)


@pytest.mark.parametrize("name", results.names())
@pytest.mark.usefixtures("every_table")
def test_recipes_are_read_and_say_all_that_they_do(name):
    """No field is left to a default that could change under a stored result."""
    chosen = results.recipe(name)
    assert chosen.seed == 0
    named = set(json.loads((results.DATA / "recipes" / f"{name}.json").read_text()))
    unset = {field for field in Recipe.__dataclass_fields__ if getattr(chosen, field) is None}
    assert named | unset == set(Recipe.__dataclass_fields__)


@pytest.mark.parametrize("name", STORED)
@pytest.mark.usefixtures("every_table")
def test_a_result_holds_every_cell_of_its_recipe(name):
    chosen, result = results.recipe(name), results.stored(name)
    cells = [store.key_of(chosen, row) for row in result.table.to_dict("records")]
    assert cells == chosen.cells()
    assert (result.table["failed"] == "").all()
    assert result.seed == chosen.seed
    assert result.command.endswith(f" {name}")
    assert {"python", "numpy", "scipy"} <= set(result.versions)


@cache
def verdict_of(key: str, title: str) -> Verdict:
    (run,) = [run for run in FIGURES[key].runs if run.title == title]
    return FIGURES[key].verdict(run, table_of(run))


@each(WITH_RESULT)
def test_the_verdict_on_the_stored_result(figure, run):
    """A run differs where the figure has a reason for that, and nowhere else."""
    verdict = verdict_of(figure.key, run.title)
    assert len(verdict.findings) == len(run.checks) > 0
    assert (verdict.outcome is Outcome.DIFFERS) == bool(run.because), verdict.findings
    assert verdict.because == run.because
    assert all("nothing to compare" not in finding.sentence for finding in verdict.findings)


def test_only_runs_that_meet_numbers_that_were_read_are_as_printed():
    """Trends, what Cai et al. claim, the fitted Figure 2 and other tables only show that a claim holds."""
    as_printed = {}
    for figure, run in WITH_RESULT:
        verdict = verdict_of(figure.key, run.title)
        if verdict.outcome is Outcome.AS_PRINTED:
            as_printed[figure.key, run.title] = [finding for finding in verdict.findings if finding.read]
            assert figure.printed
    assert set(as_printed) == {
        ("ge-3a", "the paper's parameters"),
        ("ge-3b", "epsilon = 2, as in the caption"),
        ("imtiaz-epsilon", "the paper's parameters"),
    }
    assert all(" are met within " in read.sentence for (read,) in as_printed.values())


@each(DIFFERENT_CHECKS)
def test_the_verdict_is_of_the_table(figure, run):
    """With the same error everywhere every run differs, whatever the stored result was."""
    table = table_of(run).copy()
    if figure.x == "round":
        table["sin_theta_by_round"] = " ".join(["1.0"] * 11)
    else:
        table[figure.metric] = 1.0
    verdict = figure.verdict(run, table)
    assert verdict.outcome is Outcome.DIFFERS and not verdict.short
    assert verdict.because == run.because


@each(FIRST_RUNS)
def test_every_check_survives_a_stopped_run(figure, run):
    """One cell, one repeat of all, no row: a sentence each time, and no claim holds by default."""
    table = table_of(run)
    for kept in (table.iloc[:1], table[table["repeat"] == 0], table.iloc[:0]):
        verdict = figure.verdict(run, kept)
        assert all(len(finding.sentence) > 10 for finding in verdict.findings)
        assert "nan" not in " ".join(finding.sentence for finding in verdict.findings)
    assert not any(finding.holds for finding in verdict.findings)
    assert verdict.short and verdict.outcome is Outcome.DIFFERS


def test_numbers_that_were_read_decide_the_row():
    """A number planted beyond the tolerance makes the row differ; without any it only shows the claim."""
    figure = FIGURES["ge-3a"]
    run, table = figure.runs[0], table_of(figure.runs[0])
    near, *trends = run.checks
    assert figure.verdict(replace(run, checks=(near,)), table).outcome is Outcome.AS_PRINTED
    assert figure.verdict(replace(run, checks=tuple(trends)), table).outcome is Outcome.CLAIM_HOLDS
    beyond = [number._replace(value=number.value + 0.2) for number in figure.printed]
    planted = replace(run, checks=(claims.near("", beyond, 0.15), *trends))
    assert figure.verdict(planted, table).outcome is Outcome.DIFFERS


def test_the_reason_given_for_figure_4b_holds():
    figure = FIGURES["ge-4b"]
    order, numbers, rises = figure.verdict(figure.runs[0], table_of(figure.runs[0])).findings
    assert order.holds and rises.holds and not numbers.holds
    assert numbers.sentence.startswith("8 of 12 are met within 0.05")
    curves = figure.curves(figure.runs[0], table_of(figure.runs[0])).set_index(["label", "x"])["mean"]
    gaps = {(label, x): value - curves[label, x] for label, x, value in figure.printed}
    beyond = {place: gap for place, gap in gaps.items() if abs(gap) > 0.05}
    assert {label for label, _ in beyond} == {"MOD-SULQ"}
    assert (round(min(beyond.values()), 2), round(max(beyond.values()), 2)) == (0.06, 0.11)


def test_algorithm_1_as_printed_is_simulated_with_its_own_noise():
    """2T/epsilon sqrt(2 (2T/delta)) = 40,000 by hand; eight runs at the closed form's number of patients.

    Their errors have a standard deviation of 2 %, so that 5 % are five standard errors of the median.
    """
    chosen, needed = results.recipe("needed-patients-public"), ge.algorithm_1_patients(0.2)
    assert needed == pytest.approx(540e6, rel=0.01)
    ratio = 2 * 10 / 1e-5
    budget = Budget(np.sqrt(np.log(ratio) / ratio), 1e-5, accounting="as-printed")
    assert dps_pca.sum_noise_std(budget, k=5, iterations=10) == pytest.approx(40_000)
    options = {"s_hat": chosen.s_hat, "iterations": chosen.iterations, "burn_in": chosen.burn_in}
    errors = []
    for run in range(8):
        cohort = chosen.population.draw(round(needed), 1, np.random.default_rng(run))
        rng = np.random.default_rng([run, 1])
        basis = METHODS["dps_pca"].fit(cohort, k=5, budget=budget, rng=rng, **options).basis
        errors.append(sin_theta(basis, chosen.population.basis))
    assert np.median(errors) == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("name", results.names())
def test_the_sizes_of_a_run_are_those_of_its_table(name):
    """Also where a table is absent: a swept size from its least value to its most."""
    sizes = results.sizes(name)
    assert list(sizes) == ["d", "k", "n", "epsilon"]
    if name in STORED:
        table = results.stored(name).table
        for size in set(sizes) & set(table):
            assert sizes[size] == (table[size].min(), table[size].max())


def test_the_reason_given_for_figure_4a_holds():
    figure = FIGURES["ge-4a"]
    order, _, numbers = figure.verdict(figure.runs[0], table_of(figure.runs[0])).findings
    assert order.holds and not numbers.holds
    assert numbers.sentence.startswith("4 of 6 are met within 0.15")
    curves = figure.curves(figure.runs[0], table_of(figure.runs[0])).set_index(["label", "x"])["mean"]
    beyond = {x: curves[label, x] - value for label, x, value in figure.printed}
    assert {x: gap > 0 for x, gap in beyond.items() if abs(gap) > 0.15} == {0.8: False, 1.4: True}


def test_where_all_is_noise_errors_are_those_of_a_guess():
    """They are within 2 % of a random guess's, 3 % for sparse LDP-PCA against p, as the reasons state."""
    for key, figure in FIGURES.items():
        for run in figure.runs:
            if "of it is noise" not in run.because:
                continue
            population = results.recipe(run.recipe).population
            for row in figure.curves(run, table_of(run)).to_dict("records"):
                k = int(row["label"][4:]) if row["label"].startswith("k = ") else population.k
                p = int(row["x"]) if figure.x == "d" else population.d
                within = 0.03 if key == "wang-xu-2-p" else 0.02
                assert row["mean"] == pytest.approx(np.sqrt(2 * k * (1 - k / p)), rel=within), (key, row)
                assert f"within {100 * within:g} %" in run.because


def test_printed_numbers_belong_to_curves():
    """Each is of a curve and an x that its figure draws; those of absent data sets are left out."""
    for figure in FIGURES.values():
        run = figure.runs[0]
        if run.recipe in NOT_RUN or figure.key.startswith("wang-xu-table"):
            continue
        curves = figure.curves(run, table_of(run))
        drawn = set(zip(curves["label"], curves["x"], strict=True))
        labels = {label for label, _ in drawn}
        for label, x, *_ in figure.printed:
            assert label in labels, (figure.key, label)
            assert (label, x) in drawn or figure.key == "imtiaz-mnist"  # thinner than the authors' epsilons


def test_a_few_runs_do_not_refute():
    """Three of thirty runs cannot tell the curves apart; all of them can."""
    figure = FIGURES["ge-3a"]
    table = table_of(figure.runs[0])
    few = figure.verdict(figure.runs[0], table[table["repeat"] < 3])
    assert few.short and few.outcome is Outcome.DIFFERS
    assert few.because == ""
    assert figure.verdict(figure.runs[0], table).outcome is Outcome.AS_PRINTED
