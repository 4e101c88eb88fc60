"""A federation over Flower, as `make federated-demo` starts it: one for all tests, as each round takes 4 s.

Two hospitals, since each process imports Flower for 3 s: six processes on loopback, TLS and authenticated
nodes. Other faults are in `test_faults`, on pipes.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dppca_core import Budget, datasets
from dppca_core.federated import coordinator, in_process
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise
from dppca_core.federated.record import Record
from examples.flower import demo, demo_hospitals
from examples.flower.processes import SHIPPED, Federation

SIZES, NAMES = (285, 284), demo.NAMES[:2]
POWER, MOMENTS, *_ = (replace(plan, sizes=SIZES, names=NAMES) for plan in demo.plans(4.0))
OPTIONS = (("burn_in", 1), ("s_hat", 8))
SEEDED = replace(POWER, run="seeded", options=(*OPTIONS, ("iterations", 1)))
CRASHED = replace(POWER, run="crashed", options=(*OPTIONS, ("iterations", 2)))
PLANS = [SEEDED, MOMENTS, CRASHED]
WAIT_SECONDS = 60.0  # spoilt_server cuts it short where a hospital died
STOPPED = "did not answer: its step failed, and its own log says why, or it was stopped"
LAST = NAMES[-1]
SERVER_APP = "examples.flower.apps:server_app"
SPOILT, DIED = "dies in", "died"  # of spoilt_worker, which is not imported: Flower's imports warn
COHORT = datasets.cohort(demo_hospitals.TABLE, SIZES, demo.SEED)


def noise(plan: Plan) -> list[Noise]:
    return [Noise(silent=True) if plan == MOMENTS else Noise((11, i)) for i in range(2)]


def simulation(hospital: int) -> dict[str, object]:
    return {SEEDED.run: {"seed": [11, hospital]}, MOMENTS.run: {"silent": True}}


class Started:
    def __init__(self, folder: Path, federation: Federation) -> None:
        self.folder, self.federation = folder, federation

    def record(self, plan: Plan) -> Record:
        return demo.wait_for_record(self.federation, self.folder / "server" / f"{plan.run}.jsonl", 120.0)


def processes_of(folder: Path) -> list[str]:
    """Return the processes that were started here, and theirs, which inherit the environment; on Linux."""
    process_ids = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # gone meanwhile, or another's
            if f"FLWR_HOME={folder}".encode() in path.read_bytes():
                process_ids.append(path.parent.name)
    return process_ids


def shipped(folder: Path, replaced: dict[str, str]) -> Path:
    """Write what `flwr run` ships, with other components."""
    manifest = (SHIPPED / "pyproject.toml").read_text()
    for component, other in replaced.items():
        assert component in manifest
        manifest = manifest.replace(component, other)
    folder.mkdir()
    (folder / "pyproject.toml").write_text(manifest)
    return folder


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    folder = tmp_path_factory.mktemp("flower")
    hospitals = demo_hospitals.write_breast_cancer(
        folder,
        PLANS,
        seed=demo.SEED,
        limit=Budget(1000.0, demo.DELTA),
        simulations=[simulation(i) for i in range(2)],
    )
    (folder / LAST / SPOILT).write_text(f"{CRASHED.run} 2")
    with Federation(folder, hospitals, "tests.federated.spoilt_worker") as federation:
        policies = {CRASHED.run: {"on_fault": "continue", "fewest": 1, "wait_seconds": WAIT_SECONDS}}
        app = shipped(folder / "hasty", {SERVER_APP: "tests.federated.spoilt_server:server_app"})
        federation.submit(demo_hospitals.write_agenda(folder, PLANS, seed=0, policies=policies), app)
        yield Started(folder, federation)
    until = time.monotonic() + 20.0
    while left := processes_of(folder):
        assert time.monotonic() < until, left
        time.sleep(0.2)


@pytest.mark.parametrize("plan", [SEEDED, MOMENTS], ids=lambda plan: plan.run)
def test_the_network_finds_what_one_process_finds(started, plan):
    """From each hospital's own CSV or Parquet, with the same noise, or none."""
    record = started.record(plan)
    start = coordinator.public_start(plan, np.random.default_rng(0))
    expected, _ = in_process.simulate(plan, COHORT, noise(plan), start)
    assert record.ended == ""
    np.testing.assert_allclose(record.basis, expected.basis, rtol=0, atol=1e-10)
    for finished_round, expected_round in zip(record.rounds, expected.rounds, strict=True):
        assert [answer.message.payload for answer in finished_round.answers.values()] == [
            answer.message.payload for answer in expected_round.answers.values()
        ]


def test_everything_runs_in_processes_that_are_found_again(started):
    """Show that finding none at the end says that all are stopped."""
    assert len(processes_of(started.folder)) >= 6


def test_a_hospital_that_died_comes_back_repeats_itself_and_runs_no_code_of_the_server(started):
    """True noise. It had paid and stored when it died. The server resumes, and ships code of its own."""
    first = started.record(CRASHED)
    (fault,) = first.rounds[1].faults.items()  # Flower may find the dead process before the time is over
    assert fault in {(1, f"did not answer within {WAIT_SECONDS:g} s"), (1, STOPPED)}
    folder, server = started.folder / LAST, started.folder / "server"
    stored = np.load(folder / "kept" / "sent" / f"{CRASHED.run}-2.npz")["array product"]
    ledger = (folder / "kept" / "ledger.jsonl").read_bytes()

    (folder / SPOILT).unlink()
    (folder / DIED).unlink()
    started.federation.stop(LAST)
    started.federation.start(LAST)
    (server / f"{CRASHED.run}.jsonl").rename(server / "first.jsonl")
    trace = started.folder / "the server's code ran"
    app = shipped(started.folder / "app", {"examples.flower.apps:client": "sent:client"})
    (app / "sent.py").write_text(f"open({str(trace)!r}, 'w')\nclient_app = None\n")
    started.federation.submit(demo_hospitals.write_agenda(started.folder, [CRASHED], seed=0), app)

    second = started.record(CRASHED)
    assert second.ended == "" and second.basis is not None
    assert (folder / "kept" / "ledger.jsonl").read_bytes() == ledger
    np.testing.assert_array_equal(second.rounds[1].answers[1].message.arrays["product"], stored)
    for finished_round, repeated_round in zip(first.rounds, second.rounds, strict=True):
        arrays = (each.answers[0].message.arrays["product"] for each in (finished_round, repeated_round))
        np.testing.assert_array_equal(*arrays)
    assert list((started.folder / "flower").rglob("sent.py")) and not trace.exists()
