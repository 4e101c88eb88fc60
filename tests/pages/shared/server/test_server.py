"""Test on a started server that visitors leave nothing behind, and that their work ends with them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from benchmarks import soak, visitor
from scripts.started import ROOT, started
from tests.waiting import PATIENCE_SECONDS, eventually

# Four minutes of work, so that the sweep cannot finish within the two minutes that the test waits.
HEAVY = "d=2000&n=1000000&N=20&k=5&s=20&shat=50&repeats=50&seed=77"
LARGE = "d=1000&n=1000000&N=50&k=10&s=50&shat=100&repeats=1"  # some 200 MB in seconds
MB = 2**20
OF_A_SESSION = 3  # open files of one that Streamlit keeps for two minutes: its event loop


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, psutil.Process]]:
    with started(ROOT / "benchmarks" / "soak_app.py") as (address, process):
        yield address, psutil.Process(process.pid)


def working(server: psutil.Process) -> float:
    """Return the CPU seconds of its worker processes within half a second."""

    def used() -> float:
        seconds = 0.0
        for child in server.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                seconds += sum(child.cpu_times()[:2])
        return seconds

    before = used()
    time.sleep(0.5)
    return used() - before


def test_a_session_that_vanishes_has_its_heavy_sweep_stopped(server, monkeypatch):
    address, process = server
    monkeypatch.setattr(visitor, "PATIENCE_SECONDS", PATIENCE_SECONDS)

    async def opened() -> None:
        caller = visitor.Caller("convergence", HEAVY)
        staying = asyncio.create_task(caller.stay(address, PATIENCE_SECONDS, every=PATIENCE_SECONDS))
        held = soak.held(address)
        while not staying.done() and held.sweeps != 1:
            await asyncio.sleep(0.5)  # to answer, the server stops all else
            held = await asyncio.to_thread(soak.held, address)
        ended = staying.done()
        staying.cancel()
        with suppress(asyncio.CancelledError):
            await staying  # or its socket is left to the garbage collector, and to another test
        assert not ended and not caller.faults, (caller.faults, held)

    asyncio.run(opened())
    assert eventually(lambda: not soak.held(address).sweeps)
    assert eventually(lambda: working(process) <= 0.2)


def test_what_comes_and_goes_leaves_nothing(server):
    """Some pages have a session each, and a slider is pressed; benchmarks.soak does so for longer."""
    address, _ = server
    assert asyncio.run(soak.come_and_go(address, 4)) == []
    asyncio.run(soak.rerun(address, 4, 1))
    before = soak.held(address)
    assert asyncio.run(soak.come_and_go(address, 5)) == []
    presses, faults = asyncio.run(soak.rerun(address, 8, 1))
    assert (presses, faults) == (8, [])
    grown: list[str] = []

    def nothing_stays() -> bool:
        """Return whether nothing has grown: a busy server closes what a visitor left a moment later."""
        after = soak.held(address)
        kept = OF_A_SESSION * (after.sessions - before.sessions)
        held = after._replace(descriptors=after.descriptors - kept)
        grown[:] = soak.grown(before, held, after.sessions)
        return not grown

    assert eventually(nothing_stays), grown


def test_memory_comes_back_once_nobody_asks_for_anything(server):
    """To within 150 MB of what it was, with its processes, after links whose results take twice as much."""
    address, process = server

    def used() -> int:
        """Return the memory of the server and its processes, of which some may end meanwhile."""
        total = 0
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += each.memory_info().rss
        return total

    def used_at_last() -> int:
        soak.held(address, "held_at_last")
        return used()

    before = used_at_last()

    async def fill() -> None:
        for seed in range(100):
            looks = visitor.Demanding("explorer", f"{LARGE}&seed={seed}")
            await looks.stay(address, PATIENCE_SECONDS, every=2.0, most=2)
            assert not looks.faults, looks.faults
            if used() > before + 300 * MB:
                return

    asyncio.run(fill())
    assert used() > before + 300 * MB
    assert eventually(lambda: used_at_last() < before + 150 * MB)


def test_what_stays_would_be_found():
    before = soak.Held(
        sessions=1, connected=0, sweeps=0, threads=9, descriptors=40, uploads=0, bytes=3 * 10**8
    )
    assert soak.grown(before, before, 1) == []
    for more in ({"sessions": 2}, {"connected": 1}, {"sweeps": 1}, {"threads": 12}, {"descriptors": 43}):
        assert len(soak.grown(before, before._replace(**more), 1)) == 1
