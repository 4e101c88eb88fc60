"""Wait for a state, never for a moment: only a hang takes as long as the limit, on any machine."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 120.0


def eventually(condition: Callable[[], object]) -> bool:
    """Return True as soon as the condition holds, and False if it never comes to hold."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > until:
            return bool(condition())
        time.sleep(0.005)
    return True


class Clock:
    """Stand in for the module `time` where code measures how long ago something was."""

    sleep = staticmethod(time.sleep)

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now
