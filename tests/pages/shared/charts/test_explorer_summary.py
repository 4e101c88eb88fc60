"""Test that the figure is built from results that another thread is still completing."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from types import FrameType

import pytest

from dppca_core.experiments.explorer.results import ON_UNIT_ROWS, Results
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from pages.explore.explorer import sentences
from pages.shared import text
from pages.shared.charts import explorer_summary
from pages.shared.settings import catalogue, to_experiment


def small(methods: tuple[str, ...] | None = None) -> tuple[Results, catalogue.Settings]:
    settings = catalogue.defaults() | {"d": 20, "n": 1000, "k": 2, "s": 5, "s_hat": 10, "repeats": 2}
    experiment = to_experiment.from_settings(settings)[0]
    return Results(experiment, methods) if methods else Results(experiment), settings


@contextmanager
def arriving(results: Results) -> Iterator[None]:
    """Let another thread run between any two lines: here it adds a cell at each line that reads `cells`.

    There a cell of another epsilon comes or goes, so that the number of cells is never the same twice; and at
    every fifth the next one that the page still wants is there.
    """
    rest = partial(results.rest, 1.0)
    wanted = iter(results.missing(chain(results.first(1.0), rest())))
    like = {name: results.cell(name, 1.0, 0) for name in (*results.live_methods, NO_PRIVACY)}
    passing, lines = ("dps_pca", 100.0, 0), count()

    def at_line(frame: FrameType, event: str, value: object) -> object:
        if event == "line":
            if results.cells.pop(passing, None) is None:
                results.cells[passing] = like["dps_pca"]
            # Which published methods run on rows of length 1 is known late: look again for these.
            if next(lines) % 5 == 0 and (cell := next(wanted, None) or results.first_missing(rest())):
                results.cells[results.key(cell)] = like[ON_UNIT_ROWS.get(cell[0], cell[0])]
        return at_line

    def in_ours(frame: FrameType, event: str, value: object) -> object:
        """Return the tracer of a frame of ours: a comprehension's is within the one that names the cells."""
        reads = any("cells" in at.f_code.co_names for at in (frame, frame.f_back) if at)
        ours = frame.f_globals.get("__name__", "").startswith(("pages.", "dppca_core.", __name__))
        return at_line if ours and reads else None

    before = sys.gettrace()
    sys.settrace(in_ours)
    try:
        yield
    finally:
        sys.settrace(before)


def test_building_while_cells_arrive():
    results, settings = small(("pca", "dps_pca", "analyze_gauss"))
    with arriving(results):
        while results.next_missing(1.0):
            explorer_summary.payload(results, 1.0, settings)
            results.table()
    assert explorer_summary.payload(results, 1.0, settings)["complete"]


def test_a_planted_loop_over_cells_that_arrive_is_caught():
    results, _ = small(("pca", "dps_pca"))

    def total() -> int:
        rounds = 0
        for cell in results.cells.values():
            rounds += len(cell.sin)
        return rounds

    for cell in results.first(1.0):
        results.cell(*cell)
    assert total() > 0
    with pytest.raises(RuntimeError, match="changed size during iteration"), arriving(results):
        total()


def test_the_payload_is_valid_json_without_nan():
    results, settings = small()
    for cell in results.missing(results.first(1.0)):
        results.cell(*cell)
    for metric in ("sin", "projector"):
        built = explorer_summary.payload(results, 1.0, settings | {"metric": metric})
        json.dumps(built, allow_nan=False)


def test_an_unchanged_state_is_not_built_twice():
    results, settings = small()
    results.cell("dps_pca", 1.0, 0)
    first = explorer_summary.payload(results, 1.0, settings)
    other = explorer_summary.payload(results, 2.0, settings | {"epsilon": 2.0})
    assert first["frames"] is other["frames"]
    assert first["active"] != other["active"]


@pytest.mark.parametrize("accounting", ["exact", "as-printed"])
def test_odds_are_those_of_the_epsilon_that_the_noise_truly_gives(accounting):
    """As printed, ten rounds at 1 truly give about 0.1."""
    settings = small()[1] | {"accounting": accounting}
    results = Results(to_experiment.from_settings(settings)[0])
    results.cell("dps_pca", 1.0, 0)
    built = explorer_summary.payload(results, 1.0, settings)
    experiment, method = results.experiment, METHODS["dps_pca"]
    trues = []
    for at, words in zip(explorer_summary.EPSILONS, built["words"], strict=True):
        true = method.true_epsilon(
            experiment.budget(at), d=experiment.d, k=experiment.k, **experiment.options("dps_pca")
        )
        assert words["odds"] == text.odds(true, experiment.delta)
        trues.append(true)
    here = explorer_summary.EPSILONS.index(1.0)
    assert ("73 times" in built["words"][here]["odds"]) == (accounting == "exact")
    assert (trues[here] < 0.2) == (accounting == "as-printed")
    assert built["words"][here]["odds"] in sentences.guarantee(results, 1.0)
