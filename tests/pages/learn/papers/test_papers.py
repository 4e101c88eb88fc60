"""The papers page: every figure opens, says its verdict, and can be run again."""

import threading
import time
from collections import Counter

import pytest

from dppca_core import datasets
from dppca_core.experiments.papers import FIGURES, Outcome, recipe, results
from dppca_core.experiments.sweeps import run_cells
from pages.learn.papers import charts, model, sentences
from pages.shared import text
from pages.shared.background import sweep_jobs
from pages.shared.background.engine import Engine
from pages.shared.document import blocks
from pages.shared.settings import catalogue
from tests.markdown import ROOT

PAGE = "learn/papers/page.py"
RUNS = [(key, index) for key, figure in FIGURES.items() for index in range(len(figure.runs))]


def headings(shown):
    return [section.title for section in shown.all(blocks.Section)]


@pytest.mark.parametrize("key", FIGURES)
def test_every_figure_opens_with_the_verdict_of_its_last_run(page, key):
    figure, index = FIGURES[key], len(FIGURES[key].runs) - 1
    shown = page(PAGE, figure=key, run=str(index))
    stored = model.result(key, index)
    assert f"{figure.title}: {model.verdict(key, index)}" in headings(shown)
    assert ("✗" in shown.markdown) == (stored.verdict.outcome is Outcome.DIFFERS)
    names = [trace["name"] for trace in shown.figure["data"]]
    assert names.count("open: printed in the paper") == bool(figure.printed)
    assert {"figure", "run"} >= set(catalogue.to_link(shown.settings)) - {"preset", "repeats"}


def recipe_here(run):
    try:
        return recipe(run.recipe) if run.recipe else None
    except ValueError:  # of a table that is not on this machine
        return None


def test_every_run_is_drawn_with_all_its_curves():
    drawn, stored = {}, {}
    for key, index in RUNS:
        curves = model.result(key, index).curves
        figure = charts.comparison(FIGURES[key], recipe_here(FIGURES[key].runs[index]), curves)
        groups = [trace["legendgroup"] for trace in figure["data"] if "legendgroup" in trace]
        drawn[key, index] = list(dict.fromkeys(groups))
        stored[key, index] = [text.symbols(label) or "this run" for label in curves["label"].unique()]
    assert drawn == stored


def test_the_sentence_counts_what_comes_out_as_printed(page):
    table = model.overview()
    shown = page(PAGE)
    counts = model.counts()
    papers = [model.result(key, index) for key, index in RUNS if not FIGURES[key].paper.startswith("Bey")]
    assert counts == Counter(result.verdict.outcome for result in papers if not result.absent)
    assert sentences.introduction(counts) in shown.markdown
    as_printed, holds, differs = (counts[outcome] for outcome in Outcome)
    document = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").replace("\n", " ")
    verdicts = f"{as_printed} are as printed, in {holds} the claim holds, and {differs} differ."
    assert f"Of {sum(counts.values())} runs, {verdicts}" in document
    assert list(zip(table["key"], table["run"], strict=True)) == RUNS


def test_data_that_are_not_here_are_named_with_what_to_run(page):
    try:
        datasets.require("covertype")
        pytest.skip("the table is on this machine")
    except ValueError:
        pass
    shown = page(PAGE, figure="imtiaz-covertype")
    assert "fetch_covtype" in shown.notices


def test_a_damaged_result_is_one_sentence(page, tmp_path, monkeypatch):
    """It is not drawn, and the figure can still be run again."""
    for suffix in (".json", ".csv"):
        data = (results.DATA / "results" / f"ge-3a{suffix}").read_bytes()
        (tmp_path / f"ge-3a{suffix}").write_bytes(data if suffix == ".json" else data[:-100])
    whole = model.result

    def result(key, index):  # what is kept of the others stays
        return whole.__wrapped__(key, index) if key == "ge-3a" else whole(key, index)

    monkeypatch.setattr(model, "stored", lambda name: results.stored(name, tmp_path))
    monkeypatch.setattr(model, "result", result)
    monkeypatch.setattr(model, "overview", model.overview.__wrapped__)
    shown = page(PAGE, figure="ge-3a")
    damaged = "The file data/results/ge-3a.csv must be as it was written, it is not: run python -m"
    assert damaged in shown.markdown
    assert f"{FIGURES['ge-3a'].title}: {sentences.NOT_RUN}" in headings(shown)
    (again,) = (row for row in shown.all(blocks.Controls) if row.name == "again")
    assert again.controls[1].label.startswith("All of it")


def test_another_figure_starts_at_its_first_run(screen):
    page = screen(PAGE, figure="ge-3b", run="1")
    page.move("figure", "ge-4b")
    assert page.setting("run") == 0 and page.link["figure"] == "ge-4b"
    assert "run" not in page.link


@pytest.mark.parametrize(
    "link", [{"figure": "<script>"}, {"figure": "ge-9"}, {"run": "5"}, {"run": "x"}], ids=str
)
def test_a_hostile_link_gets_a_page(page, link):
    assert sentences.introduction(model.counts()) in page(PAGE, **link).markdown


def finished(page, words):
    for _ in range(200):
        if words in page.markdown:
            return
        time.sleep(0.1)
        page.run()
    raise AssertionError("the run did not end")


