"""Check that a server keeps nothing of visitors who come and go, and of one who moves a slider all day.

    python -m benchmarks.soak [--json FILE] [--quick] [--cycles 200] [--reruns 2000]

Each cycle is a session of its own that opens a page, the next one each time, and closes its browser once the
page is there. Reruns are presses of the hospitals' slider, a few visitors' at once. The same is done before,
for a while, after which the server's caches hold what they hold at such a load; then memory is taken as
"before". Both times after Streamlit has forgotten the sessions that it keeps for two minutes, for those who
may come back. Fails on memory that grew by more than a tenth, on threads, open files or sessions that stay,
and on any error.
"""

import asyncio
import json
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

from benchmarks import measure
from benchmarks.visitor import Caller, Visitor
from scripts.started import ROOT, started

CYCLES, RERUNS, AT_ONCE = 200, 2000, 4
GROWTH = 1.1
WARM_SECONDS = 30.0  # until the server has finished its warm-up
KEPT_SECONDS = 125.0
MORE = 2  # tolerance: threads or files of a pool or a timer come and go
PAGES = sorted(path.parent.name for path in (ROOT / "pages").glob("*/*/page.py"))
PATIENTS = ("20,000", "50,000", "100,000", "200,000")


class Held(NamedTuple):
    sessions: int
    connected: int
    sweeps: int
    threads: int
    descriptors: int
    uploads: int
    bytes: int


def held(address: str, page: str = "held") -> Held:
    """Return what the server holds, from an address that soak_app adds: "held" or "held_at_last"."""
    with urllib.request.urlopen(f"{address}{page}") as answer:
        return Held(**json.load(answer))


async def come_and_go(address: str, cycles: int) -> list[str]:
    faults = []
    for i in range(cycles):
        caller = Caller(PAGES[i % len(PAGES)])
        await caller.stay(address, 0.0)
        faults += [f"{PAGES[i % len(PAGES)]}: {fault}" for fault in caller.faults]
    return faults


async def rerun(address: str, presses: int, at_once: int = AT_ONCE) -> tuple[int, list[str]]:
    """Let a few visitors press as soon as they are answered; return the number of presses and the faults."""
    each = -(-presses // at_once)
    visitors = [Visitor(PATIENTS[i % len(PATIENTS)], 2 + i) for i in range(at_once)]
    await asyncio.gather(*(visitor.stay(address, float("inf"), every=0.0, most=each) for visitor in visitors))
    return sum(len(visitor.took) for visitor in visitors), [
        fault for visitor in visitors for fault in visitor.faults
    ]


def visit(address: str, cycles: int, reruns: int, kept: float) -> tuple[Held, int, list[str]]:
    """Let visitors come and go, then others press, and wait until the server has forgotten all of them."""
    faults = asyncio.run(come_and_go(address, cycles))
    presses, more = asyncio.run(rerun(address, reruns))
    time.sleep(kept)
    asyncio.run(come_and_go(address, 1))  # sessions that are too old are dropped when another ends
    time.sleep(min(kept, 2.0))
    return held(address), presses, faults + more


def grown(before: Held, after: Held, sessions: int) -> list[str]:
    """Return in words what the server holds more of than before; sessions: how many may be in memory."""
    reasons = [
        f"{name}: {getattr(before, name)} before, {getattr(after, name)} after"
        for name in ("threads", "descriptors", "uploads")
        if getattr(after, name) > getattr(before, name) + MORE
    ]
    if after.sessions > sessions or after.connected or after.sweeps:
        left = f"{after.connected} connected, and {after.sweeps} sweeps"
        reasons.append(f"{after.sessions} sessions in memory, {left}")
    return reasons


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--cycles", type=int, default=CYCLES)
    parser.add_argument("--reruns", type=int, default=RERUNS)
    asked = parser.parse_args()
    cycles, reruns = (20, 100) if asked.quick else (asked.cycles, asked.reruns)
    with started(Path(__file__).with_name("soak_app.py")) as (address, _):
        time.sleep(WARM_SECONDS)
        before, _, first_faults = visit(address, max(cycles // 4, 2 * len(PAGES)), reruns // 4, KEPT_SECONDS)
        began = time.monotonic()
        after, presses, second_faults = visit(address, cycles, reruns, KEPT_SECONDS)
        took = time.monotonic() - began - KEPT_SECONDS
    faults = sorted(set(first_faults + second_faults + grown(before, after, 1)))
    if after.bytes > GROWTH * before.bytes:
        faults.append("memory grew")
    print(f"\n{cycles} sessions that came and went, {presses:,} reruns, {took:,.0f} s")
    for name, *values in zip(Held._fields, before, after, strict=True):
        first, second = (
            f"{value / 2**20:,.0f} MB" if name in ("uploads", "bytes") else str(value) for value in values
        )
        print(f"  {name:12}{first:>12} before{second:>12} after")
    measure.keep(asked.json, "soak", {"before": before._asdict(), "after": after._asdict(), "faults": faults})
    if faults:
        raise SystemExit("; ".join(faults))


if __name__ == "__main__":
    main()
