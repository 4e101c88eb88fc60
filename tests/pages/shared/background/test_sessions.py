"""Test that what a run has shown is sent before the next run, which would drop it."""

import threading
import time
from collections.abc import Callable

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.shared.background import sessions
from tests.waiting import PATIENCE_SECONDS, eventually


class Session(AppSession):
    """Hold what is called on the event loop until a test runs it, and what is shown until it is sent."""

    def __init__(self) -> None:
        self.called: list[Callable[[], None]] = []
        self._browser_queue = ForwardMsgQueue()

    def __del__(self) -> None:
        pass

    def _call_soon_on_event_loop(self, callback: Callable[[], None]) -> None:
        self.called.append(callback)


class Server:
    """Stand in for Streamlit's runtime."""

    def __init__(self, session: Session | None) -> None:
        self.session = session

    def exists(self) -> bool:
        return True

    def instance(self) -> "Server":
        return self

    def get_app_session(self, who: str) -> Session | None:
        return self.session


def test_a_run_waits_until_what_it_has_shown_is_sent(monkeypatch):
    session, over = Session(), threading.Event()
    monkeypatch.setattr(sessions, "Runtime", Server(session))
    monkeypatch.setattr(sessions, "_SENDING_SECONDS", PATIENCE_SECONDS)

    def run() -> None:
        session._call_soon_on_event_loop(lambda: session._browser_queue.enqueue(ForwardMsg()))
        sessions.wait_until_sent()
        over.set()

    threading.Thread(target=run, daemon=True).start()
    assert eventually(lambda: len(session.called) == 2)
    assert not over.wait(0.1)  # shown, and not handed over yet
    for call in session.called:
        call()
    assert not over.wait(0.1)  # handed over, and not sent
    session._browser_queue.flush()
    assert over.wait(PATIENCE_SECONDS)


@pytest.mark.parametrize(
    ("session", "most"), [(Session(), 0.0), (None, PATIENCE_SECONDS)], ids=["late", "gone"]
)
def test_nobody_waits_for_ever_or_for_who_has_gone(session, most, monkeypatch):
    monkeypatch.setattr(sessions, "Runtime", Server(session))
    monkeypatch.setattr(sessions, "_SENDING_SECONDS", most)
    began = time.monotonic()
    sessions.wait_until_sent()
    assert time.monotonic() < began + PATIENCE_SECONDS