def test_running_again_draws_beside_the_stored_run_and_judges_itself(screen, monkeypatch):
    monkeypatch.setattr(sweep_jobs, "HERE_SECONDS", 1e9)  # no process is started
    page = screen(PAGE, figure="ge-3a", seed="1")
    press(page, "A quick version")
    finished(page, "Seed 1, 12 runs: ")
    (job,) = sweep_jobs.jobs()._jobs.values()
    second = FIGURES["ge-3a"].curves(FIGURES["ge-3a"].runs[0], job.table())
    assert sentences.agreement(model.result("ge-3a", 0).curves, second) in page.markdown
    names = [trace["name"] for trace in page.figure["data"]]
    assert "run again" in names and names.count("ε = 1, run again") == 1


def test_a_sweep_in_the_queue_says_its_position_and_may_leave_it(screen, monkeypatch):
    opened, measured = threading.Event(), run_cells.measured_columns
    monkeypatch.setattr(run_cells, "measured_columns", lambda *cells: (opened.wait(60), measured(*cells))[1])
    monkeypatch.setattr(sweep_jobs, "HERE_SECONDS", 1e9)  # no process is started
    jobs = sweep_jobs.Jobs(Engine(sweeps_at_once=1))
    monkeypatch.setattr(sweep_jobs, "jobs", lambda: jobs)
    other = jobs.start("somebody else", "papers ge-4a", model.second_recipe(recipe("ge-4a"), False, 7))
    page = screen(PAGE, figure="ge-4a", seed="8")
    press(page, "All of it")
    for _ in range(100):
        if "before yours" in waiting(page):
            break
        time.sleep(0.05)
        page.run()
    assert waiting(page) == "In the queue behind 1 sweep of other visitors"
    press(page, "Leave")
    for _ in range(100):
        if "Stopped: 0 of 360 runs are shown." in page.captions:
            break
        time.sleep(0.05)
        page.run()
    assert "Stopped: 0 of 360 runs are shown." in page.captions
    other.stop()
    opened.set()
    other.wait(30)


def waiting(page):
    return "".join(bar.proto.text for bar in page.app.get("progress"))


def press(page, start):
    next(button for button in page.app.button if button.label.startswith(start)).click()
    page.run()


def test_a_few_runs_do_not_contradict_the_stored_ones():
    """Two repeats that fail a check are too few runs to decide; the whole table gives a verdict."""
    figure = FIGURES["ge-3a"]
    table = model.result("ge-3a", 0).source.table
    wrong = table.assign(sin_theta_by_round=table["sin_theta_by_round"].str.replace("2.", "1.", regex=False))
    few = figure.verdict(figure.runs[0], wrong[wrong["repeat"] < 2])
    assert few.outcome is Outcome.DIFFERS and sentences.verdict(few) == sentences.TOO_FEW
    for runs, outcome in ((wrong, "differs"), (table, "as printed")):
        assert sentences.verdict(figure.verdict(figure.runs[0], runs)) == outcome


def test_equal_runs_agree_and_shifted_ones_do_not():
    curves = model.result("ge-3a", 0).curves
    assert "differ by at most 0 " in sentences.agreement(curves, curves)
    shifted = curves.assign(mean=curves["mean"] + 1, low=curves["low"] + 1, high=curves["high"] + 1)
    sentence = sentences.agreement(curves, shifted)
    assert "differ by at most 1.00" in sentence and "; 0 of " in sentence


def test_what_the_explorer_is_given_is_the_recipe():
    """Every setting is an option of its control, and those of the model are exact."""
    recipes = {key: recipe_here(figure.runs[0]) for key, figure in FIGURES.items()}
    given = {key: (first, model.explorer_settings(first)) for key, first in recipes.items() if first}
    given = {key: (first, settings) for key, (first, settings) in given.items() if settings is not None}
    notes = {
        key: catalogue.reconcile(catalogue.defaults() | settings)[1] for key, (_, settings) in given.items()
    }
    assert len(given) >= 3 and {key: note for key, note in notes.items() if note} == {}
    ranks = {
        key: settings["k"] in (first.population.k, *first.swept[0].values)
        for key, (first, settings) in given.items()
    }
    assert [key for key, right in ranks.items() if not right] == []
    asked = given["ge-3a"][1]
    assert (asked["d"], asked["s_hat"], asked["accounting"], asked["scaling"]) == (
        *(1000, 50, "as-printed", "largest"),
    )


def test_parameters_are_written_as_symbols():
    assert text.symbols("epsilon = 1, s_hat = 5, sqrt 10, epsilons") == "ε = 1, ŝ = 5, √10, epsilons"
    assert text.symbols("delta = 10^-5, sqrt(2k)") == "δ = 10⁻⁵, √(2k)"
    assert text.sentence("DP-Gauss* is lower") == r"DP-Gauss\* is lower"
    assert (text.sentence("k = 5"), text.sentence("all fall")) == ("k = 5", "All fall")


def test_the_patients_that_calibration_saves_are_counted(page):
    figure = FIGURES["needed-patients"]
    table = model.needed(figure, model.result("needed-patients", 0)).set_index("method")
    times = table["times the fewest"]
    assert times["one release + sparse step, exact"] == "1"
    assert float(times["DPS-PCA, noise of its proof, dense start"]) > float(times["DPS-PCA exact"]) > 2
    shown = page(PAGE, figure="needed-patients")
    assert "the claim holds" in headings(shown)[0] and len(shown.tables) == 2
