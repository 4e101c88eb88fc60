"""A run's record: the same run after reading, and a clear refusal of anything else."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import METHODS, Budget, SpikedModel
from dppca_core.accounting import gaussian
from dppca_core.federated import coordinator, record
from dppca_core.federated.in_process import InProcess
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise, ProviderState
from dppca_core.numerics import block_power

SIZES = (60, 40)
MODEL = SpikedModel(d=8, k=2, s=4, seed=1)
COHORT = MODEL.draw(100, SIZES, np.random.default_rng(1))
START = block_power.random_start(8, 2, np.random.default_rng(2))


def ran(method: str = "dps_pca", **options: object) -> tuple[record.Record, list[str]]:
    plan = Plan("trial", method, SIZES, 8, 2, Budget(1.0, 1e-5), tuple(sorted(options.items())))
    written: list[str] = []
    start = START if method == "dps_pca" else None
    hospitals = InProcess([ProviderState(i, plan, COHORT[i], Noise((1, i), (2,))) for i in range(2)])
    run = coordinator.run(plan, hospitals, start=start, write=written.append, about={"python": "3"})
    return run, written


def lines(run: record.Record) -> list[str]:
    return [record.opening_line(run), *map(record.round_line, run.rounds), record.closing_line(run)]


CASES = pytest.mark.parametrize(
    ("method", "options"),
    [
        ("dps_pca", {"iterations": 3, "s_hat": 4, "burn_in": 1}),
        ("dps_pca", {"iterations": 2, "provider_noise": "secure-aggregation"}),
        ("dpdis_pca", {"rank": 3}),
        ("dpdis_pca", {"rank": 8}),
        ("federated_projector", {}),
    ],
    ids=["power", "sum", "compressed", "full", "projectors"],
)


@CASES
def test_what_is_written_is_read_to_the_bit(method, options):
    run, written = ran(method, **options)
    assert written == lines(run)
    read = record.read("\n".join(written))
    assert lines(read) == written
    assert read.plan == run.plan and read.about == {"python": "3"} and read.ended == ""
    np.testing.assert_array_equal(read.basis, run.basis)
    for read_round, written_round in zip(read.rounds, run.rounds, strict=True):
        for hospital, answer in written_round.answers.items():
            for name, array in answer.message.arrays.items():
                np.testing.assert_array_equal(read_round.answers[hospital].message.arrays[name], array)


@CASES
def test_it_states_the_guarantee_of_the_whole_run(method, options):
    """Its budget's, since noise is calibrated to it exactly."""
    run, written = ran(method, **options)
    stated = json.loads(written[0])["guarantee"]
    assert stated["promise"] == METHODS[method].guarantee
    assert stated["mu"] == run.trade_off.mu == pytest.approx(1 / gaussian.noise_multiplier(run.plan.budget))
    assert run.trade_off.epsilon(1e-5) == pytest.approx(1.0)


def test_a_run_that_was_broken_off_reads_as_one():
    _, written = ran(iterations=3)
    read = record.read("\n".join(written[:3]))
    assert len(read.rounds) == 2 and read.basis is None
    assert read.ended == "The server stopped before the run came to its end."


def change(number: int, **into: object):
    return lambda lines: [
        json.dumps(json.loads(line) | into) if i == number else line for i, line in enumerate(lines)
    ]


def deep(number: int, *path: str, value: object):
    def changed(lines: list[str]) -> list[str]:
        plain = json.loads(lines[number])
        where = plain
        for key in path[:-1]:
            where = where[key]
        where[path[-1]] = value
        return [json.dumps(plain) if i == number else line for i, line in enumerate(lines)]

    return changed


