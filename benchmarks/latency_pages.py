"""Serve the pages that a press is timed on, each by a server of its own.

"slider" is one slider and st.write. "stored" is the explorer with everything that is measured or computed for
the figure replaced by what a visitor's first screen needed, redrawn at every press. "live" is the product as
it is; it tells how many settings it has begun to measure. "cold" is the product without measuring ahead.
"""

import json
import signal
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scripts.started import ROOT, started

PAGES = ("slider", "stored", "live", "cold")

# The texts below are programs: a server of each page runs one. _STORED, _LIVE and _COLD patch the dashboard.
_SLIDER = """
import streamlit as st
value = st.slider("one slider", 0, 1000, 500)
st.write(f"value {value}")
"""

_APP = """
import sys
import streamlit as st
sys.path.insert(0, {root!r})
from starlette.responses import JSONResponse
from starlette.routing import Route
from streamlit.starlette import App
from app import ROUTES, warm
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.explorer.experiment import EPSILONS
from pages.shared.background import cache, engine
from pages.shared.charts import explorer_summary
{patch}
app = App({menu!r}, lifespan=warm, routes=ROUTES)
"""

_STORED = """
compute = explorer_summary.payload
def payload(results, epsilon, settings, shown=None, *parts):
    if "stored" not in st.session_state:
        for cell in missing(results, results.first(epsilon, shown)):
            results.try_cell(*cell)
        st.session_state["stored"] = compute(results, epsilon, settings, shown, *parts)
    return st.session_state["stored"] | {
        "active": EPSILONS.index(epsilon), "scene": str(settings), "complete": True, "progress": ""
    }
missing = Results.missing
explorer_summary.payload = payload
Results.steps = lambda self, cells: iter(())
Results.next_missing = lambda self, *view: None
engine.Engine.prefetch = lambda *view: None
"""

_LIVE = """
made = []
def results(experiment):
    made.append(Results(experiment))
    return made[-1]
cache.Results = results
async def begun(request):
    return JSONResponse(sum(bool(results.cells) for results in made))
ROUTES.append(Route("/begun", begun))
"""

_COLD = """
engine.Engine.prefetch = lambda *view: None
"""

# Without pings a server that is held still does not lose its browser.
_ENVIRONMENT = {"PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_WEBSOCKET_PING_INTERVAL": "3600"}


class Server:
    """Control one page's server, which can be held still so that the timed one has the machine to itself."""

    def __init__(self, address: str, process: subprocess.Popen[bytes]) -> None:
        self.address, self._process = address, process

    @contextmanager
    def running(self) -> Iterator[None]:
        self._process.send_signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def begun(self) -> int:
        """Return how many settings it has measured anything of, from the address that _LIVE adds."""
        with urllib.request.urlopen(f"{self.address}begun") as answer:
            return int(json.loads(answer.read()))


@contextmanager
def served() -> Iterator[dict[str, Server]]:
    patches = {"stored": _STORED, "live": _LIVE, "cold": _LIVE + _COLD}
    names = {"root": str(ROOT), "menu": str(ROOT / "pages" / "menu.py")}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = {}
        for name in PAGES:
            script = folder / f"{name}.py"
            text = _APP.format(patch=patches[name], **names) if name in patches else _SLIDER
            script.write_text(text, encoding="utf-8")
            address, process = stack.enter_context(started(script, **_ENVIRONMENT))
            # A stopped process would not receive the signal to end.
            stack.callback(process.send_signal, signal.SIGCONT)
            servers[name] = Server(address, process)
        for server in servers.values():
            with server.running():  # a server is held still when this block ends
                pass
        yield servers
