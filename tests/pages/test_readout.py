"""The figure's payload is built from results that another thread is still completing."""

import json
import threading

import pytest

from dppca_core import tradeoff
from dppca_core.experiments.live import Results
from dppca_core.methods import METHODS
from pages.shared import choices, explorer_report, readout, scenes, text


def small() -> tuple[Results, choices.Settings]:
    settings = choices.defaults() | {"d": 20, "n": 1000, "k": 2, "s": 5, "shat": 10, "repeats": 2}
    return Results(scenes.of(settings)[0]), settings


def test_building_while_cells_arrive():
    found, settings = small()
    done = threading.Event()

    def complete() -> None:
        for cell in found.missing(found.rest(1.0)):
            found.cell(*cell)
        done.set()

    threading.Thread(target=complete).start()
    builds = 0
    while not done.is_set() or builds < 3:
        readout.payload(found, 1.0, settings)
        found.table()
        builds += 1
    assert readout.payload(found, 1.0, settings)["complete"]


def test_the_payload_is_valid_json_without_nan():
    found, settings = small()
    for cell in found.missing(found.first(1.0)):
        found.cell(*cell)
    for metric in ("sin", "projector"):
        built = readout.payload(found, 1.0, settings | {"metric": metric})
        json.dumps(built, allow_nan=False)


def test_an_unchanged_state_is_not_built_twice():
    found, settings = small()
    found.cell("dps_pca", 1.0, 0)
    one = readout.payload(found, 1.0, settings)
    other = readout.payload(found, 2.0, settings | {"eps": 2.0})
    assert one["frames"] is other["frames"]
    assert one["active"] != other["active"]


@pytest.mark.parametrize("view", ["analyst", "board"])
@pytest.mark.parametrize("accounting", ["exact", "as-printed"])
def test_odds_are_those_of_the_epsilon_that_the_noise_truly_gives(accounting, view):
    """At each setting of the scrub; as printed, ten rounds at 1 truly give about 0.1."""
    settings = small()[1] | {"accounting": accounting, "view": view}
    found = Results(scenes.of(settings)[0])
    found.cell("dps_pca", 1.0, 0)
    built = readout.payload(found, 1.0, settings)
    scene, method = found.scene, METHODS["dps_pca"]
    trues = []
    for at, said in zip(readout.EPSILONS, built["words"], strict=True):
        true = method.true_epsilon(scene.budget(at), d=scene.d, k=scene.k, **scene.options("dps_pca"))
        ends = text.even_odds(tradeoff.best_guess(true, scene.delta))
        assert said["odds"].endswith(f"ends at most at {ends}.")
        trues.append(true)
    here = readout.EPSILONS.index(1.0)
    assert ("73:27" in built["words"][here]["odds"]) == (accounting == "exact")
    assert (trues[here] < 0.2) == (accounting == "as-printed")
    assert built["words"][here]["odds"] in explorer_report._guarantee(found, 1.0, settings)
