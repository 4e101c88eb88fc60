"""Time a crowd on one server: wild visitors, ordinary ones, and ordinary ones beside one with heavy work.

    python -m benchmarks.crowd [--json FILE] [--quick] [--parts alone wild …] [--seconds 120]
    python -m benchmarks.crowd --parts bytes --seconds 1800
    python -m benchmarks.crowd --parts browsers --seconds 600

Each part has a server of its own. Alone: one ordinary visitor, who moves the hospitals' slider every two
seconds. Wild: 16 who open links with any options of any settings, on nine pages, and move sliders.
Ordinary: 50, each with patients of their own. Heavy: five ordinary ones, alone, then beside one who opens
the largest settings again and again. Class: five ordinary ones, alone, then while classes of 200 open the
page *Class* and its lesson, each class within fifteen seconds. A wild move is answered once the page has run,
an ordinary one once its figure is there. Bytes: three who open the largest settings; memory at its most, and
after ten minutes without anybody. Browsers: a hundred ordinary ones and twelve real browsers, who look for
twenty seconds after each answer. Fails on any error that a visitor or the server's log shows.
"""

import asyncio
import os
import random
import tempfile
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import psutil

from benchmarks import browsers, measure
from benchmarks.visitor import EVERY_SECONDS, HOSPITALS, Demanding, Pupil, Visitor, Wanderer
from pages.order import FIRST
from pages.shared.settings import catalogue, of_pages
from scripts.started import started

PAGES: tuple[str, ...] = ("explorer", "story", "privacy", "providers", "planner", "convergence", "bounds")
PAGES += ("methods", "who_sees_what")
HEAVIEST = {"d": 2000, "s": 2000, "k": 20, "N": 200, "T": 50, "repeats": 50, "bulk": 1}
PATIENTS = ("20,000", "50,000", "100,000", "200,000", "500,000")
# Visitors of each part; the last two take long, and must be asked for.
PARTS = {"alone": 1, "wild": 16, "ordinary": 50, "heavy": 5, "class": 5, "bytes": 3, "browsers": 100}
_BROWSERS = 12  # beside the visitors of the part of that name
_LOOK_SECONDS, _COMING = 20.0, 60.0  # there, between an answer and the next move, and until all have come
_SECONDS = 120.0
_ARRIVING = 15.0  # seconds within which ordinary visitors, or a class, come
_CLASS = 200
_PATIENCE = 5.0  # seconds that a demanding visitor looks at what comes
_QUIET_SECONDS = 630.0  # after which what nobody asked for is given up
_MOVES = 5  # of a wild visitor before the next link


Visits = Sequence[Visitor | browsers.Browsing]


