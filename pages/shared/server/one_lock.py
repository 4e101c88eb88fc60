"""Let all runs of a session share one lock of its state, which Streamlit gives each run anew.

A press ends the run before it at that run's next element, and begins its own at once. Until then both use
the state of the session, and one may add to it what the other just looks through: in a crowd a visitor in
thousands of moves saw an error for it.
"""

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.state import SafeSessionState, SessionState

# By the identity of the state, which lives as long as a run that holds its lock.
_locks: WeakValueDictionary[int, Any] = WeakValueDictionary()


class SharedState(SafeSessionState):
    def __init__(self, state: SessionState, yield_callback: Callable[[], None]) -> None:
        super().__init__(state, yield_callback)
        object.__setattr__(self, "_lock", _locks.setdefault(id(state), threading.RLock()))


def share() -> None:
    """Have every run take the lock of its session."""
    script_runner.SafeSessionState = SharedState  # type: ignore[attr-defined]
