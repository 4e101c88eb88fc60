"""Give up what caches keep and nobody has asked for within ten minutes: its memory goes to the system."""

import gc
import sys
import time
from functools import lru_cache
from typing import Any

from dppca_core import byte_cache
from pages.shared.background import cache, engine, sweep_jobs

UNUSED_SECONDS = 600.0
_PROCESS_SECONDS = 300.0  # as the workers of sweeps
_OURS = ("dppca_core.", "pages.")
_Function = type(lru_cache(lambda: None))  # one that keeps what it has returned
_counts: dict[Any, tuple[Any, float]] = {}  # of each such function: how often it was asked, and since when


def give_up(seconds: float = UNUSED_SECONDS) -> None:
    """Give up what no cache was asked for within `seconds`, except what a first visitor asks for.

    A function that keeps what it has returned gives all of it up at once.
    """
    cache.keep_first_view()
    freed, now = byte_cache.give_up_unused(seconds) > 0, time.monotonic()
    for function in functions():
        counts = function.cache_info()
        former, since = _counts.get(function, (None, now))
        _counts[function] = counts, since if counts == former else now
        if counts.currsize and now - _counts[function][1] >= seconds:
            function.cache_clear()
            freed = True
    sweep_jobs.jobs().forget()
    engine.engine().end_unused(min(seconds, _PROCESS_SECONDS))
    if freed:
        gc.collect()  # results refer to each other
        byte_cache.return_memory()


def functions() -> set[Any]:
    """Return our own functions that keep what they have returned."""
    ours = (module for name, module in list(sys.modules.items()) if name.startswith(_OURS))
    kept = (value for module in ours for value in list(vars(module).values()) if isinstance(value, _Function))
    return {value for value in kept if value.__module__.startswith(_OURS)}  # not those that we import
