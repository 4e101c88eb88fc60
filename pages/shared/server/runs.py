"""Mend how Streamlit lets runs of one session meet: two faults that visitors met in a crowd.

A press ends the run before it at that run's next element, and begins its own at once. Until then both use
the state of the session, each under a lock of its own: one adds to it what the other just looks through, and
a visitor in thousands of moves saw an error. `SharedState` gives them one lock.

A part of a page that asks for its refresh just after a run has ended gets a new runner, and Streamlit drops
what the former one has shown and not handed over: the visitor waited for a whole page that nobody would send.
`_after_last_words` lets the part wait until it is handed over.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakValueDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state import SafeSessionState, SessionState

_AGAIN_SECONDS = 0.005  # until a part asks again
_Request = Callable[[AppSession, ClientState | None], None]
# By the identity of the state, which lives as long as a run that holds its lock.
_locks: WeakValueDictionary[int, Any] = WeakValueDictionary()


class SharedState(SafeSessionState):
    def __init__(self, state: SessionState, yield_callback: Callable[[], None]) -> None:
        super().__init__(state, yield_callback)
        object.__setattr__(self, "_lock", _locks.setdefault(id(state), threading.RLock()))


def _after_last_words(request_rerun: _Request) -> _Request:
    """Return what lets a part of a page wait for a runner that ends: Streamlit forgets it once it has."""

    @wraps(request_rerun)
    def request(self: AppSession, client_state: ClientState | None) -> None:
        runner = self._scriptrunner
        ends = runner is not None and runner._requests._state == ScriptRequestType.STOP
        if ends and client_state is not None and client_state.fragment_id:
            self._event_loop.call_later(_AGAIN_SECONDS, request, self, client_state)
        else:
            request_rerun(self, client_state)

    return request


def mend() -> None:
    """Patch Streamlit, once."""
    script_runner.SafeSessionState = SharedState  # type: ignore[attr-defined]
    if not hasattr(AppSession.request_rerun, "__wrapped__"):
        AppSession.request_rerun = _after_last_words(AppSession.request_rerun)  # type: ignore[assignment,method-assign]
