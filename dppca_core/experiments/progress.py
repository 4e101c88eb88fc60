"""A bar that says how far long work has come, and an end without a traceback for what Ctrl-C stops."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], None]  # takes what is completed, and the total
STOPPED = 130  # the exit status of a command that Ctrl-C stopped


@contextmanager
def bar(what: str, shown: bool = True) -> Iterator[Report]:
    """Yield a function that moves a bar in a terminal or a notebook; elsewhere, as in a log, it does nothing.

    what: the unit in the plural, as "runs". shown: False for no bar at all.
    """
    drawn: list[Any] = []

    def report(completed: int, total: int) -> None:
        if not drawn:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a notebook without ipywidgets, which then has no bar
                from tqdm.auto import tqdm  # imported here: the server never draws one

            drawn.append(tqdm(total=total, unit=f" {what}", disable=None))
        drawn[0].update(completed - drawn[0].n)

    try:
        yield report if shown else lambda completed, total: None
    finally:
        for each in drawn:
            each.close()


def stoppable(command: Callable[[], int | None]) -> int:
    """Run a command and return its exit status: STOPPED, with one line, where Ctrl-C stops it."""
    try:
        return command() or 0
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return STOPPED
