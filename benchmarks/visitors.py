"""Time many visitors at once, each moving a slider every two seconds, beside one visitor alone.

    python -m benchmarks.visitors [--json FILE] [--quick] [--visitors 50] [--seconds 300]

First one visitor alone, then all. Each has a seed of their own, as in a class where all draw patients of
their own: none finds what another has had measured. So the server's caches fill, and its memory after all
have left is what they keep. Fails on any error, any message that shows somebody else's setting, and memory
that grew by more than caches may keep. That nothing else grows is for benchmarks.soak.
"""

import asyncio
import os
import time
from collections.abc import Sequence

import numpy as np
import psutil

from benchmarks import measure
from benchmarks.visitor import EVERY_SECONDS, HOSPITALS, Visitor
from scripts.started import started

VISITORS, SECONDS, ALONE_SECONDS = 50, 300.0, 60.0
PATIENTS = ("20,000", "50,000", "100,000", "200,000", "500,000")
MOST_KEPT = 2_192  # MB that caches keep at most (docs/server.md)
LEAVING_SECONDS = 10.0  # until the server has forgotten the sessions that have gone


async def visit(
    address: str, count: int, seconds: float, first_seed: int = 0, within: float = EVERY_SECONDS
) -> list[Visitor]:
    """Run `count` visitors at once, who arrive evenly within some seconds; return them after."""
    visitors = [
        Visitor(PATIENTS[i % len(PATIENTS)], HOSPITALS[i // len(PATIENTS) % len(HOSPITALS)], first_seed + i)
        for i in range(count)
    ]
    stays = (visitor.stay(address, seconds, late=within * i / count) for i, visitor in enumerate(visitors))
    await asyncio.gather(*stays)
    return visitors


def megabytes(server: psutil.Process) -> float:
    """Return the server's memory in MB (of 2^20 bytes), once those who left are forgotten."""
    time.sleep(LEAVING_SECONDS)
    return float(server.memory_info().rss / 2**20)


def milliseconds(visitors: Sequence[Visitor]) -> measure.Times:
    return np.array([1e3 * seconds for visitor in visitors for seconds in visitor.took])


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--visitors", type=int, default=VISITORS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    asked = parser.parse_args()
    short = 6.0 if asked.quick else 0.0
    with started() as (address, process):
        server = psutil.Process(process.pid)
        alone = asyncio.run(visit(address, 1, short or ALONE_SECONDS))
        before = megabytes(server)
        began, used = time.monotonic(), sum(server.cpu_times()[:2])
        many = asyncio.run(visit(address, asked.visitors, short or asked.seconds))
        cores = (sum(server.cpu_times()[:2]) - used) / (time.monotonic() - began)
        after = megabytes(server)
    single, all_of_them = milliseconds(alone), milliseconds(many)
    figures = {
        "alone": measure.spread(single),
        "alone p90": float(np.quantile(single, 0.9)),
        f"{asked.visitors} visitors": measure.spread(all_of_them),
        f"{asked.visitors} visitors p90": float(np.quantile(all_of_them, 0.9)),
        "presses": len(all_of_them),
        "cores used": cores,
        "MB before": before,
        "MB after": after,
        "faults": sorted({fault for visitor in (*alone, *many) for fault in visitor.faults}),
    }
    print(f"\n{asked.visitors} visitors, a press every {EVERY_SECONDS:g} s, load {os.getloadavg()[0]:.1f}")
    for name, figure in figures.items():
        print(f"  {name:24}{figure:.3g}" if isinstance(figure, float) else f"  {name:24}{figure}")
    measure.keep(asked.json, "visitors", figures)
    if figures["faults"] or after > before + MOST_KEPT:
        raise SystemExit("errors, or memory that grew")


if __name__ == "__main__":
    main()
