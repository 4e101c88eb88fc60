"""The figure's payload is built from results that another thread is still completing."""

import json
import threading

from dppca_core.experiments.live import Results
from pages.shared import choices, readout, scenes


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
