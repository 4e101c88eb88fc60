"""Run every page under Streamlit's own AppTest, without a browser."""

import functools
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from dppca_core.byte_cache import ByteCache
from pages.shared.background import engine, sweep_jobs
from pages.shared.background.engine import Engine
from tests.pages.documents import Page
from tests.waiting import PATIENCE_SECONDS

ROUTER = Path(__file__).resolve().parents[2] / "pages" / "menu.py"

# Without this cache every AppTest reads the metadata of all packages for half a second.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

# As in a server, a page's script is compiled once: AppTest would compile it for every run.
COMPILED = ScriptCache()
app_test.ScriptCache = local_script_runner.ScriptCache = lambda: COMPILED

look_every_millisecond = local_script_runner.require_widgets_deltas


def wait_for_script(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a run, and not by a look at it every millisecond, which slows it."""
    runner._script_thread.join(timeout)
    look_every_millisecond(runner, 0.1 if runner.script_stopped() else 0.0)


local_script_runner.require_widgets_deltas = wait_for_script


class Screen:
    """Run a page, and give access to what it shows. It starts from the preset on which others build."""

    def __init__(self, page: str = "", **link: str) -> None:
        self.app = AppTest.from_file(str(ROUTER), default_timeout=PATIENCE_SECONDS)
        if page:
            # Streamlit knows a page by its address; before a first run AppTest looks for it by its file.
            self.app._page_hash = calc_hash(Path(page).parent.name)
        for key, value in ({"preset": "large-study", "repeats": "2"} | link).items():
            self.app.query_params[key] = value
        self.run()

    def run(self) -> None:
        self.app.run()
        assert not self.app.exception, [e.value for e in self.app.exception]

    def settle(self) -> "Screen":
        """Rerun until all sweeps have ended and the page asks for no more; return the screen."""
        for _ in range(100):
            known = list(sweep_jobs.jobs()._jobs.values())
            for job in known:
                job.wait(30)
            before = self.markdown
            self.run()
            if self.markdown == before and list(sweep_jobs.jobs()._jobs.values()) == known:
                return self
        raise AssertionError("the sweeps do not end")

    @property
    def notices(self) -> str:
        return "\n".join(box.value for box in self.app.info)

    @property
    def markdown(self) -> str:
        return "\n".join(box.value for box in self.app.markdown)

    @property
    def latex(self) -> str:
        return "\n".join(box.value for box in self.app.latex)

    @property
    def captions(self) -> str:
        return "\n".join(box.value for box in self.app.caption)

    @property
    def figure(self) -> dict[str, Any]:
        """Return the live figure's payload, without the time at which it was sent."""
        sent = (json.loads(each.proto.json) for each in self.app.get("bidi_component"))
        payload = next(each for each in sent if "layout" in each)  # other components draw no figure
        del payload["order"]
        return dict(payload)

    def words(self) -> dict[str, Any]:
        figure = self.figure
        return figure["words"][figure["active"]]

    @property
    def link(self) -> dict[str, str]:
        return dict(self.app.query_params.items())

    @property
    def settings(self) -> Any:
        return self.app.session_state["settings of the last run"]

    def setting(self, key: str) -> Any:
        return self.settings[key]

    def shown(self, widget: str) -> Any:
        """Return what a widget shows, which need not be its setting."""
        return self.app.session_state["what each widget shows, and its edition"][widget][0]

    def move(self, key: str, value: Any) -> None:
        for kind in (self.app.select_slider, self.app.selectbox, self.app.get("button_group")):
            for widget in kind:
                if re.fullmatch(rf"{re.escape(key)}( \d+)?", widget.key or ""):
                    widget.set_value(value)
                    self.run()
                    return
        raise AssertionError(f"no control {key}")


@pytest.fixture
def screen() -> Callable[..., Screen]:
    return Screen


@pytest.fixture
def page() -> Callable[..., Page]:
    return Page


@pytest.fixture
def prefetching() -> bool:
    """Return whether what a next press may ask for is measured; only the engine's own tests look at it."""
    return False


@pytest.fixture(autouse=True)
def newcomer(monkeypatch: pytest.MonkeyPatch, prefetching: bool) -> Iterator[None]:
    """Separate the tests: every AppTest is the same visitor to the server, and a crowd to no test.

    All is measured in this process, where a test may have replaced what measures.
    """
    monkeypatch.setattr(engine, "QUICK_SECONDS", math.inf)
    monkeypatch.setattr(engine, "_FIRST_STEP_SECONDS", math.inf)
    monkeypatch.setattr(Engine, "crowd", lambda _: 1)
    if not prefetching:
        monkeypatch.setattr(Engine, "prefetch", lambda *_: None)
    jobs = sweep_jobs.Jobs(Engine(), ByteCache(sweep_jobs.KEPT_BYTES))
    monkeypatch.setattr(sweep_jobs, "jobs", lambda: jobs)
    yield
    beside = engine.engine()
    with beside._changed:
        beside._queue.drop(lambda entry: True)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure a first view to its end, however busy the machine is."""
    monkeypatch.setattr(engine, "FIRST_SECONDS", PATIENCE_SECONDS)


@pytest.fixture
def waiting(newcomer: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sweeps wait for ever, to test what a page shows meanwhile."""
    monkeypatch.setattr(sweep_jobs.Job, "begin", lambda job: None)
