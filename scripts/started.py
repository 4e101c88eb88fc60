"""Start the dashboard on a free port, and headless Chromium, for browser tests, pictures and benchmarks."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
COMPLETE = ".dppca-live[data-complete=true]"  # a figure with all that its setting needs
# A script after which the explorer's noises do not play by themselves, as on any visit but the first.
PLAYED = "localStorage.setItem('dppca noises played', 'once')"
START_SECONDS = 120  # a hang takes that long; a busy machine less
BASE_PATH = "STREAMLIT_SERVER_BASE_URL_PATH"  # Streamlit's variable for the path below which a server answers


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url).close()
    except OSError:
        return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def started(
    script: str | Path = "app.py", log: Path | None = None, port: int | None = None, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a Streamlit server of `script`, configured as the dashboard; yield its address and process.

    It keeps away from the accounts of whoever starts it. log: where to keep what it prints. environment: more
    variables for the process.
    """
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    with (
        open(log, "w+b") if log else tempfile.TemporaryFile() as out,
        tempfile.TemporaryDirectory() as accounts,
    ):
        variables = os.environ | {"DPPCA_ACCOUNTS": accounts} | environment
        server = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=variables)
        try:
            address = f"http://127.0.0.1:{port}/{environment.get(BASE_PATH, '')}".rstrip("/") + "/"
            until = time.monotonic() + START_SECONDS
            while not answers(f"{address}_stcore/health"):
                if server.poll() is not None or time.monotonic() > until:
                    out.seek(0)
                    raise RuntimeError(f"the dashboard did not start: {out.read().decode()}")
                time.sleep(0.1)
            yield address, server
        finally:
            server.terminate()
            server.wait()


@contextmanager
def serving(
    script: str | Path = "app.py", log: Path | None = None, port: int | None = None, **environment: str
) -> Iterator[str]:
    """Start a server as `started` does, where only its address is needed."""
    with started(script, log, port, **environment) as (address, _):
        yield address


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """Open the installed Chromium, headless, with `flags` in addition to FLAGS."""
    with sync_playwright() as play:
        path = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
        running = play.chromium.launch(executable_path=path, args=[*FLAGS, *flags])
        yield running
        running.close()
