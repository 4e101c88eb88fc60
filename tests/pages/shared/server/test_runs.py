"""Test that runs of one session neither use its state together nor silence each other."""

import asyncio
import threading
from types import SimpleNamespace

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
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


class Runner:
    """Stand for one that has run all that it was asked for, and whose last words nobody has heard yet."""

    def __init__(self) -> None:
        self._requests = ScriptRequests()
        assert self._requests.on_scriptrunner_ready() is not None  # it ends

    def request_rerun(self, asked: object) -> bool:
        raise AssertionError("it would be put to silence")


class Session(AppSession):
    """Hold a runner, and what a new one was created for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._event_loop, self._state, self.created = loop, None, list[str]()
        self._client_state, self._scriptrunner = ClientState(), Runner()

    def __del__(self) -> None:
        pass

    def has_fragment(self, fragment_id: str) -> bool:
        return True

    def _create_scriptrunner(self, initial_rerun_data: SimpleNamespace) -> None:
        self.created.append(initial_rerun_data.fragment_id or "the page")


@pytest.mark.parametrize("ends", [True, False])
def test_a_part_waits_until_what_the_run_before_has_shown_is_handed_over(ends):
    async def ask() -> list[list[str]]:
        session = Session(asyncio.get_running_loop())
        if not ends:
            session._scriptrunner = None
        session.request_rerun(ClientState(fragment_id="part"))
        seen = [list(session.created)]
        await asyncio.sleep(0.05)
        seen.append(list(session.created))
        session._scriptrunner = None  # as Streamlit does once it has heard of the end
        while not session.created:
            await asyncio.sleep(0.01)
        return [*seen, session.created]

    assert app.app
    assert asyncio.run(ask()) == ([[], [], ["part"]] if ends else [["part"]] * 3)