ARRAY = {"dtype": "float64", "shape": [1], "data": "AAAAAAAA8H8="}  # infinity
BAD = {
    "nothing": (lambda lines: [], "must have lines"),
    "not JSON": (lambda lines: ["{", *lines], "line 1 is not of a record: it is not JSON"),
    "a number": (lambda lines: ["3"], "line 1 is not of a record: it must be an object"),
    "no plan": (lambda lines: lines[1:], "line 1 is not of a record: kind must be plan"),
    "another kind": (change(0, kind="round"), "line 1 is not of a record: kind must be plan"),
    "a method without rounds": (deep(0, "plan", "method", value="pca"), "method must be one of"),
    "another mu": (deep(0, "guarantee", "mu", value=0.1), "guarantee must be the plan's, but its mu is not"),
    "a mu in words": (deep(0, "guarantee", "mu", value="0.1"), "its mu is not"),
    "another promise": (deep(0, "guarantee", "promise", value="ε"), "its promise is not"),
    "half a curve": (deep(0, "guarantee", "misses", value=[1.0]), "its misses is not"),
    "no curve": (deep(0, "guarantee", value={}), "line 1 is not of a record: it must have"),
    "a round twice": (lambda lines: [*lines[:2], *lines[1:]], "line 3 is not of a record: round must be 2"),
    "rounds beyond": (
        lambda lines: [*lines[:3], lines[2].replace('"round":2', '"round":3')],
        "round must be 2",
    ),
    "an end too early": (lambda lines: [lines[0], lines[-1], *lines[1:]], "line 2 is not of a record"),
    "an unknown field": (change(1, more=1), "line 2 is not of a record: it must have"),
    "seconds in words": (change(1, seconds="long"), "seconds must be a number"),
    "NaN seconds": (change(1, seconds=float("nan")), "seconds must be at least 0"),
    "no such hospital": (change(1, faults={"7": "x"}), "hospital must be one of 2"),
    "a wrong shape": (deep(1, "basis", "shape", value=[8, 3]), r"data must hold \[8, 3\] numbers"),
    "a huge shape": (deep(1, "basis", "shape", value=[10**9, 1]), "shape must be between 0 and 100000000"),
    "a negative shape": (deep(1, "basis", "shape", value=[-8, -2]), "shape must be"),
    "objects": (deep(1, "basis", "dtype", value="object"), "dtype must be one of"),
    "not base64": (deep(1, "basis", "data", value="?"), "line 2 is not of a record"),
    "infinity": (deep(1, "answers", "0", "arrays", value={"product": ARRAY}), "sent product as float64"),
    "another array": (
        deep(1, "answers", "0", "arrays", value={"rows": ARRAY}),
        "sent rows instead of product",
    ),
    "a basis of none": (deep(1, "basis", value=ARRAY), r"basis must have shape \(8, 2\)"),
    "nested": (lambda lines: ["[" * 100_000], "line 1 is not of a record"),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=list(BAD))
def test_a_damaged_record_is_refused(spoil, message):
    _, written = ran(iterations=2)
    with pytest.raises(ValueError, match=message):
        record.read("\n".join(spoil(written)))


def test_odd_ends_of_lines_in_names_are_no_ends():
    run, _ = ran(iterations=2)
    odd = replace(run, ended="one\u2028two\x85three\x1cfour")
    assert record.read("\n".join(lines(odd))).ended == odd.ended


def test_a_number_of_thousands_of_digits_is_not_json():
    with pytest.raises(ValueError, match=r"line 1 is not of a record: it is not JSON$"):
        record.read('{"kind":' + "1" * 5000 + "}")


def test_a_record_too_long_is_not_read(monkeypatch):
    monkeypatch.setattr(record, "MOST_CHARACTERS", 10)
    with pytest.raises(ValueError, match="a record may have 10 characters, got 11"):
        record.read("x" * 11)


def test_a_fault_and_the_end_are_told():
    run, _ = ran(iterations=2)
    failed = replace(run.rounds[0], faults={1: "did not answer within 60 s"})
    failed_run = replace(run, rounds=(failed,), ended="The run ended in round 1: it was enough.")
    read = record.read("\n".join(lines(failed_run)))
    assert read.ended == failed_run.ended and read.rounds[0].faults == failed.faults and read.basis is None
