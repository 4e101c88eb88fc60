"""Results shared between visitors, keyed by recipes only, and the worker that completes them.

The page measures the few cells that it needs; one background thread measures the rest of what somebody
is looking at, newest view first, and forgets views that nobody has asked for lately.
"""

import gc
import threading
import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from threadpoolctl import threadpool_limits

from dppca_core.experiments.live import Results, Scene
from pages.shared import scenes

_LOOKING_SECONDS = 3.0  # a view that is not refreshed for this long is given up
_REST_SECONDS = 0.002  # between cells, so that a key press finds the interpreter free


@st.cache_resource(max_entries=64, show_spinner=False)
def results(scene: Scene) -> Results:
    """The scene's cells, empty at first; a few hundred kilobytes when complete."""
    return Results(scene)


class Completer:
    """One thread that measures the missing cells of what visitors look at now."""

    def __init__(self) -> None:
        self._views: dict[str, tuple[float, Results, float, bool]] = {}
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True, name="completer").start()

    def look(self, visitor: str, found: Results, epsilon: float, slow: bool) -> None:
        """This visitor looks at this view now; whatever they looked at before is abandoned."""
        with self._changed:
            self._views[visitor] = (time.monotonic(), found, epsilon, slow)
            self._changed.notify()

    def leave(self, visitor: str) -> None:
        """The visitor's view is complete, or gone."""
        with self._changed:
            self._views.pop(visitor, None)

    def _newest(self) -> tuple[Results, float, bool]:
        with self._changed:
            while True:
                oldest = time.monotonic() - _LOOKING_SECONDS
                self._views = {who: view for who, view in self._views.items() if view[0] > oldest}
                if self._views:
                    return max(self._views.values(), key=lambda view: view[0])[1:]
                self._changed.wait()

    def _work(self) -> None:
        with threadpool_limits(1):
            while True:
                view = self._newest()
                found, epsilon, slow = view
                missing = found.next_missing(epsilon, slow)
                if missing is None:
                    with self._changed:
                        done = [who for who, seen in self._views.items() if seen[1:] == view]
                        for who in done:
                            del self._views[who]
                    continue
                found.try_cell(*missing)
                time.sleep(_REST_SECONDS)


@st.cache_resource(show_spinner=False)
def completer() -> Completer:
    """The one worker of this server."""
    return Completer()


def warm_up() -> None:
    """Before the first visitor: one BLAS thread, the default scene measured, imports frozen."""
    threadpool_limits(1)
    scene, epsilon = scenes.default()
    found = results(scene)
    for cell in found.missing(found.first(epsilon)):
        found.try_cell(*cell)
    gc.collect()
    gc.freeze()


def look(found: Results, epsilon: float, slow: bool) -> None:
    """Tell the worker what this visitor is looking at."""
    context = get_script_run_ctx()
    completer().look(context.session_id if context else "", found, epsilon, slow)
