"""Share between benchmarks: actions timed in turn, ratios within a round, tables, one JSON file.

A shared machine drifts by more than what is measured. So actions are timed in turn, round after round, each
right after an untimed run of its own (its data in the caches, as in a loop), and a figure is a ratio to a
floor of the same round, of which the median and the quartiles are shown.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
Action = Callable[[], object]
PACKAGES = ("numpy", "scipy", "pandas", "streamlit", "plotly")


def in_turn(
    actions: Mapping[str, Action], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Times]:
    """Return the milliseconds of each action, (rounds,); a round runs all of them, one after another.

    clock: time.process_time for what computes on one thread and waits for nothing, so that other processes
    do not count.
    """
    took: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            action()
            began = clock()
            action()
            took[name].append(1e3 * (clock() - began))
    return {name: np.array(values) for name, values in took.items()}


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:9.3g} ({self.low:.3g} - {self.high:.3g})"


def spread(values: Sequence[float] | Times) -> Spread:
    low, median, high = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    return Spread(median, low, high)


@dataclass(frozen=True)
class Row:
    """Hold one figure: its time in milliseconds and, beside a floor, the ratio and its allowed maximum."""

    name: str
    ms: Spread
    floor: str = ""
    ratio: Spread | None = None
    target: float | None = None


def row(
    name: str, times: Times, floor: str = "", base: Times | None = None, target: float | None = None
) -> Row:
    """Return the figure of `times`, (rounds,), against the floor's `base`, (rounds,), round by round."""
    return Row(name, spread(times), floor, None if base is None else spread(times / base), target)


def show(title: str, rows: Sequence[Row]) -> None:
    print(f"\n{title}\n{'':38}{'median ms (quartiles)':34}ratio to floor (quartiles)")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio} of {row.floor}"
        wanted = "" if row.target is None else f", at most {row.target:g}"
        print(f"  {row.name:36}{row.ms!s:34}{ratio}{wanted}".rstrip())


def options(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="keep the figures in this file, beside other benchmarks'")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it runs")
    return parser


def keep(path: Path | None, section: str, figures: object) -> None:
    """Put `figures` under `section` of the JSON file, leaving what other benchmarks put there."""
    if path is None:
        return
    held = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    held["machine"] = {
        "python": platform.python_version(),
        "processor": platform.machine(),
        **{name: version(name) for name in PACKAGES},
    }
    held[section] = figures
    path.write_text(json.dumps(held, indent=1, default=asdict) + "\n", encoding="utf-8")
