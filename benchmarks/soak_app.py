"""Serve the dashboard with two more addresses, for benchmarks.soak and tests: what this process holds."""

import gc
import os
import threading
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.stats import CACHE_MEMORY_FAMILY
from streamlit.starlette import App

from app import MIDDLEWARE, ROUTES, warm
from pages.shared.background import unused

ROOT = Path(__file__).resolve().parent.parent


def held() -> dict[str, int]:
    gc.collect()
    sessions = [item.id for item in gc.get_objects() if isinstance(item, AppSession)]
    threads = [item.name for item in threading.enumerate()]
    uploads = Runtime.instance().uploaded_file_mgr.get_stats()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return {
        "sessions": len(sessions),
        "connected": sum(map(Runtime.instance().is_active_session, sessions)),
        "sweeps": sum(name == "sweep" for name in threads),
        "threads": len(threads),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "uploads": sum(stat.byte_length for stat in uploads.get(CACHE_MEMORY_FAMILY, ())),
        "bytes": 1024 * int(status.partition("VmRSS:")[2].split()[0]),
    }


async def answer(request: Request) -> JSONResponse:
    return JSONResponse(held())


def answer_after(request: Request) -> JSONResponse:
    """Answer what is held once nobody has asked for anything for long enough."""
    unused.give_up(0.0)
    return JSONResponse(held())


app = App(
    str(ROOT / "pages" / "menu.py"),
    lifespan=warm,
    routes=[*ROUTES, Route("/held", answer), Route("/held_at_last", answer_after)],
    middleware=MIDDLEWARE,
)