async def visit(
    address: str,
    count: int,
    seconds: float,
    first_seed: int = 0,
    within: float = EVERY_SECONDS,
    every: float = EVERY_SECONDS,
) -> list[Visitor]:
    """Run `count` visitors at once, who arrive evenly within some seconds; return them after.

    every: seconds between an answer and the next move.
    """
    visitors = [
        Visitor(PATIENTS[i % len(PATIENTS)], HOSPITALS[i // len(PATIENTS) % len(HOSPITALS)], first_seed + i)
        for i in range(count)
    ]
    stays = (
        visitor.stay(address, seconds, late=within * i / count, every=every)
        for i, visitor in enumerate(visitors)
    )
    await asyncio.gather(*stays)
    return visitors


def wild_link(choices: random.Random) -> str:
    """Return a link with up to six settings of the panel that pages share, each at any of its options."""
    main, more = of_pages.panel_keys(plain=False)
    names = choices.sample([key for key in (*main, *more, "view") if key != "stated"], choices.randint(1, 6))
    chosen = ((catalogue.CHOICES[name], choices.choice(catalogue.CHOICES[name].options)) for name in names)
    return urlencode({choice.parameter: choice.link(option) for choice, option in chosen})


def heavy_link(seed: int) -> str:
    return urlencode({**HEAVIEST, "seed": seed})


async def wander(address: str, seconds: float, seed: int) -> list[Visitor]:
    """Open one wild link after another for so long, with a few moves on each."""
    choices, ends = random.Random(seed), time.monotonic() + seconds
    visits: list[Visitor] = []
    await asyncio.sleep(EVERY_SECONDS * choices.random())
    while (left := ends - time.monotonic()) > 0:
        visits.append(Wanderer(choices.choice(PAGES), wild_link(choices), choices.randrange(2**32)))
        await visits[-1].stay(address, left, most=_MOVES)
    return visits


async def burden(address: str, seconds: float, first: int = 0) -> list[Visitor]:
    """Open the largest settings on one page after the other, and ask for what takes long."""
    ends, visits = time.monotonic() + seconds, list[Visitor]()
    while (left := ends - time.monotonic()) > 0:
        page = PAGES[(first + len(visits)) % len(PAGES)]
        visits.append(Demanding(page, heavy_link(first + len(visits))))
        await visits[-1].stay(address, left, every=_PATIENCE, most=2)
    return visits


async def all_of(stays: Sequence[Coroutine[None, None, list[Visitor]]]) -> list[Visitor]:
    return [visitor for visitors in await asyncio.gather(*stays) for visitor in visitors]


def part(name: str, count: int, seconds: float, log: Path) -> dict[str, Visits]:
    """Return all visits of this part, by what they are called; log: where its server's is kept."""
    with started(log=log) as (address, process):
        server = psutil.Process(process.pid)
        time.sleep(min(seconds, 12.0))  # until it has finished its warm-up
        if name == "wild":
            done = {f"{count} wild": asyncio.run(all_of([wander(address, seconds, i) for i in range(count)]))}
        elif name == "bytes":
            fresh, most = used_bytes(server), Most(server)
            stays = [burden(address, seconds, 3 * i) for i in range(count)]
            done = {f"{count} heavy": asyncio.run(all_of(stays))}
            most.end()
            time.sleep(_QUIET_SECONDS)
            print(f"  MB fresh {fresh / 2**20:,.0f}, most {most.bytes / 2**20:,.0f}, ten minutes later:")
        elif name == "heavy":
            done = {f"{count} without": asyncio.run(visit(address, count, seconds / 2))}
            others, heavy = asyncio.run(_beside(address, count, seconds))
            done |= {f"{count} beside one heavy": others, "the heavy one": heavy}
        elif name == "class":
            done = {f"{count} without": asyncio.run(visit(address, count, seconds / 2))}
            others, pupils = asyncio.run(_beside_classes(address, count, seconds / 2))
            done |= {f"{count} beside a class": others, "pupils": pupils}
        elif name == "browsers":
            scripted, real = asyncio.run(_beside_browsers(address, count, seconds))
            done = {f"{count} scripted": scripted, f"{_BROWSERS} browsers": real}
        else:
            done = {f"{count} ordinary": asyncio.run(visit(address, count, seconds, within=_ARRIVING))}
        print(f"  {name}: {used_bytes(server) / 2**20:,.0f} MB, load {os.getloadavg()[0]:.1f}")
    return done


async def _beside(address: str, count: int, seconds: float) -> tuple[list[Visitor], list[Visitor]]:
    others, heavy = await asyncio.gather(
        visit(address, count, seconds, first_seed=count), burden(address, seconds)
    )
    return others, heavy


async def _beside_classes(address: str, count: int, seconds: float) -> tuple[list[Visitor], list[Visitor]]:
    others = visit(address, count, seconds, first_seed=count)
    pupils = [Pupil("classroom") for _ in range(round(_CLASS * seconds / _ARRIVING))]
    coming = (pupil.stay(address, seconds, i * _ARRIVING / _CLASS) for i, pupil in enumerate(pupils))
    done, *_ = await asyncio.gather(others, *coming)
    return done, list(pupils)


async def _beside_browsers(
    address: str, count: int, seconds: float
) -> tuple[list[Visitor], list[browsers.Browsing]]:
    scripted = visit(address, count, seconds, within=_COMING, every=_LOOK_SECONDS)
    pages = [page for page in PAGES if page != FIRST] + [""]  # the first page has no path
    real = browsers.browse(address, _BROWSERS, seconds, pages, within=_COMING, every=_LOOK_SECONDS)
    return await asyncio.gather(scripted, real)


def used_bytes(server: psutil.Process) -> int:
    """Return the memory of a server and of the processes that work for it; what they share counts once.

    macOS does not tell what is shared.
    """
    processes = (server, *server.children(recursive=True))
    held = (process.memory_full_info() for process in processes)
    return sum(getattr(each, "pss", each.rss) for each in held)


class Most:
    """Look every second at the memory of a server and its processes, and hold the most."""

    def __init__(self, server: psutil.Process) -> None:
        self.bytes = 0
        self._server, self._over = server, threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()

    def _look(self) -> None:
        while not self._over.wait(1.0):
            with suppress(psutil.NoSuchProcess):  # a process may end while it is looked at
                self.bytes = max(self.bytes, used_bytes(self._server))

    def end(self) -> None:
        self._over.set()
        self._looking.join()


def figures(visits: Visits) -> dict[str, object]:
    moves = [seconds for visitor in visits for seconds in visitor.took]
    opened = [visitor.opened for visitor in visits if visitor.opened]
    quantiles = {
        f"{name} {label}": round(float(np.quantile(times, share)), 3)
        for name, times in (("move", moves), ("open", opened))
        for label, share in (("median", 0.5), ("p95", 0.95), ("most", 1.0))
        if times
    }
    faults = sorted({fault for visitor in visits for fault in visitor.faults})
    return {"moves": len(moves), "opened": len(opened), **quantiles, "faults": faults}


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS)[:-2])
    parser.add_argument("--seconds", type=float, default=_SECONDS)
    asked = parser.parse_args()
    rows: dict[str, dict[str, object]] = {}
    errors = ""
    for name in asked.parts:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            done = part(name, PARTS[name], 12.0 if asked.quick else asked.seconds, log)
            errors += log.read_text() if "Traceback" in log.read_text() else ""
        rows |= {who: figures(visits) for who, visits in done.items()}
    print("\nseconds, two cores")
    for who, row in rows.items():
        print(f"  {who:22}" + "  ".join(f"{name} {value}" for name, value in row.items()))
    measure.keep(asked.json, "crowd", rows)
    if errors or any(row["faults"] for row in rows.values()):
        raise SystemExit(f"errors\n{errors}")


if __name__ == "__main__":
    main()
