"""Test that runs of one session never use its state at the same time, as each press begins another run."""

import threading

from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.state import SessionState

import app


def test_what_one_run_looks_through_no_other_run_of_the_session_changes():
    assert app.app
    state = SessionState()
    ended, begun = (script_runner.SafeSessionState(state, lambda: None) for _ in range(2))
    another = script_runner.SafeSessionState(SessionState(), lambda: None)
    changed = threading.Event()

    def change() -> None:
        another["view"] = "plain"  # waits for nobody
        begun["view"] = "plain"
        changed.set()

    thread = threading.Thread(target=change)
    with ended.query_params():  # which holds the lock, as looking through all keys does
        thread.start()
        assert not changed.wait(0.2)
        assert another["view"] == "plain" and "view" not in state
    thread.join()
    assert begun["view"] == ended["view"] == "plain"
